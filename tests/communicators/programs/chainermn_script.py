"""A script of ChainerMN's form, of which the imports alone are changed."""

import argparse

import numpy as np

import core as chainer
import core.communicators as chainermn
import core.functions as F
import core.links as L
from core import training
from core.training import extensions


class MLP(chainer.Chain):
    def __init__(self, n_units, n_out):
        super().__init__(
            l1=L.Linear(None, n_units), l2=L.Linear(n_units, n_units), l3=L.Linear(n_units, n_out)
        )

    def __call__(self, x):
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--communicator", default="naive")
    parser.add_argument("--out", default="result")
    args = parser.parse_args()

    comm = chainermn.create_communicator(args.communicator)
    chainermn.global_except_hook.add_hook()
    model = L.Classifier(MLP(30, 10))
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(0.01), comm)
    optimizer.setup(model)

    if comm.rank == 0:
        train, test = chainer.datasets.get_digits()
    else:
        train, test = None, None
    train = chainermn.scatter_dataset(train, comm, shuffle=True, seed=0)
    test = chainermn.datasets.scatter_dataset(test, comm)

    train_iter = chainer.iterators.SerialIterator(train, 50)
    test_iter = chainer.iterators.SerialIterator(test, 50, repeat=False, shuffle=False)
    updater = training.StandardUpdater(train_iter, optimizer)
    trainer = training.Trainer(updater, (3, "epoch"), out=args.out)

    checkpointer = chainermn.create_multi_node_checkpointer(name="mnist", comm=comm)
    checkpointer.maybe_load(trainer, optimizer)
    trainer.extend(checkpointer, trigger=(1, "epoch"))
    evaluator = extensions.Evaluator(test_iter, model)
    evaluator = chainermn.create_multi_node_evaluator(evaluator, comm)
    trainer.extend(evaluator)
    if comm.rank == 0:
        trainer.extend(extensions.LogReport())
        trainer.extend(extensions.PrintReport(["epoch", "validation/main/accuracy"]))
    trainer.run()

    total = comm.allreduce(np.array([float(comm.rank)]))
    assert total == comm.size * (comm.size - 1) / 2
    if comm.rank == 0:
        accuracy = trainer.get_extension("LogReport").log[-1]["validation/main/accuracy"]
        print(f"accuracy {accuracy > 0.85}")


if __name__ == "__main__":
    main()

"""A multi-layer perceptron, the trainer with its usual extensions, and --resume."""

import argparse
import os

import numpy as np

import core as chainer
import core.functions as F
import core.links as L
from core import training
from core.training import extensions


class MLP(chainer.Chain):
    def __init__(self, n_units, n_out):
        super(MLP, self).__init__()  # noqa: UP008
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_out)

    def __call__(self, x):
        return self.l2(F.dropout(F.relu(self.l1(x)), ratio=0.1))


def run(out, epoch, resume="", gpu=-1):
    np.random.seed(0)
    x = np.random.randn(200, 8).astype(np.float32)
    t = (x[:, 0] > x[:, 1]).astype(np.int32)
    model = L.Classifier(MLP(30, 2))
    optimizer = chainer.optimizers.Adam(alpha=0.01)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer.WeightDecay(1e-4))

    train, test = chainer.datasets.split_dataset(chainer.datasets.TupleDataset(x, t), 150)
    train_iter = chainer.iterators.SerialIterator(train, 20)
    test_iter = chainer.iterators.SerialIterator(test, 20, repeat=False, shuffle=False)
    updater = training.StandardUpdater(train_iter, optimizer, device=gpu)
    trainer = training.Trainer(updater, (epoch, "epoch"), out=out)
    trainer.extend(extensions.Evaluator(test_iter, model, device=gpu))
    trainer.extend(extensions.dump_graph("main/loss"))
    best = training.triggers.MaxValueTrigger("validation/main/accuracy")
    trainer.extend(extensions.snapshot_object(model, "best"), trigger=best)
    trainer.extend(extensions.snapshot(), trigger=(2, "epoch"))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.observe_lr())
    trainer.extend(extensions.ExponentialShift("alpha", 0.9), trigger=(1, "epoch"))
    entries = ["epoch", "main/loss", "validation/main/loss", "main/accuracy", "lr"]
    trainer.extend(extensions.PrintReport(entries))
    trainer.extend(extensions.ProgressBar(update_interval=10))
    if resume:
        chainer.serializers.load_npz(resume, trainer)
    trainer.run()
    return trainer, model


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    out = parser.parse_args().out
    run(out, 4)
    trainer, model = run(out, 6, resume=os.path.join(out, "snapshot_iter_30"))

    assert trainer.updater.iteration == 45 and model.predictor.l1.W.shape == (30, 8)
    log = trainer.get_extension("LogReport").log
    assert [entry["epoch"] for entry in log] == [1, 2, 3, 4, 5, 6]
    assert log[-1]["validation/main/accuracy"] > 0.8
    files = {"best", "cg.dot", "log", "snapshot_iter_30", "snapshot_iter_45"}
    assert files <= set(os.listdir(out))

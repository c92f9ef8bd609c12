"""A training of several ranks: OUT STEPS, which goes on from a snapshot in OUT if there is one."""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

import core
import core.functions as F
import core.links as L
from core import communicators as chainermn
from core import iterators, optimizers, training
from core.training import extensions, updaters

out, steps = sys.argv[1], int(sys.argv[2])
drop = 0.5 if "--drop" in sys.argv else 0.0
comm = chainermn.create_communicator("mpi", time_limit=60)
generator = np.random.default_rng(0)
X = generator.standard_normal((50, 6)).astype("f")
T = (X[:, 0] > 0).astype("i")


class Numbered(core.dataset.DatasetMixin):
    """Examples that tell their numbers."""

    def __len__(self):
        return 50

    def get_example(self, i):
        return X[i], T[i], i


class Model(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1, self.l2 = L.Linear(6, 8), L.Linear(8, 2)

    def forward(self, x, t, numbers):
        if core.config.train:
            seen.append(numbers.tolist())
        y = self.l2(F.dropout(F.tanh(self.l1(x)), drop))
        loss = F.softmax_cross_entropy(y, t)
        core.report({"loss": loss, "accuracy": F.accuracy(y, t), "rank": comm.rank}, self)
        return loss


seen = []
core.seed(comm.rank if "--seeds" in sys.argv else 0)
model = Model()
momentum, sharded = optimizers.MomentumSGD(0.1), "--shards" in sys.argv
optimizer = chainermn.create_multi_node_optimizer(
    momentum, comm, double_buffering="--late" in sys.argv, shard_state=sharded
).setup(model)
if "--late" in sys.argv:
    optimizer.loss_scaling()
batches = chainermn.PartitionedIterator(Numbered(), 12, comm, seed=3)
if "--parts" in sys.argv:  # of different lengths, in each of which a rank draws its own order
    own = chainermn.scatter_dataset(Numbered(), comm, force_equal_length=False)
    batches = iterators.SerialIterator(own, 4)
trainer = training.Trainer(
    updaters.StandardUpdater(batches, optimizer), (steps, "iteration"), out=out
)
part = chainermn.scatter_dataset(Numbered(), comm, force_equal_length=False)
evaluator = extensions.Evaluator(
    iterators.SerialIterator(part, 50, repeat=False, shuffle=False), model
)
trainer.extend(chainermn.create_multi_node_evaluator(evaluator, comm), trigger=(5, "iteration"))
trainer.extend(chainermn.ObservationAggregator(comm, "main/rank", "mean rank"))
trainer.extend(chainermn.multi_node_snapshot(
    comm, extensions.snapshot(autoload=True)), trigger=(5, "iteration"))  # fmt: skip
if comm.rank == 0:
    trainer.extend(extensions.LogReport(trigger=(5, "iteration")))
trainer.run()

counted = comm.gather_obj(seen)
digest = hashlib.sha256(b"".join(p.array.tobytes() for _, p in sorted(model.namedparams())
                                 if p.array is not None)).hexdigest()  # fmt: skip
assert len({*comm.allgather_obj(digest)}) == 1
if comm.rank == 0:
    (Path(out) / "seen").write_text(json.dumps(counted))
    np.save(Path(out) / "weights.npy", model.l1.W.array)
    last = trainer.get_extension("LogReport").log[-1]
    print(json.dumps({"digest": digest, "log": last, "iteration": trainer.updater.iteration}))

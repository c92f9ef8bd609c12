"""A training small enough to run dozens of times: dropout, shuffling and Adam, on 37 examples."""

import json

import numpy as np

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training
from core.serializers import DictionarySerializer
from core.training import extensions

LENGTH = 37


class Model(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 6)
            self.l2 = L.Linear(None, 3)

    def forward(self, x, t):
        h = F.dropout(F.relu(self.l1(x)), 0.3)
        loss = F.softmax_cross_entropy(self.l2(h), t)
        core.report({"loss": loss}, self)
        return loss


def data():
    draw = np.random.RandomState(7)
    x = draw.randn(LENGTH, 4).astype("f")
    return datasets.TupleDataset(x, (x[:, 0] > 0).astype("i") + (x[:, 1] > 0).astype("i"))


def updater(batch_size=8, model=None, device=None):
    optimizer = optimizers.Adam(alpha=0.01).setup(model or Model())
    iterator = iterators.SerialIterator(data(), batch_size)
    return training.updaters.StandardUpdater(iterator, optimizer, device=device)


def trainer(out, stop=(3, "epoch"), snapshots=(1, "iteration"), **options):
    core.seed(3)
    made = training.Trainer(updater(), stop, out)
    model = made.updater.get_optimizer("main").target
    rest = iterators.SerialIterator(data(), 8, repeat=False, shuffle=False)
    made.extend(extensions.Evaluator(rest, model))
    made.extend(extensions.LogReport(trigger=(4, "iteration")))
    made.extend(extensions.observe_lr())
    made.extend(extensions.PlotReport("main/loss", trigger=(1, "epoch")), trigger=(1, "iteration"))
    made.extend(extensions.snapshot(**options), trigger=snapshots)
    return made


def state(obj):
    """What a snapshot holds, but for times, the name of the run, and what triggers said last."""
    saved = DictionarySerializer()
    saved.save(obj)
    found = {}
    for name, array in saved.target.items():
        if name.endswith("/log"):
            found[name] = [timeless(record) for record in json.loads(str(array))]
        elif name == "random_state":
            found[name] = random_state(json.loads(str(array)))
        elif name not in ("_snapshot_elapsed_time", "run_id") and not name.endswith("/answer"):
            found[name] = (array.dtype.str, array.shape, array.tobytes())
    return found


def random_state(found):
    """The part that training draws from: the stream of core.seed, else NumPy's generator."""
    return found["stream"] or found["backends"]["numpy"]


def timeless(record):
    return {key: value for key, value in record.items() if key != "elapsed_time"}


def run(out, *added, stop=(2, "epoch"), **options):
    made = training.Trainer(updater(), stop, out)
    for extension in added:
        made.extend(extension, **options)
    made.run(show_loop_exception_msg=False)
    return made


def bare_trainer(tmp_path, stop=(3, "iteration"), **options):
    """One without extensions, which writes below a folder."""
    return training.Trainer(updater(), stop, tmp_path / "out", **options)

"""Trainings of every kind, to be stopped anywhere; each is told by a dict that JSON can hold."""

import json
import random
import signal
from pathlib import Path

import numpy as np
import small

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizer_hooks, optimizers, training
from core.training import extensions, make_extension, triggers

EPOCHS = 3
LENGTH = small.LENGTH
STEPS = 14  # three epochs of 37 examples in batches of 8
PLAIN = {
    "seed": "core",
    "optimizer": "Adam",
    "hooks": False,
    "updater": "standard",
    "iterator": "serial",
    "dtype": "float32",
    "stop": "epochs",
    "snapshots": 1,
    "writer": None,
    "extensions": [],
}


class Model(core.Chain):
    """Dropout, running means, a shape known late, and a parameter that is never used."""

    def __init__(self, complete=False):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 6)
            self.norm = L.BatchNormalization(6)
            self.l2 = L.Linear(6 if complete else None, 3)
            if not complete:
                self.unused = L.Linear(None, 2)

    def forward(self, x, t):
        h = F.dropout(F.relu(self.norm(self.l1(x))), 0.3)
        y = self.l2(h)
        loss = F.softmax_cross_entropy(y, t)
        self.last = h
        correct = (y.array.argmax(axis=1) == t).sum()
        core.report({"loss": loss, "correct": correct, "count": len(x)}, self)
        return loss


# -- parts ------------------------------------------------------------------------------------


def disturbed(example):
    """A transform that draws from both generators that programs share."""
    x, t = example
    return x + np.random.normal(0, 0.01, x.shape).astype(x.dtype) * random.choice((-1, 1)), t


def halves(order, position):
    """An order sampler of one's own, which draws."""
    half = len(order) // 2
    if np.random.rand() < 0.5:
        return np.concatenate([order[half:], order[:half]])
    return np.random.permutation(order)


def data(dtype):
    plain = small.data()
    x, t = (np.stack(column) for column in zip(*plain, strict=True))
    return datasets.TupleDataset(x.astype(dtype), t)


ITERATORS = {
    "serial": lambda d: iterators.SerialIterator(datasets.TransformDataset(d, disturbed), 8),
    "in order": lambda d: iterators.SerialIterator(d, 8, shuffle=False),
    "sampler": lambda d: iterators.SerialIterator(d, 8, order_sampler=halves),
    "own generator": lambda d: iterators.SerialIterator(
        d, 8, order_sampler=iterators.ShuffleOrderSampler(np.random.default_rng(4))
    ),
    "own state": lambda d: iterators.MultithreadIterator(
        d, 8, order_sampler=iterators.ShuffleOrderSampler(np.random.RandomState(4)), n_threads=2
    ),
    "thread": lambda d: iterators.MultithreadIterator(d, 8, n_threads=2),
    "process": lambda d: iterators.MultiprocessIterator(
        d, 8, n_processes=2, n_prefetch=2, shared_mem=1000
    ),
}

UPDATERS = {
    "standard": training.updaters.StandardUpdater,
    "accumulating": lambda iterator, optimizer: training.updaters.StandardUpdater(
        iterator, optimizer, accumulate=2
    ),
    "parallel": lambda iterator, optimizer: training.updaters.ParallelUpdater(
        iterator, optimizer, devices={"main": "numpy", "second": "numpy"}
    ),
    "processes": lambda iterator, optimizer: training.updaters.MultiprocessParallelUpdater(
        [iterator, iterators.SerialIterator(iterator.dataset, 8)], optimizer, devices=[None, None]
    ),
}

TRIGGERS = {
    "1": lambda: (1, "iteration"),
    "3": lambda: (3, "iteration"),
    "half an epoch": lambda: (0.5, "epoch"),
    "epoch": lambda: triggers.IntervalTrigger(1, "epoch"),
    "manual": lambda: triggers.ManualScheduleTrigger([2, 3, 7, 13], "iteration"),
    "manual epochs": lambda: triggers.ManualScheduleTrigger([0.3, 1.4], "epoch"),
    "max": lambda: triggers.MaxValueTrigger("main/loss", (2, "iteration")),
    "min": lambda: triggers.MinValueTrigger("main/loss", (0.4, "epoch")),
    "best": lambda: triggers.BestValueTrigger(
        "main/loss", lambda best, new: new > best, (3, "iteration")
    ),
    "early": lambda: triggers.EarlyStoppingTrigger((2, "iteration"), patients=2),
    "once": lambda: triggers.OnceTrigger(),
    "time": lambda: triggers.TimeTrigger(1e9),
}

STOPS = {
    "epochs": lambda: (EPOCHS, "epoch"),
    "iterations": lambda: (STEPS, "iteration"),
    "early": lambda: triggers.EarlyStoppingTrigger(
        (2, "iteration"), patients=3, max_trigger=(EPOCHS, "epoch")
    ),
}


def attribute(optimizer):
    """The number that schedules change: the learning rate, whatever it is called."""
    known = optimizer.hyperparam.get_dict()
    return next(name for name in ("lr", "alpha", "rho") if name in known)


def of_optimizer(make):
    def added(trainer, trigger):
        optimizer = trainer.updater.get_optimizer("main")
        name = attribute(optimizer)
        return make(name, getattr(optimizer, name))

    return added


def of_model(make):
    return lambda trainer, trigger: make(trainer.updater.get_optimizer("main").target)


def plain(make):
    return lambda trainer, trigger: make(trigger)


def evaluator(model):
    rest = iterators.SerialIterator(data(model.l1.W.dtype), 8, repeat=False, shuffle=False)
    return extensions.Evaluator(rest, model)


def evaluator_in_orders(model):
    sampler = iterators.ShuffleOrderSampler(np.random.RandomState(2))
    rest = iterators.SerialIterator(data(model.l1.W.dtype), 8, repeat=False, order_sampler=sampler)
    return extensions.Evaluator(rest, model)


class Curves:
    """Takes what TensorBoard would show."""

    def add_scalar(self, name, value, step):
        pass


@make_extension(default_name="draw")
def draw(trainer):
    """An extension that draws, so that what is drawn depends on when it was called."""
    core.report({"drawn": np.random.rand() + random.random()})


EXTENSIONS = {
    "CosineShift": of_optimizer(lambda name, x: extensions.CosineShift(name, 5, restart=2)),
    "ExponentialShift": of_optimizer(lambda name, x: extensions.ExponentialShift(name, 0.9)),
    "FunctionShift": of_optimizer(
        lambda name, x: extensions.FunctionShift(name, lambda t: 0.9**t, x)
    ),
    "InverseShift": of_optimizer(lambda name, x: extensions.InverseShift(name, 0.1, 0.5)),
    "LinearShift": of_optimizer(lambda name, x: extensions.LinearShift(name, (x, x / 4), (2, 11))),
    "MultistepShift": of_optimizer(lambda name, x: extensions.MultistepShift(name, 0.5, [3, 7], x)),
    "OneCycleShift": of_optimizer(lambda name, x: extensions.OneCycleShift(name, 9, x)),
    "PolynomialShift": of_optimizer(lambda name, x: extensions.PolynomialShift(name, 0.7, 20)),
    "StepShift": of_optimizer(lambda name, x: extensions.StepShift(name, 0.8, 3)),
    "WarmupShift": of_optimizer(lambda name, x: extensions.WarmupShift(name, x / 10, 6, x)),
    "FailOnNonNumber": plain(lambda trigger: extensions.FailOnNonNumber()),
    "LogReport": lambda trainer, trigger: extensions.LogReport(
        trigger=trigger,
        filename="another log" if "LogReport" in dict(trainer.extension_order()) else "log",
    ),
    "MicroAverage": plain(
        lambda trigger: extensions.MicroAverage(
            "main/correct", "main/count", "main/accuracy", trigger
        )
    ),
    "PlotReport": plain(
        lambda trigger: extensions.PlotReport(["main/loss", "drawn"], trigger=trigger)
    ),
    "PrintReport": plain(
        lambda trigger: extensions.PrintReport(
            ["iteration", "main/loss"], extensions.LogReport(trigger=trigger, filename=None)
        )
    ),
    "ProgressBar": plain(lambda trigger: extensions.ProgressBar(update_interval=2)),
    "Evaluator": of_model(evaluator),
    "Evaluator in random orders": of_model(evaluator_in_orders),
    "ParameterStatistics": of_model(extensions.ParameterStatistics),
    "HistogramReport": of_model(lambda model: extensions.HistogramReport([model, "drawn"])),
    "ImageReport": of_model(
        lambda model: extensions.ImageReport(
            {"weights": lambda trainer: next(p.array for p in model.params() if p.ndim == 2)},
        )
    ),
    "VariableStatisticsPlot": of_model(
        lambda model: extensions.VariableStatisticsPlot(
            [p for p in model.params() if p.is_initialized], max_sample_size=5, report_grad=False
        )
    ),
    "draw": plain(lambda trigger: draw),
    "observe_lr": plain(lambda trigger: extensions.observe_lr()),
    "snapshot_object": of_model(lambda model: extensions.snapshot_object(model, "model")),
    "unchain_variables": plain(lambda trigger: extensions.unchain_variables()),
    "PrintReportNotebook": plain(
        lambda trigger: extensions.PrintReportNotebook(
            ["iteration", "main/loss"], extensions.LogReport(trigger=trigger, filename=None)
        )
    ),
    "ProgressBarNotebook": plain(lambda trigger: extensions.ProgressBarNotebook(update_interval=2)),
    "TensorBoardReport": plain(
        lambda trigger: extensions.TensorBoardReport(trigger=trigger, writer=Curves())
    ),
    "dump_graph": plain(lambda trigger: extensions.dump_graph("main/loss")),
    "observe_value": plain(
        lambda trigger: extensions.observe_value("twice", lambda t: 2 * t.updater.iteration)
    ),
}
TAKES_TRIGGER = {
    "LogReport",
    "MicroAverage",
    "PlotReport",
    "PrintReport",
    "PrintReportNotebook",
    "TensorBoardReport",
}
"""Those that gather at every iteration, and have a trigger of their own for the rest."""


# -- the whole --------------------------------------------------------------------------------


def build(config, out):
    """The trainer, as a script builds it: seeded anew, and resuming from what is in `out`."""
    core.seed(3 if config["seed"] == "core" else None)
    np.random.seed(5)
    random.seed(7)
    with core.using_config("dtype", np.dtype(config["dtype"]).type):
        optimizer = getattr(optimizers, config["optimizer"])()
        optimizer.setup(Model(complete=config["updater"] == "processes"))
    if config["dtype"] == "float16":
        optimizer.use_fp32_update()
        optimizer.loss_scaling(interval=3, scale=2.0**8)
    if config["hooks"]:
        optimizer.add_hook(optimizer_hooks.ExponentialMovingAverage(0.9))
    if config["hooks"] and config["optimizer"] != "LBFGS":  # which refuses to change gradients
        optimizer.add_hook(optimizer_hooks.WeightDecay(1e-3))
        optimizer.add_hook(optimizer_hooks.GradientNoise(0.01))
        optimizer.add_hook(optimizer_hooks.GradientClipping(2.0))
    iterator = ITERATORS[config["iterator"]](data(config["dtype"]))
    updater = UPDATERS[config["updater"]](iterator, optimizer)
    trainer = training.Trainer(updater, STOPS[config["stop"]](), out)
    for name, trigger in config["extensions"]:
        own = name in TAKES_TRIGGER
        extension = EXTENSIONS[name](trainer, TRIGGERS[trigger]())
        trainer.extend(extension, trigger=(1, "iteration") if own else TRIGGERS[trigger]())
    writer = config["writer"] and getattr(extensions.snapshot_writers, config["writer"])()
    snapshot = extensions.snapshot(autoload=True, n_retains=2, writer=writer)
    trainer.extend(snapshot, trigger=(config["snapshots"], "iteration"))
    return trainer


def run(config, trainer):
    """Run it where parameters that are made later have the right dtype."""
    with core.using_config("dtype", np.dtype(config["dtype"]).type):
        trainer.run()


class Killed(BaseException):
    """Stands for SIGKILL: nobody catches it."""


def always(trainer):
    """A trigger that has no state."""
    return True


def signalled(trainer, iteration):
    """Let SIGTERM come in that iteration."""

    def send(trainer):
        if trainer.updater.iteration == iteration:
            signal.raise_signal(signal.SIGTERM)

    trainer.extend(send, trigger=always)


def killed(trainer, iteration, priority, then):
    """Let the run end in that iteration, before or after other extensions; call `then` there."""

    def end(trainer):
        if trainer.updater.iteration == iteration:
            then()
            raise Killed

    trainer.extend(end, trigger=always, priority=priority)


def result(trainer, out):
    """All that must not depend on where the training was stopped."""
    found = small.state(trainer)
    for name in [name for name in found if name.startswith("updater/worker:")]:
        del found[name]  # generators that nothing seeds, and that nothing drew from
    log = Path(out) / "log"
    if log.exists():
        records = json.loads(log.read_text())
        found["the file log"] = [small.timeless(record) for record in records]
    for name in ("plot.png", "statistics.png", "model"):
        if (Path(out) / name).exists():
            found[f"the file {name}"] = (Path(out) / name).read_bytes()
    return found


def differences(found, expected):
    """The names under which two results differ."""
    names = found.keys() | expected.keys()
    return sorted(name for name in names if found.get(name) != expected.get(name))

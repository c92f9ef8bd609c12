"""A base whose `__init__` was forgotten is named, at the first use of what it sets."""

import inspect

import numpy as np
import pytest
from training import small

import core
import core.functions as F
import core.links as L
from core import (
    datasets,
    function_hooks,
    initializers,
    iterators,
    link_hooks,
    optimizer_hooks,
    optimizers,
    training,
)
from core.dataset import DatasetMixin, tabular
from core.datasets import TransformDataset
from core.errors import MissingInit
from core.training import extensions

DATA = [(np.zeros(2, "f"), np.zeros(2, "f"))]


def linear():
    return L.Linear(2, 2)


def in_scope(link):
    with link.init_scope():
        pass


def in_training(updater):
    training.Trainer(updater, (1, "iteration"))


def updated(rule):
    parameter = core.Parameter(0, (2,))
    parameter.grad = np.zeros(2, "f")
    parameter.update_rule = rule
    rule.enabled = True
    parameter.update()


Rule = type(optimizers.SGD().create_update_rule())

CASES = [
    (core.Link, lambda link: optimizers.SGD().setup(link)),
    (core.Link, in_scope),
    (core.Link, lambda link: link.add_param("W", (2,))),
    (core.Link, lambda link: core.Chain(a=link).to_cpu()),
    (core.Chain, lambda link: optimizers.SGD().setup(link)),
    (core.Chain, lambda link: link.add_link("a", linear())),
    (core.ChainList, lambda link: link.append(linear())),
    (core.ChainDict, lambda link: link.update(a=linear())),
    (core.Sequential, lambda link: link.append(linear())),
    (core.Sequential, lambda link: link(1)),
    (core.GradientMethod, lambda optimizer: repr(optimizer)),
    (optimizers.Adam, lambda optimizer: setattr(optimizer, "alpha", 0.1)),
    (optimizers.Adam, lambda optimizer: optimizer.setup(linear())),
    (Rule, updated),
    (training.StandardUpdater, in_training),
    (training.StandardUpdater, lambda updater: updater.update()),
    (extensions.Evaluator, lambda evaluator: evaluator()),
    (extensions.LogReport, lambda report: report.log),
    (extensions.ExponentialShift, lambda shift: shift.init),
    (iterators.SerialIterator, next),
    (iterators.SerialIterator, lambda iterator: iterator.epoch),
    (iterators.MultithreadIterator, next),
    (training.Trainer, lambda trainer: trainer.extend(abs)),
    (training.Trainer, lambda trainer: trainer.run()),
    (tabular.DelegateDataset, len),
    (TransformDataset, len),
]


@pytest.mark.parametrize(("base", "use"), CASES)
def test_a_forgotten_init_is_named(base, use):
    def nothing(self):
        pass

    forgetful = type("Forgetful", (base,), {"__init__": nothing})()
    with pytest.raises(MissingInit, match=r"Forgetful: super\(\).__init__\(\) has not been called"):
        use(forgetful)


@pytest.mark.parametrize(
    "base", [core.Optimizer, training.Extension, training.Updater, core.dataset.Iterator]
)
def test_a_base_that_sets_nothing_need_not_be_called(base):
    assert base.__init__ is object.__init__
    assert DatasetMixin.__init__ is object.__init__


# ------------------------------------------------------------------ every class that is provided


@pytest.fixture(autouse=True)
def unseeded():
    yield
    core.seed(None)


def within(hook):
    with hook:
        linear()(np.ones((1, 2), "f"))


def hooking(hook):
    model = linear()
    optimizer = optimizers.SGD().setup(model)
    optimizer.add_hook(hook)
    optimizer.update(lambda: F.sum(model(np.ones((1, 2), "f"))))


def extending(extension, out):
    made = small.trainer(out, (1, "iteration"))
    made.extend(extension, trigger=(1, "iteration"))
    made.run(show_loop_exception_msg=False)


def triggering(trigger, out):
    made = small.trainer(out, (1, "iteration"))
    made.extend(lambda trainer: None, trigger=trigger)
    made.run(show_loop_exception_msg=False)


def reading(dataset, out):
    if hasattr(type(dataset), "__getitem__"):
        dataset[0]
    else:
        dataset.write(1)


def in_turn(made, out):
    if isinstance(made, training.Updater):
        made.update()
    elif isinstance(made, training.Trainer):
        made.run()
    elif isinstance(made, training.Run):
        within(made)
    elif isinstance(made, training.Communicator):
        made.allgather_obj(0)
    elif isinstance(made, training.Buckets):
        made.begin(1.0)
    else:
        triggering(made, out)


def drawing(initializer, out):
    initializer(np.ones((2, 2), "f"))


def on_link(hook, out):
    link = linear()
    link.add_hook(hook)
    link(np.ones((1, 2), "f"))


USES = {
    datasets: reading,
    iterators: lambda made, out: made(range(4), 0) if isinstance(made, SAMPLERS) else next(made),
    training: in_turn,
    extensions: extending,
    training.triggers: triggering,
    training.updaters: lambda updater, out: updater.update(),
    initializers: drawing,
    function_hooks: lambda hook, out: within(hook),
    link_hooks: on_link,
    optimizer_hooks: lambda hook, out: hooking(hook),
}
SAMPLERS = iterators.OrderSampler
NEEDLESS = (
    initializers.Initializer,
    initializers.UpsamplingDeconvFilter,
    initializers.DownsamplingConvFilter,
    training.Pending,
)
"""Their methods do without what their `__init__` sets."""


def provided():
    for room in USES:
        for name in dir(room):
            cls = getattr(room, name)
            stateful = inspect.isclass(cls) and cls.__init__ is not object.__init__
            if stateful and cls not in NEEDLESS and not issubclass(cls, BaseException):
                yield pytest.param(cls, USES[room], id=f"{room.__name__}.{name}")


@pytest.mark.parametrize(("cls", "use"), [*provided()])
def test_a_forgotten_init_is_named_by_every_class_that_is_provided(cls, use, tmp_path):
    abstract = dict.fromkeys(getattr(cls, "__abstractmethods__", ()), lambda self, *given: None)
    forgetful = type("Forgetful", (cls,), {**abstract, "__init__": lambda self: None})()
    with pytest.raises(MissingInit, match="Forgetful"):
        use(forgetful, tmp_path)


def test_other_attributes_are_missing_as_ever():
    class Own(datasets.TupleDataset):
        def __init__(self):
            super().__init__([1, 2])

        @property
        def broken(self):
            return self.nothing

    with pytest.raises(AttributeError, match="'Own' object has no attribute 'nothing'"):
        Own().broken  # noqa: B018
    assert not hasattr(Own(), "size") and Own()[1] == (2,)


def test_who_sets_the_attributes_itself_need_not_call_it():
    class Mine(training.triggers.OnceTrigger):
        def __init__(self):
            self._call_on_resume = False

    with pytest.raises(AttributeError, match="'Mine' object has no attribute"):
        Mine().anything  # noqa: B018

"""Captured steps follow what they read from outside, wherever it stands."""

import functools
import itertools
import sys
import threading
import warnings
from collections import ChainMap, UserDict, UserList, deque
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass, field
from queue import Queue
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F

X = np.ones(3, "f")


@dataclass
class Settings:
    """An object of numbers."""

    rate: float = 2.0
    rates: list = field(default_factory=lambda: [[2.0]])

    @property
    def doubled(self):
        return 2 * self.rate

    def __getitem__(self, i):
        return self.rate


class Slotted:
    __slots__ = ("rate",)

    def __init__(self):
        self.rate = 2.0


class Common:
    """Numbers of a class."""

    rate = 2.0
    rates = (2.0,)

    def found(self):
        return 2.0

    def __float__(self):
        return 2.0


class Entries(dict):
    """Entries that are read as attributes; for others there is no AttributeError."""

    __getattr__ = dict.__getitem__


class Rates(list):
    """A list with an attribute, and with a method."""

    rate = 2.0

    def total(self):
        return self.rate + FACTORS[-1]


class Number:
    """What operators take for a number, and what is given by a descriptor."""

    rate = 2.0

    def __lt__(self, other):
        return self.rate < other

    def __rmul__(self, other):
        return other * self.rate

    def __get__(self, owner, cls):
        return self.rate


class Further(Number):
    """A class that goes on with what another one does."""

    def __rmul__(self, other):
        return super().__rmul__(other)

    def found(self):
        return super(Further, self).__lt__(2.5)  # noqa: UP008


def rate_of(x):
    return x.rate


def put(at, new):
    """What puts something to a place in lists and dicts."""
    return lambda held: functools.reduce(lambda x, i: x[i], at[:-1], held).__setitem__(at[-1], new)


def setting(of=lambda held: held):
    return lambda held: setattr(of(held), "rate", 3.0)


def settings_of_a_module():
    made = ModuleType("settings_of_a_module")
    made.rate = 2.0
    return made


def calling(held):
    return [lambda: held.rate]


def entered(rates):
    @contextmanager
    def rate():
        yield rates[0]

    return rate


def times(rates):
    return lambda x: x * rates[0]


def rate_within(held):
    with held() as rate:
        return rate


def first_cell(function):
    return function.__closure__[0].cell_contents


HELD = {  # what is held, how a step reads it, how it changes
    "a list within many": (
        lambda: [[[[[[2.0]]]]]],
        lambda h: h[0][0][0][0][0][0],
        put([0] * 6, 3.0),
    ),
    "a long list": (lambda: [2.0] * 40, sum, put([17], 3.0)),
    "the sign of zero": (lambda: [0.0], lambda h: np.copysign(1, h[0]), put([0], -0.0)),
    "a list of a long dict": (
        lambda: dict.fromkeys(range(30), [2.0]),
        lambda h: h[7][0],
        put([7, 0], 3.0),
    ),
    "a list of a tuple": (lambda: ([2.0],), lambda h: h[0][0], put([0, 0], 3.0)),
    "a set": (lambda: {1, 2}, sum, lambda h: h.add(7)),
    "the kind of a number in a set": (
        lambda: {1, 2},
        lambda h: len(repr(h)),
        lambda h: (h.remove(1), h.add(1.0)),
    ),
    "a deque": (lambda: deque([2.0]), lambda h: h[0], put([0], 3.0)),
    "an object of a list": (lambda: [Settings()], lambda h: h[0].rate, setting(lambda h: h[0])),
    "an object of a tuple": (lambda: (Settings(),), lambda h: h[0].rate, setting(lambda h: h[0])),
    "an object of an object": (
        lambda: SimpleNamespace(of=SimpleNamespace(rate=2.0)),
        lambda h: h.of.rate,
        setting(lambda h: h.of),
    ),
    "a list of an object": (
        lambda: {"a": Settings()},
        lambda h: h["a"].rates[0][0],
        lambda h: put([0, 0], 3.0)(h["a"].rates),
    ),
    "slots": (lambda: Slotted(), lambda h: h.rate, setting()),
    "a property": (lambda: Settings(), lambda h: h.doubled, setting()),
    "an item": (lambda: Settings(), lambda h: h[0], setting()),
    "a text": (lambda: Settings(), lambda h: getattr(h, "rate"), setting()),  # noqa: B009
    "an attribute that is not there yet": (
        lambda: [SimpleNamespace()],
        lambda h: getattr(h[0], "rate", 2.0),
        setting(lambda h: h[0]),
    ),
    "whether there is an attribute": (
        lambda: type("Own", (), {})(),
        lambda h: 3.0 if hasattr(h, "rate") else 2.0,
        setting(),
    ),
    "another function": (lambda: Settings(), rate_of, setting()),
    "an entry as an attribute": (lambda: Entries(rate=2.0), rate_of, put(["rate"], 3.0)),
    "an attribute of a list": (lambda: Rates([1.0]), rate_of, setting()),
    "what a method of a list reads": (lambda: Rates(), lambda h: h.total(), setting()),
    "a class": (lambda: type("Own", (Common,), {}), lambda h: h.rate, setting()),
    "a class of an object": (
        lambda: type("Own", (Common,), {"rates": [2.0]})(),
        lambda h: h.rates[0],
        lambda h: put([0], 3.0)(h.rates),
    ),
    "a method": (
        lambda: type("Own", (Common,), {})(),
        lambda h: h.found(),
        lambda h: setattr(type(h), "found", lambda self: 3.0),
    ),
    "a method without a name": (
        lambda: type("Own", (Common,), {})(),
        float,
        lambda h: setattr(type(h), "__float__", lambda self: 3.0),
    ),
    "a module": (lambda: settings_of_a_module(), lambda h: h.rate, setting()),
    "a function of a list": (
        lambda: [settings := Settings(), *calling(settings)],
        lambda h: h[1](),
        setting(lambda h: h[0]),
    ),
    "a comparison": (lambda: Number(), lambda h: 1.0 if h < 2.5 else 2.0, setting()),
    "an operator": (lambda: [Number()], lambda h: 2.0 * h[0], setting(lambda h: h[0])),
    "what super goes on with": (lambda: Further(), lambda h: 2.0 * h, setting()),
    "what super of a class goes on with": (
        lambda: Further(),
        lambda h: float(h.found()),
        setting(),
    ),
    "a descriptor": (
        lambda: type("Own", (), {"given": Number()})(),
        lambda h: h.given,
        setting(lambda h: vars(type(h))["given"]),
    ),
    "all attributes": (lambda: Settings(), lambda h: next(iter(vars(h).values())), setting()),
    "all fields": (lambda: Settings(), lambda h: astuple(h)[0], setting()),
    "a variable of a context": (
        lambda: ContextVar("rate", default=2.0),
        lambda h: h.get(),
        lambda h: h.set(3.0),
    ),
    "dicts behind each other": (
        lambda: ChainMap({}, {"rate": 2.0}),
        lambda h: h["rate"],
        put(["rate"], 3.0),
    ),
    "a dict of Python's": (lambda: UserDict(rate=2.0), lambda h: h["rate"], put(["rate"], 3.0)),
    "a list of Python's": (lambda: UserList([2.0]), lambda h: h[0], put([0], 3.0)),
    "the code of a function": (
        lambda: [lambda: 2.0],
        lambda h: h[0](),
        lambda h: setattr(h[0], "__code__", (lambda: 3.0).__code__),  # as who reloads a module
    ),
    "a property by code of a package": (
        lambda: core.iterators.SerialIterator([0, 1, 2, 3], 1, shuffle=False),
        lambda h: 1 + h.epoch_detail,
        lambda h: h.next(),
    ),
    "an element of a masked array": (
        lambda: np.ma.array([2.0]),
        lambda h: float(h[0]),
        put([0], 3.0),
    ),
    "a function that a package decorates": (
        lambda: entered([2.0]),
        rate_within,
        lambda h: put([0], 3.0)(first_cell(h.__wrapped__)),
    ),
    "a function that an object of a package calls": (
        lambda: np.vectorize(times([2.0])),
        lambda h: float(h(1.0)),
        lambda h: put([0], 3.0)(first_cell(h.pyfunc)),
    ),
    "an element": (lambda: np.array([2.0], "f"), lambda h: h[0], put([0], 3.0)),
    "an element of a list": (
        lambda: [[np.array([2.0], "f")]],
        lambda h: float(h[0][0][0]),
        put([0, 0, 0], 3),
    ),
    "a sum of NumPy's": (lambda: np.ones(3, "f"), np.sum, put([0], 3.0)),
}


BY_ITSELF = ("an element", "a sum of NumPy's")


def of_a_closure(held, read):
    return lambda x: x * read(held)


def of_a_default(held, read):
    def step(x, settings=held, *, of=read):
        return x * of(settings)

    return step


def of_a_default_of_another(held, read):
    settings = of_a_default(held, read)
    return lambda x: settings(x)


def of_a_partial(held, read):
    return functools.partial(lambda settings, x: x * read(settings), held)


def of_a_link(held, read):
    class Reading(core.Chain):
        def forward(self, x):
            return x * read(self.held)

    link = Reading()
    link.held = held
    return lambda x: link(x)


def of_a_link_that_is_called(held, read):
    class Reading(core.Chain):
        def __call__(self, x):
            return x * read(held)

    link = Reading()
    return lambda x: link(x)


@pytest.mark.parametrize(
    "where",
    [
        of_a_closure,
        of_a_default,
        of_a_default_of_another,
        of_a_partial,
        of_a_link,
        of_a_link_that_is_called,
    ],
)
@pytest.mark.parametrize("name", HELD)
def test_what_changes_outside_is_followed(name, where):
    made, read, change = HELD[name]
    if where is of_a_link and name in BY_ITSELF:
        pytest.skip("an array that is an attribute of a link is read anew")
    held = made()
    step = where(held, read)
    captured = core.capture(step)
    with core.no_backprop_mode():
        for _ in range(4):
            assert core.as_array(captured(X)).tobytes() == core.as_array(step(X)).tobytes()
        assert captured.replayed == 3
        before = core.as_array(step(X)).tobytes()
        change(held)
        assert before != core.as_array(step(X)).tobytes()
        for _ in range(4):
            assert core.as_array(captured(X)).tobytes() == core.as_array(step(X)).tobytes()
    assert captured.reasons == []


NUMBERS = st.sampled_from([0, 0.0, -0.0, False, 1, 1.0, True, 1 + 0j, np.float64(1), float("nan")])


HOLDERS = {
    "itself": lambda number: number,
    "in a tuple": lambda number: (number,),
    "in a list": lambda number: [number],
    "in a set": lambda number: {number},
    "in a dict": lambda number: {"of": number},
    "the key of a dict": lambda number: {number: None},
    "in a list in a tuple": lambda number: ([number],),
    "in a list beside a function": lambda number: [len, number],
}


@given(NUMBERS, NUMBERS, st.sampled_from([*HOLDERS]), st.sampled_from([*HOLDERS]))
def test_numbers_of_links_are_told_apart_by_kind_and_sign(before, after, first, then):
    class Reading(core.Chain):
        def forward(self, x):
            return x * len(repr(self.held))

    link = Reading()
    captured = core.capture(lambda x: link(x))
    with core.no_backprop_mode():
        for number, holder in [(before, first)] * 4 + [(after, then)] * 4:
            link.held = HOLDERS[holder](number)
            assert core.as_array(captured(X)).tobytes() == core.as_array(link(X)).tobytes()
    assert captured.replayed == 7


def test_modules_that_a_step_imports_are_followed(monkeypatch):
    module = settings_of_a_module()
    monkeypatch.setitem(sys.modules, "module_of_rates", module)

    def step(x):
        from module_of_rates import rate

        return x * rate

    captured = core.capture(step)
    for i in range(8):
        module.rate = 2.0 + (i > 3)
        assert captured(X).tobytes() == step(X).tobytes()
    assert captured.replayed == 7 and captured.reasons == []


def refused(step, reason):
    captured = core.capture(step)
    with pytest.warns(UserWarning, match=reason):
        for _ in range(3):
            captured(X)
    assert captured.replayed == 0


def test_what_is_too_much_to_be_looked_at_is_refused():
    words = [str(i) for i in range(20_000)]
    refused(lambda x: x * len(words[0]), "words, with other names from outside, holds more than")
    table = np.ones((512, 1024), "f")
    refused(lambda x: x * float(table[0, 0]), "table, an array of 2,097,152 bytes from outside")


@pytest.mark.parametrize(
    "numbers",
    [
        lambda: iter([1.0] * 4 + [2.0] * 4),
        lambda: (1.0 + (i > 3) for i in range(8)),
        lambda: itertools.cycle([1.0] * 4 + [2.0]),
        lambda: map(float, [1] * 4 + [2] * 4),
    ],
)
def test_iterators_that_begin_with_equal_numbers_go_on(numbers):
    runs = []
    for capture in (core.capture, lambda step: step):
        taken = SimpleNamespace(rates=numbers())
        step = capture(lambda x, taken=taken: x * next(taken.rates))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "core.capture.*rates is an iterator")
            runs.append([step(X).tobytes() for _ in range(8)])
    assert runs[0] == runs[1]


def test_an_object_in_a_list_that_the_step_changes_is_as_it_was():
    held = [Settings()]

    def step(x):
        held[0].rate += 1.0
        held[0].rates[0].append(1.0)
        return x * held[0].rate

    refused(step, "outside of the step, is changed by it")
    assert held[0].rate == 5.0
    assert held[0].rates == [[2.0, 1.0, 1.0, 1.0]]


class Keeping:
    """Methods and properties that keep what they have given."""

    @functools.lru_cache  # noqa: B019
    def table(self, n):
        return F.tanh(np.ones((n, n), "f"))

    @functools.cached_property
    def scale(self):
        return F.tanh(np.ones((), "f"))


class KeepingLink(core.Chain):
    table = Keeping.table

    def forward(self, x):
        return F.matmul(self.table(len(x)), x)


@functools.cache
def table(n):
    return F.tanh(np.ones((n, n), "f"))


def with_a_method():
    held = Keeping()
    return lambda x: F.matmul(held.table(len(x)), x), held.table


def with_a_function():
    table.cache_clear()
    return lambda x: F.matmul(table(len(x)), x), table


def with_a_link():
    link = KeepingLink()
    return lambda x: link(x), link.table


@pytest.mark.parametrize("made", [with_a_method, with_a_function, with_a_link])
def test_functions_that_keep_what_they_give_keep_no_traced_arrays(made):
    step, kept = made()
    captured = core.capture(step)
    for i in range(9):
        x = np.ones((3 + i % 3, 2), "f")
        expected = np.tanh(np.ones((len(x), len(x)), "f")) @ x
        np.testing.assert_allclose(captured(x).array, expected, rtol=1e-6)
        assert type(kept(len(x)).array) is np.ndarray
    assert captured.replayed == 8


def test_a_property_that_is_kept_is_as_it_was():
    held = Keeping()

    def step(x):
        return x * 2 if len(x) == 3 else (x * held.scale).array

    captured = core.capture(step)
    captured(X)
    with pytest.warns(UserWarning, match="Keeping.scale, outside of the step, is changed by it"):
        for _ in range(3):
            captured(np.ones(4, "f"))
    assert type(held.scale.array) is np.ndarray


def test_an_attribute_that_was_missing_is_missing_after_a_recording():
    held = SimpleNamespace()
    seen = []

    def step(x):
        seen.append(hasattr(held, "last"))
        held.last = F.tanh(x).array
        return held.last

    captured = core.capture(lambda x: step(x) if len(x) == 4 else x)
    captured(X)
    with pytest.warns(UserWarning, match="outside of the step, is changed by it"):
        captured(np.ones(4, "f"))
    assert seen == [False]
    assert type(held.last) is np.ndarray


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("x * held.rate", False),
        ("x * held.rate()", False),
        ("x * [held.rate() for _ in x][0]", False),
        ("x * rate", True),
        ("x * [rate for _ in x][0]", True),
        ("x * held.rate() * rate", True),
    ],
)
def test_a_global_that_shares_its_name_with_an_attribute_alone_may_change(text, reads):
    class Held:
        rate = 2.0 if "rate()" not in text else lambda self: 2.0

    scope = {"held": Held(), "rate": 0.0}
    exec(f"def step(x):\n    return {text}", scope)
    step, captured = scope["step"], core.capture(scope["step"])
    for i in range(12):
        scope["rate"] = float(i + 1) if not reads or i > 5 else 1.0
        assert captured(X).tobytes() == step(X).tobytes()
    assert (", 1 recording" in captured.report()) is not reads


class Rounded(core.FunctionNode):
    """An operation of the tests' own, straight through."""

    step: float = 0.5
    domain = core.Domain("(...)->(...)", x=core.real(-2, 2))

    def compute(self, xp, x):
        return xp.round(x / self.step) * self.step * FACTORS[-1]

    def gradient(self, xp, g):
        return g * SLOPES[-1]


class Total(core.FunctionNode):
    """One of any number of inputs."""

    domain = core.Domain("(n)*->(n)", xs=core.real(-2, 2))

    def compute(self, xp, *xs):
        return sum(xs[1:], xs[0]) * FACTORS[-1]

    def gradient(self, xp, g, needs_grad):
        return (g * SLOPES[-1],) * len(needs_grad)


FACTORS, SLOPES = [2.0], [3.0]
ALIAS = Rounded.call


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: Rounded.call(x),
        lambda x: Rounded.call(x, step=0.25),
        lambda x: ALIAS(x),
        lambda x: Rounded(0.25).apply((x,))[0],
        lambda x: Total.call(x, x + 1),
    ],
)
def test_steps_with_operations_of_ones_own_are_replayed(operation):
    FACTORS[:], SLOPES[:] = [2.0], [3.0]

    def step(x):
        x = core.Variable(x * 1)
        loss = F.sum(operation(x))
        return loss.array, core.grad([loss], [x])[0].array

    captured = core.capture(step)
    for i in range(12):  # the first call, which is made as it is, writes the engine's functions
        SLOPES[-1] += i == 4
        FACTORS[-1] += i == 8
        found, expected = captured(X * i), step(X * i)
        assert [a.tobytes() for a in found] == [a.tobytes() for a in expected]
    assert ": 12 calls, 11 of them replayed, 3 recordings" in captured.report()


def trained(factor, output=None, capture=True):
    """Losses, weights and rates after steps of an optimizer, and how these were made."""
    model = core.Chain(t=core.links.Linear(3, 3, initialW=0.5))
    model.add_link("lr", core.links.Linear(3, 3, initialW=-0.25))
    inner = model["t"]
    optimizer = core.optimizers.SGD(lr=0.0625).setup(model)
    group = optimizer.group("*/b", lr=0.25)

    def step(x):
        y = inner(x) if output is None else output(model, x)
        loss = F.mean(y**2) * factor(inner, optimizer, group)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    captured = core.capture(step)
    losses = []
    for i in range(12):
        optimizer.lr *= 0.5 if i in (5, 6) else 1.0
        group.lr *= 0.5 if i in (8, 9) else 1.0
        losses.append((captured if capture else step)(X[None] / (i + 1)).array.tobytes())
    found = losses, inner.W.array.tobytes(), optimizer.lr, group.lr
    return found, captured.report()


def test_attributes_that_are_called_as_numbers_of_an_optimizer_are_not_taken_for_these():
    def output(model, x):
        return model.t(x) + model.lr(x)

    found, report = trained(lambda *_: 2.0, output)
    assert found == trained(lambda *_: 2.0, output, capture=False)[0]
    assert ": 12 calls, 11 of them replayed, 1 recording" in report


def set_to(owner, rate):
    owner.lr = rate
    return 1.0


@pytest.mark.filterwarnings("ignore:core.capture")  # of steps that set one, or count by it
@pytest.mark.parametrize(
    "factor",
    [
        lambda link, optimizer, group: optimizer.lr,
        lambda link, optimizer, group: getattr(optimizer, "lr"),  # noqa: B009
        lambda link, optimizer, group: optimizer.hyperparam.lr,
        lambda link, optimizer, group: optimizer.hyperparam.get_dict()["lr"],
        lambda link, optimizer, group: vars(optimizer.hyperparam)["lr"],
        lambda link, optimizer, group: group.lr,
        lambda link, optimizer, group: link.b.update_rule.lr,
        lambda link, optimizer, group: link.b.update_rule.hyperparam.lr,
        lambda link, optimizer, group: 1.0 if optimizer.t < 7 else 2.0,
        lambda link, optimizer, group: set_to(optimizer, 0.0625),
        lambda link, optimizer, group: set_to(group, 0.25),
        lambda link, optimizer, group: set_to(optimizer.hyperparam, optimizer.lr / 2),
    ],
)
def test_numbers_of_optimizers_that_a_step_asks_for_may_change(factor):
    def asked():
        return [vars(core.Optimizer).get(name) for name in ("__getattribute__", "__setattr__")]

    before = asked()
    assert trained(factor)[0] == trained(factor, capture=False)[0]
    assert asked() == before  # recorded, an optimizer is as fast as it was


def test_numbers_that_another_thread_asks_for_are_none_of_a_steps():
    other = core.links.Linear(3, 3)
    optimizer = core.optimizers.Adam().setup(other)
    F.sum(other(X[None])).backward()
    turns, done = Queue(), Queue()

    def training():
        while turns.get():
            optimizer.update()
            done.put(None)

    def step(x):
        turns.put(True)
        done.get()
        return x * 2

    thread = threading.Thread(target=training)
    thread.start()
    captured = core.capture(step)
    for _ in range(8):
        step(X)
        captured(X)
    turns.put(False)
    thread.join()
    assert ": 8 calls, 7 of them replayed, 1 recording" in captured.report()
    assert captured.reasons == []


def test_a_number_that_follows_from_others_is_put_back_with_them():
    optimizer = core.optimizers.Adam(alpha=0.5).setup(core.links.Linear(3, 3))
    optimizer.t = 1

    def step(x):
        before = optimizer.alpha_t
        optimizer.alpha = 0.25 if optimizer.alpha == 0.5 else 0.5
        return x * before

    captured = core.capture(step)
    with pytest.warns(UserWarning, match="Adam.alpha.*, outside of the step, is changed by it"):
        for i in range(8):
            assert optimizer.alpha == (0.25 if i % 2 else 0.5)
            captured(X)

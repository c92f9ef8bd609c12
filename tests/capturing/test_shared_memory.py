"""What a step is given twice: one memory, one Variable or one parameter in two places."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.optimizers import SGD

X = np.random.default_rng(0).normal(size=(8, 6)).astype("f")


@pytest.fixture(autouse=True)
def _no_seed():
    yield
    core.seed(None)


def total(array):
    return F.sum(F.identity(np.asarray(array) if np.isscalar(array) else array))


class Twice:
    """Links that read arrays before and after these are changed."""

    def __init__(self):
        core.seed(0)
        self.model = core.Sequential(L.Linear(6, 6), L.BatchNormalization(6))
        self.optimizer = SGD(0.01).setup(self.model)
        self.model(X)

    def __call__(self, x, *others):
        before = [total(each) for each in (*self.read(), *others)]
        loss = F.sum(self.model(x) ** 2)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        return before, loss, [total(each) for each in (*self.read(), *others)]

    def read(self):
        return ()


class OfParameter(Twice):
    def read(self):
        return (self.weights,)

    def __init__(self):
        super().__init__()
        self.weights = self.model[0].W.array


class OfAverage(OfParameter):
    def __init__(self):
        super().__init__()
        self.weights = self.model[1].avg_mean[1:]


class OfHalf(Twice):
    """Its weights are one half of an array, the other half of which is somebody else's."""

    def __init__(self):
        super().__init__()
        whole = np.concatenate([self.model[0].W.array, X[:6]])
        self.model[0].W.array, self.rest = whole[:6], whole[6:]


GIVEN = {
    "an array that is a parameter": (Twice, lambda s: (s.model[0].W.array,), 0),
    "a part of one": (Twice, lambda s: (s.model[0].W.array[1:3],), 0),
    "a running average": (Twice, lambda s: (s.model[1].avg_var,), 0),
    "what lies beside one": (OfHalf, lambda s: (s.rest,), 5),
    "a copy": (Twice, lambda s: (s.model[0].W.array.copy(),), 5),
    "a name for a parameter": (OfParameter, lambda s: (), 0),
    "a name for a part of an average": (OfAverage, lambda s: (), 0),
}


@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("case", GIVEN)
def test_what_is_changed_is_read_anew_under_another_name(case, fuse):
    make, others, replayed = GIVEN[case]
    made = make(), make()
    steps = made[0], core.capture(made[1], fuse=fuse)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(6):
            expected, found = (
                step(X, *others(each)) for step, each in zip(steps, made, strict=True)
            )
            for one, other in zip(flat(expected), flat(found), strict=True):
                np.testing.assert_allclose(other, one, rtol=1e-4 if fuse else 0)
    assert steps[1].replayed == replayed
    assert [f"{each.message}".count("share memory") for each in told] == [1] * (not replayed)


def test_what_numpy_takes_of_a_parameter():
    def made():
        made = Twice()
        weights, average = made.model[0].W.array, made.model[1].avg_mean
        made.read = lambda: (np.sum(weights * 2), average[0])
        return made

    step, captured = made(), core.capture(made())
    with pytest.warns(UserWarning, match="shares memory with what the step changes, and no"):
        for _ in range(5):
            for one, other in zip(flat(step(X)), flat(captured(X)), strict=True):
                assert one.tobytes() == other.tobytes()
    assert captured.replayed == 0


def flat(results):
    before, loss, after = results
    return [each.array for each in (*before, loss, *after)]


def test_parameters_that_have_one_array_later():
    def made():
        core.seed(0)
        one, other = L.Linear(6, 3), L.Linear(6, 3)
        optimizer = SGD(0.01).setup(one)

        def step(x):
            before = F.sum(other.W * 2)
            loss = F.sum((one(x) - other(x)) ** 2)
            one.cleargrads()
            other.cleargrads()
            loss.backward()
            optimizer.update()
            return before, loss, F.sum(other.W * 2)

        return one, other, step

    (one, other, step), (first, second, captured) = made(), made()
    captured = core.capture(captured)
    for i in range(6):
        if i == 4:
            other.W.array, second.W.array = one.W.array, first.W.array
        expected = step(X)
        with pytest.warns(UserWarning, match="share memory") if i == 4 else warnings_as_errors():
            found = captured(X)
        assert [y.array.tobytes() for y in found] == [y.array.tobytes() for y in expected]
    assert captured.replayed == 3


def warnings_as_errors():
    return warnings.catch_warnings(action="error")


def test_a_program_is_not_given_what_it_changes():
    layer = L.Linear(6, 3)
    optimizer = SGD(0.1).setup(layer)

    def step(W, x):
        optimizer.update(lambda: F.sum(layer(x) ** 2))
        return W * 2

    program = core.trace(step, layer.W.array.copy(), X)
    before = layer.W.array.copy()
    with pytest.raises(core.errors.TraceError, match="/W, which is changed in place, to have"):
        program(layer.W.array, X)
    assert layer.W.array.tobytes() == before.tobytes()
    other = L.Linear(6, 3)
    other.W.array = layer.W.array
    both = core.Sequential(layer, L.Linear(3, 6), other)
    optimizer = SGD(0.1).setup(both)
    program = core.trace(lambda x: optimizer.update(lambda: F.sum(both(x) ** 2)), X)
    with pytest.raises(core.errors.TraceError, match="to have memory of its own, got that of"):
        program(X)


@pytest.mark.parametrize("which", ["a Variable twice", "a parameter", "two Variables"])
def test_a_variable_in_two_places_gets_one_gradient(which):
    layer = L.Linear(6, 6)

    def step(a, b):
        loss = F.sum(a * b * b) + F.sum(layer(X[:6]) ** 2)
        loss.backward()
        return loss

    captured = core.capture(step)
    for i in range(5):
        found = []
        for each in (step, captured):
            layer.cleargrads()
            a = layer.W if which == "a parameter" else core.Variable(X[:6] + i)
            b = a if which == "a Variable twice" else core.Variable(X[:6] * i)
            with warnings.catch_warnings(record=True):
                warnings.simplefilter("always")
                loss = each(a, b)
            found.append([y.tobytes() for y in (loss.array, a.grad, b.grad, layer.W.grad)])
        assert found[0] == found[1]
    assert captured.replayed == (4 if which == "two Variables" else 0)
    assert len(captured.reasons) == (which != "two Variables")


def test_a_variable_of_a_link_that_gets_a_gradient():
    link = core.Chain()
    link.scale = core.Variable(X.copy())
    captured = core.capture(lambda x: F.sum(x * link.scale).backward())
    with pytest.warns(UserWarning, match="/scale, a Variable, gets a gradient"):
        for i in range(4):
            link.scale.cleargrad()
            captured(core.Variable(X * i))
            assert link.scale.grad.tobytes() == (X * i).tobytes()


@dataclass
class Batch:
    x: object
    t: object


def test_arguments_that_are_objects_are_left_to_eager():
    captured = core.capture(lambda batch: F.sum(batch.x * batch.t))
    with pytest.warns(UserWarning, match="arrays, numbers and text, got a Batch"):
        for i in range(4):
            assert captured(Batch(X, X * i)).array == F.sum(X * (X * i)).array
    assert len(captured.reasons) == 1


@pytest.mark.parametrize(
    ("wrapped", "reason"),
    [
        (lambda y: Batch(y, y), "in tuples, lists and dicts, got a Batch"),
        (lambda y: {"y": [Batch(y, 1)]}, "in tuples, lists and dicts, got a Batch"),
        (lambda y: (y * i for i in range(2)), "in tuples, lists and dicts, got a generator"),
        (lambda y: (y, np.float32(3.5)), "it returns is the number np.float32"),
    ],
)
def test_results_that_are_objects_are_left_to_eager(wrapped, reason):
    captured = core.capture(lambda x: wrapped(F.tanh(x)))
    if "number" not in reason:
        with pytest.raises(core.errors.TraceError, match=reason):
            core.trace(captured.function, X)
        with pytest.raises(core.errors.TraceError, match=reason):
            core.vmap(captured.function)(X)
    with pytest.warns(UserWarning, match=reason):
        for i in range(4):
            assert_real(captured(X * i), np.tanh(X * i))
    assert captured.replayed == 0


def assert_real(found, expected):
    if isinstance(found, Batch):
        found = found.x
    elif isinstance(found, dict):
        found = found["y"][0].x
    else:
        found = [*found][0 if isinstance(found, tuple) else 1]
    np.testing.assert_allclose(found.array, expected, rtol=1e-5)

"""Updates of arrays that never change, as one function which their library compiles."""

import numpy as np
import pytest
from unchanging import UnchangingBackend

import core
from core import optimizers
from core.optimizer import staged

SHAPES = (3, 4), (5,), (), (0, 2)
WHOLE = {"Adafactor", "LAMB", "Muon"}  # look at norms, rows or columns
SEVERAL = {"MSVAG", "RAdam", "SMORMS3"}  # begin with another formula
NAMES = [name for name in dir(optimizers) if name[0].isupper() and name != "LBFGS"]


class Staging(UnchangingBackend):
    """Counts what is staged, and what is called of it."""

    name = "staging"

    def __init__(self):
        super().__init__()
        self.staged = self.called = 0

    def stage(self, function):
        self.staged += 1

        def counted(*arrays):
            self.called += 1
            return function(*arrays)

        return counted


@pytest.fixture
def place():
    found = core.backend.register(Staging())
    yield found
    core.backend.unregister(found)


def model_on(place, dtype="f"):
    rng, model = np.random.default_rng(0), core.Link()
    with model.init_scope():
        for i, shape in enumerate(SHAPES):
            array = rng.normal(size=shape).astype(dtype)
            setattr(model, f"p{i}", core.Parameter(place.asarray(array)))
    return model


def moved(place, optimizer, dtype="f"):
    """Parameters and states after some steps with other rates each, as they are on the host."""
    model, rng = model_on(place, dtype), np.random.default_rng(1)
    optimizer.setup(model)
    own = model.p1.update_rule.hyperparam
    for step in range(4):
        for name in {"lr", "alpha"} & optimizer.hyperparam.get_dict().keys():
            setattr(optimizer, name, 0.1 / (1 + step))
            setattr(own, name, 0.2)
        for p in model.params():
            p.grad = place.asarray(rng.normal(size=p.shape).astype(dtype))
        optimizer.update()
    found = [p.array for p in model.params()]
    found += [x for p in model.params() for x in (p.update_rule.state or {}).values()]
    return [np.asarray(x) for x in found]


@pytest.mark.parametrize("name", NAMES)
def test_all_parameters_of_a_rule_move_in_one_call(name, place, monkeypatch):
    found = moved(place, getattr(optimizers, name)())
    rates = 1 + bool({"lr", "alpha"} & getattr(optimizers, name)().hyperparam.get_dict().keys())
    if name in WHOLE:
        assert place.staged == 0
    else:
        assert place.called == 4 * rates
        assert place.staged <= rates * (2 if name in SEVERAL else 1)
    monkeypatch.setattr(place, "stage", None)
    for one, other in zip(moved(place, getattr(optimizers, name)()), found, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_dtypes_and_states_that_differ_are_calls_of_their_own(place):
    model = core.Link()
    with model.init_scope():
        model.a, model.b = (core.Parameter(place.asarray(np.ones(2, d))) for d in "fd")
    optimizer = optimizers.SGD(lr=0.5).setup(model)
    for p in model.params():
        p.grad = place.asarray(np.ones(2, p.dtype))
    optimizer.update()
    assert place.called == 2
    assert [p.dtype for p in model.params()] == ["f", "d"] and model.b.array.tolist() == [0.5, 0.5]


class Looking(core.UpdateRule):
    """Asks for values, which a function of arrays that is compiled has none of."""

    def step(self, xp, param, grad):
        if xp.sum(grad) > 1:
            param -= grad


def test_a_rule_that_looks_at_values_is_left_to_itself(place):
    model = model_on(place)
    for p in model.params():
        p.update_rule = Looking()
        p.grad = place.asarray(np.ones(p.shape, "f"))
        before = np.asarray(p.array)
        p.update()
        np.testing.assert_array_equal(p.array, before - (p.size > 1))
    assert place.called == 0


def test_hooks_see_each_parameter(place):
    model, seen = model_on(place), []
    optimizer = optimizers.SGD(lr=0.5).setup(model)
    for p in model.params():
        p.update_rule.add_hook(lambda rule, p: seen.append(p), name="see")
        p.grad = place.asarray(np.ones(p.shape, "f"))
    optimizer.update()
    assert len(seen) == len(SHAPES) and place.called == 0


def test_functions_are_not_kept_without_end(place, monkeypatch):
    monkeypatch.setattr(staged, "MOST", 2)
    for size in range(1, 6):
        p = core.Parameter(place.asarray(np.ones(size, "f")))
        p.update_rule = optimizers.SGD.rule(lr=0.5)
        p.grad = place.asarray(np.ones(size, "f"))
        p.update()
        assert p.array.tolist() == [0.5] * size
    assert place.staged == 5 and len(staged._staged[place]) <= 2

"""Functions that give parameters and persistent arrays other arrays: what runs leave is eager's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core.errors import TraceError

PLACES = ["W", "V", "kept"]
SET = st.tuples(st.sampled_from(PLACES), st.sampled_from([*PLACES, "x", "outside", "new"]))


class Model(core.Link):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.W, self.V = (core.Parameter(np.full(2, k, "f")) for k in (1, 2))
        self.kept = np.full(2, 3, "f")
        self.register_persistent("kept")

    def array(self, name):
        return self.kept if name == "kept" else getattr(self, name).array

    def put(self, name, array):
        if name == "kept":
            self.kept = array
        else:
            getattr(self, name).array = array


def setting(pairs):
    """A model, and a function that sets its arrays and gives what was there before."""
    model, outside = Model(), np.full(2, 7, "f")

    def function(x):
        before = [model.array(name) for name in PLACES]
        for name, source in pairs:
            found = {"x": x, "outside": outside, "new": model.W.array * 0.5 + x}
            model.put(name, found[source] if source in found else model.array(source))
        return before, F.sum(model.W * model.V + model.kept).array

    return model, function


def calls(model, function):
    for k in range(5):
        before, y = function(np.full(2, k, "f"))
        yield [*np.copy(before).tolist(), y.tolist()], [model.array(n).tolist() for n in PLACES]


@settings(max_examples=40)
@given(st.lists(SET, min_size=1, max_size=4))
@pytest.mark.filterwarnings("ignore:core.capture")  # what shares memory is left to eager
def test_runs_leave_what_eager_does(pairs):
    expected = [*calls(*setting(pairs))]
    model, function = setting(pairs)
    assert [*calls(model, core.trace(function, np.zeros(2, "f")))] == expected
    model, function = setting(pairs)
    assert [*calls(model, core.capture(function))] == expected


def test_a_captured_step_that_sets_an_array_from_outside_is_replayed():
    model = L.Linear(3, 2)
    optimizer = core.optimizers.SGD(0.5).setup(model)

    @core.capture
    def step(x):
        optimizer.update(lambda: F.sum(model(x)))
        model.W.array = np.ones((2, 3), "f")
        y = F.sum(model(x) - model.b).array
        optimizer.update(lambda: F.sum(model(x)))
        return y

    for k in range(4):
        assert step(np.full((1, 3), k, "f")) == 6 * k
        assert (model.W.array == 1 - 0.5 * k).all()
    assert step.replayed == 3


@pytest.mark.parametrize("value", [np.zeros(3, "f"), np.zeros(2), 1.5])
def test_what_a_run_cannot_write_is_refused(value):
    model = Model()

    def function(x):
        model.kept = value
        return x

    with pytest.raises(TraceError, match=r"/kept went from .*Set one of the same|stay the same"):
        core.trace(function, np.zeros(2, "f"))
    assert model.kept.tolist() == [3, 3]

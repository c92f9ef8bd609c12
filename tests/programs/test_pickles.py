"""Programs and captured steps in pickles and deep copies."""

import pickle
import subprocess
import sys
from copy import copy, deepcopy

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import optimizers
from core.arrays.backend import random_state, set_random_state

X = np.random.default_rng(0).random((4, 3)).astype("f")
T = np.zeros(4, "i")


@pytest.fixture(autouse=True)
def unseeded():
    yield
    core.arrays.random_streams.set_stream_state(None)


def pickled(x):
    return pickle.loads(pickle.dumps(x))


class Model(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first, self.norm, self.last = (
                L.Linear(3, 6),
                L.BatchNormalization(6),
                L.Linear(6, 2),
            )

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.last(F.dropout(self.norm(self.first(x)), 0.3)), t)


class Training:
    """A model and its step, captured."""

    def __init__(self, rule=optimizers.MomentumSGD):
        core.seed(0)
        np.random.seed(0)
        self.model = Model()
        self.optimizer = rule(lr=0.1).setup(self.model)
        self.captured = core.capture(self.step)

    def step(self, x, t):
        loss = self.model(x, t)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss.array

    def state(self):
        return [p.array.tobytes() for p in self.model.params()] + [
            self.model.norm.avg_var.tobytes()
        ]


def same(one, step, other, copied, steps=3):
    """Whether two trainings give the same bits, and in the end have the same parameters."""
    for _ in range(steps):
        state = random_state()
        expected = step(X, T).tobytes()
        set_random_state(state)
        assert copied(X, T).tobytes() == expected
    assert one.state() == other.state()


@pytest.mark.parametrize("how", [pickled, deepcopy])
def test_a_program_with_its_training(how):
    training = Training()
    program = core.trace(training.step, X, T)
    program(X, T)
    other, copied = how((training, program))
    assert str(copied) == str(program)
    same(training, program, other, copied)
    assert other.optimizer.t == training.optimizer.t > 0


@pytest.mark.parametrize("how", [pickled, deepcopy, copy])
def test_a_program_by_itself_and_in_loops(how):
    model = L.Linear(3, 2)
    for program in (
        core.trace(lambda x: F.tanh(model(x)) * 2 + 1, X),
        core.trace(lambda x: np.tanh(x * 2 + 1) * 3 + x / 2, X).fused(),
    ):
        found = core.as_array(how(program)(X))
        assert found.tobytes() == core.as_array(program(X)).tobytes()


def test_a_program_in_another_process(tmp_path):
    model = L.Linear(3, 2)
    program = core.trace(lambda x: F.softmax(model(x)).array, X)
    (tmp_path / "program").write_bytes(pickle.dumps((program, X)))
    text = (
        "import pickle, sys; program, x = pickle.load(open(sys.argv[1], 'rb')); "
        "sys.stdout.buffer.write(program(x).tobytes())"
    )
    command = [sys.executable, "-c", text, tmp_path / "program"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == program(X).tobytes()


@pytest.mark.parametrize("how", [pickled, deepcopy])
def test_kernels_are_refused(how):
    x = np.ones((256, 1024), "f")
    program = core.trace(F.softmax, x, kernels=True)
    if not [e for e in program.equations if e.call.kind == "kernel"]:
        pytest.skip("there is no kernel without numba")
    with pytest.raises(core.errors.TraceError, match="can be neither pickled nor deeply copied"):
        how(program)


@pytest.mark.parametrize("how", [pickled, deepcopy])
def test_a_captured_step_captures_anew(how):
    training = Training()
    for _ in range(3):
        training.captured(X, T)
    other = how(training)
    assert other.captured.programs == []
    assert other.captured.function.__self__ is other
    same(training, training.captured, other, other.captured, 4)
    assert other.captured.replayed == 4
    assert how(training.captured).function.__self__.captured.calls == 0


@core.capture
def doubled(x):
    return x * 2


def test_a_decorated_function_goes_by_its_name():
    assert pickled(doubled) is doubled
    assert deepcopy(doubled) is doubled


def test_constants_lie_in_pickles_and_texts_as_they_did():
    random = np.random.default_rng(0)
    cube = random.normal(size=(5, 7, 9)).astype("f")
    outside = [np.moveaxis(cube, 0, 1), cube.T, cube[::-1, ::2].swapaxes(1, 2), cube[:, :, 3].T]
    program = core.trace(lambda x: [x * np.sum(a) for a in outside] + outside, np.ones(1, "f"))
    scope = {}
    exec(program.source(), scope)
    expected = program(np.ones(1, "f"))
    for run in (pickled(program), deepcopy(program), scope["program"]):
        for one, other in zip(run(np.ones(1, "f")), expected, strict=True):
            assert one.tobytes() == other.tobytes()
    for one, other in zip(pickled(program).constants.values(), outside, strict=False):
        if other.shape == one.shape:
            assert np.argsort(one.strides).tolist() == np.argsort(np.abs(other.strides)).tolist()

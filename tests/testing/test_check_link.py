"""check_link finds fault with links that are wrong in one respect each, and names the check."""

import threading

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import Elementwise, Link, Parameter, real
from core.testing import check_link

X = np.random.RandomState(0).uniform(-1, 1, (4, 3))


class Scale(Link):
    """A correct link, from which the wrong ones are derived."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = Parameter(core.initializers.Normal(), (3,))
        self.add_persistent("calls", 0)

    def forward(self, x):
        if core.config.train:
            self.calls += 1
        return core.as_variable(x) * F.broadcast_to(self.a, x.shape)


def scaled(p, x):
    return x * p["/a"]


class WritesIntoItsInput(Scale):
    def forward(self, x):
        y = super().forward(x)
        getattr(x, "array", x)[0] = 0
        return y


class Widens(Scale):
    def forward(self, x):
        return F.cast(super().forward(x), "float64")


class WrongRule(Elementwise):
    domain = core.Domain(x=real(-1, 1), a=real(-1, 1))

    def compute(self, xp, x, a):
        return x * a

    def gradient_x(self, xp, g, a):
        return g * a * 1.01

    def gradient_a(self, xp, g, x):
        return g * x


class WrongGradient(Scale):
    def forward(self, x):
        return WrongRule.call(x, F.broadcast_to(self.a, x.shape))


class OnceDifferentiable(core.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] ** 3,)

    def backward(self, indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        return (grad_outputs[0] * core.Variable(3 * x.array**2, requires_grad=False),)


class WrongSecondGradient(Scale):
    def forward(self, x):
        return OnceDifferentiable().apply((super().forward(x),))[0]


class CountsInTestMode(Scale):
    def forward(self, x):
        y = super().forward(x)
        self.calls += 1
        return y


class NeverForgets(Scale):
    h = None

    def forward(self, x):
        y = super().forward(x)
        self.h = y.array if self.h is None else self.h + y.array
        return y + self.h


class CopiesWhatIsShared(Scale):
    def _shared(self):
        return self.copy("copy")


class RepeatsItself(Scale):
    def repeat(self, n_repeat, mode="init"):
        return core.Sequential(*[self] * n_repeat)


class HoldsALock(Scale):
    def forward(self, x):
        self.lock = threading.Lock()
        return super().forward(x)


class LeavesAnArrayBehind(Scale):
    def __init__(self):
        super().__init__()
        self.shift = core.backend.current().asarray([1.0, 2.0, 3.0], core.config.dtype)

    def forward(self, x):
        return super().forward(x) + F.broadcast_to(self.shift, x.shape)


class DoesNotSaveItsCount(Scale):
    """What was counted in training shows in test mode."""

    def __init__(self):
        super().__init__()
        self.seen = 0

    def forward(self, x):
        self.seen += core.config.train
        return super().forward(x) + self.seen


class ForgetsWhenTraining(Scale):
    """The same in training alone."""

    def __init__(self):
        super().__init__()
        self.seen = 0

    def forward(self, x):
        if not core.config.train:
            return super().forward(x)
        self.seen += 1
        return super().forward(x) * self.seen


class SavesAnObject(Scale):
    def __init__(self):
        super().__init__()
        self.add_persistent("table", {"a": 1})


class Hidden(Scale):
    def __repr__(self):
        return "Hidden: 3 parameters"


class KeepsItsValues(Scale):
    def copy(self, mode="share"):
        return super().copy("share" if mode == "init" else mode)


WRONG = {
    WritesIntoItsInput: "forward",
    Widens: "forward",
    WrongGradient: "gradients",
    WrongSecondGradient: "second_gradients",
    CountsInTestMode: "modes",
    NeverForgets: "modes",
    CopiesWhatIsShared: "copies",
    KeepsItsValues: "copies_anew",
    RepeatsItself: "repetitions",
    HoldsALock: "copies",
    LeavesAnArrayBehind: "moves",
    DoesNotSaveItsCount: "state",
    ForgetsWhenTraining: "resumption",
    SavesAnObject: "files",
    Hidden: "looks",
}


def test_a_correct_link_passes():
    check_link(Scale, (X,), scaled)


@pytest.mark.parametrize("cls", WRONG, ids=lambda cls: cls.__name__)
def test_a_wrong_link_is_found_out(cls):
    reference = scaled if cls in (WritesIntoItsInput, Widens) else None
    with pytest.raises(Exception) as caught:
        check_link(cls, (X,), reference)
    (note,) = caught.value.__notes__
    assert note.startswith(f"check {WRONG[cls]!r} of a {cls.__name__} on "), (note, caught.value)


def test_a_wrong_reference_is_found_out():
    with pytest.raises(AssertionError, match="output 0"):
        check_link(Scale, (X,), lambda p, x: x * p["/a"] + 1e-3)
    with pytest.raises(AssertionError, match="expected 2 outputs, got 1"):
        check_link(Scale, (X,), lambda p, x: (x, x))


def test_what_is_left_out_is_not_demanded():
    check_link(WrongSecondGradient, (X,), double=False)
    check_link(KeepsItsValues, X, init=False)


def test_a_link_that_is_made_already_is_refused():
    with pytest.raises(
        TypeError, match=r"check_link: expected a function .* `lambda: Scale\(...\)`"
    ):
        check_link(Scale(), X)


def test_only_the_backends_asked_for():
    used = []

    class Watching(Scale):
        def forward(self, x):
            used.append(core.backend.of(getattr(x, "array", x)).name)
            return super().forward(x)

    with pytest.raises(Exception):  # noqa: B017 - a class of a function cannot be pickled
        check_link(Watching, (X,), scaled, ["strict"])
    assert set(used) == {"strict"}


@pytest.mark.parametrize("make", [lambda: L.LSTM(3, 2), lambda: L.BatchNormalization(3)])
def test_links_with_state_and_statistics(make):
    check_link(make, (X,))

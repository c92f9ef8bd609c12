"""check_op's check that an operation can be traced: what it finds in operations that are wrong."""

import numpy as np
import pytest

import core
from core import Domain, Elementwise, FunctionNode, real
from core.errors import TraceError
from core.testing import check_op


def square(x):
    return x * x


def test_an_operation_that_looks_at_values_says_so():
    class Peeking(Elementwise):
        domain = Domain(x=real(-2, 2))

        def compute(self, xp, x):
            return x * x if bool(xp.all(x < 3)) else x

        def gradient(self, xp, g, x):
            return g * x * 2.0

    with pytest.raises(TraceError, match="in Peeking, at .*test_replay.py") as caught:
        check_op(Peeking, square, ["numpy"])
    assert "leave_out={'traced': 'depends on values'}" in "".join(caught.value.__notes__)
    Peeking.domain = Domain(x=real(-2, 2), leave_out={"traced": "depends on values"})
    check_op(Peeking, square, ["numpy"])


@pytest.mark.parametrize("library", ["numpy", "xp"])
@pytest.mark.parametrize("rule", ["compute", "gradient"])
def test_an_operation_that_calls_numpy_itself_is_found(library, rule):
    """Where NumPy is the only backend, its results are right."""

    def of(xp, here):
        return np if library == "numpy" and here == rule else xp

    class Sine(Elementwise):
        domain = Domain(x=real(-2, 2))

        def compute(self, xp, x):
            return of(xp, "compute").sin(x)

        def gradient(self, xp, g, x):
            return g * of(xp, "gradient").where(x > 4, x, xp.cos(x))

    if library == "xp":
        return check_op(Sine, np.sin, ["numpy"], checks=["traced"], examples=4)
    with pytest.raises(AssertionError, match=r"Sine calls numpy.(sin|where), .* Write xp"):
        check_op(Sine, np.sin, ["numpy"], shrink=False)


def test_an_operation_that_keeps_what_it_saw_is_found():
    class Remembering(FunctionNode):
        """Gives what it gave first, which a trace has no values of."""

        domain = Domain("(n)->(n)", x=real(-2, 2))

        def compute(self, xp, x):
            if type(x) is np.ndarray:
                return x * x
            return x * x + 0.001

        def gradient(self, xp, g, x):
            return g * x * 2.0

    with pytest.raises(AssertionError, match="traced: result 0 has other bits than eager"):
        check_op(Remembering, square, ["numpy"], checks=["traced"])


def test_a_strangers_operation_in_the_general_form():
    class Square(FunctionNode):
        domain = Domain("(n)->(n)", x=real(-2, 2))

        def forward(self, inputs):
            self.retain_inputs((0,))
            return (np.square(inputs[0]),)

        def backward(self, indexes, grad_outputs):
            return (grad_outputs[0] * self.get_retained_inputs()[0] * 2.0,)

    check_op(Square, square, ["numpy"])


def test_a_random_operation_draws_what_eager_draws():
    class Noisy(Elementwise):
        domain = Domain(x=real(-2, 2), leave_out={"forward": "random", "backends": "random"})
        saved = ("noise",)

        def compute(self, xp, x):
            draw = self.backend.random
            self.noise = draw.uniform(x.shape, x.dtype) + draw.normal(x.shape, x.dtype)
            return x * self.noise

        def gradient(self, xp, g, noise):
            return g * noise

    before = core.backend.random_state()
    try:
        for seed in (None, 3):
            core.seed(seed)
            check_op(Noisy, None, ["numpy"], checks=["repeat", "traced"])
    finally:
        core.backend.set_random_state(before)

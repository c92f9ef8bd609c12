"""Operations that say `wide = True` compute 16-bit floats in float32, at every order."""

import ml_dtypes
import numpy as np
import pytest

import core
import core.functions as F
from core import FunctionNode

HALVES = (np.float16, ml_dtypes.bfloat16)


class Total(FunctionNode):
    """A sum whose rules say in which dtype they ran."""

    wide = True
    seen: list = []

    def compute(self, xp, x):
        self.seen.append(("compute", str(x.dtype)))
        return xp.sum(x * x)

    def gradient(self, xp, g, x):
        self.seen.append(("gradient", str(g.dtype), str(x.dtype)))
        return 2 * x * g


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("graph", (False, True))
def test_rules_run_in_float32(half, graph):
    Total.seen.clear()
    x = core.Variable(np.ones(5, half))
    (gx,) = core.grad([Total.call(x)], [x], enable_double_backprop=graph)
    assert Total.seen == [("compute", "float32"), ("gradient", "float32", "float32")]
    assert gx.dtype == half
    Total.seen.clear()
    (gx,) = core.grad([Total.call(x) * 3], [x])  # of numbers without axes NumPy makes scalars
    assert Total.seen == [("compute", "float32"), ("gradient", "float32", "float32")]
    y = F.einsum("a,a->", x, x)
    (other,) = core.grad([y * 3], [x], enable_double_backprop=graph)
    assert gx.dtype == other.dtype == half
    assert gx.array.tolist() == other.array.tolist() == [6] * 5


CASES = {
    "layer_normalization": lambda x: F.layer_normalization(
        x, np.ones(x.shape[1], x.dtype), np.zeros(x.shape[1], x.dtype)
    ),
    "softmax_cross_entropy": lambda x: F.softmax_cross_entropy(x, np.zeros(len(x), "i")),
    "logsumexp": lambda x: F.logsumexp(x, axis=1),
    "batch_normalization": lambda x: F.batch_normalization(
        x, np.ones(x.shape[1], x.dtype), np.zeros(x.shape[1], x.dtype)
    ),
}


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("name", CASES)
def test_gradients_with_a_graph_are_as_exact_as_those_without(name, half):
    rng = np.random.default_rng(0)
    x = core.Variable(rng.normal(size=(600, 4)).astype(half))
    y = CASES[name](x)
    gy = core.Variable(rng.uniform(0.5, 1, y.shape).astype(half))
    (plain,) = core.grad([y], [x], [gy])
    (graph,) = core.grad([y], [x], [gy], enable_double_backprop=True)
    step = float(ml_dtypes.finfo(half).eps)
    np.testing.assert_allclose(
        graph.array.astype("d"), plain.array.astype("d"), rtol=2 * step, atol=1e-2 * step
    )
    (second,) = core.grad([graph], [x], [core.Variable(np.ones(x.shape, half))])
    assert second.dtype == half


class Weighted(FunctionNode):
    """The sum of squares, weighted if there is a weight."""

    wide = True

    def compute(self, xp, x, weight=None):
        return xp.sum(x * x if weight is None else weight * x * x)

    def gradient_x(self, xp, g, x, weight=None):
        return 2 * x * g if weight is None else 2 * x * g * weight

    def gradient_weight(self, xp, g, x):
        return x * x * g


def test_a_plan_serves_calls_with_any_number_of_inputs():
    """One and two inputs of one spec share a plan, and have gradients of their own."""
    x, weight = np.full(2, 3.0, "float16"), np.full(2, 0.5, "float16")
    for inputs, expected in (((x,), [6]), ((x, weight), [3, 9]), ((x,), [6])):
        variables = [core.Variable(array) for array in inputs]
        Weighted.call(*variables).backward()
        for variable, value in zip(variables, expected, strict=True):
            assert variable.grad.dtype == "float16"
            np.testing.assert_array_equal(variable.grad, np.full(2, value))


class Scaled(FunctionNode):
    """A sum of squares times numbers that may have another dtype."""

    wide = True
    domain = core.Domain("(n),(n)->()", x=core.real(-2, 2), w=core.real(-2, 2, mixed=True))

    def compute(self, xp, x, w):
        return xp.sum(x * x * w)

    def gradient(self, xp, g, x, w):
        return 2 * x * w * g, x * x * g


SIZES = (9, 10, 11)


@pytest.mark.parametrize("declines", (False, True))
@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("other", (np.float16, ml_dtypes.bfloat16, np.float32, np.float64))
def test_kernels_that_take_halves_see_them_where_all_are_alike(half, other, declines):
    """And no fewer of them than they ask for; otherwise the formula gets what is widened."""
    seen = []

    def kernel(f, xp, x, w):
        seen.append((x.size, str(x.dtype), str(w.dtype)))
        return NotImplemented if declines else xp.sum(x * x * w)

    def gradient(f, g, needs_grad):
        x, w = (source.data for source in f._sources)
        seen.append((str(g.dtype), str(x.dtype), str(w.dtype)))
        return NotImplemented if declines else (2 * x * w * g, x * x * g)

    for each in (kernel, gradient):
        each.takes_halves = True
    kernel.least = 10
    home = core.backend.host()
    home.kernels[Scaled], home.gradient_kernels[Scaled] = kernel, gradient
    try:
        for size in SIZES:
            x, w = (core.Variable(np.full(size, 0.5, dtype)) for dtype in (half, other))
            y = Scaled.call(x, w)
            y.backward()
            assert float(y.array) == size / 8
            for v, expected in ((x, 0.5), (w, 0.25)):
                assert v.grad.dtype == v.dtype
                np.testing.assert_array_equal(v.grad.astype("d"), np.full(size, expected))
    finally:
        del home.kernels[Scaled], home.gradient_kernels[Scaled]
    name, wide = str(np.dtype(half)), "float64" if other is np.float64 else "float32"
    widened = [(size, wide, wide) for size in SIZES if size >= 10]
    if half is not other:
        assert seen == widened
    elif declines:
        assert seen == [
            each
            for size in SIZES
            for each in [(size, name, name), (size, wide, wide)] * (size >= 10) + [(name,) * 3]
        ]
    else:
        assert seen == [
            each for size in SIZES for each in [(size, name, name)] * (size >= 10) + [(name,) * 3]
        ]

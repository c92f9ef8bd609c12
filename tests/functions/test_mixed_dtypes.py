"""Weights and factors may have another floating dtype than what they are multiplied with."""

from itertools import permutations

import numpy as np
import pytest
from all_ops import OPS

import core
import core.functions as F
from core import Variable
from core.arrays import backend
from core.errors import InvalidType
from plugins.functions.rnn.simple_sequence import ReLUSequence, TanhSequence

MASK = np.random.default_rng(0).integers(0, 2, (4, 3)).astype(bool)
CASES = {
    "MatVec": (F.matmul, (4, 3), (3,)),
    "MatMul": (F.matmul, (2, 5, 3), (3, 4)),
    "LinearFunction": (F.linear, (5, 3), (4, 3)),
    "Convolution": (lambda x, W: F.convolution_2d(x, W, pad=1), (2, 3, 4, 4), (2, 3, 3, 3)),
    "Deconvolution": (lambda x, W: F.deconvolution_2d(x, W, stride=2), (2, 3, 3, 3), (3, 2, 3, 3)),
    "SimplifiedDropconnect": (
        lambda x, W: F.simplified_dropconnect(x, W, mask=x.backend.asarray(MASK)),
        (5, 3),
        (4, 3),
    ),
    "TanhSequence": (
        lambda x, W: F.concat(TanhSequence.call(0 * x[:2], x, W), 0),
        (4, 3),
        (3, 3),
    ),
    "ReLUSequence": (
        lambda x, W: F.concat(ReLUSequence.call(0 * x[:2], x, W), 0),
        (4, 3),
        (3, 3),
    ),
}
NEAR = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2}


def arrays(name, seed=0):
    generator = np.random.default_rng(seed)
    return [generator.normal(size=shape).astype("float16") for shape in CASES[name][1:]]


def derived(function, x, W, where, seed=1):
    """The output, its gradients, and those of a sum of squares of these, on the host."""
    x, W = (Variable(backend.get(where).asarray(a)) for a in (x, W))
    y = function(x, W)
    g = np.random.default_rng(seed).normal(size=y.shape).astype("float16")
    gy = Variable(backend.get(where).asarray(g.astype(str(y.backend.dtype_name(y.dtype)))))
    first = core.grad([y], [x, W], [gy], enable_double_backprop=True)
    total = sum([F.sum(F.cast(gx, "float64") ** 2) for gx in first])
    second = core.grad([total], [x, W])
    return [backend.to_host(v.array) for v in (y, *first, *second)]


@pytest.mark.parametrize("where", ["numpy", "strict"])
@pytest.mark.parametrize("dtypes", list(permutations(NEAR, 2)), ids="-".join)
@pytest.mark.parametrize("name", CASES)
def test_the_widest_computes_and_each_gets_its_own(name, dtypes, where):
    if where == "strict" and "float16" in dtypes:
        pytest.skip("the array standard has no float16")
    x, W = (a.astype(dtype) for a, dtype in zip(arrays(name), dtypes, strict=True))
    found = derived(CASES[name][0], x, W, where)
    exact = derived(CASES[name][0], x.astype("float64"), W.astype("float64"), where)
    result = str(np.result_type(*dtypes)) if OPS[name].promotes else dtypes[0]
    assert [str(a.dtype) for a in found] == [result, *dtypes, *dtypes]
    for i, (actual, expected) in enumerate(zip(found, exact, strict=True)):
        # A second derivative reads what was rounded before.
        near = NEAR[str(actual.dtype)] if i == 0 else max(NEAR[dtype] for dtype in dtypes)
        bound = near * max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(actual, expected, atol=bound, rtol=near)


def test_these_are_all_that_mix():
    assert {
        name for name, op in OPS.items() if op.declared and op.domain and op.domain.mixes
    } == CASES.keys()


BIASED = {
    "LinearFunction": F.linear,
    "Convolution": F.convolution_2d,
    "Deconvolution": F.deconvolution_2d,
    "SimplifiedDropconnect": F.simplified_dropconnect,
}


@pytest.mark.parametrize("name", BIASED)
def test_biases_have_the_dtype_of_x(name):
    function = BIASED[name]
    x, W = arrays(name)
    b = np.ones(W.shape[name == "Deconvolution"], "float32")
    y = function(x.astype("float32"), W.astype("float64"), b)
    assert y.dtype == "float32"
    with pytest.raises(InvalidType, match=r"x.dtype == b.dtype\nActual: float64 != float32"):
        function(x.astype("float64"), W.astype("float64"), b)


def test_operators_on_a_variable_and_an_array_of_another_dtype():
    x, array = Variable(np.ones((2, 2), "f")), np.ones((2, 2))
    assert (x @ array).dtype == (array @ x).dtype == F.matmul(x, array).dtype == "float64"


@pytest.mark.parametrize("number", [2, -1, True])
@pytest.mark.parametrize(
    "function", [lambda x, n: x + n, lambda x, n: n - x, lambda x, n: x * n, lambda x, n: x - n]
)
@pytest.mark.parametrize("name", ["numpy", "strict"])
def test_truth_values_with_a_number_are_whole_numbers(name, function, number):
    truth = backend.get(name).asarray([True, False])
    y = function(Variable(truth), number)
    assert y.backend.dtype_name(y.array.dtype) == "int64" and y.dtype == y.array.dtype
    assert backend.to_host(y.array).tolist() == function(np.array([1, 0]), int(number)).tolist()
    total = y * F.sum(y)  # of dtypes that have to be alike
    assert total.dtype == y.dtype
    with pytest.raises(InvalidType, match="whole numbers beside int64"):
        function(Variable(truth), 0.5)

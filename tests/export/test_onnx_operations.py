"""Every operation, written as ONNX and run by onnxruntime, gives what it gives here."""

import math

import numpy as np
import pytest
from all_ops import CHECKED
from hypothesis import HealthCheck, Phase, given, settings
from onnx_runs import compare, exported, run

import core
import core.functions as F
from core.errors import ExportError, TraceError
from core.testing import cases

EXAMPLES = 3

LINEAR_ALGEBRA = "CofactorsSlope Eigh InverseSquareRoot Lyapunov Pinv QR SVD"
REFUSED = dict.fromkeys(LINEAR_ALGEBRA.split(), "ONNX has no decompositions by iteration")
"""Operation -> why it is not exported."""

RANDOM = {"Dropout", "DropoutAlong", "Gaussian", "RReLU", "SimplifiedDropconnect", "Zoneout"}


def _called(op, case):
    def call(*inputs):
        made = (
            op.call(*inputs, **case.settings)
            if hasattr(op, "call")
            else op(**case.settings).apply(inputs)
        )
        return [y.array for y in (made if isinstance(made, tuple) else (made,))]

    return call


@pytest.mark.parametrize("name", sorted(CHECKED))
def test_operation(name):
    op = CHECKED[name]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[*HealthCheck],
        phases=[Phase.generate],
    )
    @given(cases(op, "plain"))
    def holds(case):
        arrays = tuple([np.array(a) for a in case.arrays("float32")])
        call = _called(op, case)
        try:
            message = exported(call, arrays, batch=None)
        except ExportError as error:
            assert name in REFUSED and "ONNX has no operator" in str(error), error
            return
        except TraceError:
            assert name == "ClassificationSummary" and not case.settings.get("label_num")
            return
        assert name not in REFUSED
        expected = call(*arrays)
        if name in RANDOM:  # others are drawn
            assert [y.shape for y in run(message, arrays)] == [y.shape for y in expected]
            return
        compare(message, arrays, expected)

    holds()


def test_slopes_that_are_larger_than_what_they_are_slopes_of():
    """PRelu gives the shape of its first input, and checkers refused the file."""
    for shapes in (((), (1,)), ((2, 1), (1, 3))):
        x, W = (np.linspace(-1, 1, math.prod(s), dtype="f").reshape(s) for s in shapes)
        call = lambda x, W: CHECKED["PReLU"].call(x, W).array  # noqa: E731
        compare(exported(call, (x, W), batch=None), (x, W), [call(x, W)])


# What NumPy's functions and operators are given, beside what stands in the domains of operations.
X = np.array([[0.25, -1.5, 0.0], [2.0, 0.5, -0.25]], "f")
INTEGERS = np.array([[3, 0, 1], [2, 2, 5]])


def _assigned(index, value):
    def call(x, i):
        y = x * 1
        y[index] = y[index] * 2 if value is None else value
        return y

    return call


def _on_arrays(call):
    return lambda *inputs: call(*map(core.as_array, inputs))


CALLS = {
    "NumPy's integer as an index": lambda x, i: x[np.int64(1)],
    "NumPy's integer beside a slice": lambda x, i: x[:, np.int64(-1)],
    "NumPy's integer beside an array": lambda x, i: x[np.int64(1), np.array([2, 0])],
    "a row of NumPy's integer assigned to": _assigned(np.int64(1), 7.0),
    "an axis more assigned to": _assigned((slice(None, None, -1), None), None),
    "an axis more between assigned to": _assigned((slice(None), None, slice(1, None)), None),
    "a value with fewer axes assigned": _assigned((None, 1), np.array([1, 2, 3], "f")),
    "any of small numbers": lambda x, i: np.any(x * 0.1, axis=1),
    "all of small numbers": lambda x, i: np.all(x * 0.1, axis=1),
    "any of none": lambda x, i: np.any(x[:0] > 0, axis=0),
    "all of none": lambda x, i: np.all(x[:0] > 0, axis=0),
    "any over no axis": lambda x, i: np.any(x, axis=()),
    "counted along an axis": lambda x, i: np.count_nonzero(x, axis=1),
    "truth values turned round": lambda x, i: ~(x > 0) & ~np.isnan(x),
    "bits turned round": lambda x, i: ~i,
    "variance over no axis": lambda x, i: np.var(x, axis=()),
    "sum of a number": lambda x, i: np.sum(x[0, 0], axis=0),
    "an axis of NumPy's": lambda x, i: np.sum(x, axis=np.int64(0)),
    "truth values added": lambda x, i: (x > 0) + (i > 1),
    "truth values multiplied": lambda x, i: (x > 0) * (i > 1),
    "truth values sorted": lambda x, i: np.sort(x > 0),
    "sorted along the first axis": lambda x, i: np.sort(x, 0),
    "sorted in a row": lambda x, i: np.sort(x, axis=None),
    "the triangle of a vector": lambda x, i: np.tril(x[0]),
    "repeated never": lambda x, i: np.repeat(x, 0, axis=1),
    "large constants of one shape": lambda x, i: np.roll(np.roll(np.tile(x, 500), 1, 1), 5, 1),
    "variance by position": lambda x, i: np.var(x, 1, None, None, 1),
    "axes kept by position": lambda x, i: np.max(x, 0, None, True),
    "ends by NumPy's older names": lambda x, i: np.clip(x, a_min=-1, a_max=0.5),
    "numbers beyond the dtype": lambda x, i: (i.astype("uint8") < 300) & (i.astype("uint8") > -1),
    "largest of truth values": lambda x, i: np.max(x > 0, axis=1),
    "integers rounded": lambda x, i: np.floor(i) + np.trunc(i) + np.round(i),
    "truth values chosen": lambda x, i: np.where(x > 0, i > 1, x < 0),
    "nothing backwards": lambda x, i: x[:, -4::-1].sum(1) + x[:, 2:0:-1].sum(1),
    "an ellipsis of no axes between": lambda x, i: x[:, None][:, np.array([0, 0]), ..., 1],
    "a list assigned": _assigned(1, [1, 2, 3]),
    "rolled twice along an axis": lambda x, i: np.roll(x, (1, 1), 1),
    "NumPy's names": lambda x, i: np.subtract(np.multiply(x, x), np.square(np.negative(i))),
    "infinities and NaN": lambda x, i: (
        np.isnan(np.where(x > 0, np.float32("nan"), x)) | np.isinf(np.where(i > 2, np.inf, x))
    ),
    "sums so far": lambda x, i: np.cumsum(x) * np.cumprod(i),
    "broadcast to none": lambda x, i: np.broadcast_to(x[:, :1], (2, 0)) * 2,
}


@pytest.mark.filterwarnings("ignore:Degrees of freedom")  # of one element, which shapes are told of
@pytest.mark.parametrize("name", CALLS)
def test_what_numpy_takes(name):
    call = CALLS[name]
    message = exported(_on_arrays(call), (X, INTEGERS), batch=None)
    compare(message, (X, INTEGERS), [call(X, INTEGERS)])


OF_INTEGERS = {
    "powers": lambda x: x**3,
    "largest and smallest": lambda x: np.max(x, axis=1) - np.min(x, axis=1),
    "larger and smaller": lambda x: np.maximum(x, x[::-1]) - np.minimum(x, 2),
    "places": lambda x: np.argmax(x, 1) + np.argmin(x, 1),
    "sums": lambda x: np.sum(x, axis=1) + np.prod(x, axis=1),
    "sums so far": lambda x: np.cumsum(x, axis=1),
    "sorted": lambda x: np.sort(x, axis=1) + np.argsort(x, axis=1).astype(x.dtype),
    "chosen": lambda x: np.where(x > 1, x, x[::-1]),
    "products of matrices": lambda x: x @ x.T @ np.eye(2, dtype=x.dtype),
    "products by letters": lambda x: np.einsum("ij,kj->ik", x, x),
    "triangles": lambda x: np.triu(x) + np.tril(x),
    "clipped": lambda x: np.clip(x, 1, 2),
    "compared": lambda x: (x >= x[::-1]) & (x < 2),
    "assigned to": lambda x: _assigned((slice(None), 1), 3)(x, None),
}

ORDERS = ("largest and smallest", "larger and smaller", "places", "sorted", "clipped")


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_integers_of_every_size(name, dtype):
    """ONNX has some operators of few integers alone, and runtimes have fewer."""
    call = OF_INTEGERS[name]
    x = np.array([[3, 0, 1], [100, 1, 2]]).astype(dtype)
    try:
        with np.errstate(all="ignore"):
            expected = call(x)
    except TypeError:  # truth values have no differences
        return
    message = exported(_on_arrays(call), (x,), batch=None)
    if dtype == "u8" and name in ORDERS:
        return  # no other dtype has all of them in order, and onnxruntime no such operator
    compare(message, (x,), [expected])


def test_infinities_among_arguments():
    ends = np.array([0, 1, -1, np.inf, -np.inf], "f")
    x, y = [a.ravel() for a in np.meshgrid(ends, ends)]
    call = lambda x, y: (np.logaddexp(x, y), np.hypot(x, y))  # noqa: E731
    compare(exported(_on_arrays(call), (x, y), batch=None), (x, y), call(x, y))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_angles_and_logarithms_at_infinities_zeros_and_what_is_no_number(dtype):
    ends = np.array([0, -0.0, 1, -2, np.inf, -np.inf, np.nan], dtype)
    x, y = [a.ravel() for a in np.meshgrid(ends, ends)]
    call = lambda x, y: (np.arctan2(x, y), np.log1p(x), np.copysign(x, y))  # noqa: E731
    with np.errstate(all="ignore"):
        compare(exported(_on_arrays(call), (x, y), batch=None), (x, y), call(x, y))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_are_divided_to_whole_numbers_by_their_rests(dtype):
    """The quotient of 1 and 0.1 is rounded to 10, but 0.1 is less than 10 times in 1."""
    ends = np.array([0, 1, -1, 0.1, -0.1, 0.3, 3, 1e-4, -7, np.inf, -np.inf, np.nan], dtype)
    x, y = [a.ravel() for a in np.meshgrid(ends, ends)]
    call = lambda x, y: (x // y, x % y, x // 0.1)  # noqa: E731
    with np.errstate(all="ignore"):
        compare(exported(_on_arrays(call), (x, y), batch=None), (x, y), call(x, y))


def test_masks_of_variables():
    call = lambda x: (~(x > 0), x.__array_namespace__().count_nonzero(x > 0, axis=1))  # noqa: E731
    for x in (X, X[:1], np.concatenate([X, X])):
        compare(exported(call, X), [x], [y.array for y in call(core.Variable(x))])


@pytest.mark.parametrize("opset", [18, 20])
def test_infinities_of_16_bits(opset):
    x = np.array([1, -np.inf, np.inf, np.nan], "f2")
    call = lambda x: (np.isinf(x), np.isfinite(x), np.log1p(abs(x)))  # noqa: E731
    compare(exported(_on_arrays(call), x, batch=None, opset=opset), [x], call(x), rtol=1e-3)


def test_dtypes_that_operators_do_not_take_are_refused():
    """The files were not valid, or the reason that was told was another."""
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    for model, shape, dtype in (
        (F.elu, (2, 3), bfloat16),
        (lambda x: F.max_pooling_2d(x, 2), (1, 1, 4, 4), bfloat16),
        (_on_arrays(abs), (2, 3), bool),
    ):
        said = f"of opset 20 takes no {np.dtype(dtype)}"
        with pytest.raises(ExportError, match=said):
            exported(model, np.ones(shape, dtype))
    with pytest.raises(ExportError, match="is not written in bfloat16; export .* float32"):
        exported(lambda x: x * 2, np.ones((2, 3), bfloat16))


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda x, i: np.sum(x, where=x > 0), "argument where"),
        (lambda x, i: np.max(x, initial=9), "argument initial"),
        (lambda x, i: np.take(x, i, mode="clip"), "argument mode"),
        (lambda x, i: np.take(x, i, 1, None, "wrap"), "argument mode"),
        (lambda x, i: x[[True, False]], "its index is a mask"),
        (lambda x, i: x[True], "its index is a mask"),
        (lambda x, i: x.reshape(3, 2, order="F"), "order 'F'"),
        (lambda x, i: x.ravel("F"), "order 'F'"),
        (lambda x, i: np.einsum(x, [0, 1], [1, 0]), "axes are given as numbers"),
    ],
)
def test_arguments_that_have_no_translation_are_refused(call, why):
    with pytest.raises(ExportError, match=why):
        exported(_on_arrays(call), (X, INTEGERS), batch=None)

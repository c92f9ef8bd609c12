"""Complex arrays: every function gives what NumPy gives, or refuses them by name."""

import re

import numpy as np
import pytest
from functions import test_namespace, test_namespace_linalg
from functions.test_every_function import CASES
from oracles.cases import _called, draw

import core
import core.functions as F
from core import Variable
from core.errors import CoreError, InvalidType, NotDifferentiable
from core.ops.namespace import namespace as xp

MAIN = test_namespace.CALLS | test_namespace.WITHOUT_GRADIENT
OF_REAL_NUMBERS = set(
    re.findall(
        r"\w+",
        """
        argmax argmin argsort atan2 ceil clip copysign floor floor_divide greater greater_equal
        hypot less less_equal logaddexp max maximum min minimum nextafter remainder searchsorted
        signbit sort trunc
        """,
    )
)
"""What the array standard has for real numbers alone."""
RANDOM = np.random.default_rng(0)


def turned(argument, dtype):
    """Real arrays as complex ones, with an imaginary part."""
    if isinstance(argument, list):
        return [turned(a, dtype) for a in argument]
    if str(getattr(argument, "dtype", None)) == "float64":
        return (argument + 1j * RANDOM.normal(size=argument.shape)).astype(dtype)
    return argument


def as_variables(argument):
    if isinstance(argument, list):
        return [as_variables(a) for a in argument]
    return Variable(argument) if getattr(argument, "dtype", None) is not None else argument


def outcome(function, arguments, options):
    """What the function gives; None where it refuses complex numbers by name."""
    try:
        return function(*arguments, **options)
    except InvalidType as error:
        assert "complex" in str(error)
        assert "is floating" in str(error) or "is real-valued" in str(error)
        return None


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(("name", "call"), test_namespace.calls(MAIN))
def test_the_namespace(name, call, dtype):
    arguments, options = test_namespace.split(call)
    arguments = [turned(a, dtype) for a in arguments]
    actual = outcome(getattr(xp, name), [as_variables(a) for a in arguments], options)
    assert actual is None or name not in OF_REAL_NUMBERS
    if actual is not None:
        expected = getattr(np, name)(*arguments, **options)
        assert actual.dtype == actual._spec.dtype == expected.dtype
        np.testing.assert_allclose(actual.array, expected, rtol=1e-5)


OF_MATRICES = {
    "cross": np.cross,
    "cross, axis": lambda x, y: np.cross(x, y, axis=0),
    "diagonal": lambda x: np.diagonal(x, -1, 1, 2),
    "matrix_transpose": lambda x: np.swapaxes(x, -1, -2),
    "outer": np.outer,
    "trace": lambda x: np.trace(x, 1, 1, 2),
    "vecdot": lambda x, y: np.sum(np.conj(x) * y, -1),
}
"""What is there for complex matrices; the rest is refused."""


@pytest.mark.parametrize("name", test_namespace_linalg.CALLS)
def test_linear_algebra(name):
    arrays, function = test_namespace_linalg.CALLS[name]
    arrays = [turned(a, "complex128") for a in (arrays if type(arrays) is tuple else (arrays,))]
    actual = outcome(function, map(Variable, arrays), {})
    assert (actual is not None) == (name in OF_MATRICES)
    if actual is not None:
        np.testing.assert_allclose(actual.array, OF_MATRICES[name](*arrays), rtol=1e-10)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.name not in ("forget", "scale")])
def test_every_function(name):
    """What is not refused only moves elements and adds them, besides constants."""
    case = CASES[name]

    def given(real, imaginary):
        arguments, settings, leaves, _, _ = draw(case, "float64")
        random = np.random.default_rng(1)
        made = [x * real + random.normal(size=x.shape) * imaginary for x in leaves]
        leaves = [*map(Variable, map(np.asarray, made))]
        return leaves and [y.array for y in _called(core, case, arguments, settings, leaves)]

    try:
        found = given(1, 1j)
    except CoreError as error:
        assert "complex" in str(error)
        return
    for z, a, b, c in zip(found, given(1, 0), given(0, 1), given(0, 0), strict=True):
        assert z.dtype == "complex128"
        np.testing.assert_allclose(z, a + 1j * (b - c))


def test_the_product_of_scale():
    x, y = (RANDOM.normal(size=(2, 3)) + 1j for _ in "xy")
    np.testing.assert_allclose(F.scale(Variable(x), Variable(y[0])).array, x * y[0])


def test_nothing_complex_has_a_derivative():
    z = Variable(np.array([1 + 2j]))
    for y in (z * z, z + 1j, z[0], xp.sum(z)):
        with pytest.raises(NotDifferentiable, match="complex128"):
            y.backward()
        with pytest.raises(NotDifferentiable, match="complex128"):
            core.grad([y], [z])
    assert z.grad is None


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x * 2j,
        lambda x: 2j * x,
        lambda x: 2j - x,
        lambda x: x + np.complex64(1j),
        lambda x: x * np.array([1j]),
        lambda x: np.array([1j]) + x,
        lambda x: x.__setitem__(0, np.array(1j)),
        lambda x: x.__setitem__(0, Variable(np.array(1j), requires_grad=False)),
        lambda x: xp.add(x, Variable(np.array([1j]))),
        lambda x: xp.astype(Variable(np.array([1j])), "float32"),
        lambda x: F.cast(Variable(np.array([1j])), "float64"),
        lambda x: F.cast(Variable(np.array([1j])), "int32"),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_real_variables_never_take_complex_numbers(call, dtype):
    with pytest.raises(InvalidType, match="complex|1j|2j"):
        call(Variable(np.ones(1, dtype), requires_grad=dtype == "float32"))

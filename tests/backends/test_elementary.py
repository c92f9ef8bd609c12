"""Elementary functions of compiled loops, against longer floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled import elementary
from backends.numpy_backend.kernels.compiled.math import of_each
from backends.numpy_backend.kernels.compiler import Read1, Write1

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

exp, expm1, tanh, sigmoid = (
    elementary.exp,
    elementary.expm1,
    elementary.tanh,
    elementary.sigmoid,
)


@compiler.compiled
def _exp(x: Read1, y: Write1) -> None:
    for i in range(x.size):
        y[i] = exp(x[i])


@compiler.compiled
def _expm1(x: Read1, y: Write1) -> None:
    for i in range(x.size):
        y[i] = expm1(x[i])


@compiler.compiled
def _tanh(x: Read1, y: Write1) -> None:
    for i in range(x.size):
        y[i] = tanh(x[i])


@compiler.compiled
def _sigmoid(x: Read1, y: Write1) -> None:
    for i in range(x.size):
        y[i] = sigmoid(x[i])


def whole(loop: Any) -> Callable[[Any, Any], None]:
    """A loop over all elements."""
    return lambda x, y: loop(x, y, 0, x.size)


_EXACT = {
    "expm1_anywhere": (np.expm1, (110, 750)),
    "log1p_anywhere": (np.log1p, (4, 1e9)),
    "log2": (np.log2, (4, 1e9)),
    "log10": (np.log10, (4, 1e9)),
    "sinh": (np.sinh, (91, 714)),
    "cosh": (np.cosh, (91, 714)),
    "asinh": (np.arcsinh, (3, 1e9)),
    "acosh": (np.arccosh, (5, 1e9)),
    "atanh": (np.arctanh, (1, 1)),
    "asin": (np.arcsin, (1, 1)),
    "acos": (np.arccos, (1, 1)),
    "atan": (np.arctan, (5, 50)),
    "exp2": (np.exp2, (150, 1100)),
    "tan": (np.tan, (7000, 2e6)),
}
_anywhere = [(whole(loop), *_EXACT[name]) for name, loop in of_each.LOOPS.items()]


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "cache_folder", lambda: None)


@pytest.mark.parametrize(
    ("loop", "exact", "reach"),
    [(_exp, np.exp, (110, 750)), (_expm1, np.expm1, (20, 40)), (_tanh, np.tanh, (12, 25))]
    + [(_sigmoid, logistic, (80, 700)), *_anywhere],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_within_three_units_in_the_last_place(
    loop: Any, exact: Callable[[Any], Any], reach: tuple[int, int], dtype: str
) -> None:
    limit = reach[dtype == "float64"]
    near = np.random.RandomState(0).standard_normal(2000) * 1e-3
    x = np.concatenate([np.linspace(-limit, limit, 20001), near, [0, 1e-30]]).astype(dtype)
    y = np.empty_like(x)
    loop(x, y)
    with np.errstate(all="ignore"):
        expected = exact(x.astype(np.longdouble))
        rounded = expected.astype(dtype)
        units = np.abs(y - expected) / np.spacing(np.abs(rounded))
    np.testing.assert_array_equal(np.isinf(y), np.isinf(rounded))
    assert np.max(units[np.isfinite(rounded)]) < 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ends_are_exact(dtype: str) -> None:
    x = np.array([-np.inf, -1e30, 0, 1e30, np.inf, np.nan], dtype)
    y = np.empty_like(x)
    for loop, expected in (
        (_exp, [0, 0, 1, np.inf, np.inf, np.nan]),
        (_tanh, [-1, -1, 0, 1, 1, np.nan]),
        (_sigmoid, [0, 0, 0.5, 1, 1, np.nan]),
    ):
        loop(x, y)
        np.testing.assert_array_equal(y, np.array(expected, dtype))


@pytest.mark.parametrize("name", of_each.LOOPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_each_element_are_numpys_from_end_to_end(name: str, dtype: str) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    ends = np.array([0.0, tiny, 1e3 * tiny, 1e-30, 0.5, 1.0, 1.5, 2.0, 1e5, 1e30, np.inf], dtype)
    x = np.concatenate([-ends, ends, [np.nan]]).astype(dtype)
    y = np.empty_like(x)
    of_each.LOOPS[name](x, y, 0, x.size)
    with np.errstate(all="ignore"):
        expected = _EXACT[name][0](x)
    np.testing.assert_allclose(y, expected, 4 * np.finfo(dtype).eps, 0)
    if name != "acosh":  # whose NaN may have any sign
        np.testing.assert_array_equal(np.signbit(y[x == 0]), np.signbit(expected[x == 0]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_angles_of_points_are_numpys_in_all_quadrants_and_at_their_ends(dtype: str) -> None:
    ends = [0.0, np.finfo(dtype).tiny, 0.5, 1.0, 1e30, np.inf]
    one = np.array([*[-v for v in ends], *ends, np.nan], dtype)
    many = np.random.RandomState(0).standard_normal((2, 4000)).astype(dtype)
    y, x = [
        np.concatenate([a.ravel(), b]) for a, b in zip(np.meshgrid(one, one), many, strict=True)
    ]
    got = np.empty_like(y)
    of_each._atan2(y, x, got, 0, y.size)
    expected = np.arctan2(y, x)
    np.testing.assert_allclose(got, expected, 4 * np.finfo(dtype).eps, 0)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(expected[known]))

"""How near is near: one table of tolerances, by dtype and kind of op.

A comparison passes where |actual - expected| <= absolute * scale + relative * |expected|, with
`scale` the greatest magnitude expected, at least 1: where large terms cancel, the result is as
inexact as the terms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Tolerance(NamedTuple):
    """An absolute and a relative part."""

    absolute: float
    relative: float


TABLE = {
    # values are moved, compared or rounded: nothing may change
    ("exact", "float16"): Tolerance(0.0, 0.0),
    ("exact", "float32"): Tolerance(0.0, 0.0),
    ("exact", "float64"): Tolerance(0.0, 0.0),
    # each element of the result comes from a few of the inputs
    ("elementwise", "float16"): Tolerance(2e-3, 4e-3),
    ("elementwise", "float32"): Tolerance(1e-6, 1e-5),
    ("elementwise", "float64"): Tolerance(1e-12, 1e-11),
    # sums over many elements, in any order
    ("reduction", "float16"): Tolerance(4e-3, 1e-2),
    ("reduction", "float32"): Tolerance(4e-6, 5e-5),
    ("reduction", "float64"): Tolerance(1e-11, 1e-10),
    # factorisations, recurrences, statistics divided by small spreads
    ("solution", "float16"): Tolerance(2e-2, 5e-2),
    ("solution", "float32"): Tolerance(5e-5, 5e-4),
    ("solution", "float64"): Tolerance(1e-9, 1e-8),
}

GRADIENT = Tolerance(1e-7, 2e-5)
"""Of a directional derivative in float64 against finite differences."""

DOUBLE_GRADIENT = Tolerance(1e-6, 2e-4)
"""Of a second one, against finite differences of the first."""

NARROW_GRADIENT = Tolerance(2e-3, 3e-3)
"""Of a derivative of an op whose output is narrower than its input: a cast to float32."""


def tolerance(kind: str, dtype: str) -> Tolerance:
    """The tolerance of a kind of op in a dtype; dtypes that are not floating allow nothing."""
    return TABLE.get((kind, dtype), Tolerance(0.0, 0.0))


def assert_near(actual: Any, expected: Any, allowed: Tolerance, what: str) -> None:
    """Raise AssertionError, saying `what`, unless two host arrays are alike within `allowed`.

    Shapes must be equal; infinities and NaN must stand at the same places.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        raise AssertionError(f"{what}: expected shape {expected.shape}, got {actual.shape}")
    finite = np.abs(expected[np.isfinite(expected)]) if expected.size else expected
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    np.testing.assert_allclose(
        _wide(actual),
        _wide(expected),
        rtol=allowed.relative,
        atol=allowed.absolute * scale,
        err_msg=what,
    )


def _wide(values: Any) -> Any:
    return values.astype("complex128" if values.dtype.kind == "c" else "float64")

"""NumPy's decompositions of matrices, which say of what has none which matrix it is, and the cure.

NumPy says "Singular matrix", be it one of a thousand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np

_SHIFT = "Add a small multiple of the identity, as 1e-6 * numpy.eye(n)"
_INVERSE = (
    "matrices that have an inverse",
    f"{_SHIFT}, or take linalg.pinv, which any matrix has.",
)
_FINITE = ("finite matrices", "Look for where NaN or infinity came from.")
_EXPECTED = {
    "inv": _INVERSE,
    "solve": _INVERSE,
    "cholesky": ("positive definite matrices", f"{_SHIFT}."),
    "svd": _FINITE,
    "eigh": _FINITE,
}
"""What a function expects of matrices, and what helps."""


def _explaining(name: str) -> Callable[..., Any]:
    """NumPy's function, whose LinAlgError says more."""
    function, (expected, cure) = getattr(np.linalg, name), _EXPECTED[name]
    if name == "svd":
        function = _of_finite(function)
    alone = np.linalg.inv if name == "solve" else function

    @wraps(function)
    def explained(a: Any, *others: Any, **options: Any) -> Any:
        try:
            return function(a, *others, **options)
        except np.linalg.LinAlgError as error:
            place = _first(alone, np.asarray(a))
            if place is None:
                raise
            which = f" at {list(place)} of {a.shape}" if place else f" of {a.shape}"
            raise np.linalg.LinAlgError(
                f"{name}: expected {expected}, got the matrix{which}: {str(error).lower()}. {cure}"
            ) from None

    return explained


def _of_finite(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, for which LAPACK may iterate forever where a matrix has an infinity."""

    @wraps(function)
    def of_finite(a: Any, *others: Any, **options: Any) -> Any:
        if not np.isfinite(a).all():
            raise np.linalg.LinAlgError("Not all of its elements are finite")
        return function(a, *others, **options)

    return of_finite


def _first(function: Callable[..., Any], a: Any) -> tuple[int, ...] | None:
    """The place in the stack of the first matrix that the function refuses."""
    if a.ndim < 2 or a.shape[-2] != a.shape[-1] and function.__name__ != "svd":
        return None
    for place in np.ndindex(a.shape[:-2]):
        try:
            function(a[place])
        except np.linalg.LinAlgError:
            return place
    return None


linalg = ModuleType("numpy.linalg", np.linalg.__doc__)
"""`numpy.linalg` with these in their place."""

vars(linalg).update(vars(np.linalg) | {name: _explaining(name) for name in _EXPECTED})

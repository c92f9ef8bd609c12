"""Finite differences: slopes of functions of arrays, on any backend, worked out on the host.

NumPy is reached through its backend, as any other library is: the core imports none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from core.arrays.backend import BACKENDS, to_host
from core.arrays.backend import get as get_backend
from core.errors import BackendError, CoreError
from core.graph.variable import Variable


class NondifferentiableError(CoreError, ValueError):
    """A point at which the function has no derivative, so that there is nothing to compare."""


class MissingGradient(CoreError, AssertionError, RuntimeError):
    """An input that should have a gradient, and got none."""


def numerical_grad(
    f: Callable[[], Sequence[Any]],
    inputs: Sequence[Any],
    grad_outputs: Sequence[Any],
    eps: float = 1e-3,
    detect_nondifferentiable: bool = False,
    diff_atol: float = 0.0,
    diff_rtol: float = 1e-2,
    center_outputs: Sequence[Any] | None = None,
) -> tuple[Any, ...]:
    """Gradients of the sum of `grad_outputs * f()` by central differences, element by element.

    Args:
        f: A function without arguments; it reads the arrays in `inputs`, which are shifted in place
            and put back, and returns a tuple of arrays.
        inputs: The arrays to differentiate by.
        grad_outputs: Arrays shaped as the outputs; None leaves an output out.
        eps: The shift.
        detect_nondifferentiable: Raise NondifferentiableError at a kink or a jump.
        diff_atol: How far differences to both sides may disagree before that.
        diff_rtol: The same, relative to the steeper one.
        center_outputs: The outputs at the unshifted point, where they are known already.

    Returns:
        One array per input, of its dtype and on its backend.

    >>> import numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> (gx,) = numerical_grad(lambda: (x * x,), (x,), (np.ones(2),))
    >>> gx.round(6)
    array([2., 4.])
    """
    weights = [None if g is None else to_float64(g) for g in grad_outputs]

    def value() -> float:
        return weighed(f(), weights)

    center = None if center_outputs is None else weighed(center_outputs, weights)
    results = []
    for x in inputs:
        found = numpy_namespace().zeros(x.shape, "float64")
        for index in indexes(x.shape):
            line = _Line(x, index, value, center)
            if detect_nondifferentiable:
                line.refuse_kinks(eps, diff_atol, diff_rtol)
            found[index] = line.slope(eps)
        results.append(like(found, x))
    return tuple(results)


class _Line:
    """The function along one element of one array."""

    def __init__(
        self, x: Any, index: tuple[int, ...], value: Callable[[], float], center: float | None
    ) -> None:
        self._x = x
        self._index = index
        self._value = value
        self._start = x[index] + 0  # a value of its own, not a view
        self._known: dict[float, float] = {} if center is None else {0.0: center}

    def at(self, shift: float) -> float:
        if shift not in self._known:
            self._x[self._index] = self._start + shift
            try:
                self._known[shift] = self._value()
            finally:
                self._x[self._index] = self._start
        return self._known[shift]

    def slope(self, eps: float) -> float:
        return (self.at(eps) - self.at(-eps)) / (2 * eps)

    def refuse_kinks(self, eps: float, atol: float, rtol: float) -> None:
        refuse_kinks(self.at, eps, atol, rtol, f"element {self._index}")


def refuse_kinks(
    at: Callable[[float], float], eps: float, atol: float, rtol: float, where: str
) -> None:
    """Raise where differences do not change with the shift as those of a smooth function do.

    The bend, the second difference over the shift, halves with the shift for a smooth function and
    stays for a kink between the points; the slope to both sides stays, but grows over a jump.
    """

    def bend(h: float) -> float:
        return (at(h) - 2 * at(0.0) + at(-h)) / h

    def slope(h: float) -> float:
        return (at(h) - at(-h)) / (2 * h)

    steepest = max(abs(at(eps) - at(0.0)), abs(at(-eps) - at(0.0))) / eps
    suspect = max(abs(bend(eps / 2) - bend(eps) / 2), abs(slope(eps / 2) - slope(eps)))
    if suspect > atol + rtol * steepest:
        raise NondifferentiableError(
            f"the function seems to have no derivative at {where}: its slope over a shift of "
            f"{eps:g} is {slope(eps):.3g}, over half of it {slope(eps / 2):.3g}, with bends of "
            f"{bend(eps):.3g} and {bend(eps / 2):.3g}. "
            "Check at inputs away from kinks and jumps."
        )


def numpy_namespace() -> Any:
    """NumPy."""
    return get_backend("numpy").xp


def to_float64(x: Any) -> Any:
    """An array, Variable or number as a host array, floats in float64."""
    x = x.array if isinstance(x, Variable) else x
    try:
        host = to_host(x)
    except BackendError:  # a number, a list
        host = numpy_namespace().asarray(x)
    return host.astype("float64") if host.dtype.kind in "fV" else host


def like(host: Any, x: Any) -> Any:
    """The values of a host array in the dtype of `x`, beside it."""
    backend = BACKENDS[type(x)]
    name = backend.dtype_name(x.dtype)
    cast = host.astype(name) if name in _HOST_FLOATS else host
    return backend.asarray(cast, dtype=x.dtype, device=backend.device_of(x))


_HOST_FLOATS = ("float16", "float32", "float64")


def weighed(ys: Any, weights: Sequence[Any]) -> float:
    """Sum of all outputs times their weights, in float64; an output of weight None is left out."""
    ys = as_tuple(ys)
    if len(ys) != len(weights):
        raise ValueError(f"expected gradients of {len(ys)} outputs, got {len(weights)}")
    total = 0.0
    for y, g in zip(ys, weights, strict=True):
        if g is not None and y is not None:
            total += float((to_float64(y) * g).sum())
    return total


def derivative(at: Callable[[float], float], eps: float) -> float:
    """The slope at 0, of fourth order in the shift, with no shift beyond `eps`."""
    h = eps / 2
    return (8 * (at(h) - at(-h)) - (at(eps) - at(-eps))) / (12 * h)


def random_direction(shape: tuple[int, ...], generator: random.Random) -> Any:
    """Entries of either sign between 0.5 and 1: no element goes unmoved, none beyond the shift."""
    direction = numpy_namespace().empty(shape, "float64")
    for index in indexes(shape):
        direction[index] = generator.uniform(0.5, 1.0) * generator.choice((-1.0, 1.0))
    return direction


def moved(array: Any, direction: Any, shift: float) -> Any:
    """A new array, `shift` along `direction` from the old one."""
    return like(to_float64(array) + shift * direction, array)


def indexes(shape: tuple[int, ...]) -> Any:
    """Every index of an array of this shape."""
    return numpy_namespace().ndindex(*shape)


def as_tuple(x: Any) -> tuple[Any, ...]:
    """One thing, or a tuple or list of things, as a tuple."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)

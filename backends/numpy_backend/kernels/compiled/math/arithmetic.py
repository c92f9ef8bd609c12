"""Sums, differences, products and quotients: of large arrays, and of those that broadcast.

NumPy computes in one thread, and takes longer where arrays broadcast. The bits are its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from backends.numpy_backend.kernels.compiled.math import broadcasting
from backends.numpy_backend.kernels.compiled.math.broadcasting import Arranged
from backends.numpy_backend.kernels.compiler import FLOATS, Array, Compiled
from backends.numpy_backend.kernels.emitter import Emitter
from core.registry.threads import num_threads

LEAST = 1 << 13  # elements where one broadcasts, of fewer of which NumPy takes as long


def _found(x: Any, y: Any) -> Arranged | None:
    """How inputs lie, or those of their specs, of which a loop is faster; None for others."""
    if x.dtype != y.dtype or x.dtype not in FLOATS:
        return None
    found = broadcasting.arranged(x.shape, y.shape)
    least = 2 * broadcasting.PART if x.shape == y.shape else LEAST
    return None if found is None or found.size < least else found


def _in_loop(loop: Compiled, x: Array, y: Array) -> Any:
    """What the loop makes of two arrays; NotImplemented where NumPy is as fast."""
    found = _found(x, y)
    if found is None or (x.shape == y.shape and num_threads() == 1):
        return NotImplemented
    return broadcasting.computed(loop, found, x, y)


def _in_loop_of_gradient(loop: Compiled, g: Array, y: Array) -> Any:
    """The same for a gradient, which may be a repetition, as of what a sum has added up."""
    shape, g = g.shape, _once(g)
    found = _found(g, y)
    if found is None or found.shape != shape:  # what both repeat is missing
        return NotImplemented
    return _in_loop(loop, g, y)


def _once(a: Array) -> Array:
    """The elements that an array repeats along its axes, of which one is left."""
    if a.flags.c_contiguous:
        return a
    return a[tuple([slice(1) if step == 0 else slice(None) for step in a.strides])]


def _kernel(loop: Compiled) -> Any:
    """The kernel of an operation; programs have the formula, which NumPy puts where it is told."""

    def kernel(f: Any, xp: Any, x: Array, y: Array) -> Any:
        return _in_loop(loop, x, y)

    kernel.fits = lambda *specs: _found(*specs) is not None  # type: ignore[attr-defined]
    kernel.recorded = False  # type: ignore[attr-defined]
    return kernel


def _kernel_with_number(loop: Compiled, first: bool = False) -> Any:
    """The kernel of an operation with a number, the `first` of the two or the second."""

    def kernel(f: Any, xp: Any, x: Array) -> Any:
        if num_threads() == 1 or type(f.value) not in (int, float):
            return NotImplemented
        number = np.asarray(f.value, x.dtype)
        shapes = ((), x.shape) if first else (x.shape, ())
        found = broadcasting.arranged(*shapes)
        if found is None or not np.isfinite(number):
            return NotImplemented
        return broadcasting.computed(loop, found, *((number, x) if first else (x, number)))

    kernel.fits = _is_divided  # type: ignore[attr-defined]
    kernel.recorded = False  # type: ignore[attr-defined]
    return kernel


def _is_divided(spec: Any) -> bool:
    return spec.dtype in FLOATS and prod(spec.shape) >= 2 * broadcasting.PART


def _gradient(rule: Callable[..., tuple[Any, Any]]) -> Any:
    """The kernel of the gradients of an operation whose plan has one of ours."""

    def kernel(f: Any, g: Array, needs_grad: int) -> Any:
        found = rule(f, g, needs_grad & 1, needs_grad & 2)
        return found if f.shapes is None else f._unbroadcast(found)

    kernel.with_compute, kernel.recorded = True, False  # type: ignore[attr-defined]
    return kernel


def _instruction(name: str, e: Emitter, x: Any, y: Any) -> Any:
    return getattr(e.builder, name)(x, y)


_LOOPS = {
    name: broadcasting.loop_of_two(name, partial(_instruction, f"f{name}"))
    for name in ("add", "sub", "mul", "div")
}
add, subtract, multiply, divide = map(_kernel, _LOOPS.values())
(add_constant, subtract_constant, multiply_constant, divide_constant) = map(
    _kernel_with_number, _LOOPS.values()
)
subtract_from_constant = _kernel_with_number(_LOOPS["sub"], first=True)
divide_from_constant = _kernel_with_number(_LOOPS["div"], first=True)


def _product(g: Array, x: Array) -> Any:
    z = _in_loop_of_gradient(_LOOPS["mul"], g, x)
    return g * x if z is NotImplemented else z


def _quotient(g: Array, x: Array) -> Any:
    z = _in_loop_of_gradient(_LOOPS["div"], g, x)
    return g / x if z is NotImplemented else z


@_gradient
def multiply_gradient(f: Any, g: Array, of_x: int, of_y: int) -> tuple[Any, Any]:
    """Those of a product: g y and g x."""
    x, y = f._sources
    return _product(g, y.data) if of_x else None, _product(g, x.data) if of_y else None


@_gradient
def divide_gradient(f: Any, g: Array, of_x: int, of_y: int) -> tuple[Any, Any]:
    """Those of a quotient: g / y and -(g out) / y."""
    y = f._sources[1].data
    gx = _quotient(g, y) if of_x else None
    return gx, _quotient(-_product(g, f.data), y) if of_y else None

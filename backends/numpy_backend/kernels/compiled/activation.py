"""Activations, element by element in one pass.

Those without exponentials give the formula's bits. `tanh` is not here: NumPy's own loop was
measured to be as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import pi, prod, sqrt
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels.compiled.elementary import (
    HALF,
    ONE,
    ZERO,
    exp,
    expm1,
    log1p,
    normal_below,
    sigmoid,
)
from backends.numpy_backend.kernels.compiled.products.panels import pieces
from backends.numpy_backend.kernels.compiler import (
    MANY,
    Compiled,
    Read1,
    Real,
    Write1,
    compiled,
    contiguous,
    in_loops,
    large,
    number,
    ready_for_few,
    suits,
)
from backends.numpy_backend.kernels.emitter import Emitter, emitted
from backends.numpy_backend.kernels.plain import activation as plain
from core.typing import Shape

LEAST = 65536  # elements of a part; less is done sooner than another core has fetched it

Kernel = Callable[..., Any]


def declined(*args: Any) -> Any:
    """There is no other kernel."""
    return NotImplemented


def as_it_lies(*arrays: Any) -> Any:
    """A new array like the first; where all lie alike in memory without gaps, it does so too."""
    first = arrays[0]
    if not first.flags.c_contiguous:
        made = np.empty_like(first, subok=False)
        if all([a.strides == made.strides for a in arrays]):
            return made
    return np.empty(first.shape, first.dtype)


def flat(*arrays: Any) -> list[Any]:
    """Arrays, of which the last is made so, as one axis each: in the order of its memory."""
    *given, made = arrays
    if made.flags.c_contiguous:
        return [*contiguous(*given), made.reshape(-1)]
    return contiguous(*[a.ravel("K") for a in arrays])  # they lie alike, without gaps


def forward(
    loop: Compiled,
    *settings: str,
    otherwise: Kernel = declined,
    single: bool = False,
    over: bool = False,
    calls: int = 1,
) -> Kernel:
    """A kernel that calls `loop(x, y, *settings, start, stop)`, in float32 alone if `single`.

    With `over` the loop is as fast where y is x, so that programs may put the result there.
    Arrays of SMALL // `calls` elements and more are taken, from where the formula takes longer than
    the loop, by measurement: that of a few elements takes 2.5 us.
    """

    def fits(x: Any) -> bool:
        return suits(x, calls=calls) and not (single and x.itemsize > 4)

    def computed(f: Any, y: Any, x: Any) -> Any:
        numbers = [x.dtype.type(getattr(f, name)) for name in settings]
        parallel.divide(loop, x.size, LEAST, *flat(x, y), *numbers)
        return y

    def kernel(f: Any, xp: Any, x: Any) -> Any:
        return computed(f, as_it_lies(x), x) if fits(x) else otherwise(f, xp, x)

    def into(f: Any, y: Any, x: Any) -> Any:
        return computed(f, y, x) if fits(x) and y.flags.carray else NotImplemented

    def run_for(shape: Shape, dtype: Any) -> Any:
        size, kind = prod(shape), dtype.type
        if single and dtype.itemsize > 4:
            return None

        def run(f: Any, x: Any) -> Any:
            y = np.empty(shape, dtype)
            numbers = [kind(getattr(f, name)) for name in settings]
            loop(x.reshape(-1), y.reshape(-1), *numbers, 0, size)
            return y

        return run

    if over:
        kernel.into = into  # type: ignore[attr-defined]
    ready_for_few(kernel, lambda: 2 * LEAST, run_for)
    return large(in_loops(kernel), calls)


def backward(
    loop: Compiled,
    *settings: str,
    of_result: bool = False,
    otherwise: Kernel = declined,
    single: bool = False,
    over: bool = False,
    calls: int = 1,
) -> Kernel:
    """A kernel that calls `loop(x, g, gx, *settings, start, stop)`, the result for x if asked.

    With `over` the loop is as fast where gx is g, or x.
    """

    def fits(g: Any, x: Any) -> bool:
        return suits(g, x, calls=calls) and not (single and x.itemsize > 4)

    def of(f: Any) -> Any:
        return f.data if of_result else f._sources[0].data

    def computed(f: Any, gx: Any, g: Any) -> tuple[Any]:
        numbers = [g.dtype.type(getattr(f, name)) for name in settings]
        parallel.divide(loop, g.size, LEAST, *flat(of(f), g, gx), *numbers)
        return (gx,)

    def kernel(f: Any, g: Any, needs_grad: int) -> Any:
        if not fits(g, of(f)):
            return otherwise(f, g, needs_grad)
        return computed(f, as_it_lies(g, of(f)), g)

    def into(f: Any, gx: Any, g: Any, needs_grad: int) -> Any:
        return computed(f, gx, g) if fits(g, of(f)) and gx.flags.carray else NotImplemented

    if over:
        kernel.into = into  # type: ignore[attr-defined]
    return large(in_loops(kernel), calls)


# -- rectifiers ------------------------------------------------------------------------------------


_FIFTH, _BEND = number(0.2), number(2.5)


@emitted
def _rectify(e: Emitter, x: Any, y: Any, start: Any, stop: Any) -> None:
    for i, lanes in pieces(e, stop - start):
        value, zero = e.load(e.at(x, start + i), lanes), e.broadcast(e.constant(0.0), lanes)
        below = e.builder.fcmp_ordered("<", value, zero)
        e.store(e.where(below, zero, value), e.at(y, start + i))


@emitted
def _let_through(e: Emitter, y: Any, g: Any, gx: Any, start: Any, stop: Any) -> None:
    for i, lanes in pieces(e, stop - start):
        value, given = [e.load(e.at(x, start + i), lanes) for x in (y, g)]
        zero = e.broadcast(e.constant(0.0), lanes)
        above = e.builder.fcmp_ordered(">", value, zero)
        e.store(e.where(above, given, zero), e.at(gx, start + i))


@compiled
def _relu(x: Read1, y: Write1, start: int, stop: int) -> None:
    _rectify(x, y, start, stop)


@compiled
def _relu_gradient(y: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    _let_through(y, g, gx, start, stop)


@compiled
def _leaky_relu(x: Read1, y: Write1, slope: Real, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = x[i] if x[i] >= ZERO else x[i] * slope


@compiled
def _leaky_relu_gradient(
    x: Read1, g: Read1, gx: Write1, slope: Real, start: int, stop: int
) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] if x[i] > ZERO else g[i] * slope


@compiled
def _clipped_relu(x: Read1, y: Write1, high: Real, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        above = ZERO if x[i] <= ZERO else x[i]
        y[i] = high if above > high else above


@compiled
def _hard_sigmoid(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        value = _FIFTH * x[i] + HALF
        above = ZERO if value <= ZERO else value
        y[i] = ONE if above > ONE else above


@compiled
def _fifth_within(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = _FIFTH * g[i] if abs(x[i]) < _BEND else ZERO


@compiled
def _strictly_between(x: Read1, g: Read1, gx: Write1, high: Real, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] if x[i] > ZERO and x[i] < high else ZERO


@compiled
def _within(x: Read1, g: Read1, gx: Write1, low: Real, high: Real, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] if x[i] >= low and x[i] <= high else ZERO


relu = forward(_relu, over=True)
relu_gradient = backward(_relu_gradient, of_result=True, otherwise=plain.relu_gradient, over=True)
leaky_relu = forward(_leaky_relu, "slope", otherwise=plain.leaky_relu, calls=4)
leaky_relu_gradient = backward(
    _leaky_relu_gradient, "slope", otherwise=plain.leaky_relu_gradient, calls=2
)
hard_sigmoid = forward(_hard_sigmoid, over=True, calls=8)
hard_sigmoid_gradient = backward(_fifth_within, otherwise=plain.hard_sigmoid_gradient, calls=8)
clipped_relu = forward(_clipped_relu, "z", over=True, calls=8)
clipped_relu_gradient = backward(
    _strictly_between, "z", otherwise=plain.clipped_relu_gradient, calls=16
)
_clip_gradient = backward(_within, "x_min", "x_max", otherwise=plain.clip_gradient, calls=8)


@in_loops
@partial(large, calls=8)
def clip_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """`g` within both bounds, if there are two."""
    kernel = plain.clip_gradient if None in (f.x_min, f.x_max) else _clip_gradient
    return kernel(f, g, needs_grad)


# -- with exponentials -----------------------------------------------------------------------------

_DEEP = number(-50.0)  # exp(x) - 1 is -1 there


@compiled
def _elu(x: Read1, y: Write1, alpha: Real, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        v = x[i]
        below = ZERO if v > ZERO else v
        y[i] = v if v >= ZERO else expm1(_DEEP if below < _DEEP else below) * alpha


@compiled
def _elu_gradient(x: Read1, g: Read1, gx: Write1, alpha: Real, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        v = x[i]
        gx[i] = g[i] if v > ZERO else g[i] * (exp(ZERO if v > ZERO else v) * alpha)


@compiled
def _sigmoid(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = sigmoid(x[i])


@compiled
def _sigmoid_gradient(y: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    y, g, gx = y[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = (g[i] - g[i] * y[i]) * y[i]


@compiled
def _silu(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = x[i] * sigmoid(x[i])


@compiled
def _silu_gradient(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        s = sigmoid(x[i])
        gx[i] = g[i] * s * (ONE + x[i] * (ONE - s))


@compiled
def _softplus(x: Read1, y: Write1, beta: Real, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        z = x[i] * beta
        y[i] = ((ZERO if z < ZERO else z) + log1p(exp(-abs(z)))) / beta


@compiled
def _softplus_gradient(x: Read1, g: Read1, gx: Write1, beta: Real, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        gx[i] = g[i] * sigmoid(x[i] * beta)


elu = forward(_elu, "alpha", calls=16)
elu_gradient = backward(_elu_gradient, "alpha", calls=16)
logistic = forward(_sigmoid, calls=16)
logistic_gradient = backward(_sigmoid_gradient, of_result=True)
silu, silu_gradient = forward(_silu, calls=MANY), backward(_silu_gradient, calls=MANY)
softplus = forward(_softplus, "beta", calls=16)
softplus_gradient = backward(_softplus_gradient, "beta", calls=MANY)

# -- with the normal distribution ------------------------------------------------------------------

_PEAK = number(1 / sqrt(2 * pi))


@compiled
def _gelu(x: Read1, y: Write1, start: int, stop: int) -> None:
    x, y = x[start:stop], y[start:stop]
    for i in range(x.size):
        y[i] = x[i] * normal_below(x[i], exp(-HALF * x[i] * x[i]))


@compiled
def _gelu_gradient(x: Read1, g: Read1, gx: Write1, start: int, stop: int) -> None:
    x, g, gx = x[start:stop], g[start:stop], gx[start:stop]
    for i in range(g.size):
        bell = exp(-HALF * x[i] * x[i])
        gx[i] = g[i] * (normal_below(x[i], bell) + x[i] * (bell * _PEAK))


gelu = forward(_gelu, single=True, calls=MANY)
gelu_gradient = backward(_gelu_gradient, single=True, calls=MANY)

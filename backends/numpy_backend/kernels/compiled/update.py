"""Steps of update rules: one loop over parameter, gradient and state, of all parameters at once.

A loop takes the operations of its rule's `step` in their order, on numbers that the formula rounds
to the dtype as well, and so gives its bits. Loops over five arrays go over blocks in two halves: a
compiler that has to tell so many apart gives up on vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiler import (
    Array,
    Compiled,
    Read1,
    Real,
    Write1,
    compiled,
    inlined_exactly,
    number,
)

LEAST = 65536  # elements of a part; less is done sooner than another thread wakes up
BLOCK = 2048  # elements that stay in the nearest cache between the halves of a loop
ZERO, ONE = number(0), number(1)
State = Mapping[str, Any]


def together(
    loop: Compiled, names: Sequence[str], numbers: Callable[[Any], Iterable[float]]
) -> Callable[..., Any]:
    """A kernel for all parameters of a rule.

    Args:
        loop: `loop(param, grad, *state, *numbers, start, stop)`.
        names: Those of the state.
        numbers: What the loop takes from a rule, for every element.
    """

    def kernel(
        rule: Any, xp: Any, params: list[Array], grads: list[Array], states: list[State]
    ) -> list[int] | None:
        """Steps of all parameters that suit the loop; the positions of the others."""
        if sum([param.size for param in params]) < compiler.SMALL:
            return list(range(len(params)))
        sets = [
            (param, grad, *[state[name] for name in names])
            for param, grad, state in zip(params, grads, states, strict=True)
        ]
        left = [i for i, arrays in enumerate(sets) if not _suits(*arrays)]
        if left:
            sets = [arrays for i, arrays in enumerate(sets) if i not in left]
        if _entangled(sets):
            return list(range(len(params)))
        _run(loop, sets, tuple(map(float, numbers(rule))))
        return left

    def prepared(params: list[Array], states: list[State]) -> Any:
        """`call(rule, grads)`, which looks at gradients alone; None where some do not suit."""
        sets = [
            (param, *[state[name] for name in names])
            for param, state in zip(params, states, strict=True)
        ]
        if not all([_suits(arrays[0], *arrays) for arrays in sets]):
            return None
        owners = {id(_owner(array)) for arrays in sets for array in arrays}
        if len(owners) < len(sets) * len(sets[0]):
            return None
        flat = [[array.reshape(-1) for array in arrays] for arrays in sets]

        def call(rule: Any, grads: list[Array]) -> None:
            """A step of all parameters."""
            whole = []
            for (param, *state), grad in zip(flat, grads, strict=True):
                if id(_owner(grad)) in owners:
                    grad = grad.copy()
                whole.append((param, _flat(grad), *state))
            _run(loop, whole, tuple(map(float, numbers(rule))))

        return call

    kernel.prepared = prepared  # type: ignore[attr-defined]
    return kernel


def _suits(param: Array, grad: Array, *state: Array) -> bool:
    """Whether a loop may write the parameter and its state."""
    dtype, shape = param.dtype, param.shape
    if dtype not in compiler.FLOATS or grad.dtype != dtype:
        return False
    for array in (param, *state):
        flags = array.flags
        if not (flags.c_contiguous and flags.writeable):
            return False
        if array.dtype != dtype or array.shape != shape:
            return False
    return True


def _entangled(sets: list[tuple[Array, ...]]) -> bool:
    """Whether an array that is written may share memory with another."""
    written = [id(_owner(array)) for param, _, *state in sets for array in (param, *state)]
    owners = set(written)
    return len(owners) < len(written) or any([id(_owner(each[1])) in owners for each in sets])


def _owner(array: Array) -> Any:
    return array if array.base is None else array.base


def _run(loop: Compiled, sets: list[tuple[Array, ...]], numbers: tuple[float, ...]) -> None:
    """Run a loop over all arrays, in as many threads as there are parts for."""
    parts = []
    total = 0
    for arrays in sets:
        flat = [a if a.ndim == 1 and a.flags.c_contiguous else _flat(a) for a in arrays]
        size = flat[0].size
        total += size
        edges = (0, size) if size < 2 * LEAST else parallel.bounds(size, LEAST)
        parts += [(*flat, *numbers, start, stop) for start, stop in pairwise(edges)]
    if total < 2 * LEAST:
        for part in parts:
            loop(*part)
    else:
        parallel.each(loop, parts)


def _flat(array: Array) -> Array:
    return np.asarray(array).ravel()


@inlined_exactly
def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers; NaN if one of them is."""
    return a if a > b or a != a else b


@inlined_exactly
def smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers; NaN if one of them is."""
    return a if a < b or a != a else b


@inlined_exactly
def moved(p: Any, change: Any, decay: Any, eta: Any) -> Any:
    """A parameter after a change, with weight decay unless that is 0."""
    return p - eta * (change + decay * p if decay != 0 else change)


# -- one rate for all elements ---------------------------------------------------------------------


@compiled
def _sgd(p: Write1, g: Read1, lr: Real, start: int, stop: int) -> None:
    p, g = p[start:stop], g[start:stop]
    for i in range(p.size):
        p[i] -= lr * g[i]


@compiled
def _momentum(
    p: Write1, g: Read1, v: Write1, keep: Real, lr: Real, rate: Real, start: int, stop: int
) -> None:
    p, g, v = p[start:stop], g[start:stop], v[start:stop]
    for i in range(p.size):
        v[i] = v[i] * keep - lr * g[i]
        p[i] += rate * v[i]


@compiled
def _nesterov(
    p: Write1,
    g: Read1,
    v: Write1,
    keep: Real,
    lr: Real,
    ahead: Real,
    now: Real,
    start: int,
    stop: int,
) -> None:
    p, g, v = p[start:stop], g[start:stop], v[start:stop]
    for i in range(p.size):
        v[i] = v[i] * keep - lr * g[i]
        p[i] += ahead * v[i] - now * g[i]


@compiled
def _lion(
    p: Write1,
    g: Read1,
    m: Write1,
    ahead: Real,
    new: Real,
    lr: Real,
    decay: Real,
    start: int,
    stop: int,
) -> None:
    p, g, m = p[start:stop], g[start:stop], m[start:stop]
    for i in range(p.size):
        x = m[i] + ahead * (g[i] - m[i])
        sign = ONE if x > 0 else (-ONE if x < 0 else x + ZERO)
        p[i] = moved(p[i], sign, decay, lr)
        m[i] += new * (g[i] - m[i])


sgd = together(_sgd, (), lambda r: [r.lr])
momentum_sgd = together(_momentum, ("v",), lambda r: [r.momentum, r.lr, 1])
corrected_momentum_sgd = together(_momentum, ("v",), lambda r: [r.momentum, 1, r.lr])
nesterov_ag = together(
    _nesterov, ("v",), lambda r: [r.momentum, r.lr, r.momentum**2, (1 + r.momentum) * r.lr]
)
lion = together(_lion, ("m",), lambda r: [1 - r.beta1, 1 - r.beta2, r.lr, r.weight_decay_rate])


# -- rates by squared gradients --------------------------------------------------------------------


@compiled
def _adagrad(p: Write1, g: Read1, h: Write1, lr: Real, eps: Real, start: int, stop: int) -> None:
    p, g, h = p[start:stop], g[start:stop], h[start:stop]
    for i in range(p.size):
        h[i] += g[i] * g[i]
        p[i] -= lr * g[i] / (np.sqrt(h[i]) + eps)


@compiled
def _rmsprop(
    p: Write1,
    g: Read1,
    ms: Write1,
    new: Real,
    lr: Real,
    inside: Real,
    eps: Real,
    start: int,
    stop: int,
) -> None:
    p, g, ms = p[start:stop], g[start:stop], ms[start:stop]
    for i in range(p.size):
        ms[i] += new * (g[i] * g[i] - ms[i])
        p[i] -= lr * g[i] / (np.sqrt(ms[i] + inside) + eps)


@compiled
def _adadelta(
    p: Write1, g: Read1, a: Write1, b: Write1, new: Real, eps: Real, start: int, stop: int
) -> None:
    p, g, a, b = p[start:stop], g[start:stop], a[start:stop], b[start:stop]
    for i in range(p.size):
        a[i] += new * (g[i] * g[i] - a[i])
        change = np.sqrt((b[i] + eps) / (a[i] + eps)) * g[i]
        b[i] += new * (change * change - b[i])
        p[i] -= change


@compiled
def _rmsprop_graves(
    p: Write1, g: Read1, n: Write1, mean: Write1, delta: Write1,
    new: Real, keep: Real, lr: Real, eps: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        pb, gb, nb, mb = p[first:last], g[first:last], n[first:last], mean[first:last]
        db = delta[first:last]
        for i in range(gb.size):
            nb[i] += new * (gb[i] * gb[i] - nb[i])
            mb[i] += new * (gb[i] - mb[i])
        for i in range(gb.size):
            variance = larger(nb[i] - mb[i] * mb[i], ZERO)
            db[i] = db[i] * keep - lr * gb[i] / np.sqrt(variance + eps)
            pb[i] += db[i]


adagrad = together(_adagrad, ("h",), lambda r: [r.lr, r.eps])
rmsprop = together(
    _rmsprop,
    ("ms",),
    lambda r: [1 - r.alpha, r.lr, *((r.eps, 0) if r.eps_inside_sqrt else (0, r.eps))],
)
adadelta = together(_adadelta, ("msg", "msdx"), lambda r: [1 - r.rho, r.eps])
rmsprop_graves = together(
    _rmsprop_graves, ("n", "g", "delta"), lambda r: [1 - r.alpha, r.momentum, r.lr, r.eps]
)


# -- Adam and its siblings -------------------------------------------------------------------------


@compiled
def _adam(
    p: Write1, g: Read1, m: Write1, v: Write1, new: Real, new_square: Real,
    rate: Real, eps: Real, decay: Real, eta: Real, start: int, stop: int,
) -> None:  # fmt: skip
    p, g, m, v = p[start:stop], g[start:stop], m[start:stop], v[start:stop]
    for i in range(p.size):
        m[i] += new * (g[i] - m[i])
        v[i] += new_square * (g[i] * g[i] - v[i])
        p[i] = moved(p[i], rate / (np.sqrt(v[i]) + eps) * m[i], decay, eta)


@compiled
def _adabound(
    p: Write1, g: Read1, m: Write1, v: Write1, new: Real, new_square: Real,
    rate: Real, eps: Real, low: Real, high: Real, decay: Real, eta: Real, start: int, stop: int,
) -> None:  # fmt: skip
    p, g, m, v = p[start:stop], g[start:stop], m[start:stop], v[start:stop]
    for i in range(p.size):
        m[i] += new * (g[i] - m[i])
        v[i] += new_square * (g[i] * g[i] - v[i])
        bounded = smaller(larger(rate / (np.sqrt(v[i]) + eps), low), high)
        p[i] = moved(p[i], bounded * m[i], decay, eta)


@compiled
def _amsbound(
    p: Write1, g: Read1, m: Write1, v: Write1, top: Write1, new: Real, new_square: Real,
    rate: Real, eps: Real, low: Real, high: Real, decay: Real, eta: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        pb, gb, mb, vb = p[first:last], g[first:last], m[first:last], v[first:last]
        tb = top[first:last]
        for i in range(gb.size):
            mb[i] += new * (gb[i] - mb[i])
            vb[i] += new_square * (gb[i] * gb[i] - vb[i])
        for i in range(gb.size):
            tb[i] = larger(tb[i], vb[i])
            bounded = smaller(larger(rate / (np.sqrt(tb[i]) + eps), low), high)
            pb[i] = moved(pb[i], bounded * mb[i], decay, eta)


@compiled
def _radam(
    p: Write1, g: Read1, m: Write1, v: Write1, new: Real, new_square: Real,
    certain: Real, rate: Real, eps: Real, decay: Real, eta: Real, start: int, stop: int,
) -> None:  # fmt: skip
    p, g, m, v = p[start:stop], g[start:stop], m[start:stop], v[start:stop]
    for i in range(p.size):
        m[i] += new * (g[i] - m[i])
        v[i] += new_square * (g[i] * g[i] - v[i])
        change = rate * m[i]
        if certain != 0:
            change = change / (np.sqrt(v[i]) + eps)
        p[i] = moved(p[i], change, decay, eta)


def _averages(r: Any) -> tuple[float, float]:
    return 1 - r.beta1, 1 - r.beta2


def _decay(r: Any) -> tuple[float, float]:
    return r.weight_decay_rate, r.eta


def _bounded(rule: Any) -> list[float]:
    return [*_averages(rule), rule.alpha_t, rule.eps, *rule.bounds, *_decay(rule)]


def _of_one_rate(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, for rules whose bounds are in proportion to one rate at setup."""

    def of_one_rate(
        rule: Any, xp: Any, params: list[Array], grads: list[Array], states: list[State]
    ) -> list[int] | None:
        """Steps of all parameters, if they had one rate at setup."""
        if len({float(state["initial_alpha"]) for state in states}) > 1:
            return list(range(len(params)))
        found: list[int] | None = kernel(rule, xp, params, grads, states)
        return found

    def prepared(params: list[Array], states: list[State]) -> Any:
        """The same for parameters that stay."""
        if len({float(state["initial_alpha"]) for state in states}) > 1:
            return None
        return kernel.prepared(params, states)  # type: ignore[attr-defined]

    of_one_rate.prepared = prepared  # type: ignore[attr-defined]
    return of_one_rate


adam = together(_adam, ("m", "v"), lambda r: [*_averages(r), r.alpha_t, r.eps, *_decay(r)])
amsgrad = together(
    _amsbound,
    ("m", "v", "vhat"),
    lambda r: [*_averages(r), r.alpha_t, r.eps, -inf, inf, *_decay(r)],
)
adabound = _of_one_rate(together(_adabound, ("m", "v"), _bounded))
amsbound = _of_one_rate(together(_amsbound, ("m", "v", "vhat"), _bounded))
radam = together(_radam, ("m", "v"), lambda r: [*_averages(r), *r.rate, r.eps, *_decay(r)])

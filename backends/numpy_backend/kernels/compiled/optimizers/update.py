"""Steps of update rules: one loop over parameter, gradient and state, of all parameters at once.

A loop takes the operations of its rule's `step` in their order, on numbers that the formula rounds
to the dtype as well, and so gives its bits. Loops over five arrays go over blocks in two halves: a
compiler that has to tell so many apart gives up on vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
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
from core.registry.threads import num_threads

LEAST = 65536  # elements of a part; less is done sooner than another thread wakes up
PARTS = 8  # of each thread, if there are that many
BLOCK = 2048  # elements that stay in the nearest cache between the halves of a loop
LOADED = 1000  # steps of a few elements, after which it pays to load a compiler for them
LINE = 64  # bytes of a line of the cache
ZERO, ONE = number(0), number(1)
State = Mapping[str, Any]


def together(
    loop: Compiled,
    names: Sequence[str],
    numbers: Callable[[Any], Iterable[float]],
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
        flat = [tuple(map(_flat, arrays)) for arrays in sets]
        _run(loop, flat, [arrays[0].size for arrays in flat], tuple(map(float, numbers(rule))))
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
        flat = [[*map(_flat, arrays)] for arrays in sets]
        sizes = [param.size for param in params]
        small = sum(sizes) < compiler.SMALL

        def call(rule: Any, grads: list[Array]) -> Iterable[int]:
            """A step of all; or of none, if a gradient shares memory with what is written."""
            if small and rule.t < LOADED or not owners.isdisjoint(map(id, map(_owner, grads))):
                return range(len(grads))
            given = zip(flat, map(_flat, grads), strict=True)
            whole = [(param, grad, *state) for (param, *state), grad in given]
            _run(loop, whole, sizes, tuple(map(float, numbers(rule))))
            return ()

        return call

    kernel.prepared = prepared  # type: ignore[attr-defined]
    return kernel


def _suits(param: Array, grad: Array, *state: Array) -> bool:
    """Whether a loop may write the parameter and its state."""
    dtype, shape = param.dtype, param.shape
    if dtype not in compiler.FLOATS or grad.dtype != dtype:
        return False
    for array in (param, *state):
        if not array.flags.carray:  # writeable and aligned as well
            return False
        if array.dtype != dtype or array.shape != shape:
            return False
    return True


def _entangled(sets: list[tuple[Array, ...]]) -> bool:
    """Whether an array that is written may share memory with another."""
    ids = [[id(a if a.base is None else a.base) for a in arrays] for arrays in sets]
    read = [each.pop(1) for each in ids]
    owners = set(chain.from_iterable(ids))
    return len(owners) < sum(map(len, ids)) or not owners.isdisjoint(read)


def _owner(array: Array) -> Any:
    return array if array.base is None else array.base


def _run(
    loop: Compiled, flat: list[tuple[Array, ...]], sizes: list[int], numbers: tuple[float, ...]
) -> None:
    """Run a loop over all arrays, in as many threads as there are parts for."""
    total = sum(sizes)
    if total < 2 * LEAST:
        for arrays, size in zip(flat, sizes, strict=True):
            loop(*arrays, *numbers, 0, size)
        return
    least = max(LEAST, total // (PARTS * num_threads()))  # to pack a part takes time, too
    parts = []
    for arrays, size in zip(flat, sizes, strict=True):
        edges = (0, size) if size < 2 * least else parallel.bounds(size, least)
        parts += [(*arrays, *numbers, start, stop) for start, stop in pairwise(edges)]
    parallel.each(loop, parts)


def _flat(array: Array) -> Array:
    return (array if type(array) is np.ndarray else np.asarray(array)).ravel()


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


@inlined_exactly
def averaged(mean: Any, keep: Any, new: Any, value: Any) -> Any:
    """A running mean after one more value: the shares of both make one."""
    return mean * keep + new * value


@inlined_exactly
def pieces(p: Any, start: int, stop: int) -> Any:
    """A few elements up to where a line of the cache begins, and all others.

    What is written across the edges of lines takes twice as long. State lies as its parameter does
    (`backends.numpy_backend.placement`), so that both are whole from there on.
    """
    first = np.intp(p.ctypes.data) // p.itemsize + start
    edge = min(start - first % (-LINE // p.itemsize), stop)
    return (start, edge), (edge, stop)


# -- one rate for all elements ---------------------------------------------------------------------


@compiled
def _sgd(p: Write1, g: Read1, lr: Real, start: int, stop: int) -> None:
    for first, last in pieces(p, start, stop):
        pb, gb = p[first:last], g[first:last]
        for i in range(pb.size):
            pb[i] -= lr * gb[i]


@compiled
def _momentum(
    p: Write1, g: Read1, v: Write1, keep: Real, lr: Real, rate: Real, start: int, stop: int
) -> None:
    for first, last in pieces(p, start, stop):
        pb, gb, vb = p[first:last], g[first:last], v[first:last]
        for i in range(pb.size):
            vb[i] = vb[i] * keep - lr * gb[i]
            pb[i] += rate * vb[i]


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
    for first, last in pieces(p, start, stop):
        pb, gb, vb = p[first:last], g[first:last], v[first:last]
        for i in range(pb.size):
            vb[i] = vb[i] * keep - lr * gb[i]
            pb[i] += ahead * vb[i] - now * gb[i]


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
    for first, last in pieces(p, start, stop):
        pb, gb, mb = p[first:last], g[first:last], m[first:last]
        for i in range(pb.size):
            x = mb[i] + ahead * (gb[i] - mb[i])
            sign = ONE if x > 0 else (-ONE if x < 0 else x + ZERO)
            pb[i] = moved(pb[i], sign, decay, lr)
            mb[i] += new * (gb[i] - mb[i])


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
    for first, last in pieces(p, start, stop):
        pb, gb, hb = p[first:last], g[first:last], h[first:last]
        for i in range(pb.size):
            hb[i] += gb[i] * gb[i]
            pb[i] -= lr * gb[i] / (np.sqrt(hb[i]) + eps)


@compiled
def _rmsprop(
    p: Write1,
    g: Read1,
    ms: Write1,
    keep: Real,
    new: Real,
    lr: Real,
    inside: Real,
    eps: Real,
    start: int,
    stop: int,
) -> None:
    for first, last in pieces(p, start, stop):
        pb, gb, msb = p[first:last], g[first:last], ms[first:last]
        for i in range(pb.size):
            msb[i] = averaged(msb[i], keep, new, gb[i] * gb[i])
            pb[i] -= lr * gb[i] / (np.sqrt(msb[i] + inside) + eps)


@compiled
def _adadelta(
    p: Write1, g: Read1, a: Write1, b: Write1,
    keep: Real, new: Real, eps: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first, last in pieces(p, start, stop):
        pb, gb, ab, bb = p[first:last], g[first:last], a[first:last], b[first:last]
        for i in range(pb.size):
            ab[i] = averaged(ab[i], keep, new, gb[i] * gb[i])
            change = np.sqrt((bb[i] + eps) / (ab[i] + eps)) * gb[i]
            bb[i] = averaged(bb[i], keep, new, change * change)
            pb[i] -= change


@compiled
def _rmsprop_graves(
    p: Write1, g: Read1, n: Write1, mean: Write1, delta: Write1,
    keep: Real, new: Real, momentum: Real, lr: Real, eps: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        pb, gb, nb, mb = p[first:last], g[first:last], n[first:last], mean[first:last]
        db = delta[first:last]
        for i in range(gb.size):
            nb[i] = averaged(nb[i], keep, new, gb[i] * gb[i])
            mb[i] = averaged(mb[i], keep, new, gb[i])
        for i in range(gb.size):
            root, size = np.sqrt(nb[i]), abs(mb[i])
            variance = larger(root - size, ZERO) * (root + size)
            db[i] = db[i] * momentum - lr * gb[i] / np.sqrt(variance + eps)
            pb[i] += db[i]


adagrad = together(_adagrad, ("h",), lambda r: [r.lr, r.eps])
rmsprop = together(
    _rmsprop,
    ("ms",),
    lambda r: [r.alpha, 1 - r.alpha, r.lr, *((r.eps, 0) if r.eps_inside_sqrt else (0, r.eps))],
)
adadelta = together(_adadelta, ("msg", "msdx"), lambda r: [r.rho, 1 - r.rho, r.eps])
rmsprop_graves = together(
    _rmsprop_graves,
    ("n", "g", "delta"),
    lambda r: [r.alpha, 1 - r.alpha, r.momentum, r.lr, r.eps],
)


# -- Adam and its siblings -------------------------------------------------------------------------


@compiled
def _adam(
    p: Write1, g: Read1, m: Write1, v: Write1,
    keep: Real, new: Real, keep_square: Real, new_square: Real,
    rate: Real, eps: Real, decay: Real, eta: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first, last in pieces(p, start, stop):
        pb, gb, mb, vb = p[first:last], g[first:last], m[first:last], v[first:last]
        for i in range(pb.size):
            mb[i] = averaged(mb[i], keep, new, gb[i])
            vb[i] = averaged(vb[i], keep_square, new_square, gb[i] * gb[i])
            pb[i] = moved(pb[i], rate / (np.sqrt(vb[i]) + eps) * mb[i], decay, eta)


@compiled
def _adabound(
    p: Write1, g: Read1, m: Write1, v: Write1,
    keep: Real, new: Real, keep_square: Real, new_square: Real,
    rate: Real, eps: Real, low: Real, high: Real, decay: Real, eta: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first, last in pieces(p, start, stop):
        pb, gb, mb, vb = p[first:last], g[first:last], m[first:last], v[first:last]
        for i in range(pb.size):
            mb[i] = averaged(mb[i], keep, new, gb[i])
            vb[i] = averaged(vb[i], keep_square, new_square, gb[i] * gb[i])
            bounded = smaller(larger(rate / (np.sqrt(vb[i]) + eps), low), high)
            pb[i] = moved(pb[i], bounded * mb[i], decay, eta)


@compiled
def _amsbound(
    p: Write1, g: Read1, m: Write1, v: Write1, top: Write1,
    keep: Real, new: Real, keep_square: Real, new_square: Real,
    rate: Real, eps: Real, low: Real, high: Real, decay: Real, eta: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        pb, gb, mb, vb = p[first:last], g[first:last], m[first:last], v[first:last]
        tb = top[first:last]
        for i in range(gb.size):
            mb[i] = averaged(mb[i], keep, new, gb[i])
            vb[i] = averaged(vb[i], keep_square, new_square, gb[i] * gb[i])
        for i in range(gb.size):
            tb[i] = larger(tb[i], vb[i])
            bounded = smaller(larger(rate / (np.sqrt(tb[i]) + eps), low), high)
            pb[i] = moved(pb[i], bounded * mb[i], decay, eta)


@compiled
def _radam(
    p: Write1, g: Read1, m: Write1, v: Write1,
    keep: Real, new: Real, keep_square: Real, new_square: Real,
    certain: Real, rate: Real, eps: Real, decay: Real, eta: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first, last in pieces(p, start, stop):
        pb, gb, mb, vb = p[first:last], g[first:last], m[first:last], v[first:last]
        for i in range(pb.size):
            mb[i] = averaged(mb[i], keep, new, gb[i])
            vb[i] = averaged(vb[i], keep_square, new_square, gb[i] * gb[i])
            change = rate * mb[i]
            if certain != 0:
                change = change / (np.sqrt(vb[i]) + eps)
            pb[i] = moved(pb[i], change, decay, eta)


@compiled
def _adamax(
    p: Write1, g: Read1, m: Write1, u: Write1, keep: Real, new: Real, keep_largest: Real,
    rate: Real, eps: Real, decay: Real, eta: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first, last in pieces(p, start, stop):
        pb, gb, mb, ub = p[first:last], g[first:last], m[first:last], u[first:last]
        for i in range(pb.size):
            mb[i] = averaged(mb[i], keep, new, gb[i])
            ub[i] = larger(keep_largest * ub[i], abs(gb[i]) + eps)
            pb[i] = moved(pb[i], rate * mb[i] / ub[i], decay, eta)


@compiled
def _nadam(
    p: Write1, g: Read1, m: Write1, v: Write1,
    keep: Real, new: Real, keep_square: Real, new_square: Real, of_gradient: Real,
    of_moment: Real, correction: Real, eps: Real, decay: Real, eta: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first, last in pieces(p, start, stop):
        pb, gb, mb, vb = p[first:last], g[first:last], m[first:last], v[first:last]
        for i in range(pb.size):
            mb[i] = averaged(mb[i], keep, new, gb[i])
            vb[i] = averaged(vb[i], keep_square, new_square, gb[i] * gb[i])
            change = of_gradient * gb[i] + of_moment * mb[i]
            change = change / (np.sqrt(vb[i] / correction) + eps)
            pb[i] = moved(pb[i], change, decay, eta)


def _averages(r: Any) -> tuple[float, float, float, float]:
    return r.beta1, 1 - r.beta1, r.beta2, 1 - r.beta2


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
        """As that of the kernel; None where the rates at setup differ."""
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
adamax = together(
    _adamax, ("m", "u"), lambda r: [r.beta1, 1 - r.beta1, r.beta2, r.rate, r.eps, *_decay(r)]
)
nadam = together(
    _nadam,
    ("m", "v"),
    lambda r: [*_averages(r), *r.rates, 1 - r.beta2**r.t, r.eps, *_decay(r)],
)

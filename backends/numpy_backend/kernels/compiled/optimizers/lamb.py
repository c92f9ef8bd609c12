"""Steps of LAMB: the direction in one loop, then the norms that its length depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.optimizers.update import (
    State,
    _averages,
    _entangled,
    _flat,
    _run,
    _suits,
    averaged,
    pieces,
)
from backends.numpy_backend.kernels.compiler import Array, Read1, Real, Write1, compiled


@compiled
def _direction(
    p: Read1, g: Read1, m: Write1, v: Write1, to: Write1,
    keep: Real, new: Real, keep_square: Real, new_square: Real,
    first_share: Real, second_share: Real, eps: Real, decay: Real, start: int, stop: int,
) -> None:  # fmt: skip
    for first, last in pieces(p, start, stop):
        pb, gb, mb, vb = p[first:last], g[first:last], m[first:last], v[first:last]
        ub = to[first:last]
        for i in range(pb.size):
            mb[i] = averaged(mb[i], keep, new, gb[i])
            vb[i] = averaged(vb[i], keep_square, new_square, gb[i] * gb[i])
        for i in range(pb.size):
            size = np.sqrt(vb[i] / second_share) + eps
            ub[i] = mb[i] / first_share / size + decay * pb[i]


def lamb(
    rule: Any, xp: Any, params: list[Array], grads: list[Array], states: list[State]
) -> list[int]:
    """Steps of the parameters that suit the loop; the positions of the others."""
    if sum([param.size for param in params]) < compiler.SMALL:
        return list(range(len(params)))
    shares = 1 - rule.beta1**rule.t, 1 - rule.beta2**rule.t
    numbers = *_averages(rule), *shares, rule.eps, rule.weight_decay_rate
    left = []
    for i, (param, grad, state) in enumerate(zip(params, grads, states, strict=True)):
        arrays = (param, grad, state["m"], state["v"])
        if not _suits(*arrays) or _entangled([arrays]):
            left.append(i)
            continue
        change = np.empty(param.shape, param.dtype)
        _run(_direction, [tuple(map(_flat, (*arrays, change)))], [param.size], numbers)
        rule.move(xp, param, change)
    return left

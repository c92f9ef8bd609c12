"""Steps of all parameters of an optimizer together, by PyTorch's fused and listwise functions."""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch

_FLOATS = (torch.float32, torch.float64)


def _suits(kept: Any, grads: Any) -> bool:
    """Whether all are of one dtype, of 32 bits or 64, and what is changed lies in the order of C.

    PyTorch's fused steps take elements as they lie, whatever the strides are.
    """
    dtype = kept[0].dtype
    if dtype not in _FLOATS or not all([each.is_contiguous() for each in kept]):
        return False
    return all([each.dtype is dtype for each in (*kept, *grads)])


def _states(states: Any, *names: str) -> list[list[Any]]:
    return [[state[name] for state in states] for name in names]


def sgd(rule: Any, xp: Any, params: Any, grads: Any, states: Any) -> Any:
    """Moves p to p - lr g."""
    torch._foreach_add_(params, grads, alpha=-rule.lr)


def momentum_sgd(rule: Any, xp: Any, params: Any, grads: Any, states: Any) -> Any:
    """Moves v to mu v - lr g, then p to p + v."""
    (v,) = _states(states, "v")
    torch._foreach_mul_(v, rule.momentum)
    torch._foreach_add_(v, grads, alpha=-rule.lr)
    torch._foreach_add_(params, v)


def adam(rule: Any, xp: Any, params: Any, grads: Any, states: Any) -> Any:
    """PyTorch's fused Adam; its epsilon is added after the correction of v, not before."""
    return _adam(rule, params, grads, *_states(states, "m", "v"), [])


def amsgrad(rule: Any, xp: Any, params: Any, grads: Any, states: Any) -> Any:
    """The same with the largest v."""
    return _adam(rule, params, grads, *_states(states, "m", "v", "vhat"))


def _adam(rule: Any, params: Any, grads: Any, m: Any, v: Any, largest: Any) -> Any:
    decay = rule.weight_decay_rate
    if not _suits([*params, *m, *v, *largest], grads) or (decay and not rule.alpha):
        return list(range(len(params)))
    step = torch.tensor(float(rule.t), device=params[0].device)
    torch._fused_adamw_(
        params,
        [grad.contiguous() for grad in grads],
        m,
        v,
        largest,
        [step] * len(params),
        lr=rule.eta * rule.alpha,
        beta1=rule.beta1,
        beta2=rule.beta2,
        weight_decay=decay / rule.alpha if decay else 0.0,
        eps=rule.eps / sqrt(1 - rule.beta2**rule.t),
        amsgrad=bool(largest),
        maximize=False,
    )
    return None

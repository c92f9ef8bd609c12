"""Methods that optimizers had in version 1, and its gradients of links."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import wraps
from typing import Any

from plugrad_chainer.version1.function_set import gradient

from core import Link, Optimizer
from core.errors import UpdateError


def switch() -> None:
    """Give them to optimizers, and `gW` to links."""
    for method in (zero_grads, compute_grads_norm, clip_grads, weight_decay, accumulate_grads):
        setattr(Optimizer, method.__name__, method)
    had = getattr(Link, "__getattr__", None)
    if had is None:
        Link.__getattr__ = gradient  # type: ignore[attr-defined]
    setup = Optimizer.setup

    @wraps(setup)
    def checked(self: Any, link: Any) -> Any:
        if isinstance(link, tuple):
            raise TypeError(
                f"{type(self).__name__}.setup: expected a link or a FunctionSet, got a tuple of "
                "arrays. Give the FunctionSet itself: see 'Parameterized functions' in the "
                "upgrade guide."
            )
        return setup(self, link)

    Optimizer.setup = checked  # type: ignore[method-assign]


def _grads(optimizer: Any) -> list[Any]:
    return [p.grad for p in optimizer._target().params(False) if p.grad is not None]


def zero_grads(self: Any) -> None:
    """Fill all gradients with zeros, in place where there are some."""
    for parameter in self._target().params():
        if parameter.grad is None:
            parameter.zerograd()
        else:
            parameter.grad[...] = 0
    self._used = None  # the gradients of the last step are gone, though their arrays are there


def compute_grads_norm(self: Any) -> float:
    """The norm of all gradients together."""
    return math.sqrt(sum([float((g * g).sum()) for g in _grads(self)]))


def clip_grads(self: Any, maxnorm: float) -> None:
    """Scale all gradients down so that their norm is `maxnorm` at most."""
    norm = compute_grads_norm(self)
    if norm > maxnorm:
        for g in _grads(self):
            g *= maxnorm / norm


def weight_decay(self: Any, decay: float) -> None:
    """Add `decay` times the parameters to their gradients."""
    for parameter in self._target().params(False):
        if parameter.grad is not None:
            parameter.grad += decay * parameter.array


def accumulate_grads(self: Any, grads: Iterable[Any]) -> None:
    """Add gradients, in the order of the parameters."""
    parameters = list(self._target().params(False))
    given = list(grads)
    if len(given) != len(parameters):
        raise UpdateError(
            f"{type(self).__name__}.accumulate_grads: expected {len(parameters)} gradients, got "
            f"{len(given)}."
        )
    for parameter, g in zip(parameters, given, strict=True):
        if parameter.grad is None:
            parameter.zerograd()
        parameter.grad += parameter.device.send(g)

"""The categorical distribution."""

from __future__ import annotations

from core import Variable, as_variable
from core import functions as F
from core.typing import Operand
from plugins.distributions.distribution import (
    Distribution,
    either,
    log_probability,
    plain,
    times,
    where,
)


class Categorical(Distribution):
    """Distributions of one of the numbers 0 to k - 1.

    Args:
        p: (..., k), probabilities that sum to 1.
        logit: (..., k), their logarithms up to a constant, instead.

    >>> import core.distributions as D, numpy as np
    >>> D.Categorical(np.array([0.25, 0.75], "f")).prob(np.array(1))
    variable(0.75, dtype=float32)
    """

    support = "{0, ..., k - 1}"

    def __init__(self, p: Operand | None = None, logit: Operand | None = None) -> None:
        name, value = either("Categorical", p=p, logit=logit)
        (given,) = self._parameters(1, **{name: value})
        self.event_shape = ()
        self.log_p = log_probability(given) if name == "p" else F.log_softmax(given, axis=-1)
        self.p = given if name == "p" else F.exp(self.log_p)

    def log_prob(self, x: Operand) -> Variable:
        xp, k, like, x = self.xp, self.log_p.shape[-1], self._like, plain(x)
        if isinstance(x, (int, float)):  # in a dtype that has each class: that of p may not
            x = like.backend.asarray(x, xp.float64, like.device)
        index = as_variable(x).array
        inside, whole = (index >= 0) & (index < k), like.backend.kind(index.dtype) in "iu"
        if not whole:
            inside = inside & (index == xp.floor(index))
        safe = xp.astype(xp.where(inside, index, xp.zeros_like(index)), xp.int64)
        places, log_p = F.broadcast(xp.expand_dims(safe, axis=-1), self.log_p)
        chosen = log_p.__array_namespace__().take_along_axis(log_p, places.array[..., :1])
        found = where(inside, F.squeeze(chosen, -1), -float("inf"))
        return found if whole else where(index == index, found, float("nan"))

    def sample_n(self, n: int) -> Variable:
        """The numbers of classes whose cumulative probability is not above a uniform number."""
        xp = self.xp
        reached = F.cumsum(xp.astype(self.p.array, xp.float64), axis=-1).array
        share = self._chances(n, *self.batch_shape, 1) * reached[..., -1:]
        passed = xp.astype(share >= reached[..., :-1], xp.int32)
        return as_variable(xp.sum(passed, axis=-1, dtype=xp.int32))

    @property
    def mode(self) -> Variable:
        return F.argmax(self.log_p, axis=-1)

    @property
    def entropy(self) -> Variable:
        return -product_sum(self.p, self.log_p)


def product_sum(p: Variable, log_p: Variable) -> Variable:
    """Σ p log p, with 0 where p is."""
    return F.sum(times(p, log_p), axis=-1)

"""The loss of a word, by a softmax over it and a few sampled words."""

from __future__ import annotations

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.activation.log_softmax import log_softmax
from plugins.functions.array.where import where
from plugins.functions.loss.negative_sampling import scores_of
from plugins.functions.loss.reduction import check_reduce, reduced
from plugins.functions.math.exponential import exp
from plugins.functions.math.logarithm import log1p
from plugins.functions.math.logsumexp import logsumexp
from plugins.functions.math.sum import sum
from plugins.functions.refusal import require, require_integral


@checked
def black_out(x: Array, t: Array, W: Array, samples: Array, reduce: str = "mean") -> Variable:
    """Compute the BlackOut loss: -ln p(t) - Σⱼ ln(1 - p(j)) over samples j.

    p is the softmax of the products w·x over the right word and the samples, w the rows of `W`.
    Right for products of any size.

    Args:
        x: Vectors, (n, k), floating.
        t: The right words, (n,), integers.
        W: Vectors of all words, (words, k), of the dtype of `x`.
        samples: Other words, (n, s), integers; drawn from `core.utils.WalkerAlias`, for example.
        reduce: 'mean', or 'no' for the loss of each example.

    Returns:
        No axes, or (n,) with `reduce='no'`, and the dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    Source: Ji, Vishwanathan, Satish, Anderson and Dubey 2015 (arXiv:1511.06909), equation 6.

    >>> import core.functions as F, numpy as np
    >>> x, W = np.ones((1, 1), "f"), np.array([[1], [1]], "f")
    >>> loss = F.black_out(x, np.array([0]), W, np.array([[1]]))
    >>> F.exp(-loss)  # 1/2 of 1/2
    variable(0.25, dtype=float32)
    """
    check_reduce("black_out", reduce)
    x, t, samples = as_variable(x), as_variable(t), as_variable(samples)
    require(
        "black_out",
        ("x.ndim == 2", x.ndim, 2),
        ("t.shape == x.shape[:1]", t.shape, x.shape[:1]),
        ("samples.ndim == 2", samples.ndim, 2),
        ("samples.shape[0] == x.shape[0]", samples.shape[:1], x.shape[:1]),
    )
    require_integral("black_out", t=t, samples=samples)
    xp = x.xp
    with x.backend.beside(x.array):
        words = xp.concat([t.array[:, None], xp.astype(samples.array, t.dtype)], axis=1)
        scores = scores_of(x, as_variable(W), words)
        loss = -log_softmax(scores)[:, 0] - sum(_log_of_others(scores)[:, 1:], axis=1)
        return reduced(loss, reduce)


def _log_of_others(scores: Variable) -> Variable:
    """ln(1 - p) for each p of the softmax.

    Where p is the greatest, and may be all but 1, the others are summed up instead.
    """
    xp = scores.xp
    places = xp.arange(scores.shape[1], device=scores.array.device)
    top = as_variable(places == xp.argmax(scores.array, axis=1, keepdims=True))
    logs = log_softmax(scores)
    lesser = log1p(-exp(where(top, xp.zeros_like(scores.array) - 1, logs)))
    others = logsumexp(where(top, xp.full_like(scores.array, -xp.inf), scores), axis=1)
    rest = others - logsumexp(scores, axis=1)
    return where(top, rest.reshape((-1, 1)), lesser)

"""The loss of a word against sampled words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, overload

from core import Variable, as_array, as_variable
from core.errors.kinds import checked
from core.typing import Array, BackendArray
from plugins.functions.activation.softplus import softplus
from plugins.functions.array.cast import cast
from plugins.functions.array.concat import Concat
from plugins.functions.array.expand_dims import ExpandDims
from plugins.functions.connection.embed_id import EmbedIDFunction
from plugins.functions.loss.reduction import check_reduce, reduced
from plugins.functions.math.product import product as matmul
from plugins.functions.math.sum import sum
from plugins.functions.refusal import require, require_integral

Sampler: TypeAlias = Callable[[tuple[int, int]], Array]


@overload
def negative_sampling(
    x: Array,
    t: Array,
    W: Array,
    sampler: Sampler,
    sample_size: int,
    reduce: str = ...,
    *,
    return_samples: Literal[False] = ...,
) -> Variable: ...
@overload
def negative_sampling(
    x: Array,
    t: Array,
    W: Array,
    sampler: Sampler,
    sample_size: int,
    reduce: str = ...,
    *,
    return_samples: Literal[True],
) -> tuple[Variable, BackendArray]: ...
@overload
def negative_sampling(
    x: Array,
    t: Array,
    W: Array,
    sampler: Sampler,
    sample_size: int,
    reduce: str = ...,
    *,
    return_samples: bool,
) -> Variable | tuple[Variable, BackendArray]: ...
@checked
def negative_sampling(
    x: Array,
    t: Array,
    W: Array,
    sampler: Sampler,
    sample_size: int,
    reduce: str = "sum",
    *,
    return_samples: bool = False,
) -> Variable | tuple[Variable, BackendArray]:
    """Compute the loss of distinguishing a word from sampled words: -ln σ(wₜ·x) - Σⱼ ln σ(-wⱼ·x).

    The sum is over the samples j, and w are rows of `W`. Right for products of any size.

    Args:
        x: Vectors, (n, k), floating.
        t: The right words, (n,), integers; -1 for what counts for nothing.
        W: Vectors of all words, (words, k), of the dtype of `x`.
        sampler: Draws words: takes a shape and gives integers of it, as the method `sample` of
            `core.utils.WalkerAlias` does. It is asked for (n, 1 + sample_size), and `t` takes the
            place of the first column.
        sample_size: How many to draw for each example.
        reduce: 'sum', or 'no' for the loss of each example.
        return_samples: Also return the words that were compared, an array (n, 1 + sample_size):
            `t`, and the samples.

    Returns:
        No axes, or (n,) with `reduce='no'`, and the dtype of `x`; a pair with `return_samples`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        ValueError: `reduce` is unknown.

    Source: Mikolov, Sutskever, Chen, Corrado and Dean 2013 (arXiv:1310.4546), equation 4.

    >>> import core.functions as F, core, numpy as np
    >>> sampler = core.utils.WalkerAlias([0, 1]).sample
    >>> x, W = np.ones((1, 1), "f"), np.array([[1000], [-1000]], "f")
    >>> F.negative_sampling(x, np.array([0]), W, sampler, 3)
    variable(0., dtype=float32)
    """
    name = "negative_sampling"
    check_reduce(name, reduce, ("sum", "no"))
    x, t = as_variable(x), as_variable(t)
    xp = x.xp
    require(name, ("x.ndim == 2", x.ndim, 2), ("t.shape == x.shape[:1]", t.shape, x.shape[:1]))
    require_integral(name, t=t)
    shape = (x.shape[0], sample_size + 1)
    # Samplers may draw on the host, whatever the backend of x.
    samples = x.backend.asarray(as_array(sampler(shape)), None, x.device)
    require(name, (f"samples of shape {shape}", samples.shape, shape))
    with x.backend.beside(x.array):
        words = xp.concat([t.array[:, None], xp.astype(samples[:, 1:], t.dtype)], axis=1)
        loss = reduced(_loss(x, as_variable(W), words), reduce)
    return (loss, words) if return_samples else loss


def _loss(x: Variable, W: Variable, words: Any) -> Variable:
    xp = x.xp
    ignored = words[:, 0] == -1
    scores = scores_of(x, W, xp.where(ignored[:, None], xp.zeros_like(words), words))
    parts = softplus(-scores[:, :1]), softplus(scores[:, 1:])
    loss = sum(Concat.call(*parts, axis=1), axis=1)
    return loss * cast(as_variable(xp.logical_not(ignored)), x.dtype)


def scores_of(x: Variable, W: Variable, words: Any) -> Variable:
    """The products of x (n, k) with the rows of W that `words` (n, s) names, (n, s).

    >>> import core, numpy as np
    >>> x, W = core.Variable(np.ones((1, 2))), core.Variable(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> scores_of(x, W, np.array([[1, 0, 1]]))
    variable([[7., 3., 7.]])
    """
    return matmul(EmbedIDFunction.call(words, W), ExpandDims.call(x, 2))[:, :, 0]

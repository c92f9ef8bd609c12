"""The loss of embedding pixels so that instances are clusters."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.activation.relu import relu
from plugins.functions.array.cast import cast, halves_widened
from plugins.functions.array.take import Take
from plugins.functions.array.where import where
from plugins.functions.loss.reduction import reduced
from plugins.functions.math.absolute import absolute
from plugins.functions.math.product import product as matmul
from plugins.functions.math.root import sqrt
from plugins.functions.math.sum import sum
from plugins.functions.refusal import require

NAME = "discriminative_margin_based_clustering_loss"


@checked
def discriminative_margin_based_clustering_loss(
    embeddings: Array,
    labels: Array,
    delta_v: float,
    delta_d: float,
    max_embedding_dim: int,
    norm: int = 1,
    alpha: float = 1.0,
    beta: float = 1.0,
    gamma: float = 0.001,
) -> tuple[Variable, Variable, Variable]:
    """Compute three losses that pull the pixels of an instance together and push instances apart.

    With μ the mean embedding of an instance's pixels in an image (0 for an instance that is not
    there), and C instances:

    - variance: the mean over the pixels of an instance of max(|μ - x| - δᵥ, 0)², averaged over C;
    - distance: the mean over all pairs of instances and all images of max(2 δ_d - |μ - μ'|, 0)²;
    - regularization: the norms of the μ of all images together, summed over the instances and
      divided by C times the number of images.

    Args:
        embeddings: (n, C, height, width), floating: embeddings of as many axes as instances.
        labels: (n, height, width), integers: the instances from 1 to C; others do not count.
        delta_v: δᵥ, how far a pixel may be from its mean.
        delta_d: δ_d, half of how far means are to be apart.
        max_embedding_dim: C.
        norm: 1 for sums of absolute values, 2 for Euclidean lengths, whose derivative at 0 is taken
            as 0.
        alpha: Factor on the variance.
        beta: Factor on the distance.
        gamma: Factor on the regularization.

    Returns:
        The three, without axes, in the dtype of `embeddings`.

    Raises:
        InvalidType: Shapes do not fit.
        ValueError: `norm` is neither 1 nor 2, or `max_embedding_dim` not above 0.

    Source: De Brabandere, Neven and Van Gool 2017 (arXiv:1708.02551), equations 1 to 4.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[[[0, 2]], [[0, 0]]]], "f")
    >>> labels = np.array([[[1, 1]]])
    >>> F.discriminative_margin_based_clustering_loss(x, labels, 0.5, 1, 2, gamma=1)
    (variable(0.125, dtype=float32), variable(1., dtype=float32), variable(0.5, dtype=float32))
    """
    if norm not in (1, 2):
        raise ValueError(f"{NAME}: expected norm to be 1 or 2, got {norm!r}")
    if max_embedding_dim <= 0:
        raise ValueError(f"{NAME}: expected max_embedding_dim above 0, got {max_embedding_dim}")
    x = as_variable(embeddings)
    wide: Any = halves_widened(x)
    if wide:
        margins = delta_v, delta_d, max_embedding_dim, norm, alpha, beta, gamma
        losses = discriminative_margin_based_clustering_loss(wide[0], labels, *margins)
        variance, distance, size = [cast(loss, x.dtype) for loss in losses]
        return variance, distance, size
    ids_of = _checked(x, labels, max_embedding_dim)
    n = x.shape[0]
    x = x.reshape((n, max_embedding_dim, -1)).transpose((0, 2, 1))
    with x.backend.beside(x.array):
        xp = x.xp
        ids = xp.arange(1, max_embedding_dim + 1, device=ids_of.device)
        member = xp.astype(xp.reshape(ids_of, (n, -1, 1)) == ids, x.dtype)  # (n, pixels, C)
        count = xp.sum(member, axis=1)
        means = matmul(as_variable(xp.matrix_transpose(member)), x)
        means = means / xp.maximum(count, xp.ones_like(count))[:, :, None]
        variance = _variance(x, means, member, delta_v, norm) / max_embedding_dim
        distance = _distance(means, delta_d, norm)
        size = sum(_norm(means, (0, 2), norm)) / max(max_embedding_dim * n, 1)
    return variance * alpha, distance * beta, size * gamma


def _checked(x: Variable, labels: Any, size: int) -> Any:
    labels = as_variable(labels)
    require(
        NAME,
        ("embeddings.ndim == 4", x.ndim, 4),
        ("embeddings.shape[1] == max_embedding_dim", x.shape[1:2], (size,)),
        ("labels.shape == (n, height, width)", labels.shape, (*x.shape[:1], *x.shape[2:])),
    )
    return labels.array


def _norm(x: Variable, axis: Any, norm: int) -> Variable:
    if norm == 1:
        return sum(absolute(x), axis=axis)
    squared = sum(x * x, axis=axis)
    zero = as_variable(squared.array == 0)
    none = x.xp.zeros_like(squared.array)
    return where(zero, none, sqrt(where(zero, none + 1, squared)))


def _variance(x: Variable, means: Variable, member: Any, margin: float, norm: int) -> Variable:
    """Summed over the instances: the mean of what their pixels in all images exceed the margin."""
    xp = x.xp
    away = matmul(as_variable(member), means) - x
    excess = relu(_norm(away, 2, norm) - margin) ** 2
    count = xp.sum(member, axis=(0, 1))
    share = xp.sum(member / xp.maximum(count, xp.ones_like(count)), axis=2)
    return sum(excess * share)


def _distance(means: Variable, margin: float, norm: int) -> Variable:
    """The mean over pairs of means of how much nearer than twice the margin they are, squared."""
    pairs = list(combinations(range(means.shape[1]), 2))
    if not pairs:
        return sum(means[:, :0])
    index = means.backend.asarray(pairs, device=means.device)
    apart = Take.call(means, index[:, 0], 1) - Take.call(means, index[:, 1], 1)
    short = relu(2 * margin - _norm(apart, 2, norm)) ** 2
    return reduced(short, "mean")

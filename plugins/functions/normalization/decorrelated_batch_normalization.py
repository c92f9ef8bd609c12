"""Whitening by the statistics of a batch (Huang, Yang, Lang and Deng 2018, arXiv:1804.08450)."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Variable, as_variable
from core.arrays.backend import of
from core.errors import InvalidType
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.array.axis_order import matrix_transpose, transpose
from plugins.functions.array.cast import cast, halves_widened
from plugins.functions.array.reshape import reshape
from plugins.functions.math.average import Mean
from plugins.functions.math.product import product as matmul
from plugins.functions.normalization.batch_normalization import move_all
from plugins.functions.normalization.inverse_square_root import InverseSquareRoot
from plugins.functions.refusal import require


@checked
def decorrelated_batch_normalization(
    x: Array,
    *,
    groups: int = 16,
    eps: float = 2e-5,
    running_mean: Array | None = None,
    running_projection: Array | None = None,
    decay: float = 0.9,
) -> Variable:
    """Whiten groups of channels: mean 0, variance 1 and no correlation over the batch.

    y = P (x - μ) with P = (Σ + ε 1)^(-1/2), for the channels of each group at each place, μ and Σ
    being their mean and covariance (divided by the count). P is symmetric: of all maps that whiten
    it changes x least.

    Args:
        x: Floating, (n, c, ...).
        groups: Into how many groups of neighbouring channels c is divided.
        eps: Added to the variances, greater than 0.
        running_mean: An array (groups, c / groups), or of as many elements, that is moved in place
            towards μ: times `decay`, plus (1 - `decay`) times the new one. None keeps none.
        running_projection: Alike (groups, c / groups, c / groups) for P times m / (m - 1), with m
            the count.
        decay: In [0, 1].

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: `x` is not floating, or c is not a multiple of `groups`.
        ValueError: `eps` is not above 0.

    Source: Huang, Yang, Lang and Deng 2018 (arXiv:1804.08450), equations 5 to 8.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[3, 1], [1, 3], [-3, -1], [-1, -3]], "f")
    >>> y = F.decorrelated_batch_normalization(x, groups=1, eps=1e-9).array
    >>> np.allclose(y.T @ y / 4, np.eye(2), atol=1e-5)
    True
    """
    if not eps > 0:
        raise ValueError(f"decorrelated_batch_normalization: expected eps above 0, got {eps}")
    x = as_variable(x)
    wide: Any = halves_widened(x)
    if wide:
        settings: Any = {"groups": groups, "eps": eps, "decay": decay}
        running: Any = {"running_mean": running_mean, "running_projection": running_projection}
        return cast(decorrelated_batch_normalization(wide[0], **settings, **running), x.dtype)
    seen = _by_group("decorrelated_batch_normalization", x, groups)
    _check_running("running_mean", running_mean, seen.shape[:2])
    _check_running("running_projection", running_projection, (*seen.shape[:2], seen.shape[1]))
    mean = Mean.call(seen, 2, True)
    centred = seen - mean
    size, count = seen.shape[1:]
    with x.backend.beside(x.array):
        jitter = x.xp.astype(eps * x.xp.eye(size, dtype=x.dtype, device=x.array.device), x.dtype)
    covariance = matmul(centred, matrix_transpose(centred)) / float(count)
    projection = InverseSquareRoot.call(covariance + jitter)
    with x.backend.beside(x.array):
        move_all(
            _shaped(running_mean, mean.array),
            _shaped(running_projection, projection.array * (count / max(count - 1, 1))),
            decay=decay,
        )
    return _by_channel(matmul(projection, centred), x.shape)


@checked
def fixed_decorrelated_batch_normalization(
    x: Array, mean: Array, projection: Array, groups: int = 16
) -> Variable:
    """Whiten groups of channels by given statistics, as after training.

    y = P (x - μ) for the channels of each group at each place.

    Args:
        x: Floating, (n, c, ...).
        mean: μ, (groups, c / groups), of the dtype of `x`.
        projection: P, (groups, c / groups, c / groups), alike.
        groups: Into how many groups of neighbouring channels c is divided.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> mean, swap = np.array([[1, 2]], "f"), np.array([[[0, 1], [1, 0]]], "f")
    >>> F.fixed_decorrelated_batch_normalization(np.array([[5, 7]], "f"), mean, swap, groups=1)
    variable([[5., 4.]], dtype=float32)
    """
    x, mean = as_variable(x), as_variable(mean)
    seen = _by_group("fixed_decorrelated_batch_normalization", x, groups)
    y = matmul(projection, seen - reshape(mean, (*seen.shape[:2], 1)))
    return _by_channel(y, x.shape)


def _by_group(name: str, x: Variable, groups: int) -> Variable:
    """The channels of each group, with all they have in the batch: (groups, c / groups, m)."""
    if groups < 1:
        raise ValueError(f"{name}: expected groups of at least 1, got {groups}")
    if x.ndim < 2 or x.shape[1] % groups or 0 in x.shape:
        raise InvalidType(
            "x.shape == (n, groups * k, ...), not empty", f"{x.shape}", operation=name
        )
    n, c, *places = x.shape
    axes = (1, 0, *range(2, x.ndim))
    return reshape(transpose(x, axes), (groups, c // groups, n * prod(places)))


def _check_running(what: str, running: Any, shape: tuple[int, ...]) -> None:
    if running is not None:
        size = as_variable(running).size
        name = "decorrelated_batch_normalization"
        require(name, (f"as many elements of {what} as of {shape}", size, prod(shape)))


def _by_channel(y: Variable, shape: tuple[int, ...]) -> Variable:
    n, c, *places = shape
    return transpose(reshape(y, (c, n, *places)), (1, 0, *range(2, len(shape))))


def _shaped(running: Any, new: Any) -> tuple[Any, Any]:
    return running, new if running is None else of(new).xp.reshape(new, running.shape)

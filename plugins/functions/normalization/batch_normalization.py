"""Normalization by the statistics of a batch (Ioffe and Szegedy 2015, arXiv:1502.03167)."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import Any

from core import Domain, FunctionNode, Variable, as_array, as_variable, choice, number, real
from core.arrays.backend import of
from core.errors import InvalidType
from core.errors.kinds import checked
from core.errors.scalars import is_whole
from core.typing import Array, Axes
from plugins.functions.array.cast import cast, halves_widened
from plugins.functions.axes import axes_within
from plugins.functions.refusal import refused


def reduced_axes(axis: Any, ndim: int, channels: int = 1) -> tuple[int, ...]:
    """The axes that statistics are taken over: those given, or all but the channels.

    Channels lie along axis 1, and the next ones where the parameters have several axes.
    """
    if axis is None:
        return (0, *range(1 + channels, ndim))
    return tuple(sorted([a % ndim for a in ((axis,) if is_whole(axis) else axis)]))


def expanded(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of statistics that broadcasts against x: 1 along the reduced axes."""
    return tuple([1 if i in axis else n for i, n in enumerate(shape)])


def fits_axes(f: Any, x: Any, gamma: Any, *others: Any) -> None:
    """A rule of domains: the parameters have the shape of x without the reduced axes."""
    ndim = len(x.shape)
    kept = [i for i in range(ndim) if i not in reduced_axes(f.axis, ndim)]
    if len(gamma.shape) != len(kept):
        raise InvalidType(f"gamma.ndim == {len(kept)}", f"{len(gamma.shape)} != {len(kept)}")
    for i, a in enumerate(kept):
        if gamma.shape[i] != x.shape[a]:
            place = f"gamma.shape[{i}] == x.shape[{a}]"
            raise InvalidType(place, f"{gamma.shape[i]} != {x.shape[a]}")


def fitting_axes(shapes: dict[str, Any]) -> list[tuple[int, ...]]:
    """The axes of x without which it has the shape of its parameters; there may be none."""
    x, gamma = shapes["x"], shapes["gamma"]
    some = [axis for n in (1, 2) for axis in combinations(range(len(x)), n)]
    return [a for a in some if tuple([n for i, n in enumerate(x) if i not in a]) == gamma]


class BatchNormalization(FunctionNode):
    """y = gamma (x - mean) / sqrt(var + eps) + beta, with mean and variance of the batch."""

    eps: float = 2e-5
    axis: tuple[int, ...] | None = None

    output_names = ("y", "mean", "var")
    wide = True
    domain = Domain(
        "(...x),(...p),(...p)->(...x),(...p),(...p)",
        x=real(-3, 3),
        gamma=real(0.5, 2),
        beta=real(-1, 1),
        settings={"eps": number(1e-2, 1e-1), "axis": choice(fitting_axes)},
        dims={"...x": (2, 3), "...p": (1, 2)},
        empty=False,
        valid=("x.ndim > 0", fits_axes),
    )

    def compute(self, xp, x, gamma, beta):
        axis = reduced_axes(self.axis, x.ndim)
        shape = expanded(x.shape, axis)
        mean = xp.mean(x, axis=axis, keepdims=True)
        centred = x - mean
        var = xp.mean(centred * centred, axis=axis, keepdims=True)
        scale = xp.reshape(gamma, shape) / xp.sqrt(var + self.eps)
        y = centred * scale + xp.reshape(beta, shape)
        return y, xp.reshape(mean, gamma.shape), xp.reshape(var, gamma.shape)

    def gradient(self, xp, g, x, gamma, mean, var, needs_grad):
        gy, gmean, gvar = g
        axis = reduced_axes(self.axis, x.ndim)
        shape, count = expanded(x.shape, axis), prod([x.shape[i] for i in axis])
        deviation = xp.sqrt(xp.reshape(var, shape) + self.eps)
        centred = x - xp.reshape(mean, shape)
        gx = ggamma = gbeta = None
        if gy is not None:
            gbeta = xp.sum(gy, axis=axis)
            normalized = centred / deviation
            ggamma = xp.sum(gy * normalized, axis=axis)
            if needs_grad[0]:
                common = xp.reshape(gbeta, shape) + normalized * xp.reshape(ggamma, shape)
                gx = xp.reshape(gamma, shape) / deviation * (gy - common / float(count))
        if gmean is not None:
            gx = _plus(gx, xp.broadcast_to(xp.reshape(gmean / float(count), shape), x.shape))
        if gvar is not None:
            gx = _plus(gx, xp.reshape(gvar * (2.0 / count), shape) * centred)
        return gx, ggamma, gbeta


def _plus(a: Any, b: Any) -> Any:
    return b if a is None else a + b


@checked
def batch_normalization(
    x: Array,
    gamma: Array,
    beta: Array,
    *,
    eps: float = 2e-5,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    decay: float = 0.9,
    axis: Axes = None,
) -> Variable:
    """Normalize by the mean and variance of the batch, then scale and shift.

    y = γ (x - μ) / √(σ² + ε) + β, with μ and σ² (divided by the count) over the reduced axes.

    Args:
        x: Floating, (n, c, ...).
        gamma: Scales, of the shape of `x` without the reduced axes.
        beta: Shifts, alike.
        eps: Added to the variance, greater than 0.
        running_mean: An array that is moved in place towards the mean: times `decay`, plus
            (1 - `decay`) times the new one. Of a Variable the array is. None keeps none.
        running_var: Alike for the variance, of which the unbiased estimate is taken.
        decay: In [0, 1].
        axis: The reduced axes; None takes the first one and those after the axes of `gamma`.

    Returns:
        The shape and dtype of `x`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    Source: Ioffe and Szegedy 2015 (arXiv:1502.03167), algorithm 1.

    >>> import core.functions as F, numpy as np
    >>> x = np.array([[1], [3]], "f")
    >>> F.batch_normalization(x, np.ones(1, "f"), np.zeros(1, "f"), eps=1e-8)
    variable([[-1.],
              [ 1.]], dtype=float32)
    """
    if not eps > 0:
        raise ValueError(f"batch_normalization: expected eps above 0, got {eps}")
    x, gamma = as_variable(x), as_variable(gamma)
    wide: Any = halves_widened(x, gamma, beta)
    if wide:  # the gradient takes the statistics, and a variance may be beyond 16 bits
        moved: Any = {"running_mean": running_mean, "running_var": running_var, "decay": decay}
        return cast(batch_normalization(*wide, eps=eps, axis=axis, **moved), x.dtype)
    if axis is not None:
        axis = axes_within("batch_normalization", axis, x.ndim)
    axis = reduced_axes(axis, x.ndim, gamma.ndim)
    y, mean, var = BatchNormalization.call(x, gamma, beta, eps=eps, axis=axis)
    follow(running_mean, running_var, mean, var, prod([x.shape[i] for i in axis]), decay)
    return y


def follow(
    running_mean: Any, running_var: Any, mean: Variable, var: Variable, count: int, decay: float
) -> None:
    """Move running statistics towards those of a batch, over `count` elements each; 0 have none."""
    if count and not running_mean is running_var is None:
        with mean.backend.beside(mean.array):
            move_all(
                (running_mean, mean.array),
                (running_var, var.array * (count / max(count - 1, 1))),
                decay=decay,
            )


def move_all(*pairs: tuple[Any, Any], decay: float) -> None:
    """Move running statistics, or None, towards new values; all or, where one is refused, none.

    They keep their dtypes. An array is moved in place; a Variable has the array then.
    """
    if not 0 <= decay <= 1:
        raise ValueError(f"running statistics: expected a decay in [0, 1], got {decay}")
    kept = [(running, new) for running, new in pairs if running is not None]
    for running, new in kept:
        refuse_unfit(running, tuple(new.shape))
        backend = of(running)
        if not (isinstance(running, Variable) or backend.mutable):
            raise TypeError(
                f"running statistics: arrays of {backend.name} cannot be changed in place. Give a "
                "Variable, which has the new array afterwards."
            )
        if backend.mutable and not backend.writable(as_array(running)):
            raise ValueError(
                "running statistics: expected arrays that can be changed in place, got one that is "
                f"read-only, of shape {tuple(running.shape)}. Give a copy of it."
            )
    for running, new in kept:
        _move(running, new, decay)


def refuse_unfit(running: Any, shape: tuple[int, ...]) -> None:
    """Raise for a running statistic of another shape, or of a dtype that steps are cut off in."""
    backend, array = of(running), as_array(running)
    found, dtype = tuple(array.shape), backend.dtype_name(array.dtype)
    if found != shape:
        expected = f"a running statistic of shape {shape}, that of the parameters"
        raise refused("running statistics", expect=expected, actual=f"{found}")
    if backend.kind(array.dtype) not in "fV":
        expected = "a running statistic of a floating dtype"
        raise refused("running statistics", expect=expected, actual=dtype)


def _move(running: Any, new: Any, decay: float) -> None:
    backend, array = of(running), as_array(running)
    if new.dtype != array.dtype:
        new = backend.xp.astype(new, array.dtype)
    moved = backend.copyto(array, array * decay + new * (1 - decay))
    if isinstance(running, Variable):
        running.array = moved

"""Filters with which convolutions shrink pictures, and deconvolutions enlarge them."""

from __future__ import annotations

import math

from core.arrays import backend
from core.errors import nearest
from core.link.initializer import Initializer
from core.typing import AnyArray, DType

METHODS = ("linear",)


def hat(size: int) -> list[float]:
    """The weights of linear interpolation along one axis, for a kernel of `size`.

    >>> from plugins.initializers.interpolation import hat
    >>> hat(4)
    [0.25, 0.75, 0.75, 0.25]
    """
    factor = (size + 1) // 2
    centre = factor - 1 if size % 2 else factor - 0.5
    return [1 - abs(i - centre) / factor for i in range(size)]


class _Interpolation(Initializer):
    def __init__(self, interpolation: str = "linear", dtype: DType = None) -> None:
        super().__init__(dtype)
        if interpolation not in METHODS:
            raise ValueError(
                f"{type(self).__name__}: expected interpolation='linear', got {interpolation!r}."
                + nearest(str(interpolation), METHODS)
            )
        self.interpolation = interpolation

    def _axis(self, size: int) -> list[float]:
        return hat(size)

    def __call__(self, array: AnyArray) -> None:
        """Fill a weight (channels, channels or 1, *kernel): each channel filtered on its own."""
        outer, inner, *kernel = self._checked(tuple(array.shape))
        home = backend.of(array)
        xp = home.xp
        device = home.device_of(array)
        filters = xp.ones(tuple(1 for _ in kernel), dtype=array.dtype)
        filters = home.to_device(filters, device)
        for axis, size in enumerate(kernel):
            shape = tuple(size if i == axis else 1 for i in range(len(kernel)))
            weights = home.asarray(self._axis(size), array.dtype, device)
            filters = filters * xp.reshape(weights, shape)
        array[...] = 0
        for channel in range(outer):
            array[channel, channel if inner > 1 else 0, ...] = filters

    def _checked(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) < 3 or shape[1] not in (1, shape[0]):
            raise ValueError(
                f"{type(self).__name__}: expected a weight of shape (c, c, *kernel), or "
                f"(c, 1, *kernel) for c groups; got {shape}."
            )
        return shape


class UpsamplingDeconvFilter(_Interpolation):
    r"""Makes a deconvolution enlarge its input by linear interpolation.

    Along an axis of size k the weights are :math:`1 - |i - c| / f` with :math:`f = \lceil k/2
    \rceil` and c the middle of the kernel; axes multiply. A deconvolution with stride s and k = 2s
    then enlarges s times. Source: Long et al. 2015 (arXiv:1411.4038), section 3.3.

    Args:
        interpolation: `'linear'`.
        dtype: The dtype that arrays made for it get.

    >>> import core
    >>> core.Parameter(core.initializers.UpsamplingDeconvFilter(), (1, 1, 4)).array
    array([[[0.25, 0.75, 0.75, 0.25]]], dtype=float32)
    """


class DownsamplingConvFilter(_Interpolation):
    r"""Makes a convolution shrink its input by linear interpolation.

    The weights of `UpsamplingDeconvFilter` divided by their sum, :math:`w_i / \sum_j w_j`: so a
    constant input keeps its value.

    Args:
        interpolation: `'linear'`.
        dtype: The dtype that arrays made for it get.

    >>> import core
    >>> core.Parameter(core.initializers.DownsamplingConvFilter(), (1, 1, 4)).array
    array([[[0.125, 0.375, 0.375, 0.125]]], dtype=float32)
    """

    def _axis(self, size: int) -> list[float]:
        weights = hat(size)
        return [weight / math.fsum(weights) for weight in weights]

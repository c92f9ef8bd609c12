"""Pooling of images by PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from core.arrays.windows import Geometry, per_axis

_maxima = torch.ops.aten.max_pool2d_with_indices.default
_spread_maxima = torch.ops.aten.max_pool2d_with_indices_backward.default
_spread_means = torch.ops.aten.avg_pool2d_backward.default


class Places:
    """Where maxima are: PyTorch numbers the elements of an image, operations those of a window.

    The latter, in `array`, are worked out when somebody looks at them.
    """

    def __init__(self, flat: Tensor, width: int, sizes: Any) -> None:
        self.flat = flat
        self._width = width
        self._sizes = sizes

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the maxima."""
        return self.flat.shape

    @property
    def array(self) -> Tensor:
        """The numbers in the windows."""
        (_, columns), (down, across), (above, before) = self._sizes
        flat, (height, width) = self.flat, self.flat.shape[-2:]
        row, column = flat // self._width, flat % self._width
        top = torch.arange(height, device=flat.device)[:, None] * down - above
        left = torch.arange(width, device=flat.device) * across - before
        return ((row - top) * columns + column - left).to(torch.int32)

    def __eq__(self, number: Any) -> Any:
        return self.array == number

    __hash__ = None


def _sizes(f: Any) -> tuple[Any, Any, Any]:
    return tuple([per_axis(v, 2, "pooling") for v in (f.ksize, f.stride, f.pad)])


def _suits(sizes: Any, array: Tensor) -> bool:
    """Whether PyTorch pads as much, and there is anything to compute."""
    ksize, _, pad = sizes
    return 0 not in array.shape and 2 * pad[0] <= ksize[0] and 2 * pad[1] <= ksize[1]


def max_pooling(f: Any, xp: Any, x: Tensor) -> Any:
    """The maxima, and where they are."""
    sizes = _sizes(f)
    if not _suits(sizes, x):
        return NotImplemented
    y, flat = _maxima(x, *sizes, 1, f.cover_all)
    if f.cover_all and y.shape[2:] != Geometry(x.shape[2:], *sizes, 1, True).out:
        return NotImplemented  # PyTorch leaves windows out that begin in the padding
    f.indexes = Places(flat, x.shape[3], sizes)
    return y


def max_pooling_gradient(f: Any, g: Tensor, needs_grad: int) -> Any:
    """Each value where its maximum was."""
    found = _spread(f, g, f.indexes, f._sources[0].spec.shape)
    return found if found is NotImplemented else (found,)


def spread_maxima(f: Any, xp: Any, g: Tensor) -> Any:
    """The same, as an operation of its own."""
    return _spread(f, g, f.indexes, (*g.shape[:2], *f.size))


def _spread(f: Any, g: Tensor, places: Any, shape: Any) -> Any:
    if not isinstance(places, Places):
        return NotImplemented
    return _spread_maxima(g, g.new_zeros(()).expand(shape), *_sizes(f), 1, f.cover_all, places.flat)


def average_pooling(f: Any, xp: Any, x: Tensor) -> Any:
    """The means, in which the padding counts."""
    sizes = _sizes(f)
    if f.cover_all or not _suits(sizes, x):
        return NotImplemented
    return torch.nn.functional.avg_pool2d(x, *sizes)


def average_pooling_gradient(f: Any, xp: Any, g: Tensor) -> Any:
    """Each value spread evenly over its window."""
    sizes = _sizes(f) if g.ndim == 4 else None
    if sizes is None or f.cover_all or not _suits(sizes, g) or 0 in f.size:
        return NotImplemented
    x = g.new_zeros(()).expand(*g.shape[:2], *f.size)
    return _spread_means(g, x, *sizes, False, True, None)

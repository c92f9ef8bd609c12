"""Convolution and its two adjoints by cuDNN, over one to three spatial axes.

What is read as padding may differ before and after an axis: `cover_all` only pads the end further.
Groups follow from the channels. Images whose channels lie last stay so, and so do the results.
"""

from __future__ import annotations

from typing import Any

from backends.cuda_backend.cudnn.layout import channels_last, laid, packed, room
from backends.cuda_backend.cudnn.plans import Plan, Plans
from backends.cuda_backend.cudnn.use import FLOATS, plans_of, takes_halves
from core.arrays.windows import Geometry
from core.typing import Shape


@takes_halves
def convolution(f: Any, xp: Any, x: Any, W: Any, b: Any = None) -> Any:
    """Products of windows of x and filters, summed, plus a bias."""
    plans, geometry = _asked(f, x, W, x.shape[2:], W.shape[2:])
    if plans is None:
        return NotImplemented
    last = channels_last(x)
    shape = x.shape[0], W.shape[0], *geometry.out
    plan = _found(plans, conv_fprop, (x, W), shape, geometry, last)
    if plan is None:
        return NotImplemented
    y = _launched(xp, plan, (x, W), shape, last)
    return y if b is None else xp.add(y, b.reshape(-1, *(1,) * (x.ndim - 2)), out=y)


@takes_halves
def deconvolution(f: Any, xp: Any, x: Any, W: Any, b: Any = None) -> Any:
    """Each element of x times a filter, spread over a window of the result, plus a bias."""
    size = f.spread(x.shape[2:], W.shape[2:])
    plans, geometry = _asked(f, x, W, size, W.shape[2:])
    if plans is None or geometry.out != x.shape[2:]:
        return NotImplemented
    last = channels_last(x)
    shape = x.shape[0], W.shape[1] * f.groups, *size
    plan = _found(plans, conv_dgrad, (x, W), shape, geometry, last)
    if plan is None:
        return NotImplemented
    y = _launched(xp, plan, (x, W), shape, last)
    return y if b is None else xp.add(y, b.reshape(-1, *(1,) * (x.ndim - 2)), out=y)


@takes_halves
def filter_gradient(f: Any, xp: Any, x: Any, y: Any) -> Any:
    """Products of what each filter value connects, summed; it lies as filters do."""
    plans, geometry = _asked(f, x, y, x.shape[2:], f.ksize)
    if plans is None or geometry.out != y.shape[2:]:
        return NotImplemented
    last = channels_last(x)
    shape = y.shape[1], x.shape[1] // f.groups, *f.ksize
    plan = _found(plans, conv_wgrad, (x, y), shape, geometry, last)
    if plan is None:
        return NotImplemented
    return xp.ascontiguousarray(_launched(xp, plan, (x, y), shape, last))


# -- graphs ----------------------------------------------------------------------------------------


def conv_fprop(graph: Any, inputs: Any, *windows: Any) -> Any:
    """Convolution of an image and filters."""
    image, weight = inputs
    return [graph.conv_fprop(image=image, weight=weight, **_named(windows))]


def conv_dgrad(graph: Any, inputs: Any, *windows: Any) -> Any:
    """The adjoint of convolution in the image."""
    loss, filters = inputs
    return [graph.conv_dgrad(loss=loss, filter=filters, **_named(windows))]


def conv_wgrad(graph: Any, inputs: Any, *windows: Any) -> Any:
    """The adjoint of convolution in the filters."""
    image, loss = inputs
    return [graph.conv_wgrad(image=image, loss=loss, **_named(windows))]


def _named(windows: Any) -> dict[str, list[int]]:
    names = "pre_padding", "post_padding", "stride", "dilation"
    return {name: list(value) for name, value in zip(names, windows, strict=True)}


# -- what they are asked with ----------------------------------------------------------------------


def _asked(f: Any, a: Any, b: Any, size: Shape, ksize: Shape) -> tuple[Plans | None, Any]:
    """The plans, where cuDNN is wanted and may know the arrays, and how the windows lie."""
    known = a.dtype == b.dtype and a.dtype.name in FLOATS and 3 <= a.ndim <= 5
    plans = plans_of(a) if known and a.size and b.size else None
    if plans is None:
        return None, None
    geometry = Geometry(size, ksize, f.stride, f.pad, f.dilate, f.cover_all)
    return (plans, geometry) if min(geometry.out) > 0 else (None, geometry)


def _found(
    plans: Plans, write: Any, arrays: Any, shape: Shape, geometry: Geometry, last: bool
) -> Plan | None:
    """The plan; an axis of one element stands beside a lone spatial axis."""
    lone = (1,) if len(shape) == 3 else ()
    dtype = arrays[0].dtype.name
    *given, made = [
        packed((*s[:2], *lone, *s[2:]), dtype, last)
        for s in (*[array.shape for array in arrays], shape)
    ]
    none = (0,) * len(lone)
    before, after = zip(*geometry.widths(), strict=True)
    windows = (*none, *before), (*none, *after), (*lone, *geometry.stride)
    return plans.find(write, tuple(given), (made,), *windows, (*lone, *geometry.dilate))


def _launched(xp: Any, plan: Plan, arrays: Any, shape: Shape, last: bool) -> Any:
    y = room(xp, shape, arrays[0].dtype, last)
    plan([laid(xp, array, last) for array in arrays], [y])
    return y

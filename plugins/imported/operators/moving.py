"""Operators that move elements: shapes, parts, indexes."""

from __future__ import annotations

from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import (
    Refused,
    axes_of,
    host,
    ints,
    is_float,
    like,
    parts_of,
    plain,
    sized,
    xp_of,
)


@plain
def _reshape(node: Any, x: Any, shape: Any = None) -> Any:
    asked = ints(shape) if shape is not None else list(node.get("shape"))
    if not node.get("allowzero", 0):
        asked = [x.shape[i] if n == 0 else n for i, n in enumerate(asked)]
    return F.reshape(x, tuple(asked))


@plain
def _flatten(node: Any, x: Any) -> Any:
    axis = node.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return F.reshape(x, (int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:]))))


@plain
def _squeeze(node: Any, x: Any, axes: Any = None) -> Any:
    axis = axes_of(node, axes)
    if axis is None:
        axis = tuple([i for i, n in enumerate(x.shape) if n == 1])
    return xp_of(x).squeeze(x, axis=tuple([a % x.ndim for a in axis])) if axis else x


@plain
def _unsqueeze(node: Any, x: Any, axes: Any = None) -> Any:
    axis = axes_of(node, axes)
    ndim = x.ndim + len(axis)
    places = {a % ndim for a in axis}
    rest = iter(x.shape)
    return F.reshape(x, tuple([1 if i in places else next(rest) for i in range(ndim)]))


@plain
def _transpose(node: Any, x: Any) -> Any:
    return F.transpose(x, tuple(node.get("perm", range(x.ndim)[::-1])))


@plain
def _expand(node: Any, x: Any, shape: Any) -> Any:
    whole = np.broadcast_shapes(x.shape, tuple(ints(shape)))
    return xp_of(x).broadcast_to(x, sized(whole))


@plain
def _concat(node: Any, *inputs: Any) -> Any:
    return xp_of(inputs[0]).concat(list(inputs), axis=node.get("axis", 1))


@plain
def _split(node: Any, x: Any, split: Any = None) -> Any:
    axis = node.get("axis", 0) % x.ndim
    n = x.shape[axis]
    sizes = ints(split) if split is not None else node.get("split")
    if not sizes:
        count = node.get("num_outputs") or len(node.outputs)
        if count != len(node.outputs):
            raise Refused(f"expected {len(node.outputs)} parts, got {count}")
        each = -(-n // count)
        sizes = [max(0, min(each, n - i * each)) for i in range(count)]
    if sum(sizes) != n or min(sizes) < 0:
        raise Refused(f"expected parts of {n} elements together, got {sizes}")
    return parts_of(x, axis, sizes)


@plain
def _slice(node: Any, x: Any, *given: Any) -> Any:
    if given:
        whole: tuple[Any, ...] = (*given, *[None] * (4 - len(given)))
        read: list[Any] = [None if each is None else ints(each) for each in whole]
        starts, ends, axes, steps = read
    else:
        starts, ends, axes, steps = node.get("starts"), node.get("ends"), node.get("axes"), None
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        n = x.shape[axis]
        if step < 0:
            start = min(max(start + n if start < 0 else start, 0), n - 1)
            index[axis] = slice(start, None if end < -n else end, step)
        else:
            index[axis] = slice(start, end, step)
    return x[tuple(index)]


@plain
def _gather(node: Any, x: Any, index: Any) -> Any:
    axis = node.get("axis", 0) % x.ndim
    places, n = host(index).astype("int64"), x.shape[axis]
    if places.size and not -n <= places.min() <= places.max() < n:
        raise Refused(f"expected indexes from {-n} to {n - 1}, got others")
    flat = places.reshape(-1) % max(n, 1)
    found = xp_of(x).take(x, like(x, flat), axis=axis)
    return F.reshape(found, (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]))


def _grid(node: Any, x: Any, index: Any) -> list[Any]:
    """Indexes of all axes, of which those of one are given."""
    places, axis = host(index), node.get("axis", 0) % x.ndim
    grid = list(np.indices(places.shape))
    grid[axis] = np.where(places < 0, places + x.shape[axis], places)
    return grid


@plain
def _gather_elements(node: Any, x: Any, index: Any) -> Any:
    return x[tuple([like(x, each) for each in _grid(node, x, index)])]


@plain
def _gather_nd(node: Any, x: Any, index: Any) -> Any:
    places, batch = host(index), node.get("batch_dims", 0)
    grid = [each[..., 0] for each in np.indices(places.shape)[:batch]]
    grid += [places[..., i] for i in range(places.shape[-1])]
    return x[tuple([like(x, each) for each in grid])]


def replaced(x: Any, grid: Any, updates: Any) -> Any:
    """The array with others in some places; the last one where a place is named twice."""
    if not updates.size:
        return x
    number = np.full(x.shape, -1)
    number[tuple(grid)] = np.arange(updates.size).reshape(updates.shape)
    chosen, xp = like(x, np.maximum(number, 0).reshape(-1)), xp_of(x)
    new = xp.take(F.reshape(updates, (-1,)), chosen, axis=0)
    return xp.where(like(x, number >= 0), F.reshape(new, x.shape), x)


def _put(x: Any, grid: Any, updates: Any, how: str) -> Any:
    if how == "none":
        return replaced(x, grid, updates)
    a = np.array(host(x))
    places, given = tuple(grid), host(updates)
    if how == "add" and is_float(x):
        return F.scatter_add(x, tuple([like(x, each) for each in grid]), updates)
    change = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[how]
    change.at(a, places, given)
    return like(x, a)


@plain
def _scatter_elements(node: Any, x: Any, index: Any, updates: Any) -> Any:
    return _put(x, _grid(node, x, index), updates, node.get("reduction", "none"))


@plain
def _scatter_nd(node: Any, x: Any, index: Any, updates: Any) -> Any:
    places = host(index)
    grid = [places[..., i] for i in range(places.shape[-1])]
    return _put(x, grid, updates, node.get("reduction", "none"))


@plain
def _pad(node: Any, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Any:
    widths = ints(pads) if pads is not None else list(node.get("pads") or node.get("paddings"))
    along = [a % x.ndim for a in ints(axes)] if axes is not None else list(range(x.ndim))
    filled = host(value).reshape(-1)[0] if value is not None else node.get("value", 0.0)
    mode = node.get("mode", "constant")
    for i, axis in enumerate(along):
        x = padded(x, axis, widths[i], widths[i + len(along)], mode, filled)
    return x


def padded(
    x: Any, axis: int, before: int, after: int, mode: str = "constant", filled: Any = 0
) -> Any:
    """The array with elements added along an axis, or with less than none taken away."""
    n = x.shape[axis]
    cut = slice(max(-before, 0), n - max(-after, 0))
    x = x[(slice(None),) * axis + (cut,)]
    before, after, n = max(before, 0), max(after, 0), x.shape[axis]
    if not before and not after:
        return x
    sized((*x.shape[:axis], n + before + after, *x.shape[axis + 1 :]))
    xp = xp_of(x)
    if mode == "constant":
        parts = []
        for width in (before, after):
            shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
            parts.append(like(x, np.full(shape, filled, x.backend.dtype_name(x.dtype))))
        return xp.concat([parts[0], x, parts[1]], axis=axis)
    kind = {"edge": "edge", "reflect": "reflect", "wrap": "wrap"}[mode]
    places = np.pad(np.arange(n), (before, after), kind)  # type: ignore[call-overload]
    return xp.take(x, like(x, places), axis=axis)


@plain
def _tile(node: Any, x: Any, repeats: Any, axis: Any = None) -> Any:
    times = ints(repeats)
    if node.opset < 6:
        along = ints(axis)[0] % x.ndim
        times = [times[0] if i == along else 1 for i in range(x.ndim)]
    sized([n * t for n, t in zip(x.shape, times, strict=True)])
    return xp_of(x).tile(x, tuple(times))


@plain
def _trilu(node: Any, x: Any, k: Any = None) -> Any:
    offset = 0 if k is None else ints(k)[0]
    n, m = x.shape[-2:]
    kept = np.tri(n, m, offset - 1 if node.get("upper", 1) else offset, dtype=bool)
    mask = like(x, ~kept if node.get("upper", 1) else kept)
    xp = xp_of(x)
    return xp.where(mask, x, xp.zeros_like(x))


@plain
def _depth_to_space(node: Any, x: Any) -> Any:
    n, c, h, w = x.shape
    r = node.get("blocksize")
    if node.get("mode", "DCR") == "DCR":
        y = F.transpose(F.reshape(x, (n, r, r, c // (r * r), h, w)), (0, 3, 4, 1, 5, 2))
    else:
        y = F.transpose(F.reshape(x, (n, c // (r * r), r, r, h, w)), (0, 1, 4, 2, 5, 3))
    return F.reshape(y, (n, c // (r * r), h * r, w * r))


@plain
def _space_to_depth(node: Any, x: Any) -> Any:
    n, c, h, w = x.shape
    r = node.get("blocksize")
    order = (0, 3, 5, 1, 2, 4) if node.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    y = F.transpose(F.reshape(x, (n, c, h // r, r, w // r, r)), order)
    return F.reshape(y, (n, c * r * r, h // r, w // r))


@plain
def _nonzero(node: Any, x: Any) -> Any:
    return like(x, np.stack(np.nonzero(np.atleast_1d(host(x)))).astype("int64"))


@plain
def _compress(node: Any, x: Any, condition: Any) -> Any:
    axis, kept = node.get("axis"), np.flatnonzero(host(condition))
    if axis is None:
        x, axis = F.reshape(x, (-1,)), 0
    return xp_of(x).take(x, like(x, kept), axis=axis % x.ndim)


@plain
def _top_k(node: Any, x: Any, k: Any = None) -> Any:
    count = ints(k)[0] if k is not None else node.get("k")
    axis, a = node.get("axis", -1) % x.ndim, host(x)
    if node.get("largest", 1):
        order = np.flip(a, axis).argsort(axis=axis, kind="stable")
        order = a.shape[axis] - 1 - np.flip(order, axis)
    else:
        order = a.argsort(axis=axis, kind="stable")
    order = np.take(order, np.arange(count), axis=axis)
    places = like(x, order.astype("int64"))
    return [xp_of(x).take_along_axis(x, places, axis=axis), places]


@plain
def _unique(node: Any, x: Any) -> Any:
    a, axis = host(x), node.get("axis")
    y, first, inverse, counts = np.unique(
        a, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not node.get("sorted", 1):
        order = np.argsort(first)
        y = np.take(y, order, axis=0 if axis is None else axis)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        first, inverse, counts = first[order], back[inverse], counts[order]
    return [like(x, each) for each in (y, *[i.astype("int64") for i in (first, inverse, counts)])]


@plain
def _reverse_sequence(node: Any, x: Any, lengths: Any) -> Any:
    batch, time = node.get("batch_axis", 1), node.get("time_axis", 0)
    places = np.broadcast_to(np.arange(x.shape[time]), (x.shape[batch], x.shape[time])).copy()
    for row, n in zip(places, ints(lengths), strict=True):
        row[:n] = row[:n][::-1]
    grid = list(np.indices(x.shape))
    grid[time] = places[grid[batch], grid[time]]
    return x[tuple([like(x, each) for each in grid])]


@plain
def _center_crop_pad(node: Any, x: Any, shape: Any) -> Any:
    axes = [a % x.ndim for a in node.get("axes", range(x.ndim))]
    for axis, n in zip(axes, ints(shape), strict=True):
        apart = n - x.shape[axis]
        before = apart // 2 if apart > 0 else -((-apart) // 2)
        x = padded(x, axis, before, apart - before)
    return x


OPERATORS: dict[str, Any] = {
    "CenterCropPad": _center_crop_pad,
    "Compress": _compress,
    "Concat": _concat,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "NonZero": _nonzero,
    "Pad": _pad,
    "Reshape": _reshape,
    "ReverseSequence": _reverse_sequence,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "TopK": _top_k,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unique": _unique,
    "Unsqueeze": _unsqueeze,
}

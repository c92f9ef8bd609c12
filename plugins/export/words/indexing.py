"""Parts of arrays, and arrays put into others, in ONNX's operators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from core.arrays.windows import per_axis
from core.ops.types.shapes import broadcast_shapes
from core.programs import Equation, Value
from plugins.export.graph import Graph, Translation, argument
from plugins.export.sizes import Dim
from plugins.export.words.arithmetic import chosen

LAST, FIRST = np.iinfo("int64").max, np.iinfo("int64").min


def _entries(index: Any, ndim: int) -> list[Any]:
    """An index for each axis, and None where it makes one; the ellipsis is spelt out."""
    parts = list(index) if isinstance(index, tuple) else [index]
    taken = len([part for part in parts if part is not None and part is not Ellipsis])
    rest = [slice(None)] * (ndim - taken)
    for i, part in enumerate(parts):
        if part is Ellipsis:
            return [*parts[:i], *rest, *parts[i + 1 :]]
    return [*parts, *rest]


def _arrays(parts: list[Any]) -> list[Any]:
    return [part for part in parts if isinstance(part, (Value, list))]


def getitem(g: Graph, e: Equation) -> list[str]:
    """Slice, and Gather or GatherND where arrays are indexes."""
    x, index = e.args
    parts = _entries(index, len(x.shape))
    name = g.operand(x)
    if any(map(_is_mask, parts)):
        raise g.refuse(e, "its index is a mask")
    along = [part for part in parts if part is not None]
    if any([_is_cut(n, part) for n, part in zip(x.shape, along, strict=True)]):
        why = "its slice ends where the batch does, not where it says; give more, or batch=None"
        raise g.refuse(e, why)
    along = [_empty(n, part) for n, part in zip(x.shape, along, strict=True)]
    name = _sliced(g, name, along)
    places = _arrays(along)
    if all([isinstance(part, slice) for part in parts]):
        return [name]
    if not places:
        return [g.reshape(name, e.outputs[0].shape)]
    if len(places) == 1 and not any([isinstance(part, int) for part in along]):
        axis = next(i for i, part in enumerate(along) if isinstance(part, (Value, list)))
        found = g.gather(name, _index(g, places[0]), axis)
        return [g.reshape(found, e.outputs[0].shape)]
    return [g.reshape(_gathered(g, e, name, along), e.outputs[0].shape)]


def _is_cut(n: Any, part: Any) -> bool:
    """Whether a slice of the batch goes beyond it, where it is a part of larger ones."""
    if not isinstance(n, Dim) or not isinstance(part, slice):
        return False
    ends = [end for end in (part.start, part.stop) if type(end) is int]
    return any([not -n <= end <= n for end in ends])


def _empty(n: Any, part: Any) -> Any:
    """A slice that takes nothing in one form: backwards from before the first, Slice takes it."""
    known = isinstance(part, slice) and not isinstance(n, Dim)
    return slice(0, 0) if known and not range(n)[part] else part


def _is_mask(part: Any) -> bool:
    if isinstance(part, Value):
        return bool(part.dtype.kind == "b")
    return isinstance(part, (bool, np.bool_, list)) and np.asarray(part).dtype.kind == "b"


def _index(g: Graph, part: Any) -> str:
    return g.operand(part, "int64") if isinstance(part, Value) else g.constant(part, "int64")


def _sliced(g: Graph, name: str, along: list[Any]) -> str:
    """All slices at once; an integer keeps an axis of one, unless arrays stand beside it."""
    alone = not _arrays(along)
    starts, stops, axes, steps = [], [], [], []
    for axis, part in enumerate(along):
        if isinstance(part, slice) and part != slice(None):
            step = 1 if part.step is None else part.step
            ends = (0, LAST) if step > 0 else (LAST, FIRST)
            starts.append(ends[0] if part.start is None else part.start)
            stops.append(ends[1] if part.stop is None else part.stop)
        elif isinstance(part, int) and alone:
            step = 1
            starts.append(part)
            stops.append(LAST if part == -1 else part + 1)
        else:
            continue
        axes.append(axis)
        steps.append(step)
    if not axes:
        return name
    return g.add("Slice", name, *[g.integers(each) for each in (starts, stops, axes, steps)])


def _gathered(g: Graph, e: Equation, name: str, along: list[Any]) -> str:
    """What several indexes take: their axes come first, and go where NumPy has them."""
    chosen = [i for i, part in enumerate(along) if isinstance(part, (Value, list, int))]
    rest = [i for i in range(len(along)) if i not in chosen]
    name = g.transpose(name, [*chosen, *rest])
    shapes = [tuple(getattr(along[i], "shape", np.shape(along[i]))) for i in chosen]
    shape = broadcast_shapes(shapes)
    last = g.constant([-1], "int64")
    indexes = []
    for i in chosen:
        each = g.number(along[i], "int64") if isinstance(along[i], int) else _index(g, along[i])
        indexes.append(g.add("Unsqueeze", g.expand(each, shape), last))
    found = g.add("GatherND", name, g.add("Concat", *indexes, axis=-1))
    given = e.args[1]  # in which an ellipsis stands between, also where it is of no axes
    at = [i for i, part in enumerate(given) if isinstance(part, (Value, list, int))]
    together = at == list(range(at[0], at[-1] + 1))
    before = chosen[0] if together else 0
    n, k = len(shape), len(rest)
    order = [*range(n, n + before), *range(n), *range(n + before, n + k)]
    return g.transpose(found, order)


def take(g: Graph, e: Equation) -> list[str]:
    """Gather."""
    x, index = e.args[:2]
    axis = argument(e, 2, "axis")
    name = g.operand(x)
    if axis is None:
        name, axis = g.reshape(name, (-1,)), 0
    return [g.gather(name, _index(g, index), axis)]


def take_along_axis(g: Graph, e: Equation) -> list[str]:
    """GatherElements."""
    x, index = e.args[:2]
    axis = argument(e, 2, "axis", -1) % len(x.shape)

    def around(shape: Any) -> tuple[int, ...]:
        return (*shape[:axis], 1, *shape[axis + 1 :])

    common = broadcast_shapes([around(x.shape), around(index.shape)])
    whole, places = ((*common[:axis], each.shape[axis], *common[axis + 1 :]) for each in (x, index))
    name, at = g.operand(x), g.operand(index, "int64")
    if tuple(x.shape) != whole:
        name = g.expand(name, whole)
    if tuple(index.shape) != places:
        at = g.expand(at, places)
    return [g.add("GatherElements", name, at, axis=axis)]


def copyto(g: Graph, e: Equation) -> list[str]:
    """Expand."""
    out = e.outputs[0]
    return [g.expand(g.operand(e.args[1], out.dtype), out.shape)]


def set_item(g: Graph, e: Equation) -> list[str]:
    """Where, with the values moved to their places; ScatterND where arrays are indexes."""
    x, index, value = e.args
    entries = _entries(index, len(x.shape))
    parts = [part for part in entries if part is not None]
    if _arrays(parts):
        return scatter("none", g, e)
    dtype = e.outputs[0].dtype
    taken = [_places(g, e, part, n) for part, n in zip(parts, x.shape, strict=True)]
    if [] in taken:
        return [g.operand(x)]
    spread = _spread(tuple(np.shape(value)), entries)
    name = g.reshape(g.operand(value, dtype), spread)
    mask = np.ones((1,) * len(parts), bool)
    for axis, places in enumerate(taken):
        if places is None:
            continue
        inside = np.zeros(x.shape[axis], bool)
        inside[places] = True
        mask = mask & inside.reshape([-1 if i == axis else 1 for i in range(len(parts))])
        if spread[axis] != 1:
            moved = np.zeros(x.shape[axis], "int64")
            moved[places] = np.arange(len(places))
            name = g.gather(name, moved, axis)
    if all([places is None for places in taken]):
        return [g.expand(name, x.shape)]
    return [chosen(g, g.constant(mask), name, g.operand(x))]


def _spread(shape: tuple[int, ...], entries: list[Any]) -> list[int]:
    """The shape of what is assigned, with 1 for each axis that an integer takes."""
    axes = [part for part in entries if not isinstance(part, int)]
    sizes = (1,) * (len(axes) - len(shape)) + shape[max(0, len(shape) - len(axes)) :]
    rest = iter([n for n, part in zip(sizes, axes, strict=True) if part is not None])
    return [1 if isinstance(p, int) else next(rest) for p in entries if p is not None]


def _places(g: Graph, e: Equation, part: Any, n: int) -> Any:
    if part == slice(None):
        return None
    if isinstance(n, Dim):
        raise g.refuse(e, "a part of an axis of open size is assigned to")
    return [part % n] if isinstance(part, int) else list(range(*part.indices(n)))


def scatter(how: str, g: Graph, e: Equation) -> list[str]:
    """ScatterND, where arrays index the first axes."""
    x, index, value = e.args
    parts = list(index) if isinstance(index, tuple) else [index]
    while parts and (parts[-1] is Ellipsis or parts[-1] == slice(None)):
        parts.pop()
    if not parts or len(_arrays(parts)) != len(parts):
        raise g.refuse(e, "its index is not of arrays alone")
    if any(map(_is_mask, parts)):
        raise g.refuse(e, "its index is a mask")
    shape = broadcast_shapes([tuple(getattr(p, "shape", np.shape(p))) for p in parts])
    sizes = x.shape[: len(parts)]
    last = g.constant([-1], "int64")
    indexes = []
    for part, n in zip(parts, sizes, strict=True):
        each = g.expand(_index(g, part), shape)
        below = g.add("Less", each, g.constant(0, "int64"), dtype=bool)
        each = g.add("Where", below, g.add("Add", each, g.number(n, "int64")), each, dtype="int64")
        indexes.append(g.add("Unsqueeze", each, last))
    updates = g.expand(g.operand(value, x.dtype), (*shape, *x.shape[len(parts) :]))
    at = g.add("Concat", *indexes, axis=-1)
    return [g.add("ScatterND", g.operand(x), at, updates, reduction=how)]


def _geometry(ksize: Any, stride: Any, dilate: Any, out: Any) -> list[Any]:
    """For each axis the places (k, out) in the padded input."""
    return [
        np.arange(k)[:, None] * d + np.arange(o)[None, :] * s
        for k, s, d, o in zip(ksize, stride, dilate, out, strict=True)
    ]


def flat(parts: Any) -> list[Any]:
    """The numbers in lists and tuples, in one row."""
    if not isinstance(parts, tuple | list):
        return [parts]
    return [each for part in parts for each in flat(part)]


def _asked(e: Equation, names: Sequence[str]) -> dict[str, Any]:
    """What windows are asked for after the array: arguments by these names."""
    usual = {"stride": 1, "pad": 0, "dilate": 1, "cover_all": False, "pad_value": 0.0}
    return usual | dict(zip(names, e.args[1:], strict=False)) | e.kwargs


def windows(g: Graph, e: Equation) -> list[str]:
    """Pad, and Gather along each axis."""
    names = ("ksize", "stride", "pad", "dilate", "cover_all", "pad_value")
    x, asked = e.args[0], _asked(e, names)
    spatial, out = x.shape[2:], e.outputs[0].shape
    ndim = len(spatial)
    settings = [asked[name] for name in names[:4]]
    if any([isinstance(n, Dim) for n in (*out[2:], *flat(settings))]):
        raise g.refuse(e, "its windows lie along an axis of open size")
    ksize, stride, pad, dilate = (per_axis(asked[name], ndim, name) for name in names[:4])
    places = _geometry(ksize, stride, dilate, out[2 + ndim :])
    whole = [int(at.max(initial=-1)) + 1 for at in places]
    after = [max(p, n - size - p) for p, n, size in zip(pad, whole, spatial, strict=True)]
    name = g.operand(x)
    if any(pad) or any(after):
        widths = g.integers([0, 0, *pad, 0, 0, *after])
        name = g.add("Pad", name, widths, g.constant(asked["pad_value"], x.dtype))
    for i, at in enumerate(places):
        name = g.gather(name, at, 2 + 2 * i)
    inside = range(2, 2 + 2 * ndim, 2)
    return [g.transpose(name, [0, 1, *inside, *[i + 1 for i in inside]])]


def fold(g: Graph, e: Equation) -> list[str]:
    """Along each axis the product with a matrix that says where each place of a window goes."""
    names = ("size", "stride", "pad", "dilate")
    x, asked = e.args[0], _asked(e, names)
    size = asked["size"]
    ndim = len(size)
    ksize, out = x.shape[2 : 2 + ndim], x.shape[2 + ndim :]
    stride, pad, dilate = (per_axis(asked[name], ndim, name) for name in names[1:])
    if any([isinstance(n, Dim) for n in out]):
        raise g.refuse(e, "its windows lie along an axis of open size")
    places = _geometry(ksize, stride, dilate, out)
    pairs = [axis for i in range(ndim) for axis in (2 + i, 2 + ndim + i)]
    name = g.transpose(g.operand(x), [0, 1, *pairs])
    joined = [k * o for k, o in zip(ksize, out, strict=True)]
    name = g.reshape(name, (*x.shape[:2], *joined))
    for i, (at, n, p) in enumerate(zip(places, size, pad, strict=True)):
        goes = (at.reshape(-1, 1) - p == np.arange(n)[None, :]).astype(x.dtype)
        order = [*range(2 + i), *range(3 + i, 2 + ndim), 2 + i]
        back = [*range(2 + i), 1 + ndim, *range(2 + i, 1 + ndim)]
        name = g.add("MatMul", g.transpose(name, order), g.constant(goes))
        name = g.transpose(name, back)
    return [name]


WORDS: dict[str, Translation] = {
    "getitem": getitem,
    "set_item": set_item,
    "copyto": copyto,
    "take": take,
    "take_along_axis": take_along_axis,
    "scatter_add": partial(scatter, "add"),
    "windows": windows,
    "fold": fold,
}

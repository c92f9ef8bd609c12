"""Which axes of a model's inputs may have any size in a file, and the sizes it is traced with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from core.errors import ExportError
from plugins.export.sizes import Sizes

Axes: TypeAlias = list[tuple[int, int, str]]
"""An input, one of its axes, and the name of its size."""

NEAR = 1, (1, 3, 2)
FAR = 1, (37, 47, 101, 79)
MANY = 1, (37, 47, 101, 79, 58, 90, 65, 43, 72, 110)
"""How much longer an axis is in the trace in which it alone is, and then where all are, at least.

There are windows along those that are `FAR`. Sizes are divided again and again there, and have to
stay apart.
"""

MULTIPLES = [(unit, (3, 5, 11, 9, 6, 14)) for unit in (2, 4, 8, 16, 32)]
"""The same in larger units: what is halved and doubled again takes even sizes alone."""


def open_axes(
    arrays: Sequence[Any],
    names: Sequence[str],
    batch: str | None,
    asked: Mapping[str, Mapping[int, str]] | None,
) -> Axes:
    """The axes that are open, each name with one size; ExportError where that cannot be."""
    found: dict[tuple[int, int], str] = {}
    for i, array in enumerate(arrays):
        if batch is not None and arrays[0].ndim and array.shape[:1] == arrays[0].shape[:1]:
            found[i, 0] = batch
    for input_name, axes in _named(asked, names[:1]).items():
        if input_name not in names:
            raise ExportError(
                f"onnx: expected inputs in dynamic_axes, of {', '.join(names)}, got {input_name!r}."
            )
        i = list(names).index(input_name)
        for axis, name in axes.items():
            if not -arrays[i].ndim <= axis < arrays[i].ndim or not (name and isinstance(name, str)):
                raise ExportError(
                    f"onnx: expected axes of {input_name} in dynamic_axes, which has "
                    f"{arrays[i].ndim}, each with a name, got {axis}: {name!r}."
                )
            found[i, axis % arrays[i].ndim] = name
    known: dict[str, int] = {}
    for (i, axis), name in found.items():
        n = arrays[i].shape[axis]
        if known.setdefault(name, n) != n:
            raise ExportError(
                f"onnx: expected axes of one size for the name {name!r}, got {known[name]}, and "
                f"{n} of axis {axis} of {names[i]}. Give each size a name of its own in "
                "dynamic_axes."
            )
    return [(i, axis, name) for (i, axis), name in sorted(found.items())]


def _named(asked: Any, names: Sequence[str]) -> Mapping[str, Mapping[int, str]]:
    """What is asked for, where it is dicts all the way: lists of axes give these no names."""
    if asked is None:
        return {}
    axes = [*asked.values()] if isinstance(asked, Mapping) else [None]
    if not all([isinstance(each, Mapping) and {*map(type, each)} <= {int} for each in axes]):
        example = {name: {1: "length"} for name in names}
        raise ExportError(
            f"onnx: expected names of axes by inputs and numbers in dynamic_axes, as {example}, "
            f"got {asked!r:.60}."
        )
    return cast(Mapping[str, Mapping[int, str]], asked)


def samples(arrays: Sequence[Any], axes: Axes, windows: bool) -> Iterator[Sizes]:
    """The sizes of each trace: those given, each alone larger, and all larger.

    Where there are windows, several such, for models that cannot be traced with the first, or that
    hide there what they do.
    """
    first = {name: int(arrays[i].shape[axis]) for i, axis, name in axes}
    batch = {name for _, axis, name in axes if axis == 0}
    if {*first} <= batch and len(first) < 2:
        yield Sizes({name: (n, n + 1, n + 3) for name, n in first.items()})
        return
    for unit, steps in (FAR, MANY, *MULTIPLES) if windows else (NEAR,):
        found = {}
        for k, (name, n) in enumerate(first.items()):
            own = 1 if name in batch else unit
            one, *more = [1, *[s % 8 for s in steps[1:]]] if name in batch else steps
            alone = [n + own * one * (other == name) for other in first]
            more = [s + 2 * k * i for i, s in enumerate(more, 1)]
            found[name] = (n, *alone, *[n + own * s for s in more])
        yield Sizes(found)


def resized(arrays: Sequence[Any], axes: Axes, sizes: Sizes, trace: int) -> tuple[Any, ...]:
    """Arrays of the sizes of a trace; those that have no open axis, as they are."""
    found = []
    for i, array in enumerate(arrays):
        own = {axis: sizes.samples[name][trace] for j, axis, name in axes if i == j}
        shape = [own.get(axis, n) for axis, n in enumerate(array.shape)]
        found.append(np.zeros(shape, array.dtype) if own else array)
    return tuple(found)

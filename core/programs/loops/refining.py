"""Elementwise operations around `reshape` in the shape of the most axes, so that loops join.

A linear layer of sequences computes with (n * length, size), what follows with (n, length, size):
the activation, the sum with the input of the block, the normalization. All of them go over the same
elements in the same order. So they are computed in the finer shape, and what others read, such as
products, is a view in the shape that these ask for.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate, pairwise, zip_longest
from math import prod
from operator import mul
from typing import Any

from core.programs.equation import Call, Equation, Origin, Value, mapped
from core.programs.fuser import Fuser
from core.programs.group import reduced_axes
from core.programs.passes import without_dead
from core.programs.recorded import Recorded

_VIEWS = frozenset(["reshape", "expand_dims", "squeeze", "getitem"])
Shape = tuple[int, ...]


class _Family:
    """Values of the same elements, or of the same operations, and the shapes of these."""

    def __init__(self, shapes: Collection[Shape] = ()) -> None:
        self.shapes = {*shapes}
        self._part_of: _Family | None = None

    @property
    def whole(self) -> _Family:
        """The family that this one has become a part of, or itself."""
        return self if self._part_of is None else self._part_of.whole

    def join(self, other: _Family) -> None:
        """Make one family of two, if there is a shape that splits the axes of both."""
        shapes = self.shapes | other.shapes
        if self is not other and all([b % a == 0 for a, b in pairwise(_edges(shapes))]):
            self.shapes, other._part_of = shapes, self

    @property
    def shape(self) -> Shape:
        """The coarsest shape that splits the axes of all."""
        return tuple([b // a for a, b in pairwise(_edges(self.shapes))])[::-1]


def _edges(shapes: Collection[Shape]) -> list[int]:
    """In order, the sizes of all trailing blocks of axes: a shape (2, 3, 4) has 1, 4, 12 and 24."""
    return sorted({1, *[n for shape in shapes for n in accumulate(shape[::-1], mul)]})


def _subject(equation: Equation, part: str) -> Value | None:
    """The value that has all elements of a loop with the equation."""
    if not part:
        return None
    value: Value = equation.args[0] if part == "reduction" else equation.outputs[0]
    return value


def refined(program: Recorded, fuser: Fuser) -> Recorded:
    """The program, with elementwise operations and sums of what they give in the finest shapes."""
    parts = [fuser.part(equation) for equation in program.equations]
    families: dict[Value, _Family] = {}
    for equation, part in zip(program.equations, parts, strict=True):
        made = _subject(equation, part)
        if made is not None:
            own = _Family() if equation.call.name in _VIEWS else _Family({made.shape})
            families.setdefault(made, _Family()).whole.join(own)
            for value in equation.inputs:
                if value.size == made.size > 1:
                    families.setdefault(value, _Family()).whole.join(families[made].whole)
    mixed = {v: f.whole for v, f in families.items() if len(f.whole.shapes) > 1}
    if not mixed:
        return program
    writer = _Writer({value: family.shape for value, family in mixed.items()})
    for equation, part in zip(program.equations, parts, strict=True):
        writer.write(equation, part)
    return without_dead(program.changed(equations=tuple(writer.equations)))


class _Writer:
    """Writes equations; `finest` says for some values in which shapes they are computed."""

    def __init__(self, finest: dict[Value, Shape]) -> None:
        self.equations: list[Equation] = []
        self._finest = finest
        self._seen: dict[tuple[Value, Shape], Value] = {}

    def write(self, equation: Equation, part: str) -> None:
        """Write one equation, and the view of what it gives that others ask for."""
        made = _subject(equation, part)
        finest = None if made is None else self._finest.get(made)
        if made is None or finest is None or not {*_edges([made.shape])} <= {*_edges([finest])}:
            self.equations.append(equation)
        elif part == "reduction":
            self._reduce(equation, finest)
        elif equation.call.name in _VIEWS:
            [x], [made] = equation.inputs, equation.outputs
            self.equations.append(equation)
            if self._finest.get(x) == finest:
                self._seen[made, finest] = self._as(x, finest, len(finest), equation.origin)
        else:
            self._compute(equation, finest)

    def _compute(self, equation: Equation, finest: Shape) -> None:
        (made,) = equation.outputs
        call, origin = equation.call, equation.origin

        def seen(value: Value) -> Value:
            return self._as(value, _spread(value.shape, made.shape, finest), len(finest), origin)

        args, kwargs = mapped(seen, (equation.args, equation.kwargs))
        if call.name == "broadcast_to":
            args = args[0], finest
        self._give(made, call, args, kwargs, finest, origin)

    def _reduce(self, equation: Equation, finest: Shape) -> None:
        x, (made,), axes = equation.args[0], equation.outputs, reduced_axes(equation)
        call, origin = equation.call, equation.origin
        given = self._as(x, finest, len(finest), origin)
        kept = tuple([1 if i in axes else n for i, n in enumerate(x.shape)])
        shape = _spread(kept, x.shape, finest)
        shape = (1,) * (len(finest) - len(shape)) + shape
        along = tuple([i for i, n in enumerate(shape) if n != finest[i]])
        kwargs = {**equation.kwargs, "axis": along, "keepdims": bool(made.shape)}
        self._give(made, call, (given,), kwargs, shape if made.shape else (), origin)

    def _give(
        self, made: Value, call: Call, args: Any, kwargs: Any, shape: Shape, origin: Origin
    ) -> None:
        """Write an equation whose result has this shape, and `made` as a view for others."""
        value = made if made.shape == shape else Value(shape, made.dtype)
        self.equations.append(Equation(call, args, kwargs, (value,), False, origin))
        if value is not made:
            self._seen[made, shape] = value
            self._view(value, made, origin)

    def _as(self, value: Value, shape: Shape, axes: int, origin: Origin) -> Value:
        """A view of a value in a shape; itself where it merely has more leading axes."""
        if (value, shape) in self._seen:
            return self._seen[value, shape]
        if value.shape[-len(shape) or len(value.shape) :] == shape and len(value.shape) <= axes:
            return value
        made = self._seen[value, shape] = Value(shape, value.dtype)
        self._view(value, made, origin)
        return made

    def _view(self, value: Value, made: Value, origin: Origin) -> None:
        call = Call("xp", "reshape")
        self.equations.append(Equation(call, (value, made.shape), {}, (made,), False, origin))


def _spread(shape: Shape, whole: Shape, finest: Shape) -> Shape:
    """The shape, which is broadcast to `whole`, with its axes split as those of `finest` are."""
    found: list[int] = []
    left = list(finest)
    for n, own in zip_longest(whole[::-1], shape[::-1], fillvalue=1):
        behind = prod(left)
        while prod(left) * n > behind:
            axis = left.pop()
            found.append(axis if own == n else 1)
    while found and found[-1] == 1:
        found.pop()
    return tuple(found[::-1])

"""Shapes in pure Python: the gufunc-like signature of an op, and how shapes broadcast.

A signature reads "(n,k),(m,k),(m)?->(n,m)": one pair of brackets an argument, a name for each
dimension, equal names for equal dimensions, a number for a fixed one. `?` after the last inputs
says that they may be left out, `*` after the last one that there may be any number of it. `...`
stands for any number of dimensions: ahead of others, "(...,n,k)", they broadcast as a gufunc's loop
dimensions do; elsewhere, "(...)" or "(n,...)", they are the same in every input that has them.
`...a` and `...b` are two such groups that have nothing to do with each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from core.errors import DeclarationError, InvalidType
from core.errors.scalars import is_whole
from core.typing import Shape

Places = dict[str, tuple[str, int]]
"""Dimension -> the place where it is found first, and its size."""

_ARGUMENT = re.compile(r"\(([^()]*)\)([?*]?)")
_DIMENSION = re.compile(r"\.\.\.\w*|\d+|[A-Za-z_]\w*")


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """The shape that `shapes` broadcast to; ValueError where they do not.

    >>> broadcast_shapes([(3, 1), (4,), ()])
    (3, 4)
    """
    result = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        offset = len(result) - len(shape)
        for axis, size in enumerate(shape, offset):
            if result[axis] == 1:
                result[axis] = size
            elif size not in (1, result[axis]):
                listed = ", ".join(map(str, shapes))
                raise ValueError(f"the shapes {listed} do not broadcast")
    return tuple(result)


def as_axes(axis: Any) -> tuple[int, ...]:
    """One axis, which may be a NumPy integer, as a tuple; several as they are."""
    return (axis,) if is_whole(axis) else axis


class Argument(NamedTuple):
    """One input or output of a signature: the names (or sizes) of its dimensions."""

    dims: tuple[str | int, ...]
    optional: bool = False
    variadic: bool = False

    @property
    def dots(self) -> int | None:
        """Where the dots stand, None without any."""
        return next((i for i, dim in enumerate(self.dims) if _is_dots(dim)), None)

    @property
    def loops(self) -> bool:
        """Whether the dots are leading dimensions that broadcast."""
        return self.dots == 0 and len(self.dims) > 1

    def split(self, shape: Shape) -> tuple[list[tuple[str | int, int]], slice]:
        """The named dimensions with their axes in `shape`, and the axes that the dots cover."""
        dots = self.dots
        if dots is None:
            return list(zip(self.dims, range(len(shape)), strict=True)), slice(0, 0)
        tail = len(shape) - (len(self.dims) - dots - 1)
        named = list(enumerate(self.dims[:dots])) + list(enumerate(self.dims[dots + 1 :], tail))
        return [(dim, axis) for axis, dim in named], slice(dots, tail)

    def __str__(self) -> str:
        mark = "?" if self.optional else "*" if self.variadic else ""
        return f"({','.join(map(str, self.dims))}){mark}"


class Signature:
    """A parsed signature; raises DeclarationError where the text is not one.

    It is `elementwise` where every argument is "()", for inputs of any shapes that broadcast, and
    `variadic` where the last input may be given any number of times. `counts` are the least and the
    greatest number of inputs, None for no limit; `names` are the dimensions of the inputs in order,
    without dots and sizes, and `groups` those with dots.
    """

    def __init__(self, text: str) -> None:
        left, arrow, right = text.replace(" ", "").partition("->")
        if not arrow:
            raise DeclarationError(
                f"Domain: the signature {text!r} has no '->'. "
                "Write inputs, an arrow and outputs, such as '(n,k),(k,m)->(n,m)'."
            )
        self.text = f"{left}->{right}"
        self.inputs = _arguments(left, text)
        self.outputs = _arguments(right, text)
        _check_marks(self, text)
        self.elementwise = not any(a.dims for a in (*self.inputs, *self.outputs))
        self.variadic = self.inputs[-1].variadic
        most = None if self.variadic else len(self.inputs)
        self.counts = sum(not argument.optional for argument in self.inputs), most
        found = dict.fromkeys(d for a in self.inputs for d in a.dims if isinstance(d, str))
        self.names = tuple([d for d in found if not _is_dots(d)])
        self.groups = tuple(filter(_is_dots, found))

    def argument(self, index: int) -> Argument:
        """The declaration of the input at `index`."""
        return self.inputs[min(index, len(self.inputs) - 1)]

    def match(
        self, names: Sequence[str], shapes: Sequence[Shape], *, same_group: bool = True
    ) -> Places:
        """Find the dimensions.

        Raises InvalidType unless the ranks fit and the dimensions of one name are equal.
        `same_group=False` leaves the sizes (not the number) of dotted dimensions unchecked.
        """
        binding = _Binding(same_group)
        if self.elementwise:
            _match_broadcast(names, shapes)
            return binding.sizes
        given: dict[tuple[Argument, Shape], str] = {}  # what fits once fits again
        for index, (name, shape) in enumerate(zip(names, shapes, strict=True)):
            given.setdefault((self.argument(index), shape), name)
        for (argument, shape), name in given.items():
            binding.add(name, argument, shape)
        return binding.sizes

    def __str__(self) -> str:
        return self.text


class _Binding:
    """What the inputs seen so far have fixed."""

    def __init__(self, same_group: bool) -> None:
        self.same_group = same_group
        self.sizes: Places = {}
        self.groups: dict[str, tuple[str, Shape, bool]] = {}

    def add(self, name: str, argument: Argument, shape: Shape) -> None:
        _check_rank(name, argument, shape)
        named, covered = argument.split(shape)
        for dim, axis in named:
            self._check_size(f"{name}.shape[{axis}]", dim, shape[axis])
        if argument.dots is not None:
            group = str(argument.dims[argument.dots])
            self._check_group(_covered_text(name, shape, covered), group, shape[covered], argument)

    def _check_size(self, place: str, dim: str | int, size: int) -> None:
        other, expected = (
            (str(dim), dim) if isinstance(dim, int) else self.sizes.setdefault(dim, (place, size))
        )
        if size != expected:
            raise InvalidType(f"{other} == {place}", f"{expected} != {size}")

    def _check_group(self, place: str, group: str, dims: Shape, argument: Argument) -> None:
        other, expected, loops = self.groups.setdefault(group, (place, dims, argument.loops))
        if loops and argument.loops:
            self._broadcast(other, expected, place, group, dims)
        elif not self.same_group:
            if len(dims) != len(expected):
                raise InvalidType(
                    f"len({other}) == len({place})", f"{len(expected)} != {len(dims)}"
                )
        elif dims != expected:
            raise InvalidType(f"{other} == {place}", f"{expected} != {dims}")

    def _broadcast(self, other: str, expected: Shape, place: str, group: str, dims: Shape) -> None:
        try:
            self.groups[group] = (other, broadcast_shapes([expected, dims]), True)
        except ValueError:
            raise InvalidType(f"{other} and {place} broadcast", f"{expected} and {dims}") from None


def _is_dots(dim: str | int) -> bool:
    return isinstance(dim, str) and dim.startswith("...")


def _arguments(side: str, text: str) -> tuple[Argument, ...]:
    found = list(_ARGUMENT.finditer(side))
    if not found or ",".join(match.group() for match in found) != side:
        raise DeclarationError(
            f"Domain: cannot read {side!r} in the signature {text!r}. Write each argument as its "
            "dimensions in brackets, separated by commas, such as '(n,k),(m)?'."
        )
    return tuple(
        Argument(_dims(match.group(1), text), match.group(2) == "?", match.group(2) == "*")
        for match in found
    )


def _dims(inside: str, text: str) -> tuple[str | int, ...]:
    words = inside.split(",") if inside else []
    wrong = [word for word in words if not _DIMENSION.fullmatch(word)]
    if wrong or sum(map(_is_dots, words)) > 1:
        raise DeclarationError(
            f"Domain: cannot read ({inside}) in the signature {text!r}. A dimension is a name, a "
            "number, or '...' at most once an argument."
        )
    return tuple(int(word) if word.isdigit() else word for word in words)


def _check_marks(signature: Signature, text: str) -> None:
    optional = [argument.optional for argument in signature.inputs]
    if optional != sorted(optional):
        raise DeclarationError(
            f"Domain: '?' stands ahead of a required input in {text!r}. Put optional inputs last."
        )
    if any(argument.variadic for argument in signature.inputs[:-1]):
        raise DeclarationError(
            f"Domain: '*' stands ahead of another input in {text!r}. Only the last may repeat."
        )
    if any(argument.optional or argument.variadic for argument in signature.outputs):
        raise DeclarationError(f"Domain: '?' and '*' mark inputs, not outputs, in {text!r}.")


def _check_rank(name: str, argument: Argument, shape: Shape) -> None:
    least = len(argument.dims) - (argument.dots is not None)
    if argument.dots is None and len(shape) != least:
        raise InvalidType(f"{name}.ndim == {least}", f"{len(shape)} != {least}")
    if len(shape) < least:
        raise InvalidType(f"{name}.ndim >= {least}", f"{len(shape)} < {least}")


def _covered_text(name: str, shape: Shape, covered: slice) -> str:
    start = covered.start or ""
    stop = covered.stop - len(shape) or ""
    return f"{name}.shape[{start}:{stop}]" if start or stop else f"{name}.shape"


def _match_broadcast(names: Sequence[str], shapes: Sequence[Shape]) -> None:
    try:
        broadcast_shapes(shapes)
    except ValueError:
        places = " and ".join(f"{name}.shape" for name in names)
        raise InvalidType(f"{places} broadcast", " and ".join(map(str, shapes))) from None

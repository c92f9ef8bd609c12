"""The values of an op's inputs and settings: what fits, and what tests draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from core.errors import DeclarationError, InvalidType
from core.ops.types.shapes import as_axes
from core.typing import Shape

DTYPES = {
    "real": ("fV", "floating"),
    "number": ("iufV", "real-valued"),
    "any dtype": ("biufcV", "known"),
    "any real dtype": ("biufV", "real-valued"),
    "integer": ("iu", "integral"),
    "boolean": ("b", "bool"),
}
"""What an input is -> the kinds of its dtypes (see `Backend.kind`), and what errors call them."""


class Input(NamedTuple):
    """The values of one input: what `real`, `integers`, `boolean` and `anything` return."""

    what: str
    lo: float = 0
    hi: float | str = 1
    kinks: tuple[float | str, ...] = ()
    distinct: bool = False
    make: Callable[[Any, Any], Any] | None = None
    mixed: bool = False

    @property
    def real(self) -> bool:
        """Whether the input shares one dtype with the other real inputs."""
        return self.what not in ("integer", "boolean")

    def __str__(self) -> str:
        if self.what == "boolean":
            return "boolean"
        closing = ")" if self.what == "integer" else "]"
        text = f"{self.what} in [{self.lo}, {self.hi}{closing}"
        text += ", all different" if self.distinct else ""
        return text + (", of any floating dtype" if self.mixed else "")


def real(
    lo: float,
    hi: float,
    *,
    kinks: Iterable[float | str] = (),
    distinct: bool = False,
    make: Callable[[Any, Any], Any] | None = None,
    mixed: bool = False,
) -> Input:
    """Floating-point values from `lo` to `hi`; all real inputs of an op have one dtype.

    A `mixed` input may have another floating dtype than the others. Then the op is computed in the
    widest, its result rounded to the dtype of the first input, or not at all where the class says
    `promotes = True`, and each gradient to the dtype of its input.

    `kinks` are the values, or settings that hold them ("-name" for the negative), where the op has
    no derivative. `distinct` says that values which are equal, within the input or between two
    distinct inputs, are a kink. `make(xp, array)` turns drawn values into fit ones (a positive
    definite matrix, a probability).
    """
    return Input("real", lo, hi, tuple(kinks), distinct, make, mixed)


def numeric(lo: float = -3, hi: float = 3, *, kinks: Iterable[float | str] = ()) -> Input:
    """Real numbers, whole ones among them: for ops that integers have as well, without gradient."""
    return Input("number", lo, hi, tuple(kinks))


def anything(lo: float = -3, hi: float = 3, *, mixed: bool = False) -> Input:
    """Values of any dtype: for ops that only move them or compare them.

    `mixed` ones may have another dtype than the others.
    """
    return Input("any dtype", lo, hi, mixed=mixed)


def ordered(lo: float = -3, hi: float = 3) -> Input:
    """Values of any dtype but complex ones, which have no order."""
    return Input("any real dtype", lo, hi)


def integers(lo: int, hi: int | str, *, make: Callable[[Any, Any], Any] | None = None) -> Input:
    """Integers from `lo` up to, not including, `hi`: a number, or an expression as in a rule."""
    return Input("integer", lo, hi, make=make)


def boolean() -> Input:
    """Truth values."""
    return Input("boolean")


class Choice(NamedTuple):
    """A setting with these values; or those that `find(shapes)` returns for the drawn shapes."""

    options: tuple[Any, ...] = ()
    find: Callable[[dict[str, Any]], Sequence[Any]] | None = None

    def __str__(self) -> str:
        return "by shape" if self.find else "one of " + ", ".join(map(repr, self.options))


def choice(*options: Any) -> Choice:
    """A setting that is one of `options`.

    A single function instead takes the shapes by input name and returns the options that fit them.
    """
    if len(options) == 1 and callable(options[0]) and not isinstance(options[0], type):
        return Choice(find=options[0])
    if not options:
        raise DeclarationError("choice: name at least one option.")
    return Choice(options)


class Axes(NamedTuple):
    """A setting that is an axis of the input `of`, counted from either end.

    `many` allows a tuple of axes, `none` None, `beyond` says how many more axes the result has
    (expand_dims: 1), `permutation` asks for a tuple of all axes in some order, `nonempty` for axes
    that hold elements.
    """

    of: str
    many: bool = False
    none: bool = False
    beyond: int = 0
    permutation: bool = False
    nonempty: bool = False

    def check(self, value: Any, name: str, shape: Shape) -> None:
        """Raise InvalidType unless an input called `name` has the axes that the setting names."""
        if value is None and not self.nonempty:
            return
        ndim = len(shape) + self.beyond
        named = range(ndim) if value is None else as_axes(value)
        if self.permutation and len(named) != ndim:
            raise InvalidType(f"{name}.ndim == {len(named)}", f"{ndim} != {len(named)}")
        for a in named:
            if not -ndim <= a < ndim:
                least = (a if a >= 0 else -a) - self.beyond
                sign, but = (">", "<=") if a >= 0 else (">=", "<")
                raise InvalidType(f"{name}.ndim {sign} {least}", f"{len(shape)} {but} {least}")
            if self.nonempty and shape[a] == 0:
                raise InvalidType(f"{name}.shape[{a}] > 0", "0 <= 0")
        if len({a % ndim for a in named}) != len(named):
            expect = f"a permutation of {ndim} axes" if self.permutation else "axes that differ"
            raise InvalidType(expect, str(tuple(named)))

    def __str__(self) -> str:
        kinds = ["a permutation of the axes" if self.permutation else "an axis"]
        kinds += ["several axes"] * self.many + ["None"] * self.none
        return " or ".join(kinds) + f" of {self.of}" + ", not empty" * self.nonempty


axes = Axes


class Number(NamedTuple):
    """A setting from `lo` to `hi`, an integer where both are."""

    lo: float
    hi: float

    def __str__(self) -> str:
        return f"number in [{self.lo}, {self.hi}]"


number = Number

Setting = Choice | Axes | Number

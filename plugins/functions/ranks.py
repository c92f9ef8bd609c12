"""Functions for each number of spatial axes, from one that is written for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, MappingProxyType
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

from core import as_variable
from core.arrays.windows import per_axis
from core.errors.kinds import narrowed
from core.typing import Array, Sizes
from plugins.functions.windows import of_rank

P = ParamSpec("P")
R = TypeVar("R")

WORDS = {
    "1d": {
        "over": "one spatial axis",
        "d": "l",
        "k": "k",
        "e": "l'",
        "each": "in a tuple or alone",
    },
    "2d": {"over": "images", "d": "h, w", "k": "kh, kw", "e": "h', w'"},
    "3d": {"over": "volumes", "d": "d, h, w", "k": "kd, kh, kw", "e": "d', h', w'"},
    "nd": {
        "over": "any number of spatial axes",
        "d": "d_1, ..., d_N",
        "k": "k_1, ..., k_N",
        "e": "e_1, ..., e_N",
    },
}
"""What docstrings call the spatial axes: `$over` them, the sizes `$d` of an input, `$k` of a window
and `$e` of an output, and `$each` axis."""

EXAMPLE = 4
"""The number of axes in the examples of functions that take any."""


class Rank(NamedTuple):
    """The number of spatial axes of a function, None for any, and the function's name."""

    name: str
    ndim: int | None

    def of(self, x: Array, W: Array) -> tuple[Any, Any, int]:
        """`x` and the filters `W` as Variables, and how many spatial axes they have."""
        ndim = as_variable(W).ndim - 2 if self.ndim is None else self.ndim
        return of_rank(self.name, ndim, x), of_rank(self.name, ndim, W, "W"), ndim

    def windows(self, x: Array, ksize: Sizes) -> tuple[Any, Sizes, int]:
        """`x` as a Variable, the size of its windows, and how many spatial axes it has."""
        if self.ndim is None:
            x = as_variable(x)
            return x, ksize, x.ndim - 2
        return of_rank(self.name, self.ndim, x), self.each(ksize, self.ndim, "ksize"), self.ndim

    def each(self, sizes: Sizes, ndim: int, what: str) -> tuple[int, ...]:
        """One size for every spatial axis."""
        if type(sizes) is int:
            return (sizes,) * ndim
        if type(sizes) is tuple and [*map(type, sizes)] == [int] * ndim:  # as links have them
            return sizes
        return per_axis(sizes, ndim, f"{self.name}: {what}")


class Family(Generic[P, R]):
    """A function for any rank, from which `family("2d")` makes that for images.

    It is told its rank first. In its docstring stands `$over` and its like for what `WORDS` says of
    the axes, `$rank` for the end of the name, and `$5` for 5 along every axis.

    Args:
        template: What every rank computes.
    """

    def __init__(self, template: Callable[Concatenate[Rank, P], R]) -> None:
        self.template: Any = template

    def __call__(self, rank: str, by_name: tuple[str, ...] = (), **fixed: Any) -> Callable[P, R]:
        """The function for the rank "1d", "2d", "3d" or "nd".

        Args:
            rank: How the function's name ends.
            by_name: Arguments that it takes by keyword alone.
            fixed: Arguments that it does not have, and what they are.
        """
        code = self.template
        name = f"{code.__name__}_{rank}"
        ndim = None if rank == "nd" else int(rank[0])
        # Errors look for what they tell by the name in the code.
        named = code.__code__.replace(co_name=name, co_qualname=name)
        own: Any = FunctionType(named, code.__globals__, name, code.__defaults__)
        own.__annotations__ = dict(code.__annotations__)
        own.__doc__ = described(code.__doc__ or "", rank, ndim or EXAMPLE, fixed)
        own.template = code
        made: Callable[P, R] = narrowed(own, by_name, rank=Rank(name, ndim), **fixed)
        return made


def described(
    text: str,
    rank: str,
    ndim: int,
    without: Iterable[str] = (),
    more: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The docstring of a rank, without some arguments' lines; `more` words may stand in it."""
    for name in without:
        text = re.sub(rf"^( +){name}: .*\n(?:\1 {{4}}.*\n)*", "", text, flags=re.MULTILINE)
    words = {"each": f"for each axis or for {'both' if ndim == 2 else 'all'}", "rank": rank}
    words |= {**WORDS[rank], **more}

    def said(found: re.Match[str]) -> str:
        word = found[1]
        return ", ".join([word] * ndim) if word.isdigit() else words[word]

    return re.sub(r"\$(\w+)", said, text)

"""Sizes that are open in a file, and numbers that follow them.

A function is traced for several sizes of its open axes. A number that differs between the traces is
a sum of few products of these sizes, or one over such, or it does not follow them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from math import prod
from typing import Any, TypeAlias

import numpy as np

from core.errors import ExportError
from core.programs import Value

CURE = "Export it for one size by batch=None, and without dynamic_axes."

Terms: TypeAlias = tuple[tuple[tuple[str, ...], int], ...]
"""Products of sizes, by their names, each with a factor; that of no sizes is 1."""


class Dim(int):
    """A number that follows open sizes: its value in the first trace, and in all of them."""

    sizes: Sizes
    numbers: tuple[int, ...]
    terms: Terms

    def __new__(cls, sizes: Sizes, numbers: tuple[int, ...], terms: Terms) -> Dim:
        """The number of the first trace, with what it is made of."""
        made = super().__new__(cls, numbers[0])
        made.sizes, made.numbers, made.terms = sizes, numbers, terms
        return made

    def _with(self, other: Any, how: Callable[[int, int], int]) -> Any:
        found = [how(*pair) for pair in in_each_trace(self, other)]
        return self.sizes.number(found)

    def __add__(self, other: int) -> Any:
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self._with(0, lambda a, b: b - a)

    def __sub__(self, other: int) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: int) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: int) -> Any:
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> Any:
        if any([a % b for a, b in in_each_trace(self, other)]):
            raise ExportError(f"onnx: a size is divided that is open in the file. {CURE}")
        return self._with(other, lambda a, b: a // b)

    __hash__ = int.__hash__


class Share(float):
    """A number that is `total`, multiplied by the size `above`, divided by the size `below`.

    Or it `is_root`: the square root of such.
    """

    total: float
    above: Any
    below: Any
    is_root: bool

    def __new__(
        cls, value: float, total: float, above: Any, below: Any, is_root: bool = False
    ) -> Share:
        """The number, with what it is made of."""
        made = super().__new__(cls, value)
        made.total, made.above, made.below, made.is_root = total, above, below, is_root
        return made


def in_each_trace(*numbers: Any) -> Iterator[tuple[int, ...]]:
    """The numbers as they are in each trace; those that are the same in all stand in each."""
    several = [n.numbers for n in numbers if isinstance(n, Dim)]
    for i in range(len(several[0]) if several else 1):
        yield tuple([n.numbers[i] if isinstance(n, Dim) else int(n) for n in numbers])


class Sizes:
    """The open sizes in each trace, by their names, and where they are found in a graph.

    `places` has for each name inputs or values, and an axis of which it is the length, `sums` what
    it is made of, where it is.
    """

    def __init__(self, samples: dict[str, tuple[int, ...]]) -> None:
        self.samples = samples
        self.count = len(next(iter(samples.values()), (0,)))
        self.given = tuple(samples)
        self.places: dict[str, list[tuple[str | Value, int]]] = {name: [] for name in samples}
        self.sums: dict[str, Terms | None] = {}
        self._known: dict[tuple[int, ...], Any] = {}
        self._made: list[tuple[tuple[str, ...], tuple[int, ...]]] = []

    def number(self, numbers: Sequence[int]) -> Any:
        """The number that is these in the traces; ExportError where it does not follow sizes."""
        found = self.found(tuple(map(int, numbers)))
        if found is None:
            raise ExportError(
                f"onnx: expected sums and products of open sizes ({self.told()}), got "
                f"{few(numbers)}. {CURE}"
            )
        return found

    def told(self) -> str:
        """The open sizes of all traces, in words."""
        return "; ".join([f"{name} of {few(self.samples[name])}" for name in self.given])

    def found(self, numbers: tuple[int, ...]) -> Any:
        """The number; None where it does not follow sizes."""
        if numbers not in self._known:
            terms = self._terms(numbers)
            known = terms if terms is None or not terms else Dim(self, numbers, terms)
            self._known[numbers] = numbers[0] if known == () else known
        return self._known[numbers]

    def see(self, numbers: tuple[int, ...], counted: bool) -> None:
        """Let the length of an axis be a size of its own, of which there are products.

        It is, where it is a sum. Where it follows no others it is if it is `counted`, that is,
        found by an operator; then the graph has to be asked for it.
        """
        known = self.found(numbers)
        terms = getattr(known, "terms", None)
        if (counted and known is None) or (terms is not None and len(terms) > 1):
            name = f"{len(self.samples)}"
            self.samples[name], self.places[name], self.sums[name] = numbers, [], terms
            self._known.clear()
            self._made.clear()

    def _products(self) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
        """Products of up to three sizes, short ones first."""
        if not self._made:
            two = combinations_with_replacement(self.samples, 2)
            names = [*[(n,) for n in self.samples], *two, *combinations(self.samples, 3)]
            rows = [zip(*[self.samples[n] for n in each], strict=True) for each in names]
            self._made = [(n, tuple(map(prod, row))) for n, row in zip(names, rows, strict=True)]
        return self._made

    def _terms(self, numbers: tuple[int, ...]) -> Terms | None:
        if len({*numbers}) == 1:
            return ()
        products = self._products()
        for plus in (False, True):
            for names, each in products:
                if (terms := _line(numbers, names, each, plus)) is not None:
                    return terms
        if self.count < 5:  # too few to tell more terms by
            return None
        pairs = combinations([p for p in products if {*p[0]} <= {*self.given}], 2)
        return next(filter(None, [_plane(numbers, one, other) for one, other in pairs]), None)

    def share(self, numbers: Sequence[float]) -> Share | None:
        """The number that is these in the traces: a share or a multiple of sizes, or its root."""
        found = np.asarray(numbers, "f8")
        if not np.isfinite(found).all() or not found.all():
            return None
        for is_root in (False, True) if (found > 0).all() else (False,):
            parts = self._parts(found**2 if is_root else found)
            if parts is not None:
                return Share(numbers[0], *parts, is_root)
        return None

    def _parts(self, found: Any) -> tuple[float, Any, Any] | None:
        """What a share is made of."""
        first = float(found[0])
        for _, each in self._products():
            sizes = np.asarray(each, "f8")
            if _alike(found * sizes):
                return first * each[0], 1, self.found(each)
            if _alike(found / sizes) and each[0]:
                return first / each[0], self.found(each), 1
        for above in [(1,) * self.count, *[each for _, each in self._products()]]:
            below = np.rint(np.asarray(above, "f8") / found)
            if below.all() and np.allclose(above / below, found, rtol=1e-9, atol=0):
                size = self.found(tuple(below.astype(int).tolist()))
                if size is not None:
                    return 1.0, self.found(above), size
        return None


def _alike(numbers: Any) -> bool:
    return bool(np.allclose(numbers, numbers[0], rtol=1e-9, atol=0))


def few(parts: Sequence[Any]) -> str:
    """The first of what there is in the traces, in words."""
    return ", ".join([str(part) for part in parts[:4]]) + ", ..." * (len(parts) > 4)


def is_multiple(numbers: Sequence[int], of: Sequence[int]) -> bool:
    """Whether numbers that differ are a multiple of others, and a number more."""
    found = [_line(numbers, ("",), of, plus) for plus in (False, True)]
    return any([terms is not None and abs(terms[0][1]) > 1 for terms in found])


def _line(
    numbers: Sequence[int], names: tuple[str, ...], each: Sequence[int], plus: bool
) -> Terms | None:
    """A multiple of a product, and with `plus` a number more."""
    other = next((i for i, n in enumerate(each) if n != each[0]), None)
    if other is None:
        return None
    factor = (numbers[other] - numbers[0]) // (each[other] - each[0])
    more = numbers[0] - factor * each[0]
    if bool(more) != plus or not factor:
        return None
    if any([n != factor * size + more for n, size in zip(numbers, each, strict=True)]):
        return None
    return ((names, factor), *[((), more)][: int(plus)])


def _plane(
    numbers: Sequence[int], *products: tuple[tuple[str, ...], Sequence[int]]
) -> Terms | None:
    """Multiples of two products and a number more."""
    columns = [each for _, each in products]
    left = np.array([*columns, [1] * len(numbers)], "f8").T
    factors = np.rint(np.linalg.lstsq(left, np.array(numbers, "f8"), rcond=None)[0])
    if not np.array_equal(left @ factors, np.array(numbers, "f8")):
        return None
    named = zip([*[names for names, _ in products], ()], factors.astype(int).tolist(), strict=True)
    return tuple([(names, factor) for names, factor in named if factor])

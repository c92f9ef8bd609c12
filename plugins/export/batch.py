"""Numbers of a program that follow the size of the batch.

A function is traced with three sizes. What differs between the programs is a straight line through
the sizes, or one over it, or the function cannot be exported for batches of any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import ExportError
from core.tracing import Equation, Program, Value

CURE = "Export it for one size by batch=None."


class Dim(int):
    """A number that is `times` the size of the batch, `plus` another number."""

    times: int
    plus: int

    def __new__(cls, value: int, times: int, plus: int) -> Any:
        """The number itself where it does not follow the batch."""
        if not times:
            return value
        made = super().__new__(cls, value)
        made.times, made.plus = times, plus
        return made

    def __add__(self, other: int) -> Any:
        plus, times = getattr(other, "plus", int(other)), getattr(other, "times", 0)
        return Dim(int(self) + int(other), self.times + times, self.plus + plus)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return Dim(-int(self), -self.times, -self.plus)

    def __sub__(self, other: int) -> Any:
        return self + -other

    def __rsub__(self, other: int) -> Any:
        return -self + other

    def __mul__(self, other: int) -> Any:
        if isinstance(other, Dim):
            raise ExportError(f"onnx: the square of the batch's size is asked for. {CURE}")
        return Dim(int(self) * other, self.times * other, self.plus * other)

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> Any:
        if isinstance(other, Dim) or self.times % other or self.plus % other:
            raise ExportError(f"onnx: a size is divided that follows the batch's. {CURE}")
        return Dim(int(self) // other, self.times // other, self.plus // other)

    __hash__ = int.__hash__


class Share(float):
    """A number that is `total` divided by the size of the batch."""

    total: float

    def __new__(cls, value: float, total: float) -> Share:
        """The number, with what is divided."""
        made = super().__new__(cls, value)
        made.total = total
        return made


def followed(programs: Sequence[Program], sizes: Sequence[int]) -> Program:
    """The first program with a `Dim` or a `Share` for each number that follows the batch."""
    first, *others = programs
    if any([len(p.equations) != len(first.equations) for p in others]):
        raise ExportError(f"onnx: the function does other things with a larger batch. {CURE}")
    merge = _Merge(programs, sizes)
    for values in zip(*[p.inputs for p in programs], strict=True):
        merge.value(values)
    for places in zip(*[p.places for p in programs], strict=True):
        merge.value([place.value for place in places])
    for equations in zip(*[p.equations for p in programs], strict=True):
        merge.equation(equations)
    for values in zip(*[p.outputs for p in programs], strict=True):
        merge.tree(values)
    return first


class _Merge:
    def __init__(self, programs: Sequence[Program], sizes: Sequence[int]) -> None:
        self._constants = [p.constants for p in programs]
        self._sizes = sizes
        self._alike: dict[Value, tuple[Value, ...]] = {}
        self._at = ""

    def equation(self, equations: Sequence[Equation]) -> None:
        first = equations[0]
        self._at = f"{first.origin} at {first.origin.line}"
        if any([e.call[:2] != first.call[:2] for e in equations]):
            raise ExportError(
                f"onnx: the function does other things with a larger batch ({self._at}). {CURE}"
            )
        first.args = self.tree([e.args for e in equations])
        first.kwargs = self.tree([e.kwargs for e in equations])
        for values in zip(*[e.outputs for e in equations], strict=True):
            self.value(values)

    def value(self, values: Sequence[Value]) -> None:
        if values[0] not in self._alike:
            self._alike[values[0]] = tuple(values)
            values[0].shape = self.tree([v.shape for v in values])

    def tree(self, parts: Sequence[Any]) -> Any:
        one = parts[0]
        if isinstance(one, Value):
            return self._same_value(parts)
        if any([type(part) is not type(one) for part in parts]):
            raise self._refusal(parts)
        if isinstance(one, (tuple, list)):
            if any([len(part) != len(one) for part in parts]):
                raise self._refusal(parts)
            made = [self.tree(each) for each in zip(*parts, strict=True)]
            if isinstance(one, list):
                return made
            return type(one)(*made) if hasattr(one, "_fields") else tuple(made)
        if isinstance(one, dict):
            return {key: self.tree([part[key] for part in parts]) for key in one}
        if isinstance(one, slice):
            ends = [(part.start, part.stop, part.step) for part in parts]
            return slice(*self.tree(ends))
        if isinstance(one, int) and not isinstance(one, bool):
            return self._number(parts)
        if isinstance(one, float):
            return self._share(parts)
        if any([part is not one and part != one for part in parts]):
            raise self._refusal(parts)
        return one

    def _same_value(self, values: Sequence[Value]) -> Value:
        known = self._alike.get(values[0])
        if known is None:  # a constant
            arrays = [c.get(v) for c, v in zip(self._constants, values, strict=True)]
            if any([array is None or _differ(array, arrays[0]) for array in arrays]):
                raise ExportError(
                    "onnx: an array made outside of the traced functions, as by numpy.arange, has "
                    f"the size of the batch ({self._at}). {CURE}"
                )
            self.value(values)
        elif known != tuple(values):
            raise self._refusal([f"value {i}" for i in range(len(values))])
        return values[0]

    def _number(self, numbers: Sequence[int]) -> int:
        first, second = numbers[:2]
        times = (second - first) // (self._sizes[1] - self._sizes[0])
        plus = first - times * self._sizes[0]
        for number, size in zip(numbers, self._sizes, strict=True):
            if number != times * size + plus:
                raise self._refusal(numbers)
        return Dim(first, times, plus)  # type: ignore[no-any-return]

    def _share(self, numbers: Sequence[float]) -> float:
        first = numbers[0]
        if all([number == first or number != number for number in numbers]):
            return first
        total = first * self._sizes[0]
        for number, size in zip(numbers, self._sizes, strict=True):
            if abs(number * size - total) > 1e-9 * abs(total):
                raise self._refusal(numbers)
        return Share(first, total)

    def _refusal(self, parts: Sequence[Any]) -> ExportError:
        return ExportError(
            "onnx: expected what is a multiple of the batch's size, got "
            f"{', '.join(map(str, parts))} for batches of "
            f"{', '.join(map(str, self._sizes))} ({self._at}). {CURE}"
        )


def _differ(one: Any, other: Any) -> bool:
    return bool(one.shape != other.shape or one.tobytes() != other.tobytes())

"""What a rule's step does to each element, recorded: which operations, and the numbers beside.

`step` is called with stand-ins for its arrays. The same operations with other numbers, as in the
next step of a rule, are equal, so that something made for them serves again; recording takes a few
dozen operations of Python's, whatever the number of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from core.errors.scalars import is_number


class Unrecorded(Exception):
    """What a rule does is more than operations on elements."""


class Operation(NamedTuple):
    """A function or operator by its name: of values before it (an int) and numbers (`k0`)."""

    name: str
    operands: tuple[int | str, ...]


class Recorded(NamedTuple):
    """Operations on the elements of so many arrays, and which of these become which values.

    Values are counted on from the arrays.
    """

    arrays: int
    operations: tuple[Operation, ...]
    changes: tuple[tuple[int, int], ...]


def record_step(
    rule: Any, xp: Any, dtype: Any, states: Sequence[str], others: dict[str, Any]
) -> tuple[Recorded, list[float]]:
    """What a rule's step does to parameter, gradient and states, and the numbers of this step.

    `others` is state that is no array. Raises Unrecorded, AttributeError or TypeError where a step
    is more than operations on elements.
    """
    recorder = _Recorder(dtype, 2 + len(states))
    arrays = [Element(recorder, i) for i in range(recorder.count)]
    named = dict(zip(states, arrays[2:], strict=True))
    if rule.step(_Namespace(recorder, xp), arrays[0], arrays[1], **named, **others) is not None:
        raise Unrecorded("a result")
    changes = tuple([(i, array.place) for i, array in enumerate(arrays) if array.place != i])
    return Recorded(recorder.count, tuple(recorder.operations), changes), recorder.numbers


class _Recorder:
    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype = dtype
        self.count = count
        self.operations: list[Operation] = []
        self.numbers: list[float] = []

    def call(self, name: str, *args: Any) -> Element:
        if name in ("pow", "power"):
            name, args = _power(args)
        operands = tuple([x.place if isinstance(x, Element) else self._number(x) for x in args])
        self.operations.append(Operation(name, operands))
        return Element(self, self.count + len(self.operations) - 1, name in _BOOLEAN)

    def _number(self, x: Any) -> str:
        if not is_number(x) or isinstance(x, complex):
            raise Unrecorded(repr(x))
        self.numbers.append(float(x))
        return f"k{len(self.numbers) - 1}"


def _power(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    if args[1] == 2:
        return "square", args[:1]
    return ("sqrt", args[:1]) if args[1] == 0.5 else ("pow", args)


class Element:
    """Stands for an array while a rule's step is recorded."""

    __array_priority__ = 1000

    def __init__(self, recorder: _Recorder, place: int, boolean: bool = False) -> None:
        self.recorder = recorder
        self.place = place
        self.boolean = boolean

    @property
    def dtype(self) -> Any:
        """The arrays' dtype."""
        if self.boolean:
            raise Unrecorded("dtype")
        return self.recorder.dtype

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not Ellipsis:
            raise Unrecorded("an index")
        if not isinstance(value, Element):
            value = self.recorder.call("same", value)
        self.place = value.place

    def __bool__(self) -> bool:
        raise Unrecorded("a value is looked at")

    def __neg__(self) -> Element:
        return self.recorder.call("neg", self)

    def __abs__(self) -> Element:
        return self.recorder.call("abs", self)

    def __and__(self, other: Any) -> Element:
        return self.recorder.call("and_", self, other)

    def __or__(self, other: Any) -> Element:
        return self.recorder.call("or_", self, other)


def _operator(name: str, swapped: bool = False, in_place: bool = False) -> Any:
    def operated(self: Element, other: Any) -> Any:
        args = (other, self) if swapped else (self, other)
        made = self.recorder.call(name, *args)
        if not in_place:
            return made
        self.place = made.place
        return self

    return operated


_ARITHMETIC = ("add", "sub", "mul", "truediv", "pow")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
for _name in _ARITHMETIC:
    setattr(Element, f"__{_name}__", _operator(_name))
    setattr(Element, f"__r{_name}__", _operator(_name, swapped=True))
    setattr(Element, f"__i{_name}__", _operator(_name, in_place=True))
for _name in _COMPARISONS:
    setattr(Element, f"__{_name}__", _operator(_name))

OPERATORS = frozenset([*_ARITHMETIC, *_COMPARISONS, "neg", "abs", "and_", "or_"])
"""The names of Python's operators among those of operations."""

_BOOLEAN = frozenset(
    [*_COMPARISONS, "isnan", "isfinite", "isinf", "signbit", "equal", "not_equal", "less"]
    + ["less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_not"]
)


class _Namespace:
    """The functions that steps call, recorded; constants are those of the namespace itself."""

    def __init__(self, recorder: _Recorder, xp: Any) -> None:
        self._recorder = recorder
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._xp, name)
        if is_number(found) or not callable(found) or isinstance(found, type):
            return found
        return lambda *args: self._recorder.call(name, *args)

    def zeros_like(self, x: Element) -> Element:
        return self._recorder.call("same", 0.0)

    def ones_like(self, x: Element) -> Element:
        return self._recorder.call("same", 1.0)

    def full_like(self, x: Element, value: float) -> Element:
        return self._recorder.call("same", value)

    def clip(self, x: Element, min: Any = None, max: Any = None) -> Element:
        if min is not None:
            x = self._recorder.call("maximum", x, min)
        return x if max is None else self._recorder.call("minimum", x, max)

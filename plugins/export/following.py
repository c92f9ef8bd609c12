"""Programs of one function, traced for several sizes, as one in which numbers follow the sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

from core.errors import ExportError
from core.programs import Equation, Program, Value
from core.tracing import Applied
from plugins.export.sizes import CURE, Sizes, Terms, few, is_multiple

Trace = tuple[Program, list[Applied]]
"""A program, and its operations that have a translation, the outer ones alone, in order."""


class Followed(NamedTuple):
    """Operations by their first equations.

    Of the `unfollowed` nothing but the results follow the sizes: where they end, and what is said
    of what they consist of. They need a translation. The `resettled` have settings that follow.
    """

    unfollowed: dict[int, tuple[int, ExportError]]
    resettled: dict[int, Any]


def followed(traces: Sequence[Trace], sizes: Sizes) -> Followed:
    """Give the numbers of the first program that follow the sizes their formulas."""
    programs = [program for program, _ in traces]
    merge = _Merge(programs, sizes)
    for values in zip(*[p.inputs for p in programs], strict=True):
        merge.value(values)
    for places in zip(*[p.places for p in programs], strict=True):
        merge.value([place.value for place in places])
    found = Followed({}, {})
    steps = [list(_steps(*trace)) for trace in traces]
    if any([len(each) != len(steps[0]) for each in steps]):
        raise _others()
    for parts in zip(*steps, strict=True):
        first = parts[0]
        if any([type(part) is not type(first) for part in parts]):
            raise _others()
        if isinstance(first, Equation):
            merge.equation(parts)
            continue
        if (error := merge.operation(parts)) is not None:
            found.unfollowed[first.first] = first.end, error
        if (other := merge.settings([part.function for part in parts])) is not None:
            found.resettled[first.first] = other
    for values in zip(*[p.outputs for p in programs], strict=True):
        merge.tree(values)
    return found


_COUNTED = {"windows", "getitem"}
"""Calls that give as many elements as there turn out to be: of every second, every third."""


def hides(programs: Sequence[Program]) -> bool:
    """Whether sizes are multiples of what is counted in them, which may be so in these alone.

    Of every second element of an even number there are half as many; of an odd one there are not.
    """
    for equations in zip(*[p.equations for p in programs], strict=False):
        if equations[0].call.name not in _COUNTED:
            continue
        of = zip(*[e.args[0].shape for e in equations], strict=False)
        counted = {*zip(*[e.outputs[0].shape for e in equations], strict=False)}
        if any([is_multiple(one, other) for one in of for other in counted]):
            return True
    return False


def _others(at: str = "") -> ExportError:
    return ExportError(
        f"onnx: the function does other things with a larger batch, or axis{at}. {CURE}"
    )


def _steps(program: Program, whole: list[Applied]) -> Iterator[Equation | Applied]:
    at = 0
    for call in whole:
        yield from program.equations[at : call.first]
        yield call
        at = call.end
    yield from program.equations[at:]


class _Merge:
    def __init__(self, programs: Sequence[Program], sizes: Sizes) -> None:
        self._programs = programs
        self._constants = [p.constants for p in programs]
        self._sizes = sizes
        self._alike: dict[Value, tuple[Value, ...]] = {}
        self._at = ""

    def operation(self, calls: Sequence[Applied]) -> ExportError | None:
        """Merge an operation; gives the error where that goes for its results alone."""
        first, inside = calls[0], None
        if any([type(call.function) is not type(first.function) for call in calls]):
            raise _others()
        try:
            if any([c.end - c.first != first.end - first.first for c in calls]):
                raise _others()
            spans = zip(self._programs, calls, strict=True)
            parts = [program.equations[call.first : call.end] for program, call in spans]
            for equations in zip(*parts, strict=True):
                self.equation(equations)
        except ExportError as error:
            inside = error
        for values in zip(*[call.inputs for call in calls], strict=True):
            self.tree(values)
        for values in zip(*[call.outputs for call in calls], strict=True):
            self.value(values)
        return inside

    def settings(self, functions: Sequence[Any]) -> Any:
        """The operation with settings that follow the sizes; None where all have the same."""
        made = copy(functions[0])
        changed = False
        for name, value in getattr(functions[0], "__dict__", {}).items():
            values = [getattr(f, name, None) for f in functions]
            plain = all([isinstance(v, int | float | tuple | list) for v in values])
            if plain and any([v != value for v in values]):
                changed = True
                try:
                    setattr(made, name, self.tree(values))
                except ExportError:  # which the formula tells, where it asks for it
                    setattr(made, name, None)
        return made if changed else None

    def equation(self, equations: Sequence[Equation]) -> None:
        first = equations[0]
        self._at = f"{first.origin} at {first.origin.line}"
        if any([e.call[:2] != first.call[:2] for e in equations]):
            raise _others(f" ({self._at})")
        args = self.tree([e.args for e in equations])
        first.kwargs = self.tree([e.kwargs for e in equations])
        first.args = args
        for values in zip(*[e.outputs for e in equations], strict=True):
            self.value(values, first.call.name in _COUNTED)

    def value(self, values: Sequence[Value], counted: bool = False) -> None:
        """Let the shape of a value follow; what is `counted` may have sizes of its own."""
        one = values[0]
        if one in self._alike:
            return
        shapes = [v.shape for v in values]
        if any([len(shape) != len(shapes[0]) for shape in shapes]):
            raise self._refusal(shapes)
        for numbers in zip(*shapes, strict=True):
            self._sizes.see(numbers, counted)
        one.shape = self.tree(shapes)
        self._alike[one] = tuple(values)
        for axis, n in enumerate(one.shape):
            terms: Terms = getattr(n, "terms", ())
            if len(terms) == 1 and len(terms[0][0]) == 1 and terms[0][1] == 1:
                self._sizes.places[terms[0][0][0]].append((one, axis))

    def tree(self, parts: Sequence[Any]) -> Any:
        """What is in the traces as one, in which numbers follow the sizes."""
        one = parts[0]
        if any([type(part) is not type(one) for part in parts]):
            raise self._refusal(parts)
        match one:
            case Value():
                return self._same_value(parts)
            case tuple() | list():
                return self._sequence(parts)
            case dict():
                return {key: self.tree([part[key] for part in parts]) for key in one}
            case slice():
                return slice(*self.tree([(part.start, part.stop, part.step) for part in parts]))
            case int() if not isinstance(one, bool):
                found = self._sizes.found(tuple(parts))
            case _ if all([part is one or part == one or part != part for part in parts]):
                return one
            case float():
                found = self._sizes.share(parts)
            case _:
                found = None
        if found is None:
            raise self._refusal(parts)
        return found

    def _sequence(self, parts: Sequence[Any]) -> Any:
        one = parts[0]
        if any([len(part) != len(one) for part in parts]):
            raise self._refusal(parts)
        made = [self.tree(each) for each in zip(*parts, strict=True)]
        return getattr(one, "_make", tuple)(made) if isinstance(one, tuple) else made

    def _same_value(self, values: Sequence[Value]) -> Value:
        known = self._alike.get(values[0])
        if known is None:  # a constant
            arrays = [c.get(v) for c, v in zip(self._constants, values, strict=True)]
            if any([array is None or _differ(array, arrays[0]) for array in arrays]):
                raise ExportError(
                    "onnx: an array made outside of the traced functions, as by numpy.arange, has "
                    f"the size of the batch, or of an open axis ({self._at}). What the namespace "
                    f"of a traced array makes follows it, as x.__array_namespace__().arange. {CURE}"
                )
            self.value(values)
        elif known != tuple(values):
            raise self._refusal([f"value {i}" for i in range(len(values))])
        return values[0]

    def _refusal(self, parts: Sequence[Any]) -> ExportError:
        return ExportError(
            f"onnx: expected what is made of open sizes ({self._sizes.told()}) by sums and "
            f"products, got {few(parts)} ({self._at}). {CURE}"
        )


def _differ(one: Any, other: Any) -> bool:
    return bool(one.shape != other.shape or one.tobytes() != other.tobytes())

"""Results in the memory of arguments: where nobody else could tell that these were written to.

What an equation reads last may serve its result, if the function that computes it offers that. A
function does so by `over()`, pairs of a result and of an argument of its shape and dtype, and by
`into((result, array), *arrays)`, which gives the results, that one in the memory of the array, or
NotImplemented for an array that lies otherwise than a new one would.

That nobody reads an argument later follows from the program. Whether anybody else has it, as who
was given it before, a kernel that keeps it, or a view, is known where it is written to: all of
these hold references, so counting them tells.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import Any, NamedTuple

from core.arrays.backend import Backend
from core.programs.equation import Equation, Value

LEAST = 1 << 16  # bytes: to take others from where freed memory is kept is as soon as to count


class Pair(NamedTuple):
    """A result, by its place among those of an equation, and the argument that it may lie in."""

    result: int
    argument: int


def pair_of(equation: Equation, dying: Callable[[Value], bool]) -> Pair | None:
    """The largest result that may lie in an argument, and this; `dying` tells which may be used."""
    offered = getattr(equation.call.function, "over", None)
    if offered is None:
        return None
    inputs, outputs = equation.inputs, equation.outputs
    found = [
        pair
        for pair in map(Pair._make, offered())
        if outputs[pair.result].nbytes >= LEAST
        and _alike(outputs[pair.result], inputs[pair.argument])
        and inputs.count(inputs[pair.argument]) == 1
        and dying(inputs[pair.argument])
    ]
    return max(found, key=lambda pair: outputs[pair.result].nbytes, default=None)


def _alike(one: Value, other: Value) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


class Over:
    """A function of arrays that may write a result into the one that is read for the last time.

    That array comes first, in a list of its own: so its references show whether others have it.
    """

    def __init__(self, function: Any, pair: Pair, backend: Backend) -> None:
        self._function = function
        self._pair = pair
        self._owns = backend.owns

    def __call__(self, last: list[Any], *others: Any) -> tuple[Any, ...]:
        """The results; the list is empty afterwards."""
        alone = _references(last) == _ALONE
        array, at = last.pop(), self._pair.argument
        arrays = (*others[:at], array, *others[at:])
        if alone and self._owns(array):
            found = self._function.into((self._pair.result, array), *arrays)
            if found is not NotImplemented:
                return found  # type: ignore[no-any-return]
        del array
        return self._function(*arrays)  # type: ignore[no-any-return]


def _references(held: list[Any]) -> int:
    """How many references the only element of a list has, those of this count included."""
    element = held[0]
    return getrefcount(element)


_ALONE = _references([object()])
"""The count for an array that nobody else holds: interpreters differ in what a look adds."""

"""How long memory is in use in a run, and how much of it at once.

An equation gives its results memory, unless they are views. It is in use until the last equation
that reads it, through whatever view. What a run gives is in use to its end; arguments, places and
constants are not the program's.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from core.arrays.backend import Backend
from core.programs.equation import Equation, Value
from core.programs.group import SEQUENCE, Group
from core.programs.over import Pair, pair_of
from core.programs.recorded import Recorded


class Lifetimes:
    """For each value of a program, the number of the equation that reads it last.

    `last` maps values to that number; results are read after the last equation. `until` does the
    same for memory, which is named by the value that shows all of it (see `memory_of`). `given`
    are the values that the program does not make, and `born` maps the others to the number of the
    equation that makes them.
    """

    def __init__(self, program: Recorded) -> None:
        self._program = program
        equations = program.equations
        self._shared = program.memories()
        self.given = {*program.inputs, *[place.value for place in program.places]}
        self.given |= set(program.constants)
        self.results = [*program.outputs, *[value for _, value in program.changes]]
        self.born = {value: i for i, e in enumerate(equations) for value in e.outputs}
        self.last = {value: i for i, e in enumerate(equations) for value in e.inputs}
        self.last |= dict.fromkeys(self.results, len(equations))
        self.until = dict(self.last)
        for value, memory in self._shared.items():
            self._extend(memory, self.last.get(value, -1))
        for equation in reversed(equations):
            if keeps(equation):  # as an update does gradients
                for value in equation.inputs:
                    self._extend(self.memory_of(value), len(equations))
            # What waits to be computed keeps what it is made of.
            for waiting in [value for value in equation.outputs if value.waits]:
                for value in equation.inputs:
                    self._extend(self.memory_of(value), self.until.get(waiting, -1))

    def _extend(self, memory: Value, number: int) -> None:
        self.until[memory] = max(self.until.get(memory, -1), number)

    def memory_of(self, value: Value) -> Value:
        """The value that shows all of the memory that a value lies in."""
        return self._shared.get(value, value)

    def changeable(self) -> dict[int, Value]:
        """By the number of an equation that changes an array: the array, if it may be written into.

        Nobody reads it afterwards, and the memory is known to be its own.
        """
        own: set[Value] = set()
        found: dict[int, Value] = {}
        if not self._program.backend.mutable:
            return found
        for i, equation in enumerate(self._program.equations):
            outputs = equation.outputs
            if equation.call.kind == "change" and outputs:
                changed: Value = equation.args[0]
                alone = changed in own and self.until[changed] == i
                if alone and equation.inputs.count(changed) == 1:
                    found[i] = changed
            if _makes(equation, self._program.backend):
                own.update([value for value in outputs if not value.scalar])
        return found

    def taken_over(self) -> dict[int, Pair]:
        """By the number of an equation, which of its results may lie in which of its arguments."""

        def dying(i: int, value: Value) -> bool:
            whole = self.memory_of(value) is value and value not in self.given
            return whole and not value.waits and self.until.get(value) == i

        pairs = [(i, pair_of(e, partial(dying, i))) for i, e in enumerate(self._program.equations)]
        return {i: pair for i, pair in pairs if pair is not None}

    def in_use(self) -> list[int]:
        """Bytes that are in use at most while each equation is computed, its results included."""
        gone: defaultdict[int, int] = defaultdict(int)
        found, size, changeable, over = [], 0, self.changeable(), self.taken_over()
        for i, equation in enumerate(self._program.equations):
            taken = equation.inputs[over[i].argument] if i in over else changeable.get(i)
            if taken is not None:  # its memory goes on as that of the result
                gone[i] -= taken.nbytes
                size -= taken.nbytes
            for value in () if keeps(equation) else equation.outputs:
                if not value.waits and self.memory_of(value) is value:
                    size += value.nbytes
                    gone[max(i, self.until.get(value, -1))] += value.nbytes
            found.append(size)
            size -= gone[i]
        return found


def keeps(equation: Equation) -> bool:
    """Whether it keeps and changes arrays that the program does not own, as an update does."""
    return getattr(equation.call.function, "keeps", False)


def peak(program: Recorded) -> int:
    """Bytes that a run has in use at most, beside arguments, places and constants.

    What functions take for themselves while they compute is not known, and not in it.
    """
    return max(Lifetimes(program).in_use(), default=0)


_MAKES = frozenset(
    [
        "matmul",
        "sum",
        "where",
        "zeros",
        "zeros_like",
        "ones_like",
        "full",
        "full_like",
        "concat",
        "stack",
    ]
)


def _makes(equation: Equation, backend: Backend) -> bool:
    """Whether its result is known to lie in memory that nobody else shows."""
    call = equation.call
    if isinstance(call.function, Group) or call.name == SEQUENCE:
        return True
    if call.kind in ("change", "random"):
        return bool(equation.outputs)
    if call.kind == "operator":
        return call.name not in ("getitem", "pos")  # of which some libraries give the array itself
    return call.kind == "xp" and (call.name in _MAKES or hasattr(call.found(backend), "nargs"))

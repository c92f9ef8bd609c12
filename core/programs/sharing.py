"""Arguments and places that are one memory, of which a program changes one.

A program takes what it reads for arrays of their own: it computes once what is asked for before and
after a change of another array, and writes what has changed when all is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from core.arrays.backend import host
from core.programs.equation import Value
from core.programs.lifetimes import keeps
from core.programs.place import Place
from core.programs.recorded import Recorded

When = dict[int, int]
"""The places of equations, by the numbers of arrays: of arguments first, and then of places."""


class Apart:
    """Looks whether arrays that a program takes for different ones are.

    An array that is `changed` by an equation must lie apart from all that are `read` behind it.
    """

    def __init__(self, program: Recorded, changed: When, read: When) -> None:
        self._backend = program.backend
        self._changed = changed if program.backend.mutable else {}
        self._read = read
        first = min(self._changed.values(), default=len(program.equations))
        self._watched = {*self._changed, *[i for i, at in read.items() if at > first]}
        self._arguments, self._places = len(program.inputs), program.places

    def shared(self, given: Sequence[Any]) -> tuple[str, str] | None:
        """The names of an array that is changed, and of one that shares its memory."""
        if len(self._watched) < 2:
            return None
        arrays = {i: self._array(i, given) for i in self._watched}
        memories = {i: self._backend.memory(array) for i, array in arrays.items()}
        if len({*memories.values()}) == len(memories):
            return None
        exact: Any = host().xp.shares_memory if self._backend is host() else None
        for i, at in self._changed.items():
            for j, last in self._read.items():
                if i == j or last <= at or memories[i] != memories[j]:
                    continue
                if exact is None or exact(arrays[i], arrays[j]):
                    return self._name(i), self._name(j)
        return None

    def _array(self, i: int, given: Sequence[Any]) -> Any:
        return given[i] if i < self._arguments else self._places[i - self._arguments].read()

    def _name(self, i: int) -> str:
        if i < self._arguments:
            return f"argument array {i}"
        return self._places[i - self._arguments].name


def _given(program: Recorded) -> dict[Value, int]:
    values = [*program.inputs, *[place.value for place in program.places]]
    return {value: i for i, value in enumerate(values)}


def _targets(program: Recorded, given: dict[Value, int]) -> list[int]:
    return [given[t.value] if isinstance(t, Place) else t for t, _ in program.changes]


def apart_in_the_end(program: Recorded) -> Apart:
    """For a program that makes its changes when all is computed: they lie apart from all else."""
    given, end = _given(program), len(program.equations)
    changed = dict.fromkeys(_targets(program, given), end)
    return Apart(program, changed, dict.fromkeys(given.values(), end + 1))


def apart_in_order(program: Recorded, updated: Iterable[Value]) -> Apart:
    """For a program as it was recorded, with nothing left out.

    Who reads an array before another one is changed has read what it held. The `updated` are
    changed by the first equation that keeps arrays.
    """
    given, memories = _given(program), program.memories()
    changed, read = When(), When()
    for at, equation in enumerate(program.equations):
        whole = [memories.get(value, value) for value in equation.inputs]
        read |= {given[value]: at for value in whole if value in given}
        if equation.call.kind == "change" and equation.outputs and whole[0] in given:
            changed.setdefault(given[whole[0]], at)
        if keeps(equation):
            changed = {given[value]: at for value in updated} | changed
    targets = _targets(program, given)
    changed = dict.fromkeys(targets, -1) | changed
    read |= dict.fromkeys(targets, len(program.equations))
    return Apart(program, changed, read)

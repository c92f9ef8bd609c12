"""Arguments and places that are one memory, of which a program changes one.

A program takes what it reads for arrays of their own: it computes once what is asked for before and
after a change of another array, and writes what has changed when all is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from core.arrays.backend import host
from core.tracing.equation import Value
from core.tracing.lifetimes import keeps
from core.tracing.places import Place
from core.tracing.recorded import Recorded

Pairs = list[tuple[int, int]]
"""Numbers of arrays, of arguments first and then of places: one that is changed, and another."""


class Apart:
    """Looks whether arrays that a program takes for different ones are."""

    def __init__(self, program: Recorded, pairs: Pairs) -> None:
        self._backend = program.backend
        self._pairs = pairs if program.backend.mutable else []
        reads = [*([None] * len(program.inputs)), *[place.read for place in program.places]]
        self._reads = {i: reads[i] for pair in self._pairs for i in pair}
        self._names = [f"argument array {i}" for i in range(len(program.inputs))]
        self._names += [place.name for place in program.places]

    def shared(self, given: Sequence[Any]) -> tuple[str, str] | None:
        """The names of an array that is changed, and of one that shares its memory."""
        arrays = {i: given[i] if read is None else read() for i, read in self._reads.items()}
        memories = {i: self._backend.memory(array) for i, array in arrays.items()}
        if len(set(memories.values())) == len(memories):
            return None
        shares: Any = (
            host().xp.shares_memory if self._backend is host() else lambda one, other: True
        )
        for i, j in self._pairs:
            if memories[i] == memories[j] and shares(arrays[i], arrays[j]):
                return self._names[i], self._names[j]
        return None


def _given(program: Recorded) -> dict[Value, int]:
    values = [*program.inputs, *[place.value for place in program.places]]
    return {value: i for i, value in enumerate(values)}


def _targets(program: Recorded, given: dict[Value, int]) -> list[int]:
    return [given[t.value] if isinstance(t, Place) else t for t, _ in program.changes]


def pairs_of(program: Recorded) -> Pairs:
    """What must lie apart where changes are made when all is computed."""
    given = _given(program)
    return [(i, j) for i in _targets(program, given) for j in given.values() if i != j]


def pairs_in_order(program: Recorded, updated: Iterable[Value]) -> Pairs:
    """What must lie apart where a program is as it was recorded, with nothing left out.

    Who reads an array before another one is changed has read what it held. The `updated` are
    changed by the first equation that keeps arrays.
    """
    given, memories = _given(program), program.memories()
    first, last = dict[int, int](), dict[int, int]()
    for at, equation in enumerate(program.equations):
        whole = [memories.get(value, value) for value in equation.inputs]
        last |= {given[value]: at for value in whole if value in given}
        if equation.call.kind == "change" and equation.outputs and whole[0] in given:
            first.setdefault(given[whole[0]], at)
        if keeps(equation):
            first = {given[value]: at for value in updated} | first
    targets = _targets(program, given)
    first = dict.fromkeys(targets, -1) | first
    last |= dict.fromkeys(targets, len(program.equations))
    return [(i, j) for i, at in first.items() for j, read in last.items() if i != j and read > at]

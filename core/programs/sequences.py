"""Sequences: equations one after the other that a backend computes in one call.

A loop, or a product of small matrices, takes a backend about as long as Python takes to ask for it.
A fuser that has `sequence` is given runs of such equations, and of views between them; the rest of
the program stays as it is.
"""

from __future__ import annotations

from core.programs.equation import Call, Equation, Origin, Value
from core.programs.execution import compiled
from core.programs.fuser import Sequencer
from core.programs.group import SEQUENCE, Group
from core.programs.recorded import Recorded

_VIEWS = frozenset(
    ["T", "reshape", "permute_dims", "transpose", "expand_dims", "squeeze", "getitem"]
)
LEAST = 3  # calls, for which the call of all of them is sooner, and loops are packed
MOST = 1 << 24  # bytes that a sequence makes: what it reads and makes is kept until it has ended


def in_sequences(program: Recorded) -> Recorded:
    """The program with one equation for each sequence; itself where it has no loops."""
    if not any([isinstance(equation.call.function, Group) for equation in program.equations]):
        return program
    fuser = program.backend.fuser()
    if not isinstance(fuser, Sequencer):
        return program
    runs = _runs(program, fuser)
    read = {v: i for i, run in enumerate(runs) for e in run for v in e.inputs}
    results = [*program.outputs, *[value for _, value in program.changes]]
    read |= dict.fromkeys(results, len(runs))
    equations = list[Equation]()
    for i, run in enumerate(runs):
        worth = len([e for e in run if not _is_view(e)]) >= LEAST
        later = {v for e in run for v in e.outputs if read.get(v, i) > i}
        equations += _sequence(program, fuser, run, later) if worth else run
    return program.changed(equations=tuple(equations))


def _runs(program: Recorded, fuser: Sequencer) -> list[list[Equation]]:
    """Equations one after the other that one call can make; others by themselves."""
    runs, size, before = list[list[Equation]](), 0, False
    for equation in program.equations:
        found = _is_view(equation) or fuser.calls(equation)
        size += sum([value.nbytes for value in equation.outputs])
        if not (found and before) or size > MOST:
            runs.append([])
            size = 0
        runs[-1].append(equation)
        before = found
    return runs


def _is_view(equation: Equation) -> bool:
    call = equation.call
    return call.views and call.name in _VIEWS and len(equation.inputs) == len(equation.outputs) == 1


def _sequence(
    program: Recorded, fuser: Sequencer, run: list[Equation], later: set[Value]
) -> list[Equation]:
    """The call, and the views that are read later."""
    views = list[Equation]()
    for equation in reversed(run):
        if _is_view(equation) and not later.isdisjoint(equation.outputs):
            views.insert(0, equation)
            later.update(equation.inputs)
    outputs = tuple([v for e in run if not _is_view(e) for v in e.outputs if v in later])
    whole = program.part("sequence", run, outputs)
    call = Call("kernel", SEQUENCE, None, fuser.sequence(whole, compiled(whole)))
    return [Equation(call, whole.inputs, {}, outputs, True, Origin()), *views]

"""Masks that are made early: they take less memory than what they are made of.

A gradient asks where an activation is positive when all that came after it has been computed. The
activation itself may not be needed any more by then, and would be kept for that alone. Where only
loops lie between, one of them may hold the mask and what it is made of, and nothing is kept.
"""

from __future__ import annotations

from collections import defaultdict

from core.programs.equation import Equation, Value
from core.programs.fuser import Fuser
from core.programs.lifetimes import Lifetimes
from core.programs.recorded import Recorded

_COMPARISONS = frozenset(["gt", "ge", "lt", "le", "eq", "ne"])


def with_early_masks(program: Recorded, fuser: Fuser) -> tuple[Recorded, set[Value]]:
    """The program, where some masks follow what they are made of, and these."""
    behind = _early(program, fuser)
    early = {equation for each in behind.values() for equation in each}
    equations = list[Equation]()
    for equation in program.equations:
        pending = [] if equation in early else [equation]
        while pending:
            equations.append(pending.pop())
            pending += reversed(behind.get(equations[-1], []))
    return program.changed(equations=tuple(equations)), {e.outputs[0] for e in early}


def _early(program: Recorded, fuser: Fuser) -> dict[Equation, list[Equation]]:
    """Masks with which less is kept for less long, in bytes times equations; what they follow."""
    places = {equation: i for i, equation in enumerate(program.equations)}
    makers = {value: equation for equation in program.equations for value in equation.outputs}
    memory, reads = Lifetimes(program).memory_of, defaultdict[Value, list[int]](list)
    for equation, i in places.items():
        for value in equation.inputs:
            reads[memory(value)].append(i)
    for value in [*program.outputs, *[value for _, value in program.changes]]:
        reads[memory(value)].append(len(places))
    loops = [bool(fuser.part(equation)) for equation in program.equations]
    behind = dict[Equation, list[Equation]]()
    for equation, i in places.items():
        x = _compared(equation)
        if x is None or x not in makers:
            continue
        made, mask = places[makers[x]], equation.outputs[0]
        last = max([place for place in reads[memory(x)] if place != i], default=made)
        if not all(loops[last:i]) and (i - last) * x.nbytes > (i - made) * mask.nbytes:
            behind.setdefault(makers[x], []).append(equation)
    return behind


def _compared(equation: Equation) -> Value | None:
    """The only array of which an equation gives a mask of its shape."""
    if equation.call.kind != "operator" or equation.call.name not in _COMPARISONS:
        return None
    if len(equation.inputs) != 1:
        return None
    [x], [mask] = equation.inputs, equation.outputs
    return x if x.shape == mask.shape and not x.waits else None

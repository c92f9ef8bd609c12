"""Programs in stages: what a library compiles or records whole, and what is done in between.

A backend that says by `Backend.stage` how a function of arrays becomes a faster one is given those
parts of a program that only compute. Draws, checks of values, sums into places by a default that
looks at these, updates, and kernels that draw stay between them as they are, each in its order; all
but updates as early as what they need is there.
So an update has the rates, counts and hooks of its own run, and draws are those of eager.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import unwrap

from core.arrays.array_backend import Computing
from core.arrays.backend import Backend
from core.programs.equation import Call, Equation, Origin, Value
from core.programs.execution import compiled
from core.programs.lifetimes import keeps
from core.programs.program import Program


def staged(program: Program) -> Program:
    """The program with one equation for each part that only computes, made by its backend.

    The program itself where the backend has no such thing.
    """
    stage = program.backend.stage
    if stage is None:
        return program
    known = {*program.inputs, *[place.value for place in program.places], *program.constants}
    left, found = list(program.equations), list[Equation]()
    results = {*program.outputs, *[value for _, value in program.changes]}
    while left:
        while (first := _acting(left, known, program.backend)) is not None:
            left.remove(first)
            found.append(first)
            known.update(first.outputs)
        part, rest = list[Equation](), list[Equation]()
        for equation in left:
            ready = not acts(equation, program.backend) and known.issuperset(equation.inputs)
            (part if ready else rest).append(equation)
            known.update(equation.outputs if ready else ())
        left = rest
        needed = results.union(*[equation.inputs for equation in left])
        if any([not needed.isdisjoint(equation.outputs) for equation in part]):
            found.append(_staged(program, stage, part, needed))
    return program.changed(equations=tuple(found))


def acts(equation: Equation, backend: Backend) -> bool:
    """Whether the equation does more than compute with arrays on their device."""
    if equation.call.name == "scatter_add" and equation.call.kind == "change":
        own = unwrap(type(backend).scatter_add)
        code = getattr(own, "__code__", None)
        # What calls `super` comes to the default, or may.
        return own is Backend.scatter_add or code is None or "super" in code.co_names
    if equation.call.kind != "kernel":
        return equation.call.acts
    return keeps(equation) or getattr(equation.call.function, "draws", False)


def _acting(left: list[Equation], known: set[Value], backend: Backend) -> Equation | None:
    """The next equation that acts, if all that it reads is `known`; None otherwise.

    An update also waits for all equations before it: it changes what they read.
    """
    for number, equation in enumerate(left):
        if acts(equation, backend):
            ready = known.issuperset(equation.inputs) and not (keeps(equation) and number)
            return equation if ready else None
    return None


def _staged(
    program: Program,
    stage: Callable[[Computing], Computing],
    part: list[Equation],
    needed: set[Value],
) -> Equation:
    outputs = tuple([v for equation in part for v in equation.outputs if v in needed])
    whole = program.part("stage", part, outputs)
    call = Call("kernel", "stage", None, stage(compiled(whole)))
    return Equation(call, whole.inputs, {}, outputs, True, Origin())

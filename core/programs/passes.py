"""What makes a program smaller, and leaves every bit of its results as it is.

What is computed of constants alone is computed once; what is computed twice of the same values,
once; what nobody needs, never. Draws and checks stay, all of them and in their order.
"""

from __future__ import annotations

from typing import Any, TypeVar

from core.arrays.backend import host
from core.programs.equation import Equation, Value, mapped
from core.programs.inference import quiet
from core.programs.lifetimes import keeps
from core.programs.recorded import Recorded
from core.programs.text import Writer, numpys

AnyRecorded = TypeVar("AnyRecorded", bound=Recorded)

FILLED = frozenset(("zeros_like", "ones_like", "full_like"))
LARGEST = 1 << 16  # bytes of a folded constant: larger ones cost more to keep than to make


def optimized(program: AnyRecorded) -> AnyRecorded:
    """The program without what it need not compute."""
    return without_dead(merged(folded(merged(program))))


def folded(program: AnyRecorded) -> AnyRecorded:
    """What follows from constants alone, as constants."""
    constants = dict(program.constants)
    kept = []
    for equation in program.equations:
        found = _computed(equation, constants)
        if found is None:
            kept.append(equation)
        else:
            constants.update(zip(equation.outputs, found, strict=True))
    return program.changed(constants=constants, equations=tuple(kept))


def _computed(equation: Equation, constants: dict[Value, Any]) -> tuple[Any, ...] | None:
    """The result of an equation of constants; None where it has others, is large, or fails."""
    small = sum([value.nbytes for value in equation.outputs]) <= LARGEST
    if equation.call.acts or not small:
        return None
    known = {**constants, **_alike(equation)}
    if not all([value in known for value in equation.inputs]):
        return None
    function = equation.call.found(host())
    args, kwargs = mapped(known.__getitem__, (equation.args, equation.kwargs))
    try:
        with quiet():
            result = function(*args, **kwargs)
    except Exception:  # it fails whenever the program runs, as it does without a trace
        return None
    return tuple(result) if equation.several else (result,)


def _alike(equation: Equation) -> dict[Value, Any]:
    """A stand-in for `x` in `zeros_like(x)` and its kind, which read no elements of it.

    Only where at most one axis is longer than 1: with more, the result would also lie in memory as
    `x` does, which is not known before the run, and sums over it would have another order.
    """
    x = equation.args[0] if equation.args else None
    if equation.call.name not in FILLED or not isinstance(x, Value):
        return {}
    if sum([n > 1 for n in x.shape]) > 1:
        return {}
    xp = host().xp
    like = xp.zeros((), dtype=x.dtype)
    return {x: like[()] if x.scalar else xp.broadcast_to(like, x.shape)}


def merged(program: AnyRecorded) -> AnyRecorded:
    """Equal calls of equal values, once."""
    same: dict[Value, Value] = {}
    known: dict[Any, Equation] = {}
    numbers: dict[Value, str] = {}
    writer = Writer(lambda v: numbers.setdefault(v, f"${len(numbers)}"), _told_apart)
    kept = []
    for equation in program.equations:
        equation = equation.with_values(lambda value: same.get(value, value))
        key = equation.call, writer.arguments(equation.args, equation.kwargs)
        earlier = known.get(key)
        if earlier is not None and not equation.call.acts:
            same.update(zip(equation.outputs, earlier.outputs, strict=True))
            continue
        known[key] = equation
        kept.append(equation)
    return program.changed(
        equations=tuple(kept),
        outputs=tuple([same.get(value, value) for value in program.outputs]),
        changes=tuple([(target, same.get(value, value)) for target, value in program.changes]),
    )


def with_early_checks(program: AnyRecorded) -> AnyRecorded:
    """The program with checks moved before the first change of arrays from outside.

    So labels out of range are refused before anything has changed, also where what they belong to
    is computed after an update. Checks that follow from a change or a draw stay in their place.
    """
    equations = list(program.equations)
    first = next((i for i, e in enumerate(equations) if keeps(e)), len(equations))
    before, after = equations[:first], equations[first:]
    makers = {value: equation for equation in after for value in equation.outputs}

    def needs(check: Equation) -> set[Equation]:
        """A check, with all of `after` that it follows from; nothing if that draws or changes."""
        found, left = {check}, [check]
        while left:
            for maker in {makers[value] for value in left.pop().inputs if value in makers} - found:
                if maker.call.acts:
                    return set()
                found.add(maker)
                left.append(maker)
        return found

    checks = [e for e in after if e.call.name == "check_within"]
    early = set[Equation]().union(*map(needs, checks))
    moved = [e for e in after if e in early]
    left = [e for e in after if e not in early]
    return program.changed(equations=(*before, *moved, *left))


def _told_apart(x: Any) -> str:
    return numpys(x) or f"{type(x).__name__} at {id(x)}"


def without_dead(program: AnyRecorded) -> AnyRecorded:
    """Only what results, changes, draws and checks need; so of places and constants."""
    needed = {*program.outputs, *[value for _, value in program.changes]}
    kept = []
    for equation in reversed(program.equations):
        if equation.call.acts or not needed.isdisjoint(equation.outputs):
            needed.update(equation.inputs)
            kept.append(equation)
    targets = {target for target, _ in program.changes}
    return program.changed(
        equations=tuple(kept[::-1]),
        constants={value: array for value, array in program.constants.items() if value in needed},
        places=tuple([p for p in program.places if p.value in needed or p in targets]),
    )

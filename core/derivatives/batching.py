"""A program for one example, run on many: each of its equations computes for all of them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from contextlib import nullcontext
from typing import Any

from core.arrays.backend import Backend
from core.derivatives.batching_rules import Batched, Examples, rule_of
from core.programs import Equation, Value, mapped
from core.tracing import tape as tapes

_SHAPES = {"normal": 0, "uniform": 0, "bernoulli": 1, "integers": 2}
"""Draws, and which of their arguments is the shape."""

_NOWHERE: Any = nullcontext()


def compute(
    equations: Sequence[Equation],
    backend: Backend,
    size: int,
    found: dict[Value, Any],
    kept: Set[Value],
) -> None:
    """Add to `found` what equations give, and let go of what is read no more and not `kept`."""
    last = {value: i for i, equation in enumerate(equations) for value in equation.inputs}
    traced = tapes.under_way()
    for i, equation in enumerate(equations):
        args, kwargs = mapped(found.__getitem__, (equation.args, equation.kwargs))
        differs = any([isinstance(found[value], Examples) for value in equation.inputs])
        with tapes.coming_from(equation.origin) if traced else _NOWHERE:
            result = _result(backend, size, equation, args, kwargs, differs)
        found.update(zip(equation.outputs, result, strict=False))
        del args, kwargs, result
        for value in equation.inputs:
            if last[value] == i and value not in kept:
                found.pop(value, None)


def _result(
    backend: Backend,
    size: int,
    equation: Equation,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    differs: bool,
) -> Any:
    """What the equation gives, of arguments that differ from example to example, or do not."""
    function = equation.call.found(backend)
    if equation.call.kind == "random":
        return [_drawn(backend.xp, size, equation, function, args)]
    if differs:
        return _computed(Batched(backend.xp, size, equation, function), args, kwargs)
    result = function(*args, **kwargs)
    return result if equation.several else [result]


def _drawn(xp: Any, size: int, equation: Equation, function: Any, args: Any) -> Examples:
    """Draws of each example's own."""
    at = _SHAPES.get(equation.call.name)
    if at is None:  # a permutation
        return Examples(_stacked(xp, [function(*args) for _ in range(size)], equation.outputs[0]))
    (value,) = equation.outputs
    return Examples(function(*args[:at], (size, *value.shape), *args[at + 1 :]))


def _computed(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Examples]:
    rule = rule_of(b.call)
    result = NotImplemented if rule is None else rule(b, args, kwargs)
    if not b.outputs:
        return []
    if result is not NotImplemented:
        parts = list(result) if isinstance(result, (tuple, list)) else [result]
        expected = [(b.size, *value.shape) for value in b.outputs]
        if [tuple(part.shape) for part in parts] == expected:
            return [Examples(part) for part in parts]
    return _one_by_one(b, args, kwargs)


def _one_by_one(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Examples]:
    """What has no rule: the call itself, for one example after the other."""
    rows = []
    for i in range(b.size):

        def row(x: Examples, i: int = i) -> Any:
            return x.array[i]

        result = b.function(*mapped(row, args, Examples), **mapped(row, kwargs, Examples))
        rows.append(list(result) if isinstance(result, (tuple, list)) else [result])
    return [
        Examples(_stacked(b.xp, [row[j] for row in rows], value))
        for j, value in enumerate(b.outputs)
    ]


def _stacked(xp: Any, parts: list[Any], like: Value) -> Any:
    if not parts:
        return xp.zeros((0, *like.shape), dtype=like.dtype)
    return xp.stack([xp.asarray(part) for part in parts])

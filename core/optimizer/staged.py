"""Steps of many parameters as one function, which their library compiles as a whole.

It serves libraries whose arrays never change and that say by `Backend.stage` how a function of
arrays becomes a faster one: an operation for itself costs them most. Rates and other numbers are an
argument of the function, so that it serves for all steps of a rule.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from core.arrays.backend import Backend
from core.arrays.backend import of as backend_of
from core.errors.scalars import is_number
from core.optimizer.elements import OPERATORS, Recorded, record_step

_Staged = Callable[..., tuple[Any, ...]]

MOST = 256  # functions that are kept for a backend; where there are more, all are made anew

_staged: WeakKeyDictionary[Backend, dict[Any, _Staged]] = WeakKeyDictionary()


def update_all(
    rule: Any, xp: Any, params: list[Any], grads: list[Any], states: list[Any]
) -> list[int]:
    """Put new arrays into `params` and `states`; gives the positions of those left undone."""
    groups: dict[Any, list[int]] = {}
    for i, (param, state) in enumerate(zip(params, states, strict=True)):
        others = tuple([(name, x) for name, x in state.items() if is_number(x)])
        arrays = tuple([name for name, x in state.items() if not is_number(x)])
        groups.setdefault((param.dtype, arrays, others), []).append(i)
    left: list[int] = []
    for (dtype, names, others), members in groups.items():
        sets = [[params[i], grads[i], *[states[i][name] for name in names]] for i in members]
        try:
            made, numbers = record_step(rule, xp, dtype, names, dict(others))
            _replace(made, numbers, xp, sets)
        except Exception:  # of what is recorded or staged of it; of a rule's own it comes again
            left += members
            continue
        for i, (param, _, *state) in zip(members, sets, strict=True):
            params[i] = param
            states[i].update(zip(names, state, strict=True))
    return sorted(left)


def _replace(made: Recorded, numbers: list[float], xp: Any, sets: list[list[Any]]) -> None:
    """Run the staged step on all sets of arrays, and put its results into these sets."""
    backend, param = backend_of(sets[0][0]), sets[0][0]
    key = made, *[(x.dtype, x.shape) for arrays in sets for x in arrays]
    known = _staged.setdefault(backend, {})
    function = known.get(key)
    if function is None:
        stage: Any = backend.stage
        if len(known) >= MOST:
            known.clear()
        function = known[key] = stage(partial(_computed, made, xp))
    given = backend.asarray(numbers, param.dtype, backend.device_of(param))
    results = iter(function(given, *[x for arrays in sets for x in arrays]))
    for arrays in sets:
        for i, _ in made.changes:
            arrays[i] = next(results)


def _computed(made: Recorded, xp: Any, numbers: Any, *arrays: Any) -> tuple[Any, ...]:
    """The new arrays of all sets, in their order, each of the shape and dtype of the old one."""
    results = []
    for first in range(0, len(arrays), made.arrays):
        values = [*arrays[first : first + made.arrays]]
        for name, operands in made.operations:
            args = [values[x] if isinstance(x, int) else numbers[int(x[1:])] for x in operands]
            values.append(_function(name, xp)(*args))
        for i, value in made.changes:
            like, found = values[i], values[value]
            results.append(xp.broadcast_to(xp.astype(found, like.dtype), like.shape))
    return tuple(results)


def _function(name: str, xp: Any) -> Callable[..., Any]:
    if name == "same":
        return _same
    found: Callable[..., Any] = getattr(operator if name in OPERATORS else xp, name)
    return found


def _same(x: Any) -> Any:
    return x

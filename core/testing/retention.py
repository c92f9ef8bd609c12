"""The check that an op keeps exactly the arrays that its gradient rules name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from core.errors.arguments import signature_of
from core.testing.trial import Trial


def retention(trial: Trial) -> None:
    """What the rules that run ask for lives with the graph; all else is freed with its user."""
    if getattr(trial.op, "declared", None) is None or not trial.differentiable:
        return  # the general form says what it retains by calls, at every run
    indexes = trial.differentiable
    for needs_grad in [indexes, *([(i,) for i in indexes] if len(indexes) > 1 else [])]:
        _check(trial, needs_grad)


def _check(trial: Trial, needs_grad: tuple[int, ...]) -> None:
    arrays = trial.arrays(trial.dtypes()[0])
    outputs = [y for y in trial.run(trial.variables(arrays, needs_grad)) if y.array is not None]
    function = next((y.creator for y in outputs if y.creator is not None), None)
    if function is None:
        return
    named = _named(trial.op, [_base_name(trial, i) for i in needs_grad])
    watch = _Watch(trial)
    for i, array in enumerate(arrays):
        watch.add(f"input {trial.case.names[i]}", array, _base_name(trial, i) in named)
    for name, y in zip(_output_names(trial.op, len(outputs)), outputs, strict=True):
        watch.add(f"output {name}", y.array, name in named)
    _refuse_strays(trial, function, named)
    watch.share_with([a for a in vars(function).values() if _is_array(trial, a)])
    array = y = None
    del arrays, outputs
    watch.finish(needs_grad, function)


class _Watch:
    """Weak references to arrays, and whether each ought to survive."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._seen: list[tuple[str, Any, bool, tuple[int, int]]] = []
        self._memory: list[tuple[int, int]] = []

    def add(self, what: str, array: Any, kept: bool) -> None:
        self._seen.append((what, ref(array), kept, _span(self._trial, array)))
        if kept:
            self._memory.append(_span(self._trial, array))

    def share_with(self, arrays: list[Any]) -> None:
        """Arrays that the function keeps itself: what they are views of lives with them."""
        self._memory += [_span(self._trial, a) for a in arrays]

    def finish(self, needs_grad: tuple[int, ...], function: Any) -> None:
        names = ", ".join(self._trial.case.names[i] for i in needs_grad)
        for what, array, kept, span in self._seen:
            alive = array() is not None
            if kept and not alive:
                raise AssertionError(
                    f"{what} is named by a gradient rule, yet freed (gradients of {names})"
                )
            if alive and not kept and not self._is_shared(span):
                raise AssertionError(
                    f"{what} is named by no gradient rule of {names}, yet kept alive by the graph"
                )

    def _is_shared(self, span: tuple[int, int]) -> bool:
        return any(span[0] < other[1] and other[0] < span[1] for other in self._memory)


def _span(trial: Trial, array: Any) -> tuple[int, int]:
    """The memory that an array shows, from its first byte to behind its last."""
    device = getattr(array, "__cuda_array_interface__", None)
    interface = device or trial.host(array).__array_interface__
    shape, size = interface["shape"], np.dtype(interface["typestr"]).itemsize
    low = int(interface["data"][0])
    if 0 in shape:
        return low, low
    strides = interface.get("strides") or [
        size * math.prod(shape[i + 1 :]) for i in range(len(shape))
    ]
    reach = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
    return low + sum(r for r in reach if r < 0), low + sum(r for r in reach if r > 0) + size


def _is_array(trial: Trial, value: Any) -> bool:
    """Whether `value` is an array of the trial's backend."""
    return isinstance(value, trial.backend.array_type)


def _refuse_strays(trial: Trial, function: Any, named: set[str]) -> None:
    """Arrays among the function's own attributes, other than the saved ones that are needed."""
    settings = set(trial.op.declared.fields)
    for name, value in vars(function).items():
        if _is_array(trial, value) and name not in settings | named | {"out"}:
            raise AssertionError(
                f"the function keeps an array as {name!r}, which no gradient rule names. "
                f"List it in `saved` and ask for it in the rule, or do not keep it."
            )


def _base_name(trial: Trial, index: int) -> str:
    """The name of an input as rules spell it; all repeated inputs have one."""
    names = trial.op.declared.names
    return str(names[min(index, len(names) - 1)])


def _output_names(op: Any, count: int) -> list[str]:
    names = list(op.declared.outputs) or ["out"]
    return names if len(names) == count else names * count


def _named(op: Any, needs_grad: list[str]) -> set[str]:
    """What the gradient rules of those inputs ask for, read from their signatures."""
    joint = getattr(op, "gradient", None)
    rules = [joint] if joint else [getattr(op, f"gradient_{name}") for name in needs_grad]
    names = {name for rule in rules for name in _arguments(rule)[3:]}
    for name in list(names):
        again = getattr(op, f"recompute_{name}", None)
        if again is not None:
            names |= set(_arguments(again)[2:])
    return names


def _arguments(rule: Callable[..., Any]) -> list[str]:
    return list(signature_of(rule).parameters)

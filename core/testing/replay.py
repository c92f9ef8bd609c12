"""The check that an op can be traced: recorded once and run again, it gives the bits of eager."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from core.arrays import random_streams
from core.arrays.backend import host
from core.errors import TraceError
from core.graph.backprop import grad
from core.graph.variable import Variable
from core.ops.function_node import FunctionNode
from core.testing.trial import Trial
from core.tracing import called_of_numpy, trace


def traced(trial: Trial) -> None:
    """Traced by `core.trace`, and run or written out, forward and backward have eager's bits.

    What is traced is the formula, which kernels are compared with by another check; and, for an op
    that has kernels, these as well.
    """
    if trial.backend is not host() or trial.case.seed % 2:  # half the cases: it takes long
        return
    dtypes = trial.dtypes()
    arrays = trial.arrays(dtypes[trial.case.seed // 2 % len(dtypes)])
    cotangents = trial.cotangents(trial.run(trial.variables(arrays)))

    def call(arrays: list[Any], cotangents: list[Any]) -> list[Any]:
        inputs = trial.variables(arrays)
        outputs = trial.run(inputs)
        return [*[y.array for y in outputs], *_gradients(inputs, outputs, cotangents)]

    def call_by_namespace(arrays: list[Any], cotangents: list[Any]) -> list[Any]:
        found = call(arrays, cotangents)
        if trial.op.declared is None:  # the general form is given no namespace
            return found
        for name in called_of_numpy():
            raise AssertionError(
                f"traced: {trial.op.__name__} calls numpy.{name}, which knows the arrays of NumPy "
                f"alone. Write xp.{name}: xp is the library of the arrays, which `compute` and "
                "gradient rules are given."
            )
        return found

    with formulas_alone(trial):
        expected = call(arrays, cotangents)
    try:
        program = trace(call_by_namespace, arrays, cotangents)
    except TraceError as error:
        error.add_note(
            "Is what it computes to depend on values? Then say so in its domain: "
            "leave_out={'traced': 'depends on values'}."
        )
        raise
    _refuse_writes(trial, program)
    trial.restore_random_state()
    _refuse_others(program(arrays, cotangents), expected, program)
    if any([trial.op in table for table in _tables(trial)]):
        trial.restore_random_state()
        with_kernels = trace(call, arrays, cotangents, kernels=True)
        found = with_kernels(arrays, cotangents)
        trial.restore_random_state()
        _refuse_others(found, call(arrays, cotangents), with_kernels)
    if trial.case.seed % 4:
        return
    scope: dict[str, Any] = {}
    exec(program.source(), scope)
    trial.restore_random_state()
    _seed(scope)
    _refuse_others(scope["program"](arrays, cotangents), expected, program.source())


def _refuse_writes(trial: Trial, program: Any) -> None:
    """Refuse what writes into an argument, also where it puts back what was there."""
    names = trial.case.names
    for target, _ in program.changes:
        if isinstance(target, int):
            name = f"input {names[target]}" if target < len(names) else "a cotangent"
            raise AssertionError(f"traced: {trial.op.__name__} writes into {name}:\n{program}")


def _refuse_others(found: Sequence[Any], expected: Sequence[Any], text: Any) -> None:
    for i, (one, other) in enumerate(zip(found, expected, strict=True)):
        if (one is None) != (other is None):
            raise AssertionError(f"traced: result {i} is None in one of two runs:\n{text}")
        if one is None:
            continue
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            raise AssertionError(
                f"traced: result {i} is {one.dtype}{one.shape}, not {other.dtype}{other.shape}:\n"
                f"{text}"
            )
        if one.tobytes() != other.tobytes():
            raise AssertionError(f"traced: result {i} has other bits than eager:\n{text}")


def _seed(scope: dict[str, Any]) -> None:
    """Let a program's own text draw what the installed stream gives."""
    stream = random_streams.stream()
    if stream is not None and "random" in scope:
        scope["random"].seed(stream.seed, stream.draws)


@contextmanager
def formulas_alone(trial: Trial) -> Iterator[None]:
    """A context in which no kernel stands in for the op, or for those that its module names."""
    module = sys.modules.get(trial.op.__module__)  # none of what is executed as text
    named = [] if module is None else list(vars(module).values())
    ops = {trial.op, *[op for op in named if isinstance(op, type) and issubclass(op, FunctionNode)]}
    taken = [(t, op, t.pop(op)) for t in _tables(trial) for op in ops if op in t]
    try:
        yield
    finally:
        for table, op, kernel in taken:
            table[op] = kernel


def _tables(trial: Trial) -> tuple[Any, Any]:
    return trial.backend.kernels, trial.backend.gradient_kernels


def _gradients(
    inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Any]
) -> list[Any]:
    pairs = [
        (y, Variable(g))
        for y, g in zip(outputs, cotangents, strict=True)
        if g is not None and y.requires_grad
    ]
    targets = [x for x in inputs if x.requires_grad]
    if not pairs or not targets:
        return []
    found = grad([y for y, _ in pairs], targets, [g for _, g in pairs])
    return [None if g is None else g.array for g in found]

"""One loop for several equations, written in LLVM's words from a plan.

A loop goes over rows, and in each row over columns, a vector at a time; at the end of a row, with
the lanes masked that are too many. A reduction over columns is known when the row has been gone
through: what uses it comes in the next pass over the same row, a *stage*. What a later stage needs
is read again from where it was put. Reductions over rows as well are known at the end.

Sums are taken in float64, lane by lane, and so in an order that follows from the vectors of the
processor and from nothing else.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from math import inf
from types import FunctionType
from typing import Annotated, Any

from backends.numpy_backend.kernels.compiler import Array, Compiled, Layout
from backends.numpy_backend.kernels.emitter import emitted
from backends.numpy_backend.kernels.vectors import (
    FUNCTIONS,
    Vector,
    constant,
    kind_of,
    larger,
    smaller,
)
from core.programs import Literal, Plan, Slot, Step


def _sum(a: Vector, b: Vector) -> Vector:
    return a + b


REDUCTIONS: dict[str, tuple[Callable[[Vector, Vector], Vector], float]] = {
    "sum": (_sum, 0.0),
    "max": (larger, -inf),
    "min": (smaller, inf),
}
"""What joins two parts of a reduction, and what it begins with."""


class _Loop:
    """Writes the loop of a plan."""

    def __init__(self, plan: Plan, e: Any, args: tuple[Any, ...]) -> None:
        self.plan = plan
        self.e = e
        self.stages = plan.stages()
        count, outputs = len(plan.inputs), len(plan.outputs)
        self.read = args[:count]
        self.written = dict(zip(plan.outputs, args[count : count + outputs], strict=True))
        kept = plan.kept()
        self.scratch = dict(
            zip(kept, args[count + outputs : count + outputs + len(kept)], strict=False)
        )
        self.numbers, self.columns, first, last, self.start, self.stop = args[-6:]
        sizes = [plan.dtype(v) for v in range(count + len(plan.steps))]
        single = any([dtype == "float32" for dtype in sizes])
        self.lanes = e.wide.bits // (32 if single else 64)
        full = (self.stop - self.start) // self.lanes * self.lanes
        self.middle = self.start + full
        self.mask: Vector | None = None  # of the lanes that are left at the end of a row
        self.ends = {
            v: self._accumulators(v)
            for v, step in self._steps()
            if step.end and not step.extent.columns
        }
        with e.loop(last, 1, first) as row:
            self._row(row)
        for v, accumulators in self.ends.items():
            self._store(self._joined(v, accumulators), self.written[v], e.number(0))

    def _steps(self) -> list[tuple[int, Step]]:
        return list(enumerate(self.plan.steps, len(self.plan.inputs)))

    # ------------------------------------------------------------------ memory

    def _load(self, pointer: Any, at: Any, dtype: str, lanes: int) -> Vector:
        from llvmlite import ir

        e = self.e
        kind = ir.IntType(8) if dtype == "bool" else kind_of(dtype)
        whole = ir.VectorType(kind, lanes)
        place = e.builder.bitcast(e.at(pointer, at), whole.as_pointer())
        size = 1 if dtype == "bool" else kind_size(dtype)
        if self.mask is not None and lanes > 1:
            nothing = ir.Constant(whole, None)
            number = ir.Constant(ir.IntType(32), size)
            value = e.masked("load", whole, [place, number, self.mask.value, nothing])
        else:
            value = e.builder.load(place)
            value.align = size
        if dtype == "bool":
            zero = ir.Constant(whole, [0] * lanes)
            value = e.builder.icmp_unsigned("!=", value, zero)
        return Vector(e, value, dtype)

    def _store(self, x: Vector, pointer: Any, at: Any) -> None:
        from llvmlite import ir

        e, value = self.e, x.value
        if x.dtype == "bool":
            value = e.builder.zext(value, ir.VectorType(ir.IntType(8), x.lanes))
        place = e.builder.bitcast(e.at(pointer, at), value.type.as_pointer())
        size = 1 if x.dtype == "bool" else kind_size(x.dtype)
        if self.mask is not None and x.lanes > 1:
            number = ir.Constant(ir.IntType(32), size)
            e.masked("store", ir.VoidType(), [value, place, number, self.mask.value])
        else:
            e.builder.store(value, place).align = size

    def _first_lanes(self, count: Any) -> Vector:
        """Where a lane is among the first ones."""
        from llvmlite import ir

        kind = ir.VectorType(ir.IntType(64), self.lanes)
        numbers = Vector(self.e, ir.Constant(kind, list(range(self.lanes))), "int64")
        lone = self.e.builder.insert_element(
            ir.Constant(ir.VectorType(ir.IntType(64), 1), ir.Undefined),
            count.value,
            ir.Constant(ir.IntType(32), 0),
        )
        return numbers < Vector(self.e, lone, "int64").widened(self.lanes)

    # ------------------------------------------------------------------ one row

    def _row(self, row: Any) -> None:
        self.row, self.base = row, row * self.columns
        self.scalars = {
            v: self._load(self.read[v], row if extent.rows else self.e.number(0), dtype, 1)
            for v, (dtype, extent) in enumerate(self.plan.inputs)
            if not extent.columns
        }
        last = max(self.stages)
        for stage in range(last + 1):
            self._scalars(stage)
            self._columns(stage)

    def _is_scalar(self, v: int) -> bool:
        return not self.plan.extent(v).columns

    def _scalars(self, stage: int) -> None:
        """What is the same in the whole row, as soon as it is known."""
        for v, step in self._steps():
            if step.reduces and step.end and self._of_row(step) and self.stages[v] == stage:
                join, _ = REDUCTIONS[step.name]
                (_, lone) = self.ends[v]
                x = self._operand(step.operands[0], None, 1).cast(lone[1])
                lone[0].set(join(Vector(self.e, lone[0].get(), lone[1]), x).value)
            elif not step.reduces and self._is_scalar(v) and self.stages[v] == stage:
                self.scalars[v] = self._computed(step, None, 1)
                self._put(v, self.scalars[v])

    def _put(self, v: int, x: Vector) -> None:
        """Write what is the same in the whole row, if it is asked for."""
        if v in self.written:
            at = self.row if self.plan.extent(v).rows else self.e.number(0)
            self._store(x, self.written[v], at)

    def _of_row(self, step: Step) -> bool:
        x = step.operands[0]
        return isinstance(x, int) and self._is_scalar(x)

    def _columns(self, stage: int) -> None:
        """A pass over the columns."""
        work = [
            (v, step)
            for v, step in self._steps()
            if (step.reduces and not self._of_row(step))
            or (not step.reduces and not self._is_scalar(v))
        ]
        work = [
            (v, step)
            for v, step in work
            if self.stages[v] - (step.reduces and not step.end) == stage
        ]
        if not work:
            return
        sums = {
            v: self.ends[v] if step.end else self._accumulators(v)
            for v, step in work
            if step.reduces and not step.extent.columns
        }
        with self.e.loop(self.middle, self.lanes, self.start) as j:
            self._pass(work, sums, j, self.lanes)
        with self.e.when(self.middle < self.stop):
            self.mask = self._first_lanes(self.stop - self.middle)
            self._pass(work, sums, self.middle, self.lanes)
            self.mask = None
        for v, step in work:
            if v in sums and not step.end:
                self.scalars[v] = self._joined(v, sums[v])
                self._put(v, self.scalars[v])

    def _pass(self, work: list[tuple[int, Step]], sums: Any, j: Any, lanes: int) -> None:
        self.here: dict[int, Vector] = {}
        for v, step in work:
            if not step.reduces:
                x = self.here[v] = self._computed(step, j, lanes)
                if v in self.written:
                    self._store(x, self.written[v], self.base + j)
                if v in self.scratch:
                    self._store(x, self.scratch[v], j)
                continue
            x = self._operand(step.operands[0], j, lanes)
            join, _ = REDUCTIONS[step.name]
            if v in sums:
                place, dtype = sums[v][0]
                x = x.cast(dtype)
                if self.mask is not None:
                    x = self.mask.where(x, REDUCTIONS[step.name][1])
                place.set(join(Vector(self.e, place.get(), dtype), x).value)
            else:
                before = self._load(self.written[v], j, step.dtype, lanes)
                self._store(join(before, x.cast(step.dtype)), self.written[v], j)

    # ------------------------------------------------------------------ values

    def _computed(self, step: Step, j: Any, lanes: int) -> Vector:
        operands = [self._operand(o, j, lanes, step.taken) for o in step.operands]
        if step.name == "where":
            condition = self._operand(step.operands[0], j, lanes, "bool")
            operands = [condition.cast("bool"), *[o.cast(step.taken) for o in operands[1:]]]
        else:
            operands = [o.cast(step.taken) for o in operands]
        return FUNCTIONS[step.name](*operands).cast(step.dtype)

    def _operand(self, operand: Any, j: Any, lanes: int, taken: str = "float64") -> Vector:
        if isinstance(operand, Literal):
            return constant(self.e, operand.number, taken, lanes)
        if isinstance(operand, Slot):
            x = self._load(self.numbers, self.e.number(operand.place), "float64", 1)
            return x.cast(taken).widened(lanes)
        if self._is_scalar(operand):
            return self.scalars[operand].widened(lanes)
        if operand not in self.here:
            self.here[operand] = self._again(operand, j, lanes)
        return self.here[operand]

    def _again(self, v: int, j: Any, lanes: int) -> Vector:
        dtype, at = self.plan.dtype(v), self.base + j
        if v < len(self.plan.inputs):
            return self._load(self.read[v], at if self.plan.extent(v).rows else j, dtype, lanes)
        if v in self.written:
            return self._load(self.written[v], at, dtype, lanes)
        return self._load(self.scratch[v], j, dtype, lanes)

    # ------------------------------------------------------------------ reductions

    def _accumulators(self, v: int) -> Any:
        """What holds the parts of a reduction: in all lanes, and of values of whole rows."""
        step = self.plan.steps[v - len(self.plan.inputs)]
        dtype = "float64" if step.name == "sum" else step.dtype
        _, first = REDUCTIONS[step.name]
        return tuple(
            [
                (self.e.variable(constant(self.e, first, dtype, lanes).value), dtype)
                for lanes in (self.lanes, 1)
            ]
        )

    def _joined(self, v: int, accumulators: Any) -> Vector:
        step = self.plan.steps[v - len(self.plan.inputs)]
        join, _ = REDUCTIONS[step.name]
        wide, lone = [Vector(self.e, place.get(), dtype) for place, dtype in accumulators]
        while wide.lanes > 1:
            wide = join(*wide.halves())
        return join(wide, lone).cast(step.dtype)


def overwrites(plan: Plan, output: int, given: int) -> bool:
    """Whether an output of all rows and columns may lie where such an input of its dtype does.

    In each pass over a row an input is read at its first use, a vector at a time, and an output
    written where it is computed. So nobody may read the input for the first time after that.
    """
    if plan.dtype(output) != plan.dtype(given):
        return False
    count, stages = len(plan.inputs), plan.stages()
    uses = [
        (stages[v] - (step.reduces and not step.end), v)
        for v, step in enumerate(plan.steps, count)
        if given in step.operands
    ]
    at = stages[output]
    last = max([stage for stage, _ in uses], default=at)  # of none, if it is there for its shape
    first = min([v for stage, v in uses if stage == at], default=output)
    return output >= count and last <= at and first <= output


def _overlapping(plan: Plan) -> set[int]:
    """The arguments of a loop that may lie in the memory of each other.

    What is written may follow from nothing that is read, as zeros, and LLVM would write it first.
    """
    count, found = len(plan.inputs), set()
    for k, output in enumerate(plan.outputs):
        given = [v for v in range(count) if overwrites(plan, output, v)]
        found.update(given)
        found.update([count + k] if given else [])
    return found


def kind_size(dtype: str) -> int:
    """Bytes of an element."""
    return 4 if dtype.endswith("32") else 8


# ---------------------------------------------------------------------- compiling


@cache
def loop_of(plan: Plan) -> Compiled:
    """The loop of a plan: `(*inputs, *outputs, *kept, numbers, columns, rows, columns)`.

    The last are the first row and that behind the last, and so for columns.
    """
    kept = plan.kept()
    count = len(plan.inputs)
    written = [plan.dtype(v) for v in (*plan.outputs, *kept)]
    arrays = [f"a{i}" for i in range(count + len(written))]
    whole = ["columns", "row", "last_row", "column", "last_column"]
    names = [*arrays, "numbers", *whole]

    def fused(e: Any, *args: Any) -> None:
        _Loop(plan, e, args)

    parameters = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("e", *names)
    ]
    fused.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    fused.overlapping = _overlapping(plan)  # type: ignore[attr-defined]
    listed = ", ".join(names)
    # Loops of one name, kept by two processes, would be one to a third that finds both on disk.
    name = f"fused_{hashlib.sha256(f'{plan}({listed})'.encode()).hexdigest()[:16]}"
    text = f'"""{plan}"""\n\n\ndef {name}({listed}):\n    body({listed})\n'
    scope: dict[str, Any] = {"body": emitted(fused)}
    exec(compile(text, f"<{name}.py>", "exec"), scope)
    function: FunctionType = scope[name]
    function.__module__ = __name__
    layouts = [Layout(1, False, _NAMES.get(d, d)) for d, _ in plan.inputs]
    layouts += [Layout(1, True, _NAMES.get(d, d)) for d in written]
    annotations: dict[str, Any] = {
        name: Annotated[Array, layout] for name, layout in zip(arrays, layouts, strict=True)
    }
    annotations["numbers"] = Annotated[Array, Layout(1, False)]
    function.__annotations__ = annotations | dict.fromkeys(whole, int)
    return Compiled(function, ())


_NAMES = {"bool": "boolean"}

"""What of a program becomes compiled loops, and how these are called."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from backends.numpy_backend import parallel, sequences
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.fused_loops import loop_of, overwrites
from backends.numpy_backend.kernels.vectors import BITS, COSTLY, FUNCTIONS
from core.programs import Equation, Group, LoopFuser, Planned, Recorded, Value

LEAST = 65536  # elements of a part; less is done sooner than another thread wakes up
CALL = 1024  # elements that NumPy computes in the time of a call
SHORT = 16  # columns, of fewer of which a loop takes functions one by one
WORTH = 3  # calls of NumPy's that take as long as that of a loop, beside half a one for each array


class CompiledLoops(LoopFuser):
    """Loops over floats of 32 and 64 bits, their masks, and whole numbers beside them."""

    dtypes = BITS
    functions = FUNCTIONS

    def made(self, group: Group) -> Callable[..., tuple[Any, ...]] | None:
        """The function that computes a group, compiled; None where calls of NumPy's do as well."""
        computing, arrays = self.computing(group), len(group.inputs) + len(group.outputs)
        saved = len(computing) * (CALL + group.rows * group.columns)
        # NumPy alone guesses of each element which of two it will be, and has one thread.
        alone = len(computing) < 2 and [e.call.name for e in computing] != ["where"]
        alone &= group.rows * group.columns < LEAST
        if alone or saved < CALL * (WORTH + arrays / 2):
            return None
        if group.rows > 1 and group.columns < SHORT and _sums_functions(computing, group):
            return None
        call = _Call(group, self)
        # More are not packed for another thread, and are more than a processor reads ahead.
        fits = arrays + len(call.plan.kept()) <= sequences.ARRAYS
        return call.function() if fits else None

    def sized(self, group: Group) -> Callable[..., tuple[Any, ...]]:
        """The function of flat arrays of any one length that computes a group of one row."""
        return _Call(group, self).sized()

    def calls(self, equation: Equation) -> bool:
        """Whether an equation is the call of a loop in one part, or a product of small matrices."""
        return sequences.calls(equation)

    def sequence(self, whole: Recorded, otherwise: sequences.Run) -> sequences.Run:
        """One call of machine code for all loops and products."""
        return sequences.Sequence(whole, otherwise)


def _sums_functions(equations: list[Equation], group: Group) -> bool:
    """Whether there are exponentials and the like, and what is taken over each row by itself."""
    inside = [e for e in equations if e.outputs[0] not in group.ends]
    reduced = any([e.call.name in ("sum", "mean", "max", "min") for e in inside])
    return reduced and any([e.call.name in COSTLY for e in equations])


class _Call(Planned):
    """How the loop of a group is called: the plan, and arrays and numbers for it."""

    def __init__(self, group: Group, fuser: LoopFuser) -> None:
        super().__init__(group, fuser)
        self._kept_dtypes = [np.dtype(self.plan.dtype(v)) for v in self.plan.kept()]
        serial = group.rows == 1 and max(self.plan.stages()) > 0
        # Sums over rows are taken row to row, of so many at most.
        self._longest = compiler.ROWS if self._sums_rows() else group.rows
        small = group.rows * group.columns < 2 * LEAST
        self.in_one_part = serial or (small and group.rows <= self._longest)
        self.loop = loop_of(self.plan)
        self.loop.at(np.dtype("float64"))
        self._given: dict[int, Callable[..., tuple[Any, ...]]] = {}  # by the output given first

    def arguments(self, read: list[Any], written: list[Any]) -> tuple[Any, ...]:
        """The arguments of the loop in one part, for flat arrays; sums have to be filled before."""
        numbers, group = np.array(self.numbers, "float64"), self.group
        sizes = group.columns, 0, group.rows, 0, group.columns
        return (*read, *written, *self._kept(), numbers, *sizes)

    # ------------------------------------------------------------------ calling

    def function(self) -> Callable[..., tuple[Any, ...]]:
        """What computes the group of arrays of its inputs: in threads where these are large."""
        alone = self._alone()
        run: Any = alone
        if not self.in_one_part:

            def run(*arrays: Any) -> tuple[Any, ...]:
                edges = self._edges()
                return alone(*arrays) if len(edges) == 2 else self._in_parts(edges, arrays)

        run.planned, run.over, run.into = self, self._over(), self._into
        return run  # type: ignore[no-any-return]

    def sized(self) -> Callable[..., tuple[Any, ...]]:
        """What computes the group of flat arrays of any one length."""
        dtypes = [value.dtype for value in self.group.outputs]
        numbers = np.array(self.numbers, "float64")

        def run(*arrays: Any) -> tuple[Any, ...]:
            size = arrays[0].size
            written = tuple([np.empty(size, dtype) for dtype in dtypes])
            given = *[_aligned(array) for array in arrays], *written, numbers, size, 0, 1
            if size < 2 * LEAST:
                self.loop(*given, 0, size)
            else:
                calls = [(*given, *part) for part in pairwise(parallel.bounds(size, LEAST))]
                parallel.each(self.loop, calls, small=size < parallel.SMALL * LEAST)
            return written

        return run

    def _over(self) -> list[tuple[int, int]]:
        """The pairs of an output and of an input of its elements, which it may overwrite."""
        group, plan = self.group, self.plan
        whole = group.rows * group.columns
        return [
            (k, v)
            for k, output in enumerate(group.outputs)
            for v, value in enumerate(group.inputs)
            if output.size == value.size == whole > 1
            and output not in group.ends
            and overwrites(plan, plan.outputs[k], v)
        ]

    def _into(self, room: tuple[int, Any], *arrays: Any) -> Any:
        """The outputs, one of them in the memory of an array, if it lies as a new one."""
        number, array = room
        if not array.flags.carray:
            return NotImplemented
        if not self.in_one_part and len(edges := self._edges()) > 2:
            return self._in_parts(edges, arrays, room)
        if number not in self._given:
            self._given[number] = self._alone(number)
        return self._given[number](array, *arrays)

    def _edges(self) -> list[int]:
        """Where parts begin, of the rows or of the one row's columns."""
        rows, columns = self.group.rows, self.group.columns
        if rows == 1:
            return parallel.bounds(columns, LEAST)
        parts = parallel.count(rows, -(-LEAST // columns))
        parts = max(parts, -(-rows // max(self._longest, 1)))
        return [rows * i // parts for i in range(parts + 1)]

    def _sums_rows(self) -> bool:
        """Whether there are sums over rows, one for each column."""
        ends = [value for value in self.group.ends if value.size > 1]
        return any([self.step_of(value).name == "sum" for value in ends])

    def _kept(self) -> list[Any]:
        """Room for a row of what later stages read again."""
        return [np.empty(self.group.columns, dtype) for dtype in self._kept_dtypes]

    def _alone(self, room: int | None = None) -> Callable[..., tuple[Any, ...]]:
        """The text of a call in one part, as a function; given the array of one output first."""
        group = self.group
        scope: dict[str, Any] = {"empty": np.empty, "full": np.full, "kept": self._kept}
        scope["loop"] = self.loop.at(np.dtype("float64"))
        scope["numbers"] = np.array(self.numbers, "float64")
        scope["aligned"] = _aligned
        given = [f"a{i}" for i in range(len(group.inputs))]
        parameters = given if room is None else [f"y{room}", *given]
        lines, results, outputs = [f"def run({', '.join(parameters)}):"], list[str](), list[str]()
        for i, value in enumerate(group.outputs):
            scope[f"d{i}"] = value.dtype
            scope[f"n{i}"] = value.dtype.type(self.counts.get(value, 1))
            make = f"empty({value.shape}, d{i})"
            if value in group.ends and value.size > 1:
                make = f"full({value.shape}, {self.first(value)!r}, d{i})".replace("inf", "INF")
            if i != room:
                lines.append(f"    y{i} = {make}")
            text = f"(y{i} / n{i})" if value in self.counts else f"y{i}"
            results.append(text + "[()]" * value.scalar)
            outputs.append(f"y{i}" + f".reshape({value.size})" * (len(value.shape) != 1))
        scope["INF"] = inf
        scratch = ["*kept()"] if self._kept_dtypes else []
        sizes = [str(n) for n in (group.columns, 0, group.rows, 0, group.columns)]
        flat = [f"{name}.ravel()" for name in given]
        lines.append("    try:")
        lines.append(f"        loop({', '.join([*flat, *outputs, *scratch, 'numbers', *sizes])})")
        lines.append("    except TypeError:")  # an array that is not aligned
        flat = [f"aligned({name})" for name in given]
        lines.append(f"        loop({', '.join([*flat, *outputs, *scratch, 'numbers', *sizes])})")
        lines.append(f"    return ({''.join([text + ', ' for text in results])})")
        exec("\n".join(lines) + "\n", scope)
        return scope["run"]  # type: ignore[no-any-return]

    def _in_parts(
        self, edges: list[int], arrays: tuple[Any, ...], room: tuple[int, Any] = (-1, None)
    ) -> tuple[Any, ...]:
        group = self.group
        read = [_aligned(array) for array in arrays]
        numbers = np.array(self.numbers, "float64")
        parts = len(edges) - 1
        written = [
            np.full((parts, value.size), self.first(value), value.dtype)
            if value in group.ends
            else room[1]
            if k == room[0]
            else np.empty(value.shape, value.dtype)
            for k, value in enumerate(group.outputs)
        ]
        ends = [value in group.ends for value in group.outputs]
        calls = []
        for i, (start, stop) in enumerate(pairwise(edges)):
            own = [y[i] if e else y.reshape(-1) for y, e in zip(written, ends, strict=True)]
            one = group.rows == 1
            at = (0, 1, start, stop) if one else (start, stop, 0, group.columns)
            calls.append((*read, *own, *self._kept(), numbers, group.columns, *at))
        small = group.rows * group.columns < parallel.SMALL * LEAST
        parallel.each(self.loop, calls, small=small)
        return tuple([self._whole(v, y) for v, y in zip(group.outputs, written, strict=True)])

    def _whole(self, value: Value, y: Any) -> Any:
        """An output, of which parts may have been reduced by themselves."""
        if value in self.group.ends:
            step = self.step_of(value)
            y = (
                getattr(np, step.name)(y, axis=0, dtype=value.dtype)
                if step.name == "sum"
                else (getattr(np, step.name)(y, axis=0))
            )
            if value in self.counts:
                y = y / value.dtype.type(self.counts[value])
            y = y.reshape(value.shape)
        return y[()] if value.scalar else y


def _aligned(array: Any) -> Any:
    flat = np.asarray(array).ravel()
    return flat if flat.flags.aligned else flat.copy()

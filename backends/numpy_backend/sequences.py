"""Loops and products one after the other in one call, without the interpreter.

Each call is packed as a part of a loop is that another thread computes: the address of machine
code, and behind it the arguments. What a sequence makes for itself lies in one arena, where later
arrays take the place of those that are read no more. So all addresses stay as they are but those of
the arrays that it is given and gives: these are written anew where they have changed.

Parts and threads are those that the same calls have one by one, and so are the bits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from backends.numpy_backend import blas, parallel, products
from backends.numpy_backend.kernels import compiler, gemm, packing, team
from backends.numpy_backend.kernels.compiler import Compiled, Read1, Real, Write1, compiled
from backends.numpy_backend.typing import Array
from core.arrays.backend import host
from core.programs import Equation, Group, Recorded, Value
from core.registry.threads import num_threads

SMALL = 1 << 20  # bytes of a result; for larger ones the time of a call does not count
LINE = 64  # bytes of a line of the cache
ARRAYS = packing.STRIDE // 8 // 8  # of a loop for which there is room in what is packed
LAYOUTS = 4  # of what it is given, to which a sequence is fitted in turn

Run = Callable[..., tuple[Any, ...]]


class _Job(NamedTuple):
    """A call of a compiled loop, and where what it reads and writes lies while it is packed."""

    loop: Compiled
    dtype: np.dtype[Any]
    arguments: tuple[Any, ...]
    operands: list[tuple[Array, Array]]
    """Arrays among the arguments, and those that are to stand in their place."""

    parts: int = 1
    threads: int | None = None
    small: bool = False


class Unfit(Exception):
    """An equation is no call of machine code for arrays that lie so."""


def calls(equation: Equation) -> bool:
    """Whether an equation is the call of a loop in one part, or of small matrices and rows."""
    values = [*equation.inputs, *equation.outputs]
    if any([v.waits or not v.shape or not v.size for v in values]):
        return False
    if any([v.nbytes > SMALL for v in equation.outputs]):
        return False
    group = equation.call.function
    if isinstance(group, Group):
        planned = getattr(group.run, "planned", None)
        if planned is None:  # the loop of another fuser
            return False
        arrays = len(values) + len(planned.plan.kept())
        return planned.in_one_part and not planned.counts and arrays <= ARRAYS
    known = _KNOWN.get(equation.call.name)
    floats = len({v.dtype for v in values}) == 1 and gemm.available(values[0].dtype)
    return known is not None and floats and known[0](equation)


class Sequence:
    """The function that computes a sequence; for the arrays of another layout `otherwise` does."""

    def __init__(self, whole: Recorded, otherwise: Run) -> None:
        self._whole = whole
        self._otherwise = otherwise
        self._packed: _Packed | None = None
        self._left = LAYOUTS
        self._lock = threading.Lock()

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """The results for arrays of the inputs; a second thread at the same time is left alone."""
        if self._lock.acquire(blocking=False):
            try:
                found = self._packed
                if found is None or not found.fits(arrays):
                    found = self._fitted(arrays)
                return found.run(arrays)
            except Unfit:
                pass
            finally:
                self._lock.release()
        return self._otherwise(*arrays)

    def _fitted(self, arrays: tuple[Any, ...]) -> _Packed:
        if not self._left or not all([array.flags.aligned for array in arrays]):
            raise Unfit
        self._left -= 1
        self._packed = _Packed(self._whole, arrays)
        return self._packed


class _Packed:
    """A sequence for arrays that lie as these do."""

    def __init__(self, whole: Recorded, arrays: tuple[Any, ...]) -> None:
        self._setting = _setting()
        self._strides = [array.strides for array in arrays]
        self._made = [(value.shape, value.dtype) for value in whole.outputs]
        self._apart: list[tuple[int, int]] = []
        results = [np.zeros(shape, dtype) for shape, dtype in self._made]
        own = [array.view() for array in (*arrays, *results)]  # one may be given twice
        places = dict(zip([*whole.inputs, *whole.outputs], own, strict=True))
        arena = _arena(whole)
        known: dict[Value, Array] = {**whole.constants, **places, **arena}
        homes = {id(array): number for number, array in enumerate(own)}
        jobs = list[_Job]()
        for equation in whole.equations:
            if equation.call.views:
                [source], [view] = equation.inputs, equation.outputs
                known[view] = _view(equation, known)
                if (home := homes.get(id(known[source]))) is not None:
                    homes[id(known[view])] = home
            elif isinstance(equation.call.function, Group):
                jobs += _loops(equation, known)
            else:
                given = [known[v] for v in (*equation.inputs, *equation.outputs)]
                jobs += _KNOWN[equation.call.name][1](equation, *given)
                if equation.call.name == "matmul":
                    self._apart += _turned(given[0], given[1], arrays)
        self._pack(jobs, own, homes)
        ours, theirs = [*arena.values()], [*arrays, *results]
        ours += [x for job in jobs for x in job.arguments if isinstance(x, np.ndarray)]
        self._held = [x for x in ours if not any([np.may_share_memory(x, y) for y in theirs])]

    def _pack(self, jobs: list[_Job], places: list[Array], homes: dict[int, int]) -> None:
        """Pack the calls, and find where they have addresses within the places.

        By the identity of an array `homes` tells in which place it lies: places may overlap.
        """
        self._words = np.zeros((len(jobs), packing.STRIDE // 8), np.intp)
        self._makes_arrays = any([job.loop.makes_arrays for job in jobs])
        calls, moves = list[int](), list[int]()
        for words, job in zip(self._words, jobs, strict=True):
            row = _address(words)
            helpers = min(job.threads or num_threads(), job.parts, team.MOST + 1) - 1
            pack = job.loop.packer(job.dtype)
            pack(*job.arguments, job.parts if helpers else 0, row)
            calls += [row, 0, job.parts, helpers, job.small]
            known = dict[int, tuple[int, int | None]]()
            for packed, array in job.operands:
                found = np.flatnonzero(words == _address(packed))
                to = address, home = _address(array), homes.get(id(array))
                if known.setdefault(_address(packed), to) != to or not found.size:
                    raise Unfit  # two places begin here, or the call has a copy
                words[found] = address
                if home is not None:
                    for i in found.tolist():
                        moves += [row + 8 * i, home, address - _address(places[home])]
        if not all(map(team.points, places)):
            raise Unfit
        self._calls, self._moves = np.array(calls, np.intp), np.array(moves, np.intp)
        self._helpers = max(calls[3 :: team.FIELDS])

    def fits(self, arrays: tuple[Any, ...]) -> bool:
        """Whether the call was made for arrays that lie like these, and for the present threads."""
        return (
            [array.strides for array in arrays] == self._strides
            and all([array.flags.aligned for array in arrays])
            and _setting() == self._setting
            and all([_address(arrays[i]) != _address(arrays[j]) for i, j in self._apart])
        )

    def run(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """The results for arrays."""
        results = tuple([np.empty(shape, dtype) for shape, dtype in self._made])
        limits = blas.limits()
        limit = None if limits is None or limits.without == 1 else limits.enter(1)
        try:
            team.run_in_order(self._calls, self._moves, [*arrays, *results], self._helpers)
        finally:
            if limits is not None and limit is not None:
                limits.leave(limit)
        if self._makes_arrays:
            packing.check(self._words)
        return results


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _setting() -> tuple[int, int]:
    """What parts depend on beside sizes."""
    return num_threads(), products.threads()


def _arena(whole: Recorded) -> dict[Value, Array]:
    """Arrays in one memory for what nobody sees from outside."""
    shared, read = whole.memories(), dict[Value, int]()
    for i, equation in enumerate(whole.equations):
        for value in (*equation.inputs, *equation.outputs):
            read[shared.get(value, value)] = i
    placed: list[tuple[int, int, int, Value]] = []
    taken: list[tuple[int, int, int]] = []  # begin, end, and the last equation that reads it
    for i, equation in enumerate(whole.equations):
        taken = [each for each in taken if each[2] >= i]
        own = () if equation.call.views else equation.outputs
        for value in [v for v in own if v not in whole.outputs]:
            size, begin = -(-value.nbytes // LINE) * LINE, 0
            for start, end, _ in sorted(taken):
                if begin + size <= start:
                    break
                begin = max(begin, end)
            taken.append((begin, begin + size, read[value]))
            placed.append((begin, size, i, value))
    memory = np.zeros(max([begin + size for begin, size, *_ in placed], default=0) + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    return {
        value: memory[first + begin :][: value.nbytes].view(value.dtype).reshape(value.shape)
        for begin, _, _, value in placed
    }


def _view(equation: Equation, known: dict[Value, Array]) -> Array:
    arguments = [known[x] if isinstance(x, Value) else x for x in equation.args]
    view: Array = equation.call.found(host())(*arguments, **equation.kwargs)
    if not np.may_share_memory(view, known[equation.inputs[0]]):
        raise Unfit
    return view


# -- the calls -------------------------------------------------------------------------------------


@compiled
def fill(y: Write1, number: Real, start: int, stop: int) -> None:
    """The same number everywhere."""
    for i in range(start, stop):
        y[i] = number


@compiled
def add_row(x: Read1, row: Read1, y: Write1) -> None:
    """`y = x + row` for each row of x."""
    for i in range(x.size):
        y[i] = x[i] + row[i % row.size]


@compiled
def sum_rows(x: Read1, y: Write1) -> None:
    """The sum of the rows of x, one after the other as NumPy adds them."""
    for j in range(y.size):
        y[j] = x[j]
    for i in range(y.size, x.size, y.size):
        for j in range(y.size):
            y[j] += x[i + j]


def _takes_row(equation: Equation) -> bool:
    x, row = equation.args
    two = isinstance(x, Value) and isinstance(row, Value) and not equation.kwargs
    return two and len(x.shape) > 1 and row.shape == x.shape[-1:]


def _sums_rows(equation: Equation) -> bool:
    x = equation.args[0]
    several = len(x.shape) == 2 and x.shape[1] > 1  # NumPy adds a single column pairwise
    few = x.shape[0] <= compiler.ROWS  # others are summed in parts
    return several and few and equation.kwargs == {"axis": 0} and len(equation.args) == 1


def _multiplies(equation: Equation) -> bool:
    a, b = equation.args
    sizes = (*a.shape, *b.shape)
    ours = equation.call.found(host()) is products.matmul
    alone = ours or a.size * b.shape[-1] < products.ALONE  # which takes one thread of BLAS's own
    return alone and not equation.kwargs and len(sizes) == 4 and min(sizes) > 1


def _flat(array: Array) -> Array:
    """Its elements where they lie: of a copy the address would be that of this call alone."""
    if not array.flags.c_contiguous:
        raise Unfit
    return array.reshape(-1)


def _rows(loop: Compiled) -> Callable[..., list[_Job]]:
    def jobs(equation: Equation, *arrays: Array) -> list[_Job]:
        flat = tuple([_flat(array) for array in arrays])
        return [_Job(loop, flat[0].dtype, flat, list(zip(flat, arrays, strict=True)))]

    return jobs


def _loops(equation: Equation, known: dict[Value, Array]) -> list[_Job]:
    """What fills the sums, and the loop itself.

    By the order of its values: a loop that is made again has the plan of the first.
    """
    planned: Any = equation.call.function.run.planned  # type: ignore[union-attr]
    jobs = list[_Job]()
    read = [known[value] for value in equation.inputs]
    written = [known[value] for value in equation.outputs]
    for value, y in zip(planned.group.outputs, written, strict=True):
        if value in planned.group.ends and value.size > 1:
            number = y.dtype.type(planned.first(value))
            jobs.append(_Job(fill, y.dtype, (_flat(y), number, 0, y.size), [(y, y)]))
    arguments = planned.arguments([_flat(x) for x in read], [_flat(y) for y in written])
    operands = [(array, array) for array in (*read, *written)]
    return [*jobs, _Job(planned.loop, np.dtype("float64"), arguments, operands)]


def _turned(a: Array, b: Array, places: tuple[Array, ...]) -> list[tuple[int, int]]:
    """Which two of the places may be one matrix, and the same turned: BLAS multiplies these so."""
    if _address(a) == _address(b):
        raise Unfit
    if a.shape != b.shape[::-1]:
        return []
    i, j = [[i for i, y in enumerate(places) if np.may_share_memory(x, y)] for x in (a, b)]
    return [(i[0], j[0])] if i and j else []


def _product(equation: Equation, a: Array, b: Array, y: Array) -> list[_Job]:
    """The product as `products.matmul` divides it, or by one call of BLAS."""
    with parallel.noted() as found:
        made = equation.call.found(host())(a, b)
    if found:
        [(loop, arguments, parts, threads, small)] = found
        operands = [(a, a), (b, b), (made, y)]
        return [_Job(loop, made.dtype, arguments, operands, parts, threads, small)]
    given = gemm.arguments(a, b, y)
    if given is None:
        raise Unfit
    return [_Job(gemm.multiply, y.dtype, given, [(a, a), (b, b), (y, y)])]


_KNOWN: dict[str, tuple[Callable[[Equation], bool], Callable[..., list[_Job]]]] = {
    "matmul": (_multiplies, _product),
    "iadd": (_takes_row, _rows(add_row)),
    "sum": (_sums_rows, _rows(sum_rows)),
}
"""By the name of what is called: whether an equation can be called, and the calls for arrays."""

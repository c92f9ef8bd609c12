"""What of a program becomes a kernel, and how it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.cuda_backend.kernels.loop import Shape, ending, source
from backends.cuda_backend.kernels.words import FUNCTIONS, STORED
from core.programs import Equation, Group, LoopFuser, Planned, Value


class CudaLoops(LoopFuser):
    """Kernels over floats of 16, 32 and 64 bits, their masks, and whole numbers beside them.

    Args:
        library: What makes arrays: CuPy.
        kernels: What compiles and launches; see `launching.Kernels`.
    """

    dtypes = STORED
    functions = FUNCTIONS

    def __init__(self, library: Any, kernels: Any) -> None:
        self.library = library
        self.kernels = kernels

    def made(self, group: Group) -> Callable[..., tuple[Any, ...]] | None:
        """The function that computes a group; None where one call of CuPy's does."""
        calls = len(self.computing(group)) + sum(map(_casts, group.equations))
        return _Call(group, self).run if calls > 1 else None


def _casts(equation: Equation) -> bool:
    """Whether an equation gives its input in another dtype, which is a call of CuPy's too."""
    (made,) = equation.outputs
    return equation.call.name == "astype" and equation.inputs[0].dtype != made.dtype


class _Call(Planned):
    """A kernel of a group, made ready for its shapes."""

    def __init__(self, group: Group, fuser: CudaLoops) -> None:
        super().__init__(group, fuser)
        self._library = fuser.library
        self._shape = Shape(self.plan, group.rows, group.columns)
        self._loop = fuser.kernels.ready(source(self.plan))
        self._endings = {
            value: fuser.kernels.ready(ending(self.step_of(value).name, value.dtype.name))
            for value in group.ends
        }
        self._ends = sorted(group.ends, key=self.places.__getitem__)

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """The outputs, of arrays of the inputs on the current device."""
        library, group, shape = self._library, self.group, self._shape
        given = [library.ascontiguousarray(array) for array in arrays]
        made = {v: library.empty(v.shape, dtype=v.dtype) for v in group.outputs}
        parts = {
            v: library.empty(shape.parts(group.extents[v]) * v.size, dtype="float64")
            for v in self._ends
        }
        plain = [made[v] for v in group.outputs if v not in group.ends]
        sizes = group.rows, group.columns
        args = (*given, *plain, *parts.values(), *self.numbers, *sizes)
        self._loop(shape.grid, shape.block, args)
        for value, part in parts.items():
            if value in made:
                self._end(value, part, made[value])
        return tuple([made[v] for v in group.outputs])

    def _end(self, value: Value, part: Any, y: Any) -> None:
        count = self._shape.parts(self.group.extents[value])
        threads = min(256, max(1, 1 << (count - 1).bit_length()))
        args = (part, y, count, value.size, float(self.counts.get(value, 1)))
        self._endings[value]((min(value.size, 1 << 16), 1), (threads, 1), args)

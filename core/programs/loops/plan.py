"""What a loop of several equations computes, in an order and by names that any backend can write.

A loop goes over rows, and in each row over columns. A reduction over columns is known when the row
has been gone through: what uses it comes in the next pass over the same row, a *stage*. Reductions
over rows as well are known at the end.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from core.programs.group import Extent

FIRST = {"sum": 0.0, "max": -inf, "min": inf}
"""The reductions, and what each begins with."""


class Slot(NamedTuple):
    """A number that the loop is given, by its place among them."""

    place: int


class Literal(NamedTuple):
    """A number that stands in the loop."""

    number: int


class Step(NamedTuple):
    """One equation: of values before it, slots and literals, taken in the dtype `taken`."""

    name: str
    operands: tuple[int | Slot | Literal, ...]
    taken: str
    dtype: str
    extent: Extent
    end: bool = False

    @property
    def reduces(self) -> bool:
        """Whether it is a reduction."""
        return self.name in FIRST


class Plan(NamedTuple):
    """Values are numbered: first the inputs, by dtype and extent, then what the steps give."""

    inputs: tuple[tuple[str, Extent], ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    def dtype(self, value: int) -> str:
        """The dtype of a value."""
        count = len(self.inputs)
        return self.inputs[value][0] if value < count else self.steps[value - count].dtype

    def extent(self, value: int) -> Extent:
        """The extent of a value."""
        count = len(self.inputs)
        return self.inputs[value][1] if value < count else self.steps[value - count].extent

    def stages(self) -> list[int]:
        """In which pass over a row each value is known."""
        found = [0] * len(self.inputs)
        for step in self.steps:
            known = [found[v] for v in step.operands if isinstance(v, int)]
            found.append(max(known, default=0) + (step.reduces and not step.end))
        return found

    def kept(self) -> list[int]:
        """The values that a later stage reads again, and that are no outputs."""
        stages, found = self.stages(), set()
        for i, step in enumerate(self.steps, len(self.inputs)):
            stage = stages[i] - (step.reduces and not step.end)
            made = [v for v in step.operands if isinstance(v, int) and v >= len(self.inputs)]
            again = [v for v in made if self.extent(v).columns and stages[v] < stage]
            found.update([v for v in again if v not in self.outputs])
        return sorted(found)

    def __str__(self) -> str:
        def name(v: Any) -> str:
            if isinstance(v, Slot):
                return f"k[{v.place}]"
            return str(v.number) if isinstance(v, Literal) else f"v{v}"

        lines = [
            f"v{i}: {dtype}{_marks(extent)}, given" for i, (dtype, extent) in enumerate(self.inputs)
        ]
        for i, step in enumerate(self.steps, len(self.inputs)):
            end = ", at the end" * step.end
            operands = ", ".join(map(name, step.operands))
            call = f"{step.name}({operands}) in {step.taken}"
            lines.append(f"v{i}: {step.dtype}{_marks(step.extent)} = {call}{end}")
        return "\n".join([*lines, f"gives {', '.join(map(name, self.outputs))}"])


def _marks(extent: Extent) -> str:
    along = ["rows"] * extent.rows + ["columns"] * extent.columns
    return f"[{', '.join(along)}]"

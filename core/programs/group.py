"""Equations of a program that are computed in one loop, and what the loop goes over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from core.programs.equation import Equation, Value

SEQUENCE = "sequence"
"""What the call of several equations one after the other is called."""


class Extent(NamedTuple):
    """Whether the elements of a value differ from row to row, and from column to column."""

    rows: bool
    columns: bool


class Group:
    """Equations with a loop over `rows` and `columns` for all of them.

    `inputs` are the values from outside, `outputs` those that are needed there. Each value is seen
    as a table: some leading axes of the largest values are the rows, the others the columns.
    `extents` says of all values whether they differ along rows, and along columns. Sums over rows
    are among the `ends`: they are known when the loop has ended.

    Calling it gives the outputs for arrays of the inputs. What the backend has made of it may have
    attributes `over` and `into` for outputs in the memory of inputs.
    """

    run: Callable[..., tuple[Any, ...]]

    def __init__(
        self,
        equations: tuple[Equation, ...],
        inputs: tuple[Value, ...],
        outputs: tuple[Value, ...],
        rows: int,
        columns: int,
        extents: dict[Value, Extent],
        ends: frozenset[Value],
    ) -> None:
        self.equations = equations
        self.inputs = inputs
        self.outputs = outputs
        self.rows = rows
        self.columns = columns
        self.extents = extents
        self.ends = ends

    def __getstate__(self) -> dict[str, Any]:
        """All but the compiled loop, which is made anew where the group is loaded."""
        return {key: x for key, x in vars(self).items() if key != "run"}

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """The outputs for arrays of the inputs."""
        return self.run(*arrays)

    def over(self) -> list[tuple[int, int]]:
        """The pairs of an output and of an input in whose memory the loop can put it."""
        return getattr(self.run, "over", [])

    def into(self, room: tuple[int, Any], *arrays: Any) -> Any:
        """The outputs, one of them in the memory of an array, or NotImplemented."""
        run: Any = self.run
        return run.into(room, *arrays)


def reduced_axes(equation: Equation) -> set[int]:
    """The axes over which a reduction goes."""
    x = equation.args[0]
    axis = equation.args[1] if len(equation.args) > 1 else equation.kwargs.get("axis")
    if axis is None:
        return set(range(len(x.shape)))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return {a % len(x.shape) for a in axes}

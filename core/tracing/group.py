"""Equations of a program that are computed in one loop, and what the loop goes over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from core.tracing.equation import Equation, Value

if TYPE_CHECKING:
    from core.tracing.recorded import Recorded


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


class Fuser(Protocol):
    """What a backend gives that computes several equations in one loop; see `Backend.fuser`."""

    def part(self, equation: Equation) -> str:
        """What an equation can be in a loop: "elementwise", "reduction", "relabelled", or "".

        A relabelled value has the elements of another, in their order, with other axes of length 1.
        """

    def made(self, group: Group) -> Callable[..., tuple[Any, ...]] | None:
        """The function of arrays that computes a group; None where it is not worth while."""


@runtime_checkable
class Sequencer(Protocol):
    """A fuser that computes several equations one after the other in one call."""

    def calls(self, equation: Equation) -> bool:
        """Whether an equation can be in a sequence, and is small enough to gain by it."""

    def sequence(
        self, whole: Recorded, otherwise: Callable[..., tuple[Any, ...]]
    ) -> Callable[..., tuple[Any, ...]]:
        """The function of input arrays that computes a sequence and gives new arrays.

        `whole` has equations for which `calls` holds, and views between them. `otherwise` computes
        the same one by one: it is for arrays that do not lie in memory as the sequence needs them.
        """


@runtime_checkable
class Sizer(Protocol):
    """A fuser whose loops go over any number of elements."""

    def sized(self, group: Group) -> Callable[..., tuple[Any, ...]]:
        """The function that computes a group of one row for flat arrays of any one length.

        Its inputs and outputs have an element for each column.
        """


def reduced_axes(equation: Equation) -> set[int]:
    """The axes over which a reduction goes."""
    x = equation.args[0]
    axis = equation.args[1] if len(equation.args) > 1 else equation.kwargs.get("axis")
    if axis is None:
        return set(range(len(x.shape)))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return {a % len(x.shape) for a in axes}

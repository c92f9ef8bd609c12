"""What a backend gives that computes several equations at once, in loops of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from core.programs.equation import Equation
from core.programs.group import Group
from core.programs.recorded import Recorded


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

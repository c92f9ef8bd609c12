"""State that a recurrent link keeps from one call to the next."""

from __future__ import annotations

from typing import Any

from core import Variable, as_array
from core.arrays import backend
from core.link import Link
from core.typing import Array


class Stateful(Link):
    """A link with a state: the Variables that `carried` names; None before the first input."""

    def reset_state(self) -> None:
        """Forget the state: the next call starts a new sequence."""
        for name in self.carried:
            setattr(self, name, None)

    def _set_states(self, *values: Any) -> None:
        """Take variables or arrays as the state, moved to where the link lives."""
        for name, value in zip(self.carried, values, strict=True):
            if not isinstance(value, Variable):
                value = Variable(value, requires_grad=False)
            setattr(self, name, value)
        self._move_carried(self.device)


class KeepsOutputs(Stateful):
    """A link whose state are its outputs `h`."""

    carried = ("h",)
    h: Variable | None = None

    def set_state(self, h: Array) -> None:
        """Set the state to `h` (n, u)."""
        self._set_states(h)


class KeepsCells(Stateful):
    """A link whose state are its cells `c` and outputs `h`."""

    carried = ("c", "h")
    c: Variable | None = None
    h: Variable | None = None

    def set_state(self, c: Array, h: Array) -> None:
        """Set the state to the cells `c` and outputs `h`, both (n, u)."""
        self._set_states(c, h)


def refuse_other_batch(link: Link, x: Any, *states: Any) -> None:
    """Raise where `x` has another number of sequences than states have: sums would broadcast."""
    for state in states:
        if state.shape[0] != x.shape[0]:
            raise ValueError(
                f"links.{type(link).__name__}: expected a batch of {state.shape[0]}, that of the "
                f"state, got {x.shape[0]}. New sequences begin without a state, as after "
                "reset_state()."
            )


def zeros(x: Any, units: int, *lead: int) -> Variable:
    """The state (n, units) that sequences start with, where and as the input `x` (n, ...) is.

    Of several layers, for which `x` does not say n, `lead` are the axes before units.
    """
    array = as_array(x)
    home = backend.of(array)
    start = home.xp.zeros((*(lead or array.shape[:1]), units), dtype=array.dtype)
    return Variable(home.device_of(array).send(start), requires_grad=False)

"""State that a recurrent link keeps from one call to the next."""

from __future__ import annotations

from typing import Any

from core import Variable, as_array
from core.arrays import backend
from core.errors import InvalidType
from core.errors.place import warn
from core.link import Link
from core.typing import Array
from plugins.links.connection.linear import Linear


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


def one_step(link: Link, upward: Linear, x: Any) -> Variable:
    """`upward` of an input (n, in_size); whole sequences (n, l, in_size) would become one step.

    Where the size is open nothing else tells, so that there is a warning; features of more axes
    are flattened.
    """
    shape: tuple[int, ...] = getattr(x, "shape", ())
    if len(shape) == 3 and shape[1] > 1:
        name = type(link).__name__
        cure = "call it with x[:, i] for each step i, or give list(x) to links.NStepLSTM, NStepGRU."
        if not upward.W.is_initialized:
            warn(
                f"links.{name}: took an input {shape} for one step of {shape[1] * shape[2]} "
                f"numbers. If it is {shape[1]} steps of {shape[2]}, {cure}"
            )
        elif upward.W.shape[1] == shape[2]:
            raise InvalidType("x.ndim == 2", "3 != 2", operation=name, cure=cure)
    return upward(x)


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

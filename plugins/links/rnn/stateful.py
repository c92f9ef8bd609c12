"""State that a recurrent link carries from one call to the next."""

from __future__ import annotations

from typing import Any, ClassVar

from core import Device, Variable, as_array, backend
from core.backend import to_backend
from core.link import Link


class Stateful(Link):
    """A link with variables that live from call to call, in the attributes that `states` names.

    They move with the link. Copies and pickles hold them without the graph they came from.
    """

    states: ClassVar[tuple[str, ...]] = ()

    def reset_state(self) -> None:
        """Forget the state: the next call starts a new sequence."""
        for name in self.states:
            setattr(self, name, None)

    def _set_states(self, *values: Any) -> None:
        """Take variables or arrays as the state, moved to where the link lives."""
        for name, value in zip(self.states, values, strict=True):
            if not isinstance(value, Variable):
                value = Variable(value, requires_grad=False)
            setattr(
                self, name, value if value.device == self.device else _moved(value, self.device)
            )

    def _move(self, device: Device) -> None:
        super()._move(device)
        for name in self.states:
            value = getattr(self, name, None)
            if value is not None:
                setattr(self, name, _moved(value, device))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for name in self.states:
            value = state.get(name)
            if value is not None and value.creator_node is not None:
                state[name] = _moved(value, value.device)
        return state


def _moved(value: Variable, device: Device) -> Variable:
    """The elements of a variable on `device`, without a graph."""
    return Variable(to_backend(value.array, device), requires_grad=value.requires_grad)


def zeros(x: Any, units: int) -> Variable:
    """The state (n, units) that sequences start with, where and as the input `x` (n, ...) is."""
    array = as_array(x)
    home = backend.of(array)
    start = home.xp.zeros((array.shape[0], units), dtype=array.dtype)
    return Variable(home.device_of(array).send(start), requires_grad=False)

"""Copies and pickles of Variables, which take arrays and names along, and no graph."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from core.arrays.backend import BACKENDS
from core.arrays.spec import spec_of
from core.errors import GraphError
from core.graph.variable_node import VariableNode

if TYPE_CHECKING:
    from core.graph.variable import Variable


_PLACE = (
    "__dict__",
    "__weakref__",
    "_array",
    "_source",
    "_own_constant",
    "_own_shown",
    "_spec",
)  # what a copy makes for itself


class Copies:
    """How `copy`, `deepcopy` and `pickle` treat a Variable."""

    __slots__ = ()

    def __copy__(self: Any) -> Variable:
        clone = _bare(type(self))
        clone.__setstate__(self._state())
        return clone  # type: ignore[no-any-return]

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Variable:
        from core.graph.variable import as_array

        self._refuse_graph("copy.deepcopy")
        clone = memo[id(self)] = _bare(type(self))
        state = self._state()
        for name in ("array", "grad"):
            value = state[name] = as_array(state[name])
            if value is not None and id(value) not in memo:  # what is shared stays shared
                memo[id(value)] = BACKENDS[type(value)].copy(value)
        clone.__setstate__(copy.deepcopy(state, memo))
        return clone  # type: ignore[no-any-return]

    def __getstate__(self: Any) -> dict[str, Any]:
        self._refuse_graph("pickle")
        return {**self._state(), "grad": self.grad}

    def __setstate__(self: Any, state: dict[str, Any]) -> None:
        for name, value in state["rest"].items():
            setattr(self, name, value)
        self._array = state["array"]
        self._spec = spec_of(self._array)
        self._source = VariableNode(self) if state["requires_grad"] else None
        self._grad = state["grad"]
        if state["name"] is not None:
            self.name = state["name"]

    def _state(self: Any) -> dict[str, Any]:
        return {
            "array": self._array,
            "grad": self._grad,
            "name": self.name,
            "requires_grad": self.requires_grad,
            "rest": self._rest(),
        }

    def _rest(self: Any) -> dict[str, Any]:
        """What else it has: in slots that are filled, and in the dict of a subclass."""
        slots = [n for cls in type(self).__mro__ for n in vars(cls).get("__slots__", ())]
        known = {n: getattr(self, n) for n in slots if n not in _PLACE and hasattr(self, n)}
        return known | getattr(self, "__dict__", {})

    def _refuse_graph(self: Any, what: str) -> None:
        if self.creator_node is not None:
            raise GraphError(
                f"{what}: a Variable made by {self.creator_node.label} belongs to a graph, which "
                "cannot be copied. Take its array, or unchain() it first."
            )


def _bare(cls: Any) -> Any:
    """An object of the class on which nothing was called yet."""
    return cls.__new__(cls)


class Uncopied:
    """Function nodes, of which only those outside a graph are copied."""

    __slots__ = ()

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        if self._sources is not None:
            raise GraphError(
                f"{self.label} is part of a graph, which can be neither pickled nor copied. Keep "
                "the arrays, or the links that made it."
            )
        return object.__reduce_ex__(self, protocol)

"""Copies and pickles of Variables, which take arrays and names along, and no graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        clone: Any = object.__new__(type(self))
        clone.__setstate__(self._state())
        return clone  # type: ignore[no-any-return]

    def __getstate__(self: Any) -> dict[str, Any]:
        refuse_graph(self.creator_node)
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
        slots = [n for cls in type(self).__mro__ for n in vars(cls).get("__slots__", ())]
        rest = {n: getattr(self, n) for n in slots if n not in _PLACE and hasattr(self, n)}
        return {
            "array": self._array,
            "grad": self._grad,
            "name": self.name,
            "requires_grad": self.requires_grad,
            "rest": rest | getattr(self, "__dict__", {}),  # of a subclass
        }


class Uncopied:
    """Function nodes, of which only those outside a graph are copied."""

    __slots__ = ()

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        refuse_graph(self if self._sources is not None else None)
        return object.__reduce_ex__(self, protocol)


def refuse_graph(function: Any) -> None:
    """Raise where there is a function whose graph a deep copy, or a pickle, would take along."""
    if function is not None:
        raise GraphError(
            f"{function.label} is part of a graph, which can be neither pickled nor deeply copied. "
            "Keep the arrays, or the links that made it, or unchain() its outputs first."
        )

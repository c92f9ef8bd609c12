"""The node of a declared operation's only output, which its function node stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.graph.variable_node import NOBODY, VariableNode

if TYPE_CHECKING:
    from core.graph.graph_node import GraphNode


class OutputNode(VariableNode):
    """A view of the function node, made when somebody asks for the node of its output."""

    __slots__ = ()

    def __init__(self, function: GraphNode) -> None:
        self._creator = function
        self._variable = NOBODY
        self._constant = False

    @property
    def _source(self) -> Any:
        return self._creator


def _shown(name: str) -> property:
    """An attribute that is the function's."""
    return property(
        lambda node: getattr(node._creator, name),
        lambda node, value: setattr(node._creator, name, value),
    )


for _name in ("data", "spec", "_grad", "_name"):
    setattr(OutputNode, _name, _shown(_name))

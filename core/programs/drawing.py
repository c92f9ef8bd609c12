"""Programs as pictures: the nodes and edges that computational graphs are drawn from."""

from __future__ import annotations

from typing import Any

from core.arrays.spec import intern
from core.graph.variable_node import VariableNode
from core.ops.function_node import FunctionNode
from core.programs.equation import Value
from core.programs.recorded import Recorded
from core.show.computational_graph import ComputationalGraph


class Drawn(FunctionNode):
    """An equation in a picture; its label is the name of what is called."""

    label = ""  # each has its own


def drawn(program: Recorded) -> ComputationalGraph:
    """The picture of a program; see `Program.graph`."""
    nodes: list[Any] = []
    edges: list[Any] = []
    found: dict[Value, VariableNode] = {}
    names: dict[Any, str] = {}

    def node_of(value: Value, learns: bool = False) -> VariableNode:
        if value not in found:
            node = found[value] = VariableNode(None, requires_grad=learns)
            node.spec = intern(program.backend, value.shape, value.dtype, None)
            nodes.append(node)
        return found[value]

    for i, value in enumerate(program.inputs):
        names[node_of(value)] = f"x{i}"
    for place in program.places:
        names[node_of(place.value, learns=True)] = place.name
    for equation in program.equations:
        function = Drawn()
        function.label = equation.call.name
        edges += [(node_of(value), function) for value in dict.fromkeys(equation.inputs)]
        nodes.append(function)
        edges += [(function, node_of(value)) for value in equation.outputs]
    for target, value in program.changes:
        name = f"x{target}" if isinstance(target, int) else target.name
        names[node_of(value)] = f"{name} after"
    return ComputationalGraph(nodes, edges, names=names)

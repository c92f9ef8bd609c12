"""A graph of ONNX's that is run on Variables."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable, backend
from core.errors import CheckpointError
from plugins.imported.message import Graph, Node
from plugins.imported.operators import OPERATORS


class Run:
    """One call of a model; `like` says on which backend and device constants are made."""

    def __init__(self, like: Variable | None) -> None:
        self.owner = backend.current() if like is None else like.backend
        self.device = None if like is None else like.device

    def constant(self, array: Any) -> Variable:
        """A host array as a Variable that needs no gradient."""
        return as_variable(self.owner.asarray(array, device=self.device))

    def graph(self, graph: Graph, values: dict[str, Any]) -> list[Any]:
        """The outputs of a graph, of values by name; only what they need is computed."""
        for node in _needed(graph, values):
            given = [values[name] if name else None for name in node.inputs]
            try:
                found = OPERATORS[node.op](self, node, values, *given)
            except NotImplementedError as error:
                raise CheckpointError(f"ONNXModel: {node.op}: {error} is not known here.") from None
            results = found if isinstance(found, (tuple, list)) else (found,)
            values.update(zip(node.outputs, results, strict=False))
        missing = [name for name in graph.outputs if name not in values]
        if missing:
            raise ValueError(f"ONNXModel: there are no values called {', '.join(missing)}.")
        return [values[name] for name in graph.outputs]


def _needed(graph: Graph, values: dict[str, Any]) -> list[Node]:
    wanted = {*graph.outputs}
    kept = []
    for node in reversed(graph.nodes):
        if not wanted.isdisjoint(node.outputs):
            kept.append(node)
            wanted.update(node.inputs)
            for setting in node.settings.values():
                if isinstance(setting, Graph):
                    wanted.update(_outer(setting))
    return kept[::-1]


def _outer(graph: Graph) -> set[str]:
    """Names that a graph reads from around it."""
    found: set[str] = {*graph.outputs}
    for node in graph.nodes:
        found.update(node.inputs)
        for setting in node.settings.values():
            if isinstance(setting, Graph):
                found |= _outer(setting)
    return found

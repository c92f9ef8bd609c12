"""A graph of ONNX's that is run on Variables."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable, backend
from core.errors import CheckpointError
from plugins.imported.message import Graph, Node
from plugins.imported.operators import ANY_VALUE, OPERATORS
from plugins.imported.operators.common import Refused

STEPS = 1 << 20
"""Steps of all loops together."""


class Run:
    """One call of a model; `like` says on which backend and device constants are made."""

    def __init__(self, like: Variable | None) -> None:
        self.owner = backend.current() if like is None else like.backend
        self.device = None if like is None else like.device
        self.within = Graph((), (), {}, ())
        """The graph whose node is run."""
        self._steps = 0

    def constant(self, array: Any) -> Any:
        """A host array as a Variable that needs no gradient; text as it is."""
        if array.dtype.kind == "O":
            return array
        return as_variable(self.owner.asarray(array, device=self.device))

    def step(self) -> None:
        """Count a step of a loop; loops that do not end are refused."""
        self._steps += 1
        if self._steps > STEPS:
            raise Refused(f"its loops take more than {STEPS} steps")

    def graph(self, graph: Graph, values: dict[str, Any]) -> list[Any]:
        """The outputs of a graph, of values by name; only what they need is computed."""
        for node in _needed(graph, values):
            self.within = graph
            given = [values[name] if name else None for name in node.inputs]
            if node.op not in ANY_VALUE:
                _refuse_others(node, given)
            try:
                found = OPERATORS[node.op](self, node, values, *given)
            except NotImplementedError as error:
                raise CheckpointError(f"ONNXModel: {node.op}: {error} is not known here.") from None
            except Refused as error:
                raise CheckpointError(f"ONNXModel: {node.op}: {error}.") from None
            results = found if isinstance(found, (tuple, list)) else (found,)
            values.update(zip(node.outputs, results, strict=False))
        missing = [name for name in graph.outputs if name not in values]
        if missing:
            raise ValueError(f"ONNXModel: there are no values called {', '.join(missing)}.")
        return [values[name] for name in graph.outputs]


def _refuse_others(node: Node, given: list[Any]) -> None:
    """Raise where a value is none of numbers, and the operator takes such alone."""
    for x in given:
        if x is not None and not isinstance(x, Variable):
            what = "a sequence" if isinstance(x, list) else "text"
            raise CheckpointError(f"ONNXModel: {node.op} of {what} is not known here.")


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

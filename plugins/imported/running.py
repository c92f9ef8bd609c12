"""A graph of ONNX's that is run on Variables."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable, backend
from core.errors import CheckpointError, CoreError
from plugins.imported.message import Graph, Node
from plugins.imported.operators import ANY_VALUE, OPERATORS
from plugins.imported.operators.common import Refused

STEPS = 1 << 15
"""Steps of all loops together."""


class Run:
    """One call of a model; `like` says on which backend and device constants are made.

    `name` is what the model is called in errors.
    """

    def __init__(self, like: Variable | None, name: str) -> None:
        self.name = name
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
            found = self._node(node, values, given)
            results = found if isinstance(found, (tuple, list)) else (found,)
            if any(node.outputs[len(results) :]):
                raise CheckpointError(
                    f"{self.name}: {node.op}: expected at most {len(results)} names of results, "
                    f"got {', '.join(node.outputs)}."
                )
            values.update(zip(node.outputs, results, strict=False))
        missing = [name for name in graph.outputs if name not in values]
        if missing:
            raise ValueError(f"{self.name}: there are no values called {', '.join(missing)}.")
        return [values[name] for name in graph.outputs]

    def _node(self, node: Node, values: dict[str, Any], given: list[Any]) -> Any:
        """The results of one operator; where it has none, the error says which one it is."""
        try:
            if node.op not in ANY_VALUE:
                _refuse_others(given)
            return OPERATORS[node.op](self, node, values, *given)
        except NotImplementedError as error:
            what = f"{error} is not known here"
        except Refused as error:
            what = f"{error}"
        except (CoreError, ImportError) as error:
            error.add_note(f"This is in {node.op} of the model, which gives {node.outputs}.")
            raise
        except Exception as error:
            raise CheckpointError(
                f"{self.name}: {node.op}: its inputs or settings do not fit: {error}. Check the "
                "shapes of what the model is given; onnx.checker.check_model tells more."
            ) from error
        raise CheckpointError(f"{self.name}: {node.op}: {what}.") from None


def _refuse_others(given: list[Any]) -> None:
    """Raise where a value is none of numbers, and the operator takes such alone."""
    for x in given:
        if x is not None and not isinstance(x, Variable):
            what = "a sequence" if isinstance(x, list) else "text"
            raise NotImplementedError(f"an input that is {what}")


def _needed(graph: Graph, values: dict[str, Any]) -> list[Node]:
    wanted = {*graph.outputs}
    kept = []
    for node in reversed(graph.nodes):
        if not wanted.isdisjoint(node.outputs):
            kept.append(node)
            wanted.update(node.inputs)
            for inner in node.graphs:
                wanted |= _outer(inner)
    return kept[::-1]


def _outer(graph: Graph) -> set[str]:
    """Names that a graph reads from around it."""
    found: set[str] = {*graph.outputs}
    for node in graph.nodes:
        found.update(node.inputs)
        for inner in node.graphs:
            found |= _outer(inner)
    return found

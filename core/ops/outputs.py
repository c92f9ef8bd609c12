"""What `compute` gave: arrays, or refused; of several outputs Variables and nodes of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

from core.arrays.spec import Spec
from core.graph.graph_node import GraphNode
from core.graph.variable import Variable, wrap
from core.graph.variable_node import VariableNode
from core.ops.operation import Operation

_NUMBERS = (bool, int, float, complex)


def as_result(f: Operation, result: Any, like: Spec) -> Any:
    """What `compute` gave as an array of the backend of `like`: a library makes scalars of some."""
    if type(result) is like.type:
        return result
    if not hasattr(result, "shape") and not isinstance(result, _NUMBERS):
        cure = "Return it." if result is None else "Give several outputs `output_names`."
        raise TypeError(
            f"{f.label}.compute: expected to give an array, got {type(result).__name__}. {cure}"
        )
    return like.backend.asarray(result)


def as_outputs(f: Operation, results: Any, like: Spec) -> tuple[Variable, ...]:
    """Several results as Variables; an operation may leave some of them out, as None."""
    expected = len(f.declared.outputs)
    if type(results) is not tuple or len(results) != expected and not f.declared.gives_any:
        got = len(results) if type(results) is tuple else type(results).__name__
        raise TypeError(
            f"{f.label}.compute: expected a tuple of {expected} arrays "
            f"({', '.join(f.declared.outputs)}), got {got}"
        )
    return tuple([wrap(y if y is None else as_result(f, y, like)) for y in results])


def link_outputs(f: GraphNode, outputs: Sequence[Variable], retained: tuple[Any, ...]) -> None:
    """Put a node between a function and each of its outputs."""
    references = []
    for v, array in zip(outputs, retained, strict=True):
        v._source = node = VariableNode(v, data=array)
        node._creator, node._sources = f, ()
        references.append(ref(node))
    f._outputs = tuple(references)
    f.data = retained

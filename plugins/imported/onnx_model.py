"""Models of ONNX's as links."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core import Link, Parameter, Variable, as_variable
from core.errors import CheckpointError, nearest
from core.errors.kinds import checked
from core.typing import Array
from plugins.imported.message import Graph, Node, read
from plugins.imported.operators import OPERATORS
from plugins.imported.operators.common import FLOATING
from plugins.imported.running import Run

STATISTICS = {"BatchNormalization": (3, 4)}
"""Inputs that are no parameters, though they are arrays of numbers."""

SETTINGS = {
    "Clip": (1, 2),
    "Resize": (1, 2),
    "Upsample": (1,),
    "Pad": (2,),
    "Dropout": (1,),
    "QuantizeLinear": (1,),
    "DequantizeLinear": (1,),
}
"""Inputs that are settings, likewise."""


class GraphModel(Link):
    """A graph of operators whose arrays are parameters: what models of several formats become."""

    input_names: tuple[str, ...]
    output_names: tuple[str, ...]

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.input_names, self.output_names = graph.inputs, graph.outputs
        self._graph = graph._replace(arrays={})
        self._names: dict[str, str] = {}
        self._constants: dict[str, Any] = {}
        statistics, settings = _used(graph, STATISTICS), _used(graph, SETTINGS)
        taken = {*dir(self)}
        for name, array in graph.arrays.items():
            if array.dtype.name not in FLOATING or array.ndim == 0 or name in settings:
                self._constants[name] = array
                continue
            own = re.sub(r"\W", "_", name)
            own = f"_{own}" if not own or own[0].isdigit() else own
            while own in taken:
                own += "_"
            taken.add(own)
            self._names[name] = own
            if name in statistics:
                self.add_persistent(own, array)
            else:
                with self.init_scope():
                    setattr(self, own, Parameter(array))

    def _run(
        self, values: dict[str, Any], wanted: Sequence[str], disable: Sequence[str] = ()
    ) -> list[Any]:
        """The values of these names, of inputs by name; nodes of a group may be left out."""
        like = next((x for x in values.values() if isinstance(x, Variable)), None)
        run = Run(like, type(self).__name__)
        for name, array in self._constants.items():
            values[name] = run.constant(array)
        for name, own in self._names.items():
            values[name] = as_variable(getattr(self, own))
        nodes = tuple([_passing(n) if n.group in disable else n for n in self._graph.nodes])
        return run.graph(self._graph._replace(outputs=tuple(wanted), nodes=nodes), values)


class ONNXModel(GraphModel):
    """A model in a file of ONNX's: what another program has trained.

    Args:
        file: A path, or a file open for reading bytes.

    It is called with arrays in the order of the model's inputs, or by name,
    `model(inputs={"x": x}, outputs=["y"])`, where any values in the model may be asked for.
    Floating arrays of the model become parameters, called as there with `_` for what a name cannot
    have, and running statistics persistent values; so it can be trained on, saved and exported.

    Attributes:
        input_names: What the model takes.
        output_names: What it gives.

    Raises:
        CheckpointDamaged: The file is no ONNX model.
        CheckpointError: The model has operators that are not known, by name; or it is hostile:
            arrays outside of its folder, graphs too deep, sizes that are not there.
        ImportError: The library onnx is missing.

    >>> import core, core.functions as F, core.links as L, numpy as np, io
    >>> file = io.BytesIO()
    >>> core.export.onnx(L.Linear(3, 2), np.zeros((4, 3), "f"), file)
    >>> _ = file.seek(0)
    >>> model = L.ONNXModel(file)
    >>> model.input_names, model.output_names, sorted(model.namedparams())[0][0]
    (('x0',), ('y0',), '/W')
    >>> model(np.ones((5, 3), "f")).shape, model(inputs={"x0": np.ones((5, 3), "f")})["y0"].shape
    ((5, 2), (5, 2))
    """

    def __init__(self, file: str | os.PathLike[str] | Any) -> None:
        graph, label = read(file)
        _refuse_unknown(graph, label)
        super().__init__(graph)

    @checked
    def forward(
        self,
        *arrays: Array,
        inputs: Mapping[str, Array] | None = None,
        outputs: Sequence[str] | None = None,
    ) -> Variable | tuple[Variable, ...] | dict[str, Variable]:
        """Run the model.

        Args:
            *arrays: In the order of `input_names`.
            inputs: Arrays by name, instead.
            outputs: Names of what is wanted; `output_names` by default.

        Returns:
            A Variable, or a tuple of several; with `inputs` or `outputs` a dict by name.

        Raises:
            ValueError: Names are unknown, or arrays are missing.
        """
        named_arrays("ONNXModel", inputs or {})
        given = dict(inputs or {}) | dict(zip(self.input_names, arrays, strict=False))
        if set(given) != set(self.input_names) or len(arrays) > len(self.input_names):
            got = list(inputs) if inputs else f"{len(arrays)} arrays"
            raise ValueError(f"ONNXModel: expected {list(self.input_names)}, got {got}.")
        values: dict[str, Any] = {name: _value(x) for name, x in given.items()}
        wanted = tuple(self.output_names if outputs is None else outputs)
        found = self._run(values, wanted)
        if inputs is not None or outputs is not None:
            return dict(zip(wanted, found, strict=True))
        return found[0] if len(found) == 1 else tuple(found)


def named_arrays(who: str, inputs: Any) -> Mapping[str, Array]:
    """The inputs, where they are arrays by name; TypeError for anything else."""
    if not isinstance(inputs, Mapping):
        raise TypeError(f"{who}: expected inputs by name, as a dict, got {inputs!r:.60}.")
    return inputs


def _value(x: Any) -> Any:
    """What a model takes: a Variable, a list of such, text, or None."""
    if isinstance(x, (list, tuple)):
        return [_value(each) for each in x]
    if isinstance(x, str) or (isinstance(x, np.ndarray) and x.dtype.kind in "OUS"):
        return np.asarray(x).astype("O")
    x = np.asarray(x) if isinstance(x, np.generic) else x
    return x if x is None else as_variable(x)


def _passing(node: Node) -> Node:
    """A node that passes its first input on."""
    return node._replace(op="Identity", inputs=node.inputs[:1], outputs=node.outputs[:1])


def _nodes(graph: Graph) -> Any:
    for node in graph.nodes:
        yield node
        for inner in node.graphs:
            yield from _nodes(inner)


def _refuse_unknown(graph: Graph, label: str) -> None:
    unknown = sorted({n.op for n in _nodes(graph) if n.op not in OPERATORS})
    if unknown:
        hint = nearest(unknown[0], OPERATORS) if len(unknown) == 1 else ""
        raise CheckpointError(
            f"{label}: the model has operators that are not known here: {', '.join(unknown)}.{hint}"
        )


def _used(graph: Graph, table: Mapping[str, tuple[int, ...]]) -> set[str]:
    """The names of values at some places of some operators."""
    return {
        node.inputs[i]
        for node in _nodes(graph)
        for i in table.get(node.op, ())
        if i < len(node.inputs)
    }

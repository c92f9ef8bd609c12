"""Files of ONNX's, read with suspicion: as plain data, within their folder, of plausible sizes."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from core.errors import CheckpointDamaged, CheckpointError
from plugins.extras import need

DEEPEST = 16
"""How deep graphs may lie in graphs."""

MOST = 1 << 22
"""Nodes of a model, those of inner graphs included."""


PACKED = {"uint4": 2, "int4": 2, "float4_e2m1fn": 2, "uint2": 4, "int2": 4}
"""Elements in a byte of small dtypes."""

FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
"""Where a tensor may keep its elements, apart from raw bytes."""


class Graph(NamedTuple):
    """Names of inputs and outputs, arrays by name, and nodes in order."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    arrays: dict[str, Any]
    nodes: tuple[Node, ...]


class Node(NamedTuple):
    """One operator: its name, its settings, and names of what it takes and gives."""

    op: str
    domain: str
    opset: int
    settings: dict[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def get(self, name: str, default: Any = None) -> Any:
        """A setting."""
        return self.settings.get(name, default)


def read(file: str | os.PathLike[str] | Any) -> tuple[Graph, str]:
    """The graph of a file, and what to call the file in errors.

    Raises CheckpointDamaged where it is no model, and CheckpointError for one that is refused.
    """
    onnx = need("onnx", "onnx", "links.ONNXModel")
    if isinstance(file, str | os.PathLike):
        path = Path(file)
        data, label, folder = path.read_bytes(), os.fspath(file), path.resolve().parent
    else:
        data, label, folder = file.read(), str(getattr(file, "name", "the file")), None
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception as error:  # protobuf's own, whose class depends on its implementation
        raise CheckpointDamaged(
            f"{label}: it is no ONNX model: {error}. Use another copy."
        ) from None
    if not model.HasField("graph") or not model.opset_import:
        raise CheckpointDamaged(f"{label}: it is no ONNX model: there is no graph in it.")
    if model.functions:
        raise CheckpointError(
            f"{label}: the model has functions of its own. Inline them: onnx.inliner."
        )
    opsets = {each.domain: each.version for each in model.opset_import}
    graph = _Reader(onnx, label, folder, opsets).graph(model.graph, 0)
    _check_names(graph, label, ())
    return graph, label


def _check_names(graph: Graph, label: str, around: tuple[set[str], ...]) -> None:
    """Raise where a value is read before it is made, is made twice, or has a name that is no text.

    Graphs read values of those around them.
    """
    known = {*graph.inputs, *graph.arrays, ""}
    scopes = (*around, known)

    def made(names: tuple[str, ...]) -> None:
        for name in names:
            if not isinstance(name, str) or (name and name in known):
                raise CheckpointDamaged(f"{label}: the name {name!r} is no text, or given twice.")
            known.add(name)

    def read(names: tuple[str, ...], what: str) -> None:
        for name in names:
            if not any([name in scope for scope in scopes]):
                raise CheckpointDamaged(f"{label}: {what} {name!r}, and nothing before makes it.")

    if not all([isinstance(name, str) for name in known]):
        raise CheckpointDamaged(f"{label}: names of inputs or arrays are no text.")
    for node in graph.nodes:
        if not all([isinstance(name, str) for name in (node.op, node.domain, *node.settings)]):
            raise CheckpointDamaged(f"{label}: the name of an operator is no text: {node.op!r}.")
        read(node.inputs, f"{node.op} takes")
        for setting in node.settings.values():
            if isinstance(setting, Graph):
                _check_names(setting, label, scopes)
        made(node.outputs)
    read(graph.outputs, "the model gives")


def _text(x: Any) -> str:
    return x.decode("utf-8", "replace") if isinstance(x, bytes) else str(x)


class _Reader:
    def __init__(self, onnx: Any, label: str, folder: Path | None, opsets: dict[str, int]) -> None:
        self._onnx, self._label, self._folder, self._opsets = onnx, label, folder, opsets
        self._count = 0

    def graph(self, graph: Any, depth: int) -> Graph:
        if depth > DEEPEST:
            raise CheckpointError(f"{self._label}: graphs lie in graphs, over {DEEPEST} deep.")
        self._count += len(graph.node)
        if self._count > MOST:
            raise CheckpointError(f"{self._label}: the model has more than {MOST} nodes.")
        if graph.sparse_initializer:
            raise CheckpointError(f"{self._label}: sparse arrays are not read.")
        arrays = {tensor.name: self.array(tensor) for tensor in graph.initializer}
        if len(arrays) != len(graph.initializer):
            raise CheckpointDamaged(f"{self._label}: several arrays have one name.")
        return Graph(
            tuple([each.name for each in graph.input if each.name not in arrays]),
            tuple([each.name for each in graph.output]),
            arrays,
            tuple([self._node(node, depth) for node in graph.node]),
        )

    def _node(self, node: Any, depth: int) -> Node:
        settings = {each.name: self._setting(each, depth) for each in node.attribute}
        domain = "" if node.domain == "ai.onnx" else node.domain
        return Node(
            node.op_type,
            domain,
            self._opsets.get(node.domain, self._opsets.get("", 1)),
            settings,
            tuple(node.input),
            tuple(node.output),
        )

    def _setting(self, attribute: Any, depth: int) -> Any:
        kinds = self._onnx.AttributeProto
        if attribute.type == kinds.GRAPH:
            return self.graph(attribute.g, depth + 1)
        if attribute.type == kinds.TENSOR:
            return self.array(attribute.t)
        known = (kinds.FLOAT, kinds.INT, kinds.STRING, kinds.FLOATS, kinds.INTS, kinds.STRINGS)
        if attribute.type not in known:
            return None  # refused by the operator that needs it
        found = self._onnx.helper.get_attribute_value(attribute)
        if isinstance(found, bytes):
            return _text(found)
        if isinstance(found, (int, float)):
            return found
        return [_text(x) if isinstance(x, bytes) else x for x in found]

    def array(self, tensor: Any) -> Any:
        """The array of a tensor; what it says of its size is compared with what is there."""
        helper = self._onnx.numpy_helper
        try:
            dtype = np.dtype(self._onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))
        except KeyError:
            raise CheckpointError(
                f"{self._label}: {tensor.name!r} is of an unknown dtype."
            ) from None
        if any([n < 0 for n in tensor.dims]):
            raise CheckpointDamaged(f"{self._label}: {tensor.name!r} has a size below 0.")
        size, packed = math.prod(tensor.dims), PACKED.get(dtype.name, 1)
        if tensor.data_location == self._onnx.TensorProto.EXTERNAL:
            return self._external(tensor, dtype, size)
        there = packed * len(tensor.raw_data) // max(1, dtype.itemsize)
        there = max(there, *[packed * len(getattr(tensor, field)) for field in FIELDS])
        if size > there:
            raise CheckpointDamaged(
                f"{self._label}: {tensor.name!r} would have {size} elements, and {there} are there."
            )
        try:
            array = np.array(helper.to_array(tensor))
            return array if dtype.kind != "O" else np.vectorize(_text, "O")(array)
        except (ValueError, TypeError) as error:
            raise CheckpointDamaged(f"{self._label}: {tensor.name!r}: {error}.") from None

    def _external(self, tensor: Any, dtype: Any, size: int) -> Any:
        """An array in a file beside the model's, and nowhere else."""
        told = {each.key: each.value for each in tensor.external_data}
        if dtype.kind == "O" or dtype.name in PACKED:
            raise CheckpointError(
                f"{self._label}: {tensor.name!r} is of {dtype}, which is read from the model's own "
                "file alone."
            )
        if self._folder is None:
            raise CheckpointError(
                f"{self._label}: {tensor.name!r} lies in another file. Give the model by its path."
            )
        try:
            path = (self._folder / told.get("location", "")).resolve()
            inside = path.is_relative_to(self._folder) and path.is_file()
        except (OSError, TypeError, ValueError):  # what no file can be called
            inside = False
        if not inside:
            raise CheckpointError(
                f"{self._label}: {tensor.name!r} would lie in {told.get('location')!r}; expected a "
                "file in the folder of the model."
            )
        try:
            offset = int(told.get("offset", 0))
            length = int(told.get("length", size * dtype.itemsize))
        except ValueError:
            raise CheckpointDamaged(f"{self._label}: {tensor.name!r} lies nowhere.") from None
        there = path.stat().st_size
        if offset < 0 or length != size * dtype.itemsize or offset + length > there:
            raise CheckpointDamaged(
                f"{self._label}: {tensor.name!r} would be {size} elements at {offset} of "
                f"{path.name}, which has {there} bytes."
            )
        with open(path, "rb") as file:
            file.seek(offset)
            data = file.read(length)
        return (
            np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(tuple(tensor.dims))
        )

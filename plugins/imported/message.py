"""Files of ONNX's, read with suspicion: as plain data, within their folder, of plausible sizes."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from core.errors import CheckpointDamaged, CheckpointError
from plugins.extras import need
from plugins.serializers.entries import contents

DEEPEST = 16
"""How deep graphs may lie in graphs."""

MOST = 1 << 18
"""Nodes of a model, those of inner graphs and of called functions included."""


PACKED = {"uint4": 2, "int4": 2, "float4_e2m1fn": 2, "uint2": 4, "int2": 4}
"""Elements in a byte of small dtypes."""

FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
"""Where a tensor may keep its elements, apart from raw bytes."""


class Scope(NamedTuple):
    """What names mean: in the model, or in one call of a function of its own.

    Values of a call are called as in the function after a prefix, but for what it is given; a
    setting of a node may be one of the call's.
    """

    opsets: dict[str, int]
    prefix: str = ""
    given: Mapping[str, str] = {}
    settings: Mapping[str, Any] = {}

    def name(self, own: Any) -> Any:
        """What the model calls a value."""
        if not own or not isinstance(own, str):
            return own  # none, or what is refused later
        return self.given.get(own, self.prefix + own)


class Graph(NamedTuple):
    """Names of inputs and outputs, arrays by name, and nodes in order."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    arrays: dict[str, Any]
    nodes: tuple[Node, ...]


class Node(NamedTuple):
    """One operator: its name, its settings, and names of what it takes and gives.

    `group` is what an operator belongs to, as a layer, where models are made of such.
    """

    op: str
    group: str
    opset: int
    settings: dict[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def get(self, name: str, default: Any = None) -> Any:
        """A setting."""
        return self.settings.get(name, default)

    @property
    def graphs(self) -> list[Graph]:
        """Settings that are graphs, as the body of a loop."""
        return [setting for setting in self.settings.values() if isinstance(setting, Graph)]


def read(file: str | os.PathLike[str] | Any) -> tuple[Graph, str]:
    """The graph of a file, and what to call the file in errors.

    Raises CheckpointDamaged where it is no model, and CheckpointError for one that is refused.
    """
    onnx = need("onnx", "onnx", "links.ONNXModel")
    data, label = contents("ONNXModel", file)
    folder = Path(file).resolve().parent if isinstance(file, str | os.PathLike) else None
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception as error:  # protobuf's own, whose class depends on its implementation
        raise CheckpointDamaged(
            f"{label}: it is no ONNX model: {error}. Use another copy."
        ) from None
    if not model.HasField("graph") or not model.opset_import:
        raise CheckpointDamaged(f"{label}: it is no ONNX model: there is no graph in it.")
    graph = _Reader(onnx, label, folder, model.functions).graph(
        model.graph, 0, Scope(_opsets(model.opset_import))
    )
    _check_names(graph, label, ())
    return graph, label


def _check_names(graph: Graph, label: str, around: tuple[set[str], ...]) -> None:
    """Raise where a value is read before it is made, is made twice, or has a name that is no text.

    Graphs read values of those around them.
    """
    known = {*graph.inputs, *graph.arrays, ""}
    scopes = (*around, known)

    def refuse_unknown(names: tuple[str, ...], what: str) -> None:
        unknown = [name for name in names if not any([name in scope for scope in scopes])]
        if unknown:
            raise CheckpointDamaged(f"{label}: {what} {unknown[0]!r}, and nothing before makes it.")

    if not _are_texts(known):
        raise CheckpointDamaged(f"{label}: names of inputs or arrays are no text.")
    for node in graph.nodes:
        if not _are_texts([node.op, *node.settings]):
            raise CheckpointDamaged(f"{label}: the name of an operator is no text: {node.op!r}.")
        refuse_unknown(node.inputs, f"{node.op} takes")
        for inner in node.graphs:
            _check_names(inner, label, scopes)
        for name in node.outputs:
            if not isinstance(name, str) or (name and name in known):
                raise CheckpointDamaged(f"{label}: the name {name!r} is no text, or given twice.")
            known.add(name)
    refuse_unknown(graph.outputs, "the model gives")


def _are_texts(names: Iterable[Any]) -> bool:
    return all([isinstance(name, str) for name in names])


def _text(x: Any) -> str:
    return x.decode("utf-8", "replace") if isinstance(x, bytes) else str(x)


def _opsets(imports: Iterable[Any]) -> dict[str, int]:
    return {_domain(each.domain): each.version for each in imports}


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


class _Reader:
    def __init__(self, onnx: Any, label: str, folder: Path | None, functions: Iterable[Any]):
        self._onnx, self._label, self._folder = onnx, label, folder
        self._functions = {(_domain(f.domain), f.name, f.overload): f for f in functions}
        self._count = self._calls = 0
        self._read: dict[int, tuple[Any, Any]] = {}

    def graph(self, graph: Any, depth: int, scope: Scope) -> Graph:
        self._deep(depth)
        if graph.sparse_initializer:
            raise CheckpointError(f"{self._label}: sparse arrays are not read.")
        arrays = {scope.name(tensor.name): self.array(tensor) for tensor in graph.initializer}
        if len(arrays) != len(graph.initializer):
            raise CheckpointDamaged(f"{self._label}: several arrays have one name.")
        names = [scope.name(each.name) for each in graph.input]
        return Graph(
            tuple([name for name in names if name not in arrays]),
            tuple([scope.name(each.name) for each in graph.output]),
            arrays,
            self._nodes(graph.node, depth, scope),
        )

    def _deep(self, depth: int) -> None:
        if depth > DEEPEST:
            raise CheckpointError(
                f"{self._label}: graphs lie in graphs, or functions call functions, over {DEEPEST} "
                "deep."
            )

    def _nodes(self, nodes: Any, depth: int, scope: Scope) -> tuple[Node, ...]:
        """Nodes in order, with those of a function in the place of its calls."""
        self._count += len(nodes)
        if self._count > MOST:
            raise CheckpointError(f"{self._label}: the model has more than {MOST} nodes.")
        found: list[Node] = []
        for node in nodes:
            domain = _domain(node.domain)
            function = self._functions.get((domain, node.op_type, node.overload))
            settings = self._settings(node, depth, scope)
            if function is not None:
                found += self._called(function, node, settings, depth + 1, scope)
                continue
            found.append(
                Node(
                    f"{domain}.{node.op_type}" if domain else node.op_type,
                    "",
                    scope.opsets.get(domain, scope.opsets.get("", 1)),
                    settings,
                    tuple([scope.name(name) for name in node.input]),
                    tuple([scope.name(name) for name in node.output]),
                )
            )
        return tuple(found)

    def _called(
        self, function: Any, node: Any, settings: dict[str, Any], depth: int, around: Scope
    ) -> list[Node]:
        """The nodes of a function of the model's own, and what they give by the caller's names."""
        self._deep(depth)
        self._calls += 1
        given = [around.name(name) for name in node.input]
        if len(given) > len(function.input) or len(node.output) > len(function.output):
            raise CheckpointDamaged(
                f"{self._label}: {node.op_type} takes {len(function.input)} values and gives "
                f"{len(function.output)}, and is called with {len(given)} for {len(node.output)}."
            )
        given += [""] * (len(function.input) - len(given))
        scope = Scope(
            _opsets(function.opset_import) or around.opsets,
            f"{function.name}:{self._calls}/",
            dict(zip(function.input, given, strict=True)),
        )
        usual = {each.name: self._setting(each, depth, scope) for each in function.attribute_proto}
        nodes = self._nodes(function.node, depth, scope._replace(settings=usual | settings))
        passed = [
            Node("Identity", "", 1, {}, (scope.name(own),), (around.name(name),))
            for own, name in zip(function.output, node.output, strict=False)
            if name
        ]
        return [*nodes, *passed]

    def _settings(self, node: Any, depth: int, scope: Scope) -> dict[str, Any]:
        """The settings of a node; those that stand for a setting of the call may be missing."""
        found = {}
        for each in node.attribute:
            if not each.ref_attr_name:
                found[each.name] = self._setting(each, depth, scope)
            elif each.ref_attr_name in scope.settings:
                found[each.name] = scope.settings[each.ref_attr_name]
        return found

    def _setting(self, attribute: Any, depth: int, scope: Scope) -> Any:
        kinds = self._onnx.AttributeProto
        if attribute.type == kinds.GRAPH:
            return self.graph(attribute.g, depth + 1, scope)
        if attribute.type == kinds.TENSOR:
            return self._once(attribute.t)
        known = (kinds.FLOAT, kinds.INT, kinds.STRING, kinds.FLOATS, kinds.INTS, kinds.STRINGS)
        if attribute.type not in known:
            return None  # refused by the operator that needs it
        found = self._onnx.helper.get_attribute_value(attribute)
        if isinstance(found, bytes):
            return _text(found)
        if isinstance(found, (int, float)):
            return found
        return [_text(x) if isinstance(x, bytes) else x for x in found]

    def _once(self, tensor: Any) -> Any:
        """The array of a tensor, which calls of a function share."""
        if id(tensor) not in self._read:
            self._read[id(tensor)] = (
                tensor,
                self.array(tensor),
            )  # kept, so that its id stays its own
        return self._read[id(tensor)][1]

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

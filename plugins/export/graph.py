"""A graph of ONNX's that is being written: nodes, constants, and names of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np

from core.errors import ExportError
from core.programs import Equation, Value
from plugins.export.external import LEAST, External
from plugins.export.sizes import CURE, Dim, Share, Sizes, Terms
from plugins.extras import need

LARGEST = (1 << 31) - (1 << 24)
"""Bytes of all arrays; a file has 2 GiB at most, and there are nodes beside them."""

ORDERING = {"ArgMax", "ArgMin", "Max", "Min", "ReduceMax", "ReduceMin", "TopK"}

WIDENED = {
    *ORDERING,
    *("CumSum", "Einsum", "MatMul", "Pow", "ReduceProd", "ReduceSum", "Trilu", "Where"),
}
"""Operators that ONNX, or runtimes, have of few integers, but of int64."""


class Graph:
    """What translations add nodes to; arrays are named by strings.

    `opset` is the version of ONNX's operators, `sizes` are those that are open. A translation asks
    for the names of its inputs by `operand`, adds nodes, each by `add`, and returns the names of
    its results.
    """

    def __init__(self, opset: int, sizes: Sizes, external: External | None = None) -> None:
        self.opset = opset
        self._external = external
        self._sizes = sizes
        self.given_sizes = sizes.given
        self._helper = need("onnx.helper", "onnx", "core.export.onnx")
        self._numpy_helper = need("onnx.numpy_helper", "onnx", "core.export.onnx")
        self._kinds = need("onnx", "onnx", "core.export.onnx").TensorProto.DataType
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.names: dict[Value, str] = {}
        self.arrays: dict[Value, tuple[str, Any]] = {}
        self.origin = ""
        self._taken: set[str] = set()
        self._dtypes: dict[str, Any] = {}
        self._known: dict[Any, str] = {}
        self._bytes = 0

    # ------------------------------------------------------------------ nodes

    def add(self, op: str, *inputs: str, dtype: Any = None, **attributes: Any) -> str:
        """Add a node; gives the name of its result, of `dtype` or that of the first input."""
        return self.add_several(op, 1, *inputs, dtype=dtype, **attributes)[0]

    def add_several(
        self, op: str, count: int, *inputs: str, dtype: Any = None, **attributes: Any
    ) -> list[str]:
        """Add a node with several results, of one dtype, or a tuple of one for each."""
        self._refuse_open([*attributes.values()])
        if op in WIDENED and (narrow := self._narrow(op, inputs)) is not None:
            return self._widened(op, count, inputs, dtype, narrow, attributes)
        self._refuse_dtypes(op, inputs)
        found = [self.unused(f"{op}_0" if count == 1 else f"{op}_{i}") for i in range(count)]
        name = self.unused(f"{self.origin}/{op}" if self.origin else op)
        self.nodes.append(self._helper.make_node(op, list(inputs), found, name=name, **attributes))
        dtypes = dtype if isinstance(dtype, tuple) else (dtype,) * count
        for each, own in zip(found, dtypes, strict=True):
            self._dtypes[each] = np.dtype(own) if own is not None else self.dtype(inputs[0])
        return found

    def _narrow(self, op: str, inputs: Sequence[str]) -> Any:
        """The dtype of which there may be no such operator, if the inputs have one."""
        dtype = self.dtype(inputs[op == "Where"])  # whose first one is the condition
        if dtype.kind not in "biu" or dtype in ("int32", "int64"):
            return None
        whole = dtype == "uint64" and op in ORDERING  # whose upper half int64 has below 0
        return None if whole or (dtype.kind == "b" and op == "Where") else dtype

    def _widened(
        self, op: str, count: int, inputs: Sequence[str], dtype: Any, narrow: Any, attributes: Any
    ) -> list[str]:
        """Results of int64, in the dtype that the inputs have: what is modulo 2^n stays so."""
        first = int(op == "Where")
        given = [self.cast(x, "int64") if self.dtype(x) == narrow else x for x in inputs[first:]]
        dtypes = dtype if isinstance(dtype, tuple) else (dtype,) * count
        own = [narrow if each is None else np.dtype(each) for each in dtypes]
        wide = tuple([np.dtype("int64") if each == narrow else each for each in own])
        found = self.add_several(op, count, *inputs[:first], *given, dtype=wide, **attributes)
        return [self.cast(name, each) for name, each in zip(found, own, strict=True)]

    def unused(self, name: str) -> str:
        """The name, with a number where it is taken."""
        found, n = name, 0
        while found in self._taken:
            n += 1
            found = f"{name.rstrip('0123456789')}{n}" if name.endswith("0") else f"{name}_{n}"
        self._taken.add(found)
        return found

    def dtype(self, name: str) -> Any:
        """The dtype of a named array."""
        return self._dtypes[name]

    def refuse(self, equation: Equation, why: str = "ONNX has no operator for it") -> ExportError:
        """The error for what cannot be exported."""
        origin = equation.origin
        where = ", ".join([part for part in (str(origin), origin.line) if part])
        return ExportError(f"onnx: {equation.call.name} cannot be exported: {why} ({where}).")

    # ------------------------------------------------------------------ arrays

    def define(self, value: Value, name: str, array: Any = None) -> str:
        """Give a value a name of its own, and an array if it is known."""
        name = self.unused(name)
        self.names[value] = name
        self._dtypes[name] = np.dtype(value.dtype)
        if array is not None:
            self._keep(np.ascontiguousarray(array).reshape(array.shape), name)
        return name

    def _keep(self, array: Any, name: str) -> None:
        """Write an array into the file, or beside it."""
        if self._external is not None and array.nbytes >= LEAST:
            kind = self.element_type(array.dtype)
            self.initializers.append(self._external.tensor(array, name, kind))
            return
        self._bytes += array.nbytes
        if self._bytes > LARGEST:
            raise ExportError(
                f"onnx: expected at most {LARGEST} bytes of arrays, which is what a file of this "
                f"format holds, got {self._bytes} with {name}. Put them beside it by "
                "external_data=True."
            )
        self.initializers.append(self._numpy_helper.from_array(array, name))

    def value(self, value: Value) -> str:
        """The name of a value."""
        name = self.names.get(value)
        if name is None:
            name, array = self.arrays[value]
            return self.define(value, name, np.asarray(array))
        return name

    def operand(self, x: Any, dtype: Any = None) -> str:
        """The name of an argument, a value or a number, in a dtype."""
        if isinstance(x, Value):
            name = self.value(x)
            return name if dtype is None else self.cast(name, dtype)
        return self.number(x, dtype)

    def cast(self, name: str, dtype: Any) -> str:
        """The array in a dtype."""
        dtype = np.dtype(dtype)
        if self.dtype(name) == dtype:
            return name
        return self.add("Cast", name, dtype=dtype, to=self.element_type(dtype))

    def element_type(self, dtype: Any) -> int:
        """ONNX's number for a dtype."""
        return int(self._helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def constant(self, array: Any, dtype: Any = None) -> str:
        """An array that is written into the file."""
        self._refuse_open(array)
        array = np.asarray(array, dtype)
        key = array.dtype.str, array.shape, sha256(array.tobytes()).digest()
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = self.unused("constant_0")
            self._keep(array, name)
            self._dtypes[name] = array.dtype
        return name

    def _refuse_dtypes(self, op: str, inputs: Sequence[str]) -> None:
        """Raise where ONNX has the operator, but of other dtypes: the file would not be valid."""
        defs = need("onnx.defs", "onnx", "core.export.onnx")
        if not defs.has(op):
            return  # as of another domain
        schema = defs.get_schema(op, self.opset)
        taken = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
        for i, name in enumerate(inputs):
            of = schema.inputs[min(i, len(schema.inputs) - 1)].type_str
            if name not in self._dtypes or of not in taken:
                continue
            dtype = self.dtype(name)
            called = self._kinds.Name(self.element_type(dtype)).lower()
            if f"tensor({called})" not in taken[of]:
                raise ExportError(
                    f"onnx: {self.origin} cannot be exported: {op} of opset {self.opset} takes no "
                    f"{dtype}. Export the model in another dtype, as float32."
                )

    def _refuse_open(self, array: Any) -> None:
        """Raise where a number that follows open sizes would be written as it is in one trace."""
        if isinstance(array, (list, tuple)):
            for each in array:
                self._refuse_open(each)
        elif isinstance(array, (Dim, Share)):
            raise ExportError(
                f"onnx: {self.origin} cannot be exported: it has a number that follows open sizes "
                f"where the file has a fixed one. {CURE}"
            )

    def number(self, x: Any, dtype: Any = None) -> str:
        """A number, without axes."""
        if isinstance(x, Dim):
            name = self.add("Squeeze", self._dim(x))
            return name if dtype is None else self.cast(name, dtype)
        if isinstance(x, Share):
            kind = np.dtype("float64" if dtype is None else dtype)
            name = self.constant(x.total, kind)
            for op, size in (("Mul", x.above), ("Div", x.below)):
                if isinstance(size, Dim):
                    name = self.add(op, name, self.number(size, kind))
            return self.add("Sqrt", name) if x.is_root else name
        return self.constant(x, dtype)

    def integers(self, numbers: Sequence[int]) -> str:
        """A vector of integers, as a shape."""
        if not any([isinstance(n, Dim) for n in numbers]):
            return self.constant([int(n) for n in numbers], "int64")
        parts = [
            self._dim(n) if isinstance(n, Dim) else self.constant([int(n)], "int64")
            for n in numbers
        ]
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=0)

    def _dim(self, n: Dim) -> str:
        return self._sum(n.terms)

    def _sum(self, terms: Terms) -> str:
        if terms not in self._known:
            found = [self._term(*term) for term in terms]
            while len(found) > 1:
                found[:2] = [self.add("Add", *found[:2])]
            self._known[terms] = found[0]
        return self._known[terms]

    def _term(self, sizes: tuple[str, ...], factor: int) -> str:
        """A product of sizes and a factor, which is left out where it is 1."""
        found = [self._size(name) for name in sizes]
        if factor != 1 or not found:
            found.append(self.constant([factor], "int64"))
        while len(found) > 1:
            found[:2] = [self.add("Mul", *found[:2])]
        return found[0]

    def _size(self, name: str) -> str:
        """The size of an input, or of what has been written, along the axis that it names."""
        key = "size", name
        if key not in self._known:
            places = self._sizes.places[name]
            there = [(v if isinstance(v, str) else self.names.get(v), axis) for v, axis in places]
            of, axis = next(((each, axis) for each, axis in there if each), ("", 0))
            if not of and (terms := self._sizes.sums.get(name)) is not None:
                return self._sum(terms)
            if not of:
                raise ExportError(
                    f"onnx: a size that is open is asked for before it is there ({self.origin}). "
                    f"{CURE}"
                )
            self._known[key] = self.add("Shape", of, dtype="int64", start=axis, end=axis + 1)
        return self._known[key]

    # ------------------------------------------------------------------ shapes

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        """The elements, reshaped."""
        open_axes = [i for i, n in enumerate(shape) if isinstance(n, Dim)]
        if len(open_axes) == 1 and 0 not in shape:
            shape = [-1 if i in open_axes else n for i, n in enumerate(shape)]
        more = {"allowzero": 1} if 0 in shape else {}
        return self.add("Reshape", name, self.integers(shape), **more)

    def expand(self, name: str, shape: Sequence[int]) -> str:
        """The array broadcast to a shape."""
        if 0 in shape:  # onnxruntime leaves axes of one as they are
            return self.full(shape, 0, self.dtype(name))
        return self.add("Expand", name, self.integers(shape))

    def transpose(self, name: str, order: Sequence[int]) -> str:
        """The axes in another order."""
        if list(order) == list(range(len(order))):
            return name
        return self.add("Transpose", name, perm=list(order))

    def full(self, shape: Sequence[int], value: Any, dtype: Any) -> str:
        """An array of one number."""
        if isinstance(value, (Value, Dim, Share)):
            return self.expand(self.operand(value, dtype), shape)
        if not any([isinstance(n, Dim) for n in shape]) and not shape:
            return self.constant(value, dtype)
        tensor = self._numpy_helper.from_array(np.asarray([value], dtype))
        return self.add("ConstantOfShape", self.integers(shape), dtype=dtype, value=tensor)

    def gather(self, name: str, places: Any, axis: int) -> str:
        """Elements along an axis."""
        index = places if isinstance(places, str) else self.constant(places, "int64")
        return self.add("Gather", name, index, axis=axis)


def argument(e: Equation, place: int, name: str, usual: Any = None) -> Any:
    """What a call was given, by its place or its name."""
    return e.kwargs.get(name, e.args[place] if len(e.args) > place else usual)


Translation: TypeAlias = Callable[[Graph, Equation], list[str]]
"""What writes one call: it gives the names of the results."""

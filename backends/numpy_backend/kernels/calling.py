"""How Python calls a compiled loop: machine code beside it that looks at the arguments.

There are two ways in: `call` computes, and `pack` puts the arguments where another thread finds
them. Both are written in LLVM's words and need nothing but the interpreter, so that machine code
found on disk runs in processes that never import numba. Arrays are read where NumPy's header
`ndarraytypes.h` says that their parts lie.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.np.numpy_support import as_dtype

from backends.numpy_backend.kernels.packing import FAILED, START, STOP, THREAD

WHOLE, HALF, BYTE, TRUTH = [ir.IntType(bits) for bits in (64, 32, 8, 1)]
OBJECT, DOUBLE = BYTE.as_pointer(), ir.DoubleType()

HEAD = object.__basicsize__  # bytes of an object before what is its own; its type is the last of it
DATA, AXES, SHAPE, STRIDES, DTYPE, FLAGS = 0, 8, 16, 24, 40, 48  # of an array
BYTE_ORDER, NUMBER = 10, 12  # of a dtype
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400  # flags
KINDS = np.typecodes["AllInteger"] + "?fd"
SWAPPED = ord(">" if sys.byteorder == "little" else "<")


def add_wrappers(context: Any, library: Any, loop: Any, name: str, release: bool) -> None:
    """Put `call`, under this name, and `pack` beside a loop, which may `release` the lock."""
    module = context.create_module("calling")
    wrappers = _Wrappers(context, module, loop)
    wrappers.write_call(name, release)
    if context.get_abi_sizeof(wrappers.layout) <= FAILED:
        wrappers.write_pack(packs(name))
    library.add_ir_module(module)


def packs(name: str) -> str:
    """The name of what packs arguments, beside that of what calls with them."""
    return f"{name}.pack"


class _Wrappers:
    """Functions as the interpreter calls those with METH_FASTCALL: (self, arguments, count).

    Their `self` is the type of arrays. Arguments are read into what is packed, or the like of it.
    What reads and packs is not optimised: it is as fast as it stands, and soon compiled.
    """

    def __init__(self, context: Any, module: Any, loop: Any) -> None:
        self.context, self.module, self.loop = context, module, loop
        kind = context.call_conv.get_function_type(loop.restype, loop.argtypes)
        self.function = ir.Function(module, kind, loop.llvm_func_name)
        values = [context.get_value_type(kind) for kind in loop.argtypes]
        self.layout = ir.LiteralStructType([WHOLE, *values, WHOLE])
        self.readers: dict[Any, Any] = {}
        self.reader = self._reads_all()

    # -- the two ways in -----------------------------------------------------------------------

    def write_call(self, name: str, release: bool) -> None:
        """Write `call(*arguments)`, which computes."""
        builder, [types_of, arguments, count] = self._begin(name)
        to, size = builder.alloca(self.layout), len(self.loop.argtypes)
        self._unless(builder, builder.icmp_signed("==", count, WHOLE(size)))
        self._unless(builder, builder.call(self.reader, [types_of, arguments, to]))
        values = [builder.load(_place(builder, to, i)) for i in range(1, 1 + size)]
        if release:
            thread = self._python(builder, "PyEval_SaveThread", OBJECT)
        status = self._compute(builder, values)
        if release:
            self._python(builder, "PyEval_RestoreThread", ir.VoidType(), thread)
        with builder.if_then(status.is_error, likely=False):  # nothing else can fail in a loop
            self._set_error(builder, "MemoryError", "no memory for the arrays that it makes")
            builder.ret(OBJECT(None))
        self._end(builder)

    def write_pack(self, name: str) -> None:
        """Write `pack(*arguments, count, address)`: what calls the loop with these arguments.

        At the address it writes that of a function, and behind it the arguments. The function,
        which is called with the address, the number of the thread and that of the part, calls the
        loop, and writes where `packing.FAILED` says if there was no memory. Of `count` parts each
        has an equal share of what lies before `stop`; those of 0 are not divided. Arrays are not
        counted as held: whoever packs them holds them until that is done.
        """
        builder, [types_of, arguments, count] = self._begin(name, "noinline", "optnone")
        size = len(self.loop.argtypes)
        number = builder.alloca(WHOLE)
        self._unless(builder, builder.icmp_signed("==", count, WHOLE(size + 2)))
        parts, address = [
            self._read(builder, types.intp, types_of, _item(builder, arguments, i), number)
            for i in (size, size + 1)
        ]
        to = builder.inttoptr(address, self.layout.as_pointer())
        self._unless(builder, builder.call(self.reader, [types_of, arguments, to]))
        builder.store(builder.ptrtoint(self._part(), WHOLE), _place(builder, to, 0))
        builder.store(parts, _place(builder, to, size + 1))
        builder.store(WHOLE(0), _failed(builder, address))
        self._end(builder)

    def _begin(self, name: str, *attributes: str) -> tuple[Any, Any]:
        kind = ir.FunctionType(OBJECT, [OBJECT, OBJECT.as_pointer(), WHOLE])
        function = ir.Function(self.module, kind, name)
        for attribute in attributes:
            function.attributes.add(attribute)
        return ir.IRBuilder(function.append_basic_block()), function.args

    def _end(self, builder: Any) -> None:
        none = self._object("None")
        self._python(builder, "Py_IncRef", ir.VoidType(), none)
        builder.ret(none)

    def _unless(self, builder: Any, condition: Any) -> None:
        """Refuse the arguments unless a condition holds."""
        with builder.if_then(builder.not_(condition), likely=False):
            error = self._python(builder, "PyErr_Occurred", OBJECT)
            with builder.if_then(builder.icmp_unsigned("==", error, OBJECT(None))):
                expected = ", ".join(map(str, self.loop.argtypes))
                self._set_error(builder, "TypeError", f"expected ({expected})")
            builder.ret(OBJECT(None))

    def _compute(self, builder: Any, values: list[Any]) -> Any:
        gives, kinds = self.loop.restype, self.loop.argtypes
        convention = self.context.call_conv
        return convention.call_function(builder, self.function, gives, kinds, values)[0]

    def _part(self) -> Any:
        """The function that computes a part of what is packed."""
        kind = ir.FunctionType(ir.VoidType(), [WHOLE] * 3)
        part = self._internal("plugrad.part", kind)
        builder = ir.IRBuilder(part.append_basic_block())
        packed = builder.load(builder.inttoptr(part.args[0], self.layout.as_pointer()))
        _, thread, number = part.args
        names = self.loop.args
        known = {name: builder.extract_value(packed, i) for i, name in enumerate(names, 1)}
        if THREAD in known:
            known[THREAD] = thread
        if STOP in known:
            edges = _edges(builder, known[START], known[STOP], packed, number)
            known[START], known[STOP] = edges
        status = self._compute(builder, [*known.values()])
        with builder.if_then(status.is_error, likely=False):
            builder.store(WHOLE(1), _failed(builder, part.args[0]))
        builder.ret_void()
        return part

    # -- arguments -----------------------------------------------------------------------------

    def _reads_all(self) -> Any:
        """A function that puts all arguments in their places, and says whether they fit."""
        kind = ir.FunctionType(TRUTH, [OBJECT, OBJECT.as_pointer(), self.layout.as_pointer()])
        function = self._internal("plugrad.read", kind)
        types_of, arguments, to = function.args
        builder = ir.IRBuilder(function.append_basic_block())
        for i, kind in enumerate(self.loop.argtypes):
            given, place = _item(builder, arguments, i), _place(builder, to, i + 1)
            fits = builder.call(self._reads(kind), [types_of, given, place])
            with builder.if_then(builder.not_(fits), likely=False):
                builder.ret(TRUTH(0))
        builder.ret(TRUTH(1))
        return function

    def _reads(self, kind: Any) -> Any:
        """A function that puts an argument of some type in its place, and says whether it fits."""
        if kind not in self.readers:
            to = self.context.get_value_type(kind).as_pointer()
            declared = ir.FunctionType(TRUTH, [OBJECT, OBJECT, to])
            function = self.readers[kind] = self._internal("plugrad.read", declared)
            builder = ir.IRBuilder(function.append_basic_block())
            if isinstance(kind, types.Array):
                self._read_array(builder, kind, *function.args)
            else:
                self._read_number(builder, *function.args[1:])
            builder.ret(TRUTH(1))
        return self.readers[kind]

    def _read(self, builder: Any, kind: Any, types_of: Any, given: Any, place: Any) -> Any:
        self._unless(builder, builder.call(self._reads(kind), [types_of, given, place]))
        return builder.load(place)

    def _read_number(self, builder: Any, given: Any, place: Any) -> None:
        """A number, whole or real, whose conversion may fail."""
        kind = place.type.pointee
        if isinstance(kind, ir.IntType):
            too_large = self._object("OverflowError")
            value = self._python(builder, "PyNumber_AsSsize_t", WHOLE, given, too_large)
            failed = builder.icmp_signed("==", value, WHOLE(-1))
        else:
            value = self._python(builder, "PyFloat_AsDouble", DOUBLE, given)
            failed = builder.fcmp_ordered("==", value, DOUBLE(-1.0))
        with builder.if_then(failed, likely=False):
            error = self._python(builder, "PyErr_Occurred", OBJECT)
            with builder.if_then(builder.icmp_unsigned("!=", error, OBJECT(None))):
                builder.ret(TRUTH(0))
        builder.store(value if value.type == kind else builder.fptrunc(value, kind), place)

    def _read_array(self, builder: Any, kind: Any, types_of: Any, given: Any, place: Any) -> None:
        """An array, as numba knows it: with its size, but counted as nobody's."""

        def require(condition: Any) -> None:
            with builder.if_then(builder.not_(condition), likely=False):
                builder.ret(TRUTH(0))

        require(builder.icmp_unsigned("==", _part(builder, given, HEAD - 8, OBJECT), types_of))
        flags = HALF(
            ALIGNED | (CONTIGUOUS if kind.layout == "C" else 0) | (WRITEABLE if kind.mutable else 0)
        )
        has = builder.and_(_part(builder, given, HEAD + FLAGS, HALF), flags)
        require(builder.icmp_signed("==", has, flags))
        axes = _part(builder, given, HEAD + AXES, HALF)
        require(builder.icmp_signed("==", axes, HALF(kind.ndim)))
        described, dtype = _part(builder, given, HEAD + DTYPE, OBJECT), as_dtype(kind.dtype)
        order = _part(builder, described, HEAD + BYTE_ORDER, BYTE)
        require(builder.icmp_signed("!=", order, BYTE(SWAPPED)))
        number, same = _part(builder, described, HEAD + NUMBER, HALF), TRUTH(0)
        # NumPy has a number for each type of C's, of which some are the same.
        for n in sorted({n.num for n in map(np.dtype, KINDS) if n == dtype}):
            same = builder.or_(same, builder.icmp_signed("==", number, HALF(n)))
        require(same)

        fields = self.context.data_model_manager[kind]._fields
        known = {name: _place(builder, place, i) for i, name in enumerate(fields)}
        size = WHOLE(1)
        for name, at in (("shape", SHAPE), ("strides", STRIDES)):
            numbers = _part(builder, given, HEAD + at, OBJECT)
            for axis in range(kind.ndim):
                value = _part(builder, numbers, 8 * axis, WHOLE)
                builder.store(value, _place(builder, known[name], axis))
                size = builder.mul(size, value) if name == "shape" else size
        data = _part(builder, given, HEAD + DATA, known["data"].type.pointee)
        for name, value in (("nitems", size), ("itemsize", WHOLE(dtype.itemsize)), ("data", data)):
            builder.store(value, known[name])
        for name in ("meminfo", "parent"):
            builder.store(known[name].type.pointee(None), known[name])

    # -- words of LLVM's -----------------------------------------------------------------------

    def _internal(self, name: str, kind: Any) -> Any:
        function = ir.Function(self.module, kind, self.module.get_unique_name(name))
        function.linkage = "internal"
        for attribute in ("noinline", "optnone"):
            function.attributes.add(attribute)
        return function

    def _object(self, name: str) -> Any:
        """One of the objects whose addresses the linker is told."""
        symbol = f"plugrad.{name}"
        if symbol not in self.module.globals:
            ir.GlobalVariable(self.module, BYTE, symbol)
        return self.module.globals[symbol]

    def _python(self, builder: Any, name: str, gives: Any, *values: Any) -> Any:
        """Call a function of the interpreter's."""
        if name not in self.module.globals:
            ir.Function(self.module, ir.FunctionType(gives, [v.type for v in values]), name)
        return builder.call(self.module.globals[name], values)

    def _set_error(self, builder: Any, kind: str, text: str) -> None:
        symbol = f"plugrad.text of {kind}"
        if symbol not in self.module.globals:
            data = bytearray(f"{self.loop.qualname}: {text}".encode() + b"\0")
            constant = ir.Constant(ir.ArrayType(BYTE, len(data)), data)
            place = ir.GlobalVariable(self.module, constant.type, symbol)
            place.linkage, place.global_constant, place.initializer = "internal", True, constant
        words = builder.bitcast(self.module.globals[symbol], OBJECT)
        self._python(builder, "PyErr_SetString", ir.VoidType(), self._object(kind), words)


def _item(builder: Any, arguments: Any, i: int) -> Any:
    return builder.load(builder.gep(arguments, [WHOLE(i)]))


def _place(builder: Any, pointer: Any, i: int) -> Any:
    """Where a part of a structure or an array lies."""
    return builder.gep(pointer, [HALF(0), HALF(i)], inbounds=True)


def _failed(builder: Any, address: Any) -> Any:
    """Where a part says that it failed, of what is packed at an address."""
    return builder.inttoptr(builder.add(address, WHOLE(FAILED)), WHOLE.as_pointer())


def _part(builder: Any, pointer: Any, offset: int, kind: Any) -> Any:
    """What lies so many bytes behind a pointer."""
    place = builder.gep(pointer, [WHOLE(offset)])
    return builder.load(builder.bitcast(place, kind.as_pointer()))


def _edges(builder: Any, start: Any, stop: Any, packed: Any, number: Any) -> tuple[Any, Any]:
    """Where a part begins and ends."""
    count = builder.extract_value(packed, len(packed.type) - 1)
    divided = builder.icmp_unsigned("!=", count, count.type(0))
    of = builder.select(divided, count, count.type(1))
    edges = [
        builder.udiv(builder.mul(stop, builder.add(number, number.type(i))), of) for i in (0, 1)
    ]
    first, last = [
        builder.select(divided, edge, whole)
        for edge, whole in zip(edges, (start, stop), strict=True)
    ]
    return first, last

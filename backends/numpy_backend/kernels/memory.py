"""Memory for arrays that a loop makes, in its own machine code: numba's runtime is not there.

A loop calls two functions of that runtime by name. They are written into its module, under these
names, and become its own. Behind a head, which numba reads and in which it counts who holds the
array, lies the memory.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core.runtime.nrtdynmod import _meminfo_struct_type as HEAD

ALLOCATE, FREE = "NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor"
ROOM = 64  # bytes for the head

WHOLE, HALF, BYTES = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()


def add_memory(context: Any, library: Any) -> None:
    """Put the functions beside a loop."""
    module = context.create_module("memory")
    _write_allocate(module)
    _write_free(module)
    library.add_ir_module(module)


def keep_memory(module: Any) -> None:
    """Let the functions be those of a module alone, once all of it is there."""
    for function in module.functions:
        if function.name in (ALLOCATE, FREE) and not function.is_declaration:
            function.linkage = "internal"


def _write_allocate(module: Any) -> None:
    """Write (bytes, alignment) -> the head, or null where there is no memory."""
    function, builder = _begun(module, ALLOCATE, BYTES, WHOLE, HALF)
    size, alignment = function.args
    alignment = builder.zext(alignment, WHOLE)
    wanted = builder.add(builder.add(size, alignment), WHOLE(ROOM))
    # The interpreter's lock is not needed for it.
    kind = ir.FunctionType(BYTES, [WHOLE])
    found = builder.call(ir.Function(module, kind, "PyMem_RawMalloc"), [wanted])
    with builder.if_then(builder.icmp_unsigned("==", found, BYTES(None)), likely=False):
        builder.ret(found)
    first = builder.add(builder.ptrtoint(found, WHOLE), WHOLE(ROOM - 1))
    first = builder.and_(builder.add(first, alignment), builder.neg(alignment))
    head = builder.bitcast(found, HEAD.as_pointer())
    data = builder.inttoptr(first, BYTES)
    for i, value in enumerate((WHOLE(1), BYTES(None), BYTES(None), data, size)):
        builder.store(value, builder.gep(head, [HALF(0), HALF(i)], inbounds=True))
    builder.ret(found)


def _write_free(module: Any) -> None:
    """Write (the head) -> nothing, which nobody holds any more."""
    function, builder = _begun(module, FREE, ir.VoidType(), BYTES)
    kind = ir.FunctionType(ir.VoidType(), [BYTES])
    builder.call(ir.Function(module, kind, "PyMem_RawFree"), function.args)
    builder.ret_void()


def _begun(module: Any, name: str, gives: Any, *kinds: Any) -> tuple[Any, Any]:
    function = ir.Function(module, ir.FunctionType(gives, kinds), name)
    for attribute in ("noinline", "optnone"):  # loops are optimised as if it were another's
        function.attributes.add(attribute)
    return function, ir.IRBuilder(function.append_basic_block())

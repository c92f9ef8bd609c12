"""Arguments of a compiled loop in memory, where another thread finds them."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from backends.numpy_backend.kernels.team import STRIDE

THREAD = "thread"
"""A loop's parameter of this name is the number of the thread, 0 for the one that has the parts."""


def packer(function: Any, loop: Any, kept: bool) -> Any:
    """`pack(*args, address)` for a compiled loop: what calls it with these arguments, in memory.

    At the address it writes that of a function, and behind it the arguments. The function, which is
    called with the address and the number of the thread, calls the loop. Arrays are not counted as
    held: whoever packs them holds them until that is done.
    """
    import numba

    [found] = loop.overloads.values()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    listed = ", ".join(names)
    scope: dict[str, Any] = {"pack": _intrinsic(found, names)}
    exec(f"def packing({listed}, address):\n    pack(address, ({listed},))\n", scope)
    written = scope["packing"].__code__
    code = written.replace(
        co_filename=function.__code__.co_filename, co_firstlineno=function.__code__.co_firstlineno
    )
    named = FunctionType(code, scope, f"{function.__name__}_packing")
    named.__module__ = function.__module__
    signature = numba.types.void(*found.signature.args, numba.types.intp)
    return numba.njit(signature, nogil=False, cache=kept, boundscheck=False)(named)


def _intrinsic(found: Any, names: tuple[str, ...]) -> Any:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    def pack(typing: Any, address: Any, arguments: Any) -> Any:
        def written(context: Any, builder: Any, signature: Any, values: Any) -> None:
            from llvmlite import ir

            context.add_linking_libs([found.library])
            place, together = values
            kinds = found.signature.args
            arguments = cgutils.unpack_tuple(builder, together, len(kinds))
            arguments = [
                _borrowed(builder, value) if isinstance(kind, types.Array) else value
                for kind, value in zip(kinds, arguments, strict=True)
            ]
            whole = ir.IntType(64)
            layout = ir.LiteralStructType([whole, *[value.type for value in arguments]])
            if context.get_abi_sizeof(layout) > STRIDE:
                raise ValueError(f"{found.fndesc.qualname} takes more than {STRIDE} bytes.")
            kind = ir.FunctionType(ir.VoidType(), [whole, whole])
            function = ir.Function(builder.module, kind, "plugrad.part")
            function.linkage = "internal"
            inner = ir.IRBuilder(function.append_basic_block())
            packed = inner.load(inner.inttoptr(function.args[0], layout.as_pointer()))
            taken = [
                function.args[1] if name == THREAD else inner.extract_value(packed, i)
                for i, name in enumerate(names, 1)
            ]
            context.call_internal_no_propagate(inner, found.fndesc, found.signature, taken)
            inner.ret_void()
            to = builder.inttoptr(place, layout.as_pointer())
            first, *others = [
                cgutils.gep_inbounds(builder, to, 0, i) for i in range(len(arguments) + 1)
            ]
            builder.store(builder.ptrtoint(function, whole), first)
            for value, pointer in zip(arguments, others, strict=True):
                builder.store(value, pointer)

        return types.void(address, arguments), written

    return intrinsic(pack)


def _borrowed(builder: Any, array: Any) -> Any:
    """An array of which numba counts no references: its owner holds it."""
    for i in (0, 1):  # meminfo and parent
        array = builder.insert_value(array, array.type.elements[i](None), i)
    return array

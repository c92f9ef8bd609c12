"""Arguments of a compiled loop in memory, where another thread finds them."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType
from typing import Any

from backends.numpy_backend.kernels.kept import machine_code

STRIDE = 2048
"""Bytes of what is packed, at most."""

THREAD = "thread"
"""A loop's parameter of this name is the number of the thread, 0 for the one that has the parts."""

START, STOP = "start", "stop"
"""Parameters of these names are where the part begins and ends, where one packing has them all."""


def packer(function: Any, loop: Any, folder: Path | None) -> Any:
    """`pack(*args, count, address)` for a compiled loop: what calls it with these arguments.

    At the address it writes that of a function, and behind it the arguments. The function, which is
    called with the address, the number of the thread and that of the part, calls the loop. Of
    `count` parts each has an equal share of what lies before `stop`; those of 0 are not divided.
    Arrays are not counted as held: whoever packs them holds them until that is done.
    """
    import llvmlite.binding
    import numba

    from backends.numpy_backend.kernels.lowering import Compiler

    [found] = loop.overloads.values()
    # Another module's function, whose machine code is there: it is not compiled a second time. Its
    # own name is another in each process that compiles it; that in files has to stay the same.
    symbol = f"plugrad.{function.__module__}.{function.__qualname__}.{found.signature}"
    address = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
    llvmlite.binding.add_symbol(symbol, address)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    listed = ", ".join(names)
    scope: dict[str, Any] = {"pack": _intrinsic(found, names, symbol)}
    # A name of its own, as loops have: machine code of one name is looked up as if it were one.
    name = f"{function.__name__}_packing"
    exec(f"def {name}({listed}, count, address):\n    pack(address, count, ({listed},))\n", scope)
    written = scope[name].__code__
    code = written.replace(
        co_filename=function.__code__.co_filename, co_firstlineno=function.__code__.co_firstlineno
    )
    named = FunctionType(code, scope, name)
    named.__module__ = function.__module__
    whole = numba.types.intp
    signature = numba.types.void(*found.signature.args, whole, whole)
    return machine_code(
        named,
        signature,
        folder,
        nogil=False,
        boundscheck=False,
        no_cfunc_wrapper=True,
        _nrt=False,
        pipeline_class=Compiler,
    )


def _intrinsic(found: Any, names: tuple[str, ...], symbol: str) -> Any:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    def pack(typing: Any, address: Any, count: Any, arguments: Any) -> Any:
        def written(context: Any, builder: Any, signature: Any, values: Any) -> None:
            from llvmlite import ir

            place, parts, together = values
            kinds = found.signature.args
            arguments = cgutils.unpack_tuple(builder, together, len(kinds))
            arguments = [
                _borrowed(builder, value) if isinstance(kind, types.Array) else value
                for kind, value in zip(kinds, arguments, strict=True)
            ]
            whole = ir.IntType(64)
            kinds_of = [value.type for value in arguments]
            layout = ir.LiteralStructType([whole, *kinds_of, whole])
            if context.get_abi_sizeof(layout) > STRIDE:
                raise ValueError(f"{found.fndesc.qualname} takes more than {STRIDE} bytes.")
            kind = ir.FunctionType(ir.VoidType(), [whole] * 3)
            function = ir.Function(builder.module, kind, "plugrad.part")
            function.linkage = "internal"
            inner = ir.IRBuilder(function.append_basic_block())
            packed = inner.load(inner.inttoptr(function.args[0], layout.as_pointer()))
            _, thread, number = function.args
            known = {name: inner.extract_value(packed, i) for i, name in enumerate(names, 1)}
            if THREAD in known:
                known[THREAD] = thread
            if STOP in known:
                edges = _edges(inner, known[START], known[STOP], packed, number)
                known[START], known[STOP] = edges
            taken = list(known.values())
            gives, conventions = found.signature.return_type, context.call_conv
            declared = conventions.get_function_type(gives, kinds)
            loop = cgutils.get_or_insert_function(builder.module, declared, symbol)
            conventions.call_function(inner, loop, gives, kinds, taken)
            inner.ret_void()
            to = builder.inttoptr(place, layout.as_pointer())
            first = builder.ptrtoint(function, whole)
            for i, value in enumerate([first, *arguments, parts]):
                builder.store(value, cgutils.gep_inbounds(builder, to, 0, i))

        return types.void(address, count, arguments), written

    return intrinsic(pack)


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


def _borrowed(builder: Any, array: Any) -> Any:
    """An array of which numba counts no references: its owner holds it."""
    for i in (0, 1):  # meminfo and parent
        array = builder.insert_value(array, array.type.elements[i](None), i)
    return array

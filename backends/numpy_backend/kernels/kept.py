"""Machine code on disk: a file for each function, signature and processor, with its checksum.

LLVM links it, without numba, whose import takes most of half a second. Numba's own cache has an
index beside the files. Where two processes write that at once, an entry may name a file with the
code of another signature or processor; and an index or a file that is half there, as when the
machine went down, is an error in each later process. Here there is no index; a file that is damaged
is compiled anew, and one that cannot be written is done without.
"""

from __future__ import annotations

import ctypes
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

DIGEST = sha256().digest_size

# Symbols of our own: numba tells the linker of other things by those of the interpreter.
OBJECTS = {
    "plugrad.None": None,
    "plugrad.TypeError": TypeError,
    "plugrad.OverflowError": OverflowError,
    "plugrad.MemoryError": MemoryError,
}
"""What machine code refers to, by symbols."""


class Code(NamedTuple):
    """An object as linkers take it: what calls the loop, what packs its arguments, what it needs.

    The last are names of functions that the process has to have.
    """

    call: str
    pack: str | None
    outside: list[str]
    machine: bytes


class Loop(NamedTuple):
    """A loop for one signature as Python calls it; see `kernels.calling`."""

    call: Any
    pack: Any


def machine_code(
    function: Any, signature: str, folder: Path | None, compiled: Callable[..., tuple[Code, bool]]
) -> Loop:
    """The function for one signature: found in the folder, or compiled as `compiled(renamed)`."""
    _engine()  # which tells of what machine code refers to
    # Names of machine code are those of one process, where others may have another one's code.
    digest = _digest(function, signature)
    path = None if folder is None else folder / f"{_plain(function.__qualname__)}-{digest}.nbc"
    code = None if path is None else _read(path)
    if code is None or not _is_there(code.outside):
        code, may_be_kept = compiled(_renamed(function, digest))
        if path is not None and may_be_kept:
            _write(path, code)
    return _linked(code, function.__name__)


def _plain(name: str) -> str:
    return name.replace("<", "").replace(">", "")


def _digest(function: Any, signature: str) -> str:
    code = function.__code__
    file = Path(code.co_filename)
    text = sha256(file.read_bytes() if file.exists() else file.name.encode()).hexdigest()
    known = function.__module__, function.__qualname__, code.co_firstlineno, text
    # Machine code calls the interpreter, whose interface extension modules are named after.
    whole = repr((*known, signature, _processor(), EXTENSION_SUFFIXES[0]))
    return sha256(whole.encode()).hexdigest()[:32]


def _renamed(function: Any, digest: str) -> FunctionType:
    name = f"{function.__name__}_{digest}"
    renamed = FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    renamed.__module__, renamed.__qualname__ = function.__module__, name
    return renamed


@cache
def _processor() -> list[Any]:
    """For what code is compiled: this processor, or what numba is told of one by variables."""
    import llvmlite.binding as llvm

    features = ""
    with suppress(RuntimeError):  # LLVM knows none of this processor
        features = llvm.get_host_cpu_features().flatten()
    told = [os.environ.get(f"NUMBA_{name}") for name in ("CPU_NAME", "CPU_FEATURES", "ENABLE_AVX")]
    return [llvm.get_process_triple(), llvm.get_host_cpu_name(), features, *told]


# -- files -----------------------------------------------------------------------------------------


def _read(path: Path) -> Code | None:
    try:
        found = path.read_bytes()
    except OSError:
        return None
    if sha256(found[DIGEST:]).digest() != found[:DIGEST]:
        return None
    return Code(*pickle.loads(found[DIGEST:]))


def _write(path: Path, code: Code) -> None:
    data = pickle.dumps(tuple(code))
    temporary = path.with_suffix(f".{uuid4().hex}")
    with suppress(OSError):  # a full disk, say: the next process compiles again
        try:
            temporary.write_bytes(sha256(data).digest() + data)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


# -- linking ---------------------------------------------------------------------------------------


class _Method(ctypes.Structure):
    """What the interpreter is told of a function: its PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


METH_FASTCALL = 0x80
_methods: list[_Method] = []  # which functions refer to as long as they live


def _linked(code: Code, name: str) -> Loop:
    import llvmlite.binding as llvm

    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.machine))
    engine.finalize_object()
    call, pack = [
        None if symbol is None else _callable(engine.get_function_address(symbol), name)
        for symbol in (code.call, code.pack)
    ]
    return Loop(call, pack)


def _callable(address: int, name: str) -> Any:
    method = _Method(name.encode(), address, METH_FASTCALL, None)
    _methods.append(method)
    return _new(ctypes.byref(method), np.ndarray, None)


_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm

    for symbol, known in OBJECTS.items():
        llvm.add_symbol(symbol, id(known))
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _is_there(names: list[str]) -> bool:
    """Whether the process has functions of these names, some of which numba's runtime brings."""
    import llvmlite.binding as llvm

    def is_there() -> bool:
        return all([llvm.address_of_symbol(name) for name in names])

    if not is_there():
        with suppress(ImportError):  # else it is compiled anew, which tells of a cure
            from numba.core.registry import cpu_target
            from numba.core.runtime import rtsys

            rtsys.initialize(cpu_target.target_context)
    return is_there()

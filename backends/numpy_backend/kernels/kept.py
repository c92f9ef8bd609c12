"""Machine code on disk: a file for each function, signature and processor, with its checksum.

Numba's own cache has an index beside them. Where two processes write that at once, an entry may
name a file with the code of another signature or processor; and an index or a file that is half
there, as when the machine went down, is an error in each later process. Here there is no index; a
file that is damaged is compiled anew, and one that cannot be written is done without.
"""

from __future__ import annotations

import os
import pickle
from contextlib import suppress
from functools import partial
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any
from uuid import uuid4

DIGEST = sha256().digest_size


def machine_code(function: Any, signature: Any, folder: Path | None, **options: Any) -> Any:
    """The function for one signature: compiled by numba, or found in the folder."""
    import numba

    for kind in signature.args:
        _HELD.update(_that_may_be_given(kind))
    dispatcher = numba.njit(**options)(function)
    if folder is not None:
        dispatcher._cache = _Kept(function, folder)
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


# Numba knows a type by a number, which it draws where the type is not in memory yet. Of two threads
# that first give arrays of one type each may draw its own; then calls find no signature that fits.
_HELD: set[Any] = set()


def _that_may_be_given(kind: Any) -> list[Any]:
    """The types of arrays that are taken for one of this type."""
    from numba import types

    if not isinstance(kind, types.Array):
        return []
    orders = "CFA" if kind.layout == "A" else kind.layout
    array = partial(types.Array, kind.dtype, kind.ndim)
    return [array(order, readonly=readonly) for order in orders for readonly in (False, True)]


class _Kept:
    """What numba asks before it compiles a function, and gives what it has compiled."""

    def __init__(self, function: Any, folder: Path) -> None:
        code = function.__code__
        file = Path(code.co_filename)
        text = sha256(file.read_bytes() if file.exists() else file.name.encode()).hexdigest()
        self._name = function.__qualname__
        self._known = function.__module__, self._name, code.co_firstlineno, text
        self._folder = folder

    def _path(self, signature: Any, context: Any) -> Path:
        processor = context.codegen().magic_tuple()
        # Machine code calls the interpreter, whose interface extension modules are named after.
        known = repr((*self._known, str(signature), processor, EXTENSION_SUFFIXES[0]))
        name = f"{self._name}-{sha256(known.encode()).hexdigest()[:32]}.nbc"
        return self._folder / name.replace("<", "").replace(">", "")

    def load_overload(self, signature: Any, context: Any) -> Any:
        """What has been compiled for this signature and processor; None if nothing whole is.

        What numba needs only to compile it imports once it does: half of what it takes to start.
        """
        from numba.core.compiler import CompileResult
        from numba.core.runtime import rtsys

        try:
            found = self._path(signature, context).read_bytes()
        except OSError:
            return None
        if sha256(found[DIGEST:]).digest() != found[:DIGEST]:
            return None
        if b"NRT_" in found:  # its symbols are those of the runtime that counts who holds an array
            rtsys.initialize(context)
        return CompileResult._rebuild(context, *pickle.loads(found[DIGEST:]))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what has been compiled, unless it has addresses of this process."""
        from numba.core.serialize import dumps

        if result.library.has_dynamic_globals:
            return
        data, path = dumps(result._reduce()), self._path(signature, result.target_context)
        temporary = path.with_suffix(f".{uuid4().hex}")
        with suppress(OSError):  # a full disk, say: the next process compiles again
            try:
                temporary.write_bytes(sha256(data).digest() + data)
                os.replace(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)

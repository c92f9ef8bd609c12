"""How many threads the BLAS under NumPy takes: OpenBLAS, which can be told so while it runs.

OpenBLAS divides products among threads that wait for each other awake. When somebody else computes
on one of their processors, each product waits for that one's next turn: tens of milliseconds for a
product of one. So plugrad's own products have OpenBLAS on one thread and are divided here, where
nobody is waited for who has not begun (backends.numpy_backend.products).

The number is one for the process. While a limit is open, what other threads ask of NumPy has no
more threads either; with the last one it is as before. Nothing else changes for the user's own
use of NumPy. Another BLAS (MKL, Accelerate, an OpenBLAS made with OpenMP) is left alone.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from core.registry.configuration import global_config

_PREFIXES, _SUFFIXES = ("scipy_openblas_", "openblas_"), ("64_", "")
_PTHREADS = (0, 1)  # what openblas_get_parallel says of a library without threads, or with its own


class Control:
    """The number of threads of an OpenBLAS."""

    def __init__(self, library: Any, get: Any, set: Any, path: str, core: str) -> None:
        set.argtypes, set.restype = [ctypes.c_int], None
        self.name, self.core = Path(path).name, core
        self.library = library
        self.get, self.set = get, set
        self.cell: Any = self._variable(library) or self
        """An object whose `value` is the number."""

    value = property(lambda self: self.get(), lambda self, number: self.set(number))

    def _variable(self, library: Any) -> Any:
        """The variable behind `get` and `set`, which is a tenth of their cost, if it is to be had.

        It is tried out: what OpenBLAS calls its own may have another name some day.
        """
        try:
            variable = ctypes.c_int.in_dll(library, "blas_cpu_number")
        except ValueError:
            return None
        before = self.get()
        self.set(1)
        followed = variable.value == 1
        variable.value = before
        followed = followed and self.get() == before
        self.set(before)
        return variable if followed else None


@cache
def control() -> Control | None:
    """The control of NumPy's OpenBLAS; None where NumPy has another BLAS, or an unknown one."""
    return next((found for path in _paths() if (found := _control(path)) is not None), None)


@cache
def gemm(dtype: np.dtype[Any]) -> int | None:
    """The address of CBLAS's product of matrices, with sizes of 64 bits; None if nobody knows."""
    found, letter = control(), {"float32": "s", "float64": "d"}.get(dtype.name)
    if found is not None and letter is not None and dtype.isnative:
        for prefix in ("scipy_", ""):
            function = getattr(found.library, f"{prefix}cblas_{letter}gemm64_", None)
            if function is not None:
                return ctypes.cast(function, ctypes.c_void_p).value
    return None


def _paths() -> Iterator[str]:
    """Where NumPy's wheels have OpenBLAS; else what threadpoolctl, if it is installed, finds."""
    home = Path(np.__file__).parent
    for folder in (home.parent / "numpy.libs", home / ".dylibs", home / ".libs"):
        yield from map(str, sorted(folder.glob("*openblas*")))
    try:
        from threadpoolctl import threadpool_info  # type: ignore[import-untyped]
    except ImportError:
        return
    for found in threadpool_info():
        if found["internal_api"] == "openblas" and "scipy.libs" not in found["filepath"]:
            yield found["filepath"]


def _control(path: str) -> Control | None:
    try:
        library = ctypes.PyDLL(path)  # it is loaded already; calls keep the interpreter's lock
    except OSError:
        return None
    for prefix, suffix in product(_PREFIXES, _SUFFIXES):
        names = [f"{prefix}{name}{suffix}" for name in ("get_num_threads", "set_num_threads")]
        if all(hasattr(library, name) for name in names):
            kind = getattr(library, f"{prefix}get_parallel{suffix}", None)
            if kind is None or kind() in _PTHREADS:
                get, set_ = [getattr(library, name) for name in names]
                return Control(library, get, set_, path, _core(library, prefix, suffix))
    return None


def _core(library: Any, prefix: str, suffix: str) -> str:
    """For which processor it computes: one that it does not know counts as an older one."""
    name = getattr(library, f"{prefix}get_corename{suffix}", None)
    if name is None:
        return "a processor that it does not tell"
    name.restype = ctypes.c_char_p
    return str(name().decode())


class _Entry:
    """What is known of a limit."""

    __slots__ = ("number",)

    number: int

    def lift(self, none: int = 1 << 30) -> None:
        """Limit nothing; `none` is there when a program ends and modules are emptied, too."""
        self.number = none


class Limit:
    """A limit that is open, at most as long as somebody holds it."""

    __slots__ = ("entry", "limits")

    entry: _Entry | None
    limits: Limits

    def __del__(self) -> None:
        if getattr(self, "entry", None) is not None:
            self.limits.leave(self)


class Limits:
    """The limits that are open, of which the lowest holds.

    What a signal's handler opens and closes in the middle of a method changes nothing for it. If
    it raises there, as that of Ctrl-C does, the limit ends with the frame that held it.
    """

    def __init__(self, control: Control) -> None:
        self._threads = control.cell
        self._lock = threading.RLock()
        self._open: list[_Entry] = []
        self._before = 0  # how many threads there are without, while one is open

    @property
    def without(self) -> int:
        """How many threads there are without any limit."""
        return self._before if self._open else self._threads.value

    def enter(self, number: int) -> Limit:
        """Open a limit."""
        limit, entry = Limit(), _Entry()
        entry.number, limit.limits, limit.entry = number, self, entry
        with self._lock:
            threads = self._threads
            if not self._open:
                self._before = threads.value
            self._open.append(entry)
            if number < threads.value:
                threads.value = number
        return limit

    def leave(self, limit: Limit) -> None:
        """Close it."""
        entry = limit.entry
        with self._lock:
            if entry in self._open:  # else the process was forked within a block
                entry.lift()  # and is there until nothing is left to do
                self._threads.value = min([self._before, *[each.number for each in self._open]])
                self._open.remove(entry)
        limit.entry = None

    def forget(self) -> None:
        """Close all."""
        if self._open:
            self._threads.value = self._before
        self._open.clear()


_limits: Limits | None = None


def limits() -> Limits | None:
    """The limits of NumPy's BLAS; None where it is left alone."""
    global _limits
    if _limits is None:
        found = control()
        if found is not None:
            _limits = Limits(found)
    return _limits


def _forget() -> None:
    """A forked process has none of the blocks that other threads had open."""
    global _limits
    if _limits is not None:
        _limits.forget()
        _limits = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextmanager
def limited(number: int) -> Iterator[None]:
    """Within the block NumPy's BLAS takes at most `number` threads, in the whole process."""
    found = limits()
    limit = found.enter(number) if found is not None else None
    try:
        yield
    finally:
        if found is not None and limit is not None:
            found.leave(limit)


def prepare() -> None:
    """Give NumPy's BLAS the number of threads that the environment asks for, and no more."""
    number = global_config.num_threads
    found = None if number is None else control()
    if number is not None and found is not None:
        found.set(min(number, found.get()))


def state() -> dict[str, Any]:
    """What a report says of it."""
    found = control()
    if found is None:
        return {"BLAS": "not OpenBLAS, or one that cannot be told: left alone"}
    return {"BLAS": f"{found.name}, for {found.core}", "BLAS threads": found.get()}

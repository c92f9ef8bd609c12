"""`compiled`: a loop that numba compiles when it is first called with a dtype.

Parameters are annotated by what they are: `Read1` and `Write1` are contiguous arrays of one axis
and of the dtype T for which the loop is compiled, `Real` is a number of that dtype. So a loop is
compiled once for float32, say, whatever the shapes. Nothing of numba is imported before. Machine
code is kept on disk, in a folder for each state of the loops' sources.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache, cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from math import prod
from pathlib import Path
from types import FunctionType
from typing import Annotated, Any, NamedTuple, TypeAlias, get_type_hints, overload

import numpy as np

from backends.numpy_backend.kernels import packing
from backends.numpy_backend.kernels.kept import machine_code
from backends.numpy_backend.typing import Array as Array
from core.errors import BackendError
from core.registry.once import free_in_children

SWITCH = "PLUGRAD_COMPILED"
SUMS = ("reassoc", "nsz", "contract")
"""For loops whose sums may be taken in any order, such as that of the machine's vectors."""


@cache
def available() -> bool:
    """Whether loops can be compiled."""
    return why_not() is None


def why_not() -> str | None:
    """Why no loops are compiled: numba is missing, or a variable says so; None if they are."""
    if os.environ.get(SWITCH) == "0":
        return f"{SWITCH}=0"
    if os.environ.get("NUMBA_DISABLE_JIT", "").strip() not in ("", "0"):
        return "NUMBA_DISABLE_JIT is set"  # numba would leave all loops to the interpreter
    found = find_spec("numba")
    if found is None or found.origin is None:  # a folder of this name has none
        return "numba is missing: pip install 'plugrad[fast]'"
    return None


def numba_module() -> Any:
    """Numba, which takes half a second to import."""
    try:
        import numba
    except ImportError as error:
        raise BackendError(
            f"Compiled loops need a numba that can be imported, got {type(error).__name__}: {error}"
            f" Install one that fits: pip install --upgrade 'plugrad[fast]', or set {SWITCH}=0."
        ) from error
    return numba


# -- declaring a loop ------------------------------------------------------------------------------


class Layout(NamedTuple):
    """An array as numba sees it: contiguous, or with `order` "A" of any strides.

    `dtype` None is T.
    """

    axes: int
    writeable: bool
    dtype: str | None = None
    order: str = "C"


Read1: TypeAlias = Annotated[Array, Layout(1, False)]
Read2: TypeAlias = Annotated[Array, Layout(2, False)]
Read3: TypeAlias = Annotated[Array, Layout(3, False)]
Read4: TypeAlias = Annotated[Array, Layout(4, False)]
Write1: TypeAlias = Annotated[Array, Layout(1, True)]
Write2: TypeAlias = Annotated[Array, Layout(2, True)]
Write3: TypeAlias = Annotated[Array, Layout(3, True)]
Write4: TypeAlias = Annotated[Array, Layout(4, True)]
View3: TypeAlias = Annotated[Array, Layout(3, False, order="A")]
View4: TypeAlias = Annotated[Array, Layout(4, False, order="A")]
Ints: TypeAlias = Annotated[Array, Layout(1, False, "int32")]
WriteInts: TypeAlias = Annotated[Array, Layout(1, True, "int32")]
Ints2: TypeAlias = Annotated[Array, Layout(2, False, "int32")]
WriteInts2: TypeAlias = Annotated[Array, Layout(2, True, "int32")]
WriteSums: TypeAlias = Annotated[Array, Layout(1, True, "float64")]
Bytes: TypeAlias = Annotated[Array, Layout(1, False, "uint8")]
Indices: TypeAlias = Annotated[Array, Layout(1, False, "intp")]
Indices2: TypeAlias = Annotated[Array, Layout(2, False, "intp")]
WriteIndices2: TypeAlias = Annotated[Array, Layout(2, True, "intp")]
Real: TypeAlias = Annotated[float, "T"]


class Inlined:
    """A function that loops call, in whose machine code it vanishes.

    It is compiled by itself: what a loop allows of its own sums does not concern it.
    """

    def __init__(self, function: Callable[..., Any], fastmath: Collection[str]) -> None:
        self.function = function
        self.fastmath = set(fastmath)
        self.__doc__ = function.__doc__
        self._natives: dict[np.dtype[Any], Any] = {}

    def native(self, dtype: np.dtype[Any]) -> Any:
        """What numba calls from loops for this dtype."""
        if dtype not in self._natives:
            import numba

            from backends.numpy_backend.kernels.lowering import Compiler

            compile_ = numba.njit(
                forceinline=True,
                error_model="numpy",
                fastmath=self.fastmath,
                no_cpython_wrapper=True,
                no_cfunc_wrapper=True,
                pipeline_class=Compiler,
            )
            self._natives[dtype] = compile_(_with_natives(self.function, dtype))
        return self._natives[dtype]


class ByType:
    """What stands in loops for float32, and what in those for float64."""

    def __init__(self, single: Any, double: Any) -> None:
        self._values = single, double

    def native(self, dtype: np.dtype[Any]) -> Any:
        """What stands in a loop for this dtype."""
        return self._values[dtype.itemsize == 8]


class Compiled:
    """A loop. A call compiles it for the dtype of the first array of T, or finds it compiled."""

    def __init__(self, function: Callable[..., None], fastmath: Collection[str]) -> None:
        self.function = function
        self.fastmath = set(fastmath)
        self.__doc__ = function.__doc__
        self.makes_arrays = "empty" in function.__code__.co_names  # numba counts who holds them
        self._found: dict[np.dtype[Any], Any] = {}
        self._packers: dict[np.dtype[Any], Any] = {}
        self._latest: Any = None  # which to call is a TypeError as well

    def __call__(self, *args: Any) -> None:
        """Run the loop, without the interpreter's lock."""
        try:
            return self._latest(*args)  # type: ignore[no-any-return]
        except TypeError:  # arrays of another dtype, of which it has seen none, or not `readable`
            pass
        self._latest = self.at(self._leading_dtype(args))
        self._latest(*self.readable(args))

    def readable(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, of no subclass, with copies of those that no loop can read as they lie."""
        pairs = zip(args, self._layouts, strict=True)
        return tuple([_plain(a, layout.writeable) if layout else a for a, layout in pairs])

    def packing(self, args: tuple[Any, ...]) -> Any:
        """What puts such arguments where other threads find them; see `kernels.team`."""
        return self._packers.get(d := self._leading_dtype(args)) or self.packer(d)

    def packer(self, dtype: np.dtype[Any]) -> Any:
        """The same for one dtype: `pack(*args, count, address)`."""
        found = self._packers.get(dtype)
        if found is None:
            self._compile(dtype)
            found = self._packers[dtype]
        if found is None:
            name = self.function.__qualname__
            raise ValueError(f"{name} takes more than {packing.STRIDE} bytes of arguments.")
        return found

    def at(self, dtype: np.dtype[Any]) -> Any:
        """The machine code for one dtype, which several threads may call at once."""
        found = self._found.get(dtype)
        return found if found is not None else self._compile(dtype)

    def _hints(self) -> dict[str, Any]:
        hints = get_type_hints(self.function, include_extras=True)
        hints.pop("return", None)
        return hints

    @cached_property
    def _layouts(self) -> list[Layout | None]:
        """Those of the arguments; None for numbers."""
        found = [getattr(kind, "__metadata__", (None,))[0] for kind in self._hints().values()]
        return [layout if isinstance(layout, Layout) else None for layout in found]

    @cached_property
    def _lead(self) -> int:
        """Which argument is the first array of T."""
        arrays = [i for i, layout in enumerate(self._layouts) if layout and layout.dtype is None]
        return arrays[0]

    def _leading_dtype(self, args: tuple[Any, ...]) -> np.dtype[Any]:
        return args[self._lead].dtype  # type: ignore[no-any-return]

    def _compile(self, dtype: np.dtype[Any]) -> Any:
        with _compiling:
            if dtype not in self._found:
                text = repr((dtype.str, sorted(self.fastmath), self._hints()))
                loop = machine_code(self.function, text, cache_folder(), partial(self._code, dtype))
                self._packers[dtype] = loop.pack
                self._found[dtype] = loop.call
            return self._found[dtype]

    def _code(self, dtype: np.dtype[Any], function: Any) -> Any:
        """What numba makes of the function, or of the same under another name."""
        real = numba_module().from_dtype(dtype)
        from backends.numpy_backend.kernels.lowering import compiled_code

        return compiled_code(
            _with_natives(function, dtype),
            [_native_type(kind, real) for kind in self._hints().values()],
            fastmath=self.fastmath,
            _nrt=self.makes_arrays,
        )


@overload
def compiled(function: Callable[..., None]) -> Compiled: ...


@overload
def compiled(*, fastmath: Collection[str]) -> Callable[[Callable[..., None]], Compiled]: ...


def compiled(function: Any = None, *, fastmath: Collection[str] = ()) -> Any:
    """Declare a loop; without `fastmath` it computes what stands there, operation by operation.

    With `SUMS` its sums have any order, and what it writes may not overlap with what it reads.
    """
    return partial(Compiled, fastmath=fastmath) if function is None else Compiled(function, ())


def inlined(function: Callable[..., Any]) -> Any:
    """Declare a function for use in loops, whose sums may be fused with products."""
    return Inlined(function, ("contract",))


def inlined_sum(function: Callable[..., Any]) -> Any:
    """Declare a function for use in loops, whose sums may be taken in any order."""
    return Inlined(function, SUMS)


def inlined_exactly(function: Callable[..., Any]) -> Any:
    """Declare a function for use in loops that computes what stands there, as they do."""
    return Inlined(function, ())


def number(single: Any, double: Any = None) -> Any:
    """Declare a number, or a tuple of them, that loops see in T; float64 may have another one."""
    double = single if double is None else double
    if isinstance(single, tuple):
        return ByType(tuple(map(np.float32, single)), tuple(map(np.float64, double)))
    return ByType(np.float32(single), np.float64(double))


def compiled_with(function: Callable[..., None], name: str, **parts: Inlined) -> Compiled:
    """Declare a loop, under a name of its own, in which others are the parts that it calls."""
    return Compiled(_changed(function, parts, name, name), ())


_compiling = free_in_children(threading.RLock())  # numba and LLVM have locks of their own


def _with_natives(function: Any, dtype: np.dtype[Any]) -> Any:
    """The function, with what it uses of its module's as numba sees it for a dtype."""
    used = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    natives = {
        name: value.native(dtype) for name, value in used.items() if hasattr(value, "native")
    }
    if not natives:
        return function
    return _changed(function, natives, function.__name__, function.__qualname__)


def _changed(function: Any, used: dict[str, Any], name: str, qualname: str) -> Any:
    """The function under some name, in which names of its module stand for something else."""
    scope = function.__globals__ | used
    changed = FunctionType(function.__code__, scope, name, function.__defaults__)
    changed.__module__, changed.__qualname__ = function.__module__, qualname
    changed.__annotations__, changed.__doc__ = function.__annotations__, function.__doc__
    return changed


def _native_type(kind: Any, real: Any) -> Any:
    from numba import types

    if kind is int:
        return types.intp
    layout = kind.__metadata__[0]
    if not isinstance(layout, Layout):
        return real
    element = real if layout.dtype is None else getattr(types, layout.dtype)
    return types.Array(element, layout.axes, layout.order, readonly=not layout.writeable)


# -- what kernels ask before they call a loop ------------------------------------------------------

SMALL = 2048  # below so many elements a call of NumPy's own is as fast
MANY = 128  # `calls` for formulas that take longer than a loop from SMALL // MANY elements on
ROWS = 4096  # so many at most are added one after the other in their own dtype
FLOATS = (np.dtype("float32"), np.dtype("float64"))


def suits(*arrays: Array, calls: int = 1) -> bool:
    """Whether arrays are many floats of one shape and dtype.

    Where a formula makes many `calls` of NumPy, fewer elements are many.
    """
    first = arrays[0]
    if first.size * calls < SMALL or first.dtype not in FLOATS:
        return False
    return len(arrays) == 1 or all(
        [a.shape == first.shape and a.dtype == first.dtype for a in arrays[1:]]
    )


def large(kernel: Callable[..., Any], calls: int = 1) -> Callable[..., Any]:
    """The kernel, which is asked about as many elements as `suits`, or more."""
    kernel.least = SMALL // calls  # type: ignore[attr-defined]
    return kernel


def ready_for_few(
    kernel: Callable[..., Any], most: Callable[[], int], run_for: Callable[..., Any]
) -> None:
    """Let plans have another form of `kernel`, for less than `most` elements of one spec.

    Of few elements it is looking at arrays that takes time. `run_for(shape, dtype)` gives
    `run(f, x, ...)`, for x that lies in one piece, or None where there is no such form. It has the
    kernel's bits: what is recorded calls the kernel.
    """

    def ready(spec: Any) -> Callable[..., Any]:
        known = spec.dtype in FLOATS and 0 < prod(spec.shape) < most()
        run = run_for(spec.shape, spec.dtype) if known else None
        if run is None:
            return kernel

        def few(f: Any, xp: Any, x: Any, *others: Any) -> Any:
            flags = x.flags
            if type(x) is np.ndarray and flags.c_contiguous and flags.aligned:
                return run(f, x, *others)
            return kernel(f, xp, x, *others)

        return few

    kernel.ready = ready  # type: ignore[attr-defined]


def in_loops(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, in whose place programs that are compiled in loops have the formula."""
    kernel.in_loops = True  # type: ignore[attr-defined]
    return kernel


def contiguous(*arrays: Array) -> list[Array]:
    """Arrays as one axis each, copied where loops could not read them as they lie in memory."""
    # Loops take no subclasses, such as that of arrays in files.
    flat = [(a if type(a) is np.ndarray else np.asarray(a)).ravel() for a in arrays]
    return [a if a.dtype.isnative and a.flags.aligned else native(a).copy() for a in flat]


def _plain(array: Array, writeable: bool) -> Array:
    plain = np.asarray(array)
    return plain if writeable or plain.flags.aligned else plain.copy()


def empty(count: int, *like: Any) -> list[Array]:
    """So many arrays of a shape and dtype, each by itself: to take one apart takes longer."""
    return [np.empty(*like) for _ in range(count)]


def dense(*arrays: Array) -> list[Array]:
    """Arrays of their shapes, copied where loops could not read them as they lie in memory."""
    return [native(np.ascontiguousarray(a)) for a in arrays]


def native(array: Array) -> Array:
    """The array with the bytes of numbers in the machine's order, as loops take them to be.

    The dtypes differ; so only arrays whose dtype is not compared with another's need it.
    """
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def state() -> dict[str, str]:
    """What a report should say: whether loops are compiled, for which vectors, and kept where."""
    if not available():
        return {"compiled loops": f"none, {why_not()}"}
    numba = numba_module()
    import llvmlite.binding

    from backends.numpy_backend.kernels.emitter import registers

    features = llvmlite.binding.get_host_cpu_features().flatten()
    wide, folder = registers(features), cache_folder()
    kept = "not kept: no folder can be written"
    if folder is not None:
        kept = f"{len(list(folder.rglob('*.nbc')))} loops in {folder}"
    return {
        "compiled loops": f"numba {numba.__version__}, {wide.number} registers of {wide.bits} bits",
        "machine code": kept,
    }


# -- the cache -------------------------------------------------------------------------------------


@cache
def cache_folder() -> Path | None:
    """Where machine code is kept, or None where no folder can be written.

    In `NUMBA_CACHE_DIR` if that is set, else where the system keeps what can be made again. The
    sources of all loops and the version of numba are in its name, so that nothing outdated is
    found. What others may write into is not taken: who can write machine code can run it.
    """
    for base in _bases():
        folder = base / f"loops-{_digest()}"
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = not folder.exists()
            folder.mkdir(mode=0o700, exist_ok=True)
            chosen = os.environ.get("NUMBA_CACHE_DIR")
            if not (chosen or (_is_ours(base) and _is_ours(folder))):
                continue
            if new:
                _remove_old(base)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


def _remove_old(base: Path) -> None:
    """Remove folders of other states of the loops into which nothing was written for a month."""
    for folder in base.glob("loops-*"):
        with suppress(FileNotFoundError):  # another process may remove it too
            if time.time() - folder.stat().st_mtime > 30 * 86400:
                shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    """Whether nobody else may write into a folder that is no link."""
    if not hasattr(os, "getuid"):
        return True  # below the user's own profile
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def _bases() -> list[Path]:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or "~"
    elif sys.platform == "darwin":
        home = "~/Library/Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    user = os.getuid() if hasattr(os, "getuid") else "user"
    bases = [Path(os.path.expanduser(home)) / "plugrad"]
    with suppress(FileNotFoundError):  # no folder for temporary files
        bases.append(Path(tempfile.gettempdir()) / f"plugrad-{user}")
    return [base for base in bases if base.is_absolute()]  # "~" stays where the user has no home


def _digest() -> str:
    sources = sorted(Path(__file__).parent.rglob("*.py"))  # loops call those of other files
    text = b"".join([source.read_bytes() for source in sources]) + _version().encode()
    return hashlib.sha256(text).hexdigest()[:12]


def _version() -> str:
    try:
        return version("numba")
    except PackageNotFoundError:  # as in programs that are frozen
        return str(numba_module().__version__)

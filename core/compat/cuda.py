"""Arrays on GPUs under the names that training scripts use: a facade of the backend `cuda`.

Nothing here needs CuPy until it is used: `to_cpu`, `get_array_module`, `get_device_from_array` and
the decorators work without it, `available` says whether the rest does, and what needs a GPU raises
`BackendUnavailable` with the reason and the cure, as do the names of `cupy`. `cupy`, `ndarray`,
`Device`, `Stream`, `Event`, `memory_pool` and `pinned_memory_pool` are CuPy's own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from core.arrays import backend
from core.errors import BackendUnavailable, nearest
from core.errors.scalars import is_scalar
from core.registry.configuration import config
from core.registry.public import listing

__dir__ = listing(__name__, ["available", "cudnn_enabled", "ndarray"])

if TYPE_CHECKING:
    from core.arrays.backend import Array

Function = TypeVar("Function", bound=Callable[..., Any])

_workspace = [8 * 1024 * 1024]
_memos: list[dict[Any, Any]] = []
_UNKNOWN = object()


def check_cuda_available() -> None:
    """Raise BackendUnavailable, with the reason and the cure, unless CUDA can be used here."""
    backend.get("cuda")


def _cupy() -> Any:
    check_cuda_available()
    return sys.modules["cupy"]


class _NoArray:
    """Stands for `cuda.ndarray` where CuPy is not usable: nothing is an instance of it."""


class _NoCuPy:
    """Stands for `cuda.cupy` where CuPy is not usable: programs ask whether `xp is cuda.cupy`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # as those do that copy or show it
            raise AttributeError(name)
        return getattr(_cupy(), name)


_no_cupy = _NoCuPy()


def _available() -> bool:
    return backend.available().get("cuda", "unknown") is None


def __getattr__(name: str) -> Any:
    """`available`, `cudnn_enabled`, and what CuPy has under these names."""
    if name == "available":
        return _available()
    if name == "cudnn_enabled":
        return _plans() is not None
    if name == "ndarray":
        return _cupy().ndarray if _available() else _NoArray
    if name == "cupy":
        return _cupy() if _available() else _no_cupy
    if name in ("Device", "Event", "Stream"):
        return getattr(_cupy().cuda, name)
    if name == "memory_pool":
        return _cupy().get_default_memory_pool()
    if name == "pinned_memory_pool":
        return _cupy().get_default_pinned_memory_pool()
    if name in ("cudnn", "libcudnn"):
        raise AttributeError(
            f"core.cuda has no {name!r}, since CuPy 14 has none: operations call cuDNN themselves, "
            "as config.use_cudnn says. Ask core.cuda.should_use_cudnn('>=auto') whether they do."
        )
    hint = nearest(name, __dir__()) if name[0] != "_" else ""
    raise AttributeError(f"module 'core.cuda' has no attribute {name!r}.{hint}")


# -- devices --------------------------------------------------------------------------------------


class DummyDeviceType:
    """The device of arrays that are on no GPU: a `with` block changes nothing, and its id is -1."""

    id = -1

    def __int__(self) -> int:
        return -1

    def __enter__(self) -> DummyDeviceType:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def use(self) -> None:
        """Change nothing."""

    def synchronize(self) -> None:
        """Wait for nothing."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DummyDeviceType)

    def __hash__(self) -> int:
        return -1

    def __repr__(self) -> str:
        return "<CUDA Device dummy>"


DummyDevice = DummyDeviceType()


def get_device_from_id(device_id: int | None) -> Any:
    """CuPy's device of a number; `DummyDevice` for None and for negative numbers.

    >>> get_device_from_id(None)
    <CUDA Device dummy>
    """
    if device_id is None or device_id < 0:
        return DummyDevice
    return _cupy().cuda.Device(device_id)


def get_device_from_array(*arrays: Any) -> Any:
    """CuPy's device of the first argument that is on a GPU; `DummyDevice` where none is.

    >>> import numpy as np
    >>> get_device_from_array(np.zeros(3))
    <CUDA Device dummy>
    """
    for x in arrays:
        array = getattr(x, "array", x)
        if _on_gpu(array):
            return array.device
    return DummyDevice


def get_device(*args: Any) -> Any:
    """CuPy's device of numbers, devices or arrays, whichever comes first; else `DummyDevice`.

    `get_device_from_id` and `get_device_from_array` say more plainly what is meant.
    """
    for arg in args:
        if isinstance(arg, backend.Device):
            return get_device_from_id(arg.id if arg.backend.name == "cuda" else None)
        if isinstance(arg, DummyDeviceType) or type(arg).__module__.startswith("cupy.cuda"):
            return arg
        if hasattr(arg, "__index__") and not isinstance(arg, bool) and not hasattr(arg, "shape"):
            return get_device_from_id(arg.__index__())
        if _on_gpu(getattr(arg, "array", arg)):
            return get_device_from_array(arg)
    return DummyDevice


def use_device(*args: Any) -> Any:
    """Make the device that `get_device` gives of the same arguments CuPy's current one; return it.

    It stays so in this thread. `with get_device(...):` makes it so for a block, and `core.use` says
    where new arrays of all backends are made.

    >>> import numpy as np
    >>> use_device(np.zeros(3))
    <CUDA Device dummy>
    """
    device = get_device(*args)
    device.use()
    return device


def _on_gpu(array: Any) -> bool:
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(array, cupy.ndarray)


def get_array_module(*args: Any) -> Any:
    """The module `cupy` if an argument (array or Variable) is on a GPU, otherwise `numpy`.

    >>> import numpy as np
    >>> get_array_module(np.zeros(3)) is np
    True
    """
    if any(_on_gpu(getattr(x, "array", x)) for x in args):
        return sys.modules["cupy"]
    return backend.host().xp


# -- copies ---------------------------------------------------------------------------------------


def to_gpu(array: Any, device: Any = None, stream: Any = None) -> Array:
    """Copy an array to a GPU: the one named, or the current one.

    Args:
        array: An array of any backend, or a list or tuple of them (None stays None). A NumPy
            scalar counts as an array without axes.
        device: A number, a device of ours or of CuPy.
        stream: A CuPy stream to copy in; the copy may then still be under way on return.

    Returns:
        The array there; itself if it is there already.

    Raises:
        BackendUnavailable: CUDA cannot be used here.
    """
    if isinstance(array, (list, tuple)):
        return type(array)([to_gpu(a, device, stream) for a in array])
    if array is None:
        return None
    array, target = _unscalar(array), _target(device)
    if stream is None:
        return backend.to_backend(array, target)
    with target, stream:
        return backend.to_backend(array, target)


def _unscalar(x: Any) -> Any:
    """An array for a NumPy scalar, which functions of NumPy give where CuPy's give arrays."""
    return backend.host().asarray(x) if is_scalar(x) else x


def _target(device: Any) -> Any:
    if device is None:
        return backend.get("cuda").default_device()
    if isinstance(device, backend.Device):
        return device
    return backend.get_device(int(getattr(device, "id", device)))


def to_cpu(array: Any, stream: Any = None) -> Array:
    """Copy an array to the host, as a `numpy.ndarray`; one that is there is returned itself.

    Args:
        array: An array of any backend, or a list or tuple of them (None stays None). A NumPy
            scalar counts as an array without axes.
        stream: A CuPy stream to copy in; it is waited for.

    >>> import numpy as np
    >>> x = np.zeros(3)
    >>> to_cpu(x) is x
    True
    """
    if isinstance(array, (list, tuple)):
        return type(array)([to_cpu(a, stream) for a in array])
    if array is None:
        return None
    if stream is None or not _on_gpu(array):
        return backend.to_host(_unscalar(array))
    return array.get(stream=stream)


def copy(array: Any, out: Any = None, out_device: Any = None, stream: Any = None) -> Array:
    """Copy a GPU array into `out`, or into a new array on `out_device` (else on its own GPU).

    Raises:
        BackendUnavailable: CUDA cannot be used here.
        ValueError: Both `out` and `out_device` are given.
    """
    cuda = backend.get("cuda")
    if out is not None and out_device is not None:
        raise ValueError("cuda.copy: give out or out_device, not both.")
    if out is None:
        there = cuda.device_of(array) if out_device is None else _target(out_device)
        out = cuda.asarray(cuda.xp.empty(array.shape, dtype=array.dtype, device=there))
    with cuda.device_of(array), DummyDevice if stream is None else stream:
        cuda.copyto(out, array)
    return out


# -- random numbers -------------------------------------------------------------------------------


def seed(n: int | None, device: Any = None) -> None:
    """Let one GPU, the current one or another, draw from a stream of its own that starts at `n`.

    It is in snapshots, and does not depend on what other devices draw. None gives the GPU back to
    `core.seed`. What `cupy.random` draws has seeds of its own.

    Raises:
        BackendUnavailable: CUDA cannot be used here.
        TypeError: `n` is neither an integer nor None.
    """
    random: Any = backend.get("cuda").random
    random.seed(n, _target(device))


# -- kernels --------------------------------------------------------------------------------------


def memoize(for_each_device: bool = False) -> Callable[[Function], Function]:
    """Decorate a function so that it runs once for the same arguments (and current GPU, if asked).

    Works without CUDA, where there is one device for all. Arguments must be hashable.

    >>> @memoize()
    ... def double(x):
    ...     print('computed')
    ...     return 2 * x
    >>> double(3), double(3)
    computed
    (6, 6)
    """

    def decorate(function: Function) -> Function:
        memo: dict[Any, Any] = {}
        _memos.append(memo)

        @wraps(function)
        def remembered(*args: Any, **kwargs: Any) -> Any:
            device = _current_id() if for_each_device else None
            key = (device, args, frozenset(kwargs.items()))
            found = memo.get(key, _UNKNOWN)
            if found is _UNKNOWN:  # several threads may compute it, and one result is for all
                found = memo.setdefault(key, function(*args, **kwargs))
            return found

        return remembered  # type: ignore[return-value]

    return decorate


def _current_id() -> int:
    cupy = sys.modules.get("cupy")
    return int(cupy.cuda.Device().id) if cupy is not None and cupy.cuda.is_available() else -1


def clear_memo() -> None:
    """Forget the results of all memoized functions."""
    for memo in _memos:
        memo.clear()


@memoize(for_each_device=True)
def elementwise(in_params: str, out_params: str, operation: str, name: str, **kwargs: Any) -> Any:
    """CuPy's `ElementwiseKernel` of these arguments, made once for each GPU.

    Raises BackendUnavailable where CUDA cannot be used.
    """
    return _cupy().ElementwiseKernel(in_params, out_params, operation, name, **kwargs)


@memoize(for_each_device=True)
def reduce(
    in_params: str,
    out_params: str,
    map_expr: str,
    reduce_expr: str,
    post_map_expr: str,
    identity: Any,
    name: str,
    **kwargs: Any,
) -> Any:
    """CuPy's `ReductionKernel` of these arguments, made once for each GPU.

    Raises BackendUnavailable where CUDA cannot be used.
    """
    parts = (in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name)
    return _cupy().ReductionKernel(*parts, **kwargs)


@memoize(for_each_device=True)
def raw(code: str, name: str, *args: Any, **kwargs: Any) -> Any:
    """CuPy's `RawKernel` of these arguments, made once for each GPU.

    Raises BackendUnavailable where CUDA cannot be used.
    """
    return _cupy().RawKernel(code, name, *args, **kwargs)


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Decorate an elementwise function so that CuPy runs it as one kernel; as it is without CUDA.

    Usable bare, `@fuse`, and with CuPy's arguments, `@fuse(kernel_name='f')`.
    """
    if _available():
        return _cupy().fuse(*args, **kwargs)
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return args[0]
    return lambda function: function


# -- cuDNN ----------------------------------------------------------------------------------------


def get_max_workspace_size() -> int:
    """Bytes that a convolution may use to work in."""
    return _workspace[0]


def set_max_workspace_size(size: int) -> None:
    """Set the bytes that a convolution may use to work in."""
    _workspace[0] = int(size)


def _plans() -> Any:
    """The backend's cuDNN; None where CUDA or cuDNN is missing."""
    return getattr(backend.get("cuda"), "cudnn", None) if _available() else None


def should_use_cudnn(level: str, lowest_version: int = 0) -> bool:
    """Whether operations ask cuDNN, as `config.use_cudnn` says and where it is there.

    Args:
        level: `'==always'` or `'>=auto'`.
        lowest_version: The oldest version that would do, as a number such as 91000 (9.10.0).

    Raises:
        ValueError: `level` is neither.
        BackendUnavailable: `config.use_cudnn` is `'always'`, CUDA is there, and cuDNN is not.
    """
    if level not in ("==always", ">=auto"):
        raise ValueError(f"should_use_cudnn: expected '==always' or '>=auto', got {level!r}.")
    wanted = config.use_cudnn
    plans = None if wanted == "never" else _plans()
    if plans is None and wanted == "always" and _available():
        said = getattr(backend.get("cuda"), "without_cudnn", "the backend has no cuDNN")
        raise BackendUnavailable(
            f"config.use_cudnn is 'always', but {said}. Or set it to 'auto' or 'never'."
        )
    enough = plans is not None and plans.version >= lowest_version
    return enough and (wanted == "always" or level == ">=auto")


def should_use_cudnn_tensor_core(dtype: Any) -> bool:
    """Whether cuDNN may use tensor cores for a dtype, as `config` says.

    16-bit floats by `config.use_cudnn_tensor_core`, float32 by `config.tf32`.
    """
    if not should_use_cudnn(">=auto"):
        return False
    name = backend.get("cuda").dtype_name(backend.get("cuda").dtype(dtype))
    if name in ("float16", "bfloat16"):
        return bool(config.use_cudnn_tensor_core != "never")
    return name == "float32" and bool(config.tf32)

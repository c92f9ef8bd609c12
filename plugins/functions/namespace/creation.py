"""New arrays, as Variables without gradient, and triangles of matrices."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_variable, choice
from core.arrays.backend import current_device, get_device, host, using_device
from core.errors.kinds import checked
from core.graph.fitting import is_array
from core.graph.variable import wrap
from core.ops.namespace import asking_for_backend
from core.typing import Array, DType
from plugins.functions.array.cast import cast
from plugins.functions.array.copy import unshared


class _Triangle(FunctionNode):
    """Matrices with zeros beyond their k-th diagonal; the gradient has them there too."""

    k: int = 0
    domain = Domain("(...,n,m)->(...,n,m)", x=anything(), settings={"k": choice(0, 1, -1, 9)})


class Tril(_Triangle):
    """Zeros above the k-th diagonal."""

    def compute(self, xp, x):
        return xp.tril(x, k=self.k)

    def gradient(self, xp, g):
        return xp.tril(g, k=self.k)


class Triu(_Triangle):
    """Zeros below the k-th diagonal."""

    def compute(self, xp, x):
        return xp.triu(x, k=self.k)

    def gradient(self, xp, g):
        return xp.triu(g, k=self.k)


def _made(
    name: str, *arguments: Any, dtype: DType = None, device: Any = None, **rest: Any
) -> Variable:
    """What the namespace's function `name` makes on a device, the current one by default.

    Numbers may be Variables without gradients, which libraries know only as arrays.
    """
    numbers = [_bare(name, x) for x in arguments]
    place = current_device() if device is None else get_device(device)
    backend = place.backend
    options = {"device": backend.native_device(place), **rest}
    if dtype is not None:
        options["dtype"] = backend.dtype(dtype)
    return wrap(getattr(backend.xp, name)(*numbers, **options))


def _bare(name: str, value: Any) -> Any:
    if not isinstance(value, Variable):
        return value
    value._refuse_silent_loss(name)
    return value.array


@asking_for_backend
def arange(
    start: Any, /, stop: Any = None, step: Any = 1, dtype: DType = None, device: Any = None
) -> Variable:
    """Numbers from `start` (0 where only the end is given) up to `stop`, evenly spaced.

    >>> arange(3)
    variable([0, 1, 2])
    """
    return _made("arange", start, stop, step, dtype=dtype, device=device)


@asking_for_backend
def zeros(shape: Any, dtype: DType = None, device: Any = None) -> Variable:
    """Zeros of a shape."""
    return _made("zeros", shape, dtype=dtype, device=device)


@asking_for_backend
def ones(shape: Any, dtype: DType = None, device: Any = None) -> Variable:
    """Ones of a shape."""
    return _made("ones", shape, dtype=dtype, device=device)


@asking_for_backend
def empty(shape: Any, dtype: DType = None, device: Any = None) -> Variable:
    """An array of a shape, with whatever values."""
    return _made("empty", shape, dtype=dtype, device=device)


@asking_for_backend
def full(shape: Any, fill_value: Any, dtype: DType = None, device: Any = None) -> Variable:
    """A number, repeated to a shape."""
    return _made("full", shape, fill_value, dtype=dtype, device=device)


@asking_for_backend
def eye(
    n_rows: int, n_cols: int | None = None, /, k: int = 0, dtype: DType = None, device: Any = None
) -> Variable:
    """Ones on a diagonal, zeros elsewhere."""
    return _made("eye", n_rows, n_cols, k=k, dtype=dtype, device=device)


@asking_for_backend
def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    dtype: DType = None,
    device: Any = None,
    endpoint: bool = True,
) -> Variable:
    """`num` numbers from `start` to `stop`, evenly spaced."""
    return _made("linspace", start, stop, num, dtype=dtype, device=device, endpoint=endpoint)


def full_like(x: Array, fill_value: Any, dtype: DType = None, device: Any = None) -> Variable:
    """A number, repeated to the shape of x."""
    x = as_variable(x)
    device = x.device if device is None else device
    return full(x.shape, fill_value, x.dtype if dtype is None else dtype, device)


def empty_like(x: Array, dtype: DType = None, device: Any = None) -> Variable:
    """An array of the shape of x, with whatever values."""
    x = as_variable(x)
    device = x.device if device is None else device
    return empty(x.shape, x.dtype if dtype is None else dtype, device)


@asking_for_backend
def asarray(
    obj: Any, dtype: DType = None, device: Any = None, copy: bool | None = None
) -> Variable:
    """A Variable of an object: of an array as it is, of numbers on the current device.

    `copy` says that the elements must be copied (True) or must not be (False: then ValueError).

    >>> asarray([1, 2])
    variable([1, 2])
    """
    if not isinstance(obj, Variable) and not is_array(obj):
        if copy is False:
            raise ValueError(f"asarray: no array shares the elements of {type(obj).__name__}")
        with using_device(current_device() if device is None else device) as place:
            return wrap(place.backend.asarray(obj, dtype))
    x = as_variable(obj)
    y = x if device is None else _moved(x, get_device(device))
    y = y if dtype is None else cast(y, dtype)
    if copy is False and y is not x:
        raise ValueError("asarray: another dtype or device takes a copy; leave copy=False out")
    return unshared(y) if copy and y is x else y


def _moved(x: Variable, device: Any) -> Variable:
    if device == x.device:
        return x
    from plugins.functions.array.copy import copy

    return copy(x, device)


@asking_for_backend
def from_dlpack(x: Array, /, *, device: Any = None, copy: bool | None = None) -> Variable:
    """A Variable that shares, unless `copy` is True, the elements of another library's array.

    What the host holds read-only, as it sees arrays of libraries whose arrays never change, other
    libraries could write to, or would refuse: they get a copy of it. Raises BufferError where
    elements cannot be shared, as those of another device or of bfloat16, and where `copy` is False
    and a copy is needed.

    >>> import numpy as np
    >>> from_dlpack(np.ones(2))
    variable([1., 1.])
    """
    place = current_device() if device is None else get_device(device)
    options = {"device": place.backend.native_device(place)} if device is not None else {}
    if place.backend is not host() and _is_read_only(x):
        if copy is False:
            raise BufferError(
                f"from_dlpack: expected an array that {place.backend.name} may share, got one that "
                "is read-only; leave copy=False out, and it is copied."
            )
        x = _copied(x)
    try:
        return wrap(place.backend.xp.from_dlpack(x, copy=copy, **options))
    except (BufferError, RuntimeError) as error:
        raise BufferError(
            f"from_dlpack: expected an array whose memory {place.backend.name} can share, got one "
            f"of {getattr(x, 'dtype', 'an unknown dtype')}: {error}. Convert it there first; "
            "F.from_torch and core.interop.as_torch share bfloat16."
        ) from error


def _copied(x: Any) -> Any:
    return unshared(x) if isinstance(x, Variable) else x.copy()


def _is_read_only(x: Any) -> bool:
    flags = getattr(x.array if isinstance(x, Variable) else x, "flags", None)
    return not getattr(flags, "writeable", True)


@checked
def tril(x: Array, k: int = 0) -> Variable:
    """The elements on and below the k-th diagonal of matrices, zeros above.

    >>> import numpy as np
    >>> tril(np.ones((2, 2)))
    variable([[1., 0.],
              [1., 1.]])
    """
    return Tril.call(_matrices("tril", x), k)


@checked
def triu(x: Array, k: int = 0) -> Variable:
    """The elements on and above the k-th diagonal of matrices, zeros below.

    >>> import numpy as np
    >>> triu(np.ones((2, 2)))
    variable([[1., 1.],
              [0., 1.]])
    """
    return Triu.call(_matrices("triu", x), k)


def _matrices(name: str, x: Array) -> Variable:
    x = as_variable(x)
    if x.ndim < 2:
        raise ValueError(f"{name}: expected at least 2 axes, got {x.ndim}")
    return x

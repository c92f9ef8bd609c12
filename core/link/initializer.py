"""Initializers, which fill the array of a new parameter.

An initializer is called with an array and fills it in place. Any callable that does so will do; the
`dtype` attribute, where it has one, says which dtype the array shall have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from core.arrays.array_backend import Backend
from core.arrays.backend import available as available_backends
from core.arrays.backend import current as current_backend
from core.arrays.backend import get as get_backend
from core.arrays.backend import get_device
from core.arrays.backend import host as host_backend
from core.arrays.backend import names as backend_names
from core.arrays.backend import of as backend_of
from core.errors.kinds import checked
from core.errors.scalars import python_number
from core.errors.set_by_init import NeedsInit
from core.registry.configuration import config
from core.typing import AnyArray, Array, DType, Scalar, Sizes

InitializerSpec: TypeAlias = float | Array | Scalar | Callable[[Any], object] | None
"""What parameters start as: a number, an array, or what fills an array that it is called with."""


class Initializer(NeedsInit):
    """Base of initializers; calling one fills an array in place.

    Args:
        dtype: The dtype that arrays made for this initializer get; None is `core.config.dtype`.
    """

    def __init__(self, dtype: DType = None) -> None:
        self.dtype = dtype

    def __call__(self, array: AnyArray, /) -> None:
        """Fill `array`, which may be of any backend, in place."""
        raise NotImplementedError(f"{type(self).__name__} does not define __call__(array)")

    def __repr__(self) -> str:
        settings = {k: v for k, v in vars(self).items() if v is not None and not k.startswith("_")}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in settings.items())})"


class Constant(Initializer):
    """Fill with a number, or with the elements of an array, broadcast.

    Args:
        fill_value: A number, or an array whose shape broadcasts to that of the one to fill.
        dtype: The dtype to make arrays in, whatever that of `fill_value`; None is
            `core.config.dtype`.

    >>> import core
    >>> from core import initializers
    >>> core.Parameter(initializers.Constant(3), (2,)).array
    array([3., 3.], dtype=float32)
    """

    def __init__(self, fill_value: float | Array | Scalar, dtype: DType = None) -> None:
        if not (hasattr(fill_value, "__float__") or hasattr(fill_value, "shape")):
            raise TypeError(
                "Constant: expected a number or an array to fill with, "
                f"got {fill_value!r} ({type(fill_value).__name__})."
            )
        super().__init__(dtype)
        self.fill_value = python_number(fill_value)

    def __call__(self, array: AnyArray) -> None:
        """Fill `array` with the value; raises ValueError if an array does not fit."""
        value = self.fill_value
        home, target = backend_of(array), tuple(array.shape)
        shape = tuple(getattr(value, "shape", ()))
        if shape and not _broadcasts(shape, target):
            raise ValueError(
                f"Constant: expected an array of shape {shape} to fill, got {target}. "
                "Give an initial array of the parameter's own shape, or one that broadcasts to it."
            )
        if shape and shape != target:
            here = home.asarray(value, array.dtype, home.device_of(array))
            value = home.xp.broadcast_to(here, target)
        home.copyto(array, value)


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array of `shape` broadcasts to `target`."""
    return len(shape) <= len(target) and all(
        n in (1, m) for n, m in zip(reversed(shape), reversed(target), strict=False)
    )


def as_initializer(
    spec: InitializerSpec, default: InitializerSpec = None, dtype: DType = None
) -> Any:
    """The initializer that `spec` means: a number or array fills, a callable is one already.

    None means `default`, and without one NaN: a parameter that nobody has given a value shows it.
    Where the initializer says nothing of a dtype, it gets `dtype`.

    >>> from core.initializer import as_initializer
    >>> as_initializer(0.5)
    Constant(fill_value=0.5)
    """
    spec = (math.nan if default is None else default) if spec is None else spec
    if isinstance(spec, type):
        raise TypeError(
            f"initializer: expected an initializer, got the class {spec.__name__}. "
            f"Make one of it: {spec.__name__}()."
        )
    if callable(spec):
        return spec if dtype is None or getattr(spec, "dtype", None) else _Typed(spec, dtype)
    if isinstance(spec, (bool, int, float)) or hasattr(spec, "dtype"):
        return Constant(spec, dtype)
    raise TypeError(
        f"initializer: expected None, a number, an array or a callable that fills an array; "
        f"got {type(spec).__name__}."
    )


class _Typed(Initializer):
    """An initializer that says nothing of a dtype, with one."""

    def __init__(self, initializer: Any, dtype: DType) -> None:
        super().__init__(dtype)
        self.initializer = initializer

    def __call__(self, array: AnyArray) -> Any:
        return self.initializer(array)


def get_fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the inputs and outputs of each unit of a weight: `(fan_in, fan_out)`.

    >>> from core.initializer import get_fans
    >>> get_fans((8, 3, 5, 5))
    (75, 200)
    """
    if not isinstance(shape, tuple) or len(shape) < 2:
        raise ValueError(
            f"get_fans: expected a shape (out, in, *kernel) of at least two axes, got {shape!r}. "
            "Initializers scaled by fans suit weights; use Normal or Uniform for other arrays."
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


@checked
def generate_array(
    initializer: Callable[[Any], object],
    shape: Sizes,
    xp: Any = None,
    dtype: DType = None,
    device: Any = None,
) -> AnyArray:
    """Make a new array of `shape`, filled by `initializer`.

    Args:
        initializer: A callable that fills an array; its `dtype` decides the array's.
        shape: A tuple of integers.
        xp: A backend, its name, or its namespace; None is the current backend.
        dtype: The dtype where the initializer has none; else it must be the same.
        device: A device of the backend, its default one by default.

    >>> import numpy
    >>> from core import initializers
    >>> initializers.generate_array(initializers.One(), (2,), numpy)
    array([1., 1.], dtype=float32)
    """
    place = get_device(device) if device is not None else _backend(xp).default_device()
    backend = place.backend
    wanted = _agreed_dtype(backend, getattr(initializer, "dtype", None), dtype)
    with place:
        array = backend.to_device(backend.xp.zeros(shape, dtype=wanted), place)
        return filled(array, initializer)


def filled(array: AnyArray, initializer: Callable[[Any], object]) -> AnyArray:
    """An array that an initializer has filled; where it cannot be, a copy filled by the host."""
    home = backend_of(array)
    if home.mutable:
        _fill(array, initializer)
        return array
    host = host_backend()
    there = host.copy(home.to_host(array))
    with host.default_device():
        _fill(there, initializer)
    return home.asarray(there, array.dtype, home.device_of(array))


def _fill(array: AnyArray, initializer: Callable[[Any], object]) -> None:
    """Call an initializer, which must not make another array in place of filling this one."""
    made = initializer(array)
    if made is not array and hasattr(made, "shape"):
        name = getattr(initializer, "__name__", None) or type(initializer).__name__
        raise TypeError(
            f"{name}: expected an initializer to fill the array that it is given, got one that "
            "returns another. Write into the array, as by array[...] = values."
        )


def _backend(xp: Any) -> Backend:
    """The backend that a namespace, a name or a backend itself means."""
    if xp is None:
        return current_backend()
    if isinstance(xp, Backend):
        return xp
    if isinstance(xp, str):
        return get_backend(xp)
    if current_backend().xp is xp:
        return current_backend()
    for name, reason in available_backends().items():
        if reason is None and get_backend(name).xp is xp:
            return get_backend(name)
    raise TypeError(
        f"generate_array: expected a backend, its name or its namespace, got {xp!r}. "
        f"Backends here: {', '.join(backend_names())}."
    )


def _agreed_dtype(backend: Backend, own: Any, asked: Any) -> Any:
    """The dtype that initializer and caller agree on."""
    if own is None and asked is None:
        return as_dtype(backend, config.dtype)
    if own is None or asked is None:
        return as_dtype(backend, asked if own is None else own)
    if as_dtype(backend, own) != as_dtype(backend, asked):
        raise ValueError(
            f"generate_array: the initializer makes {own!r}, and {asked!r} is asked for. "
            "Give the dtype to one of the two."
        )
    return as_dtype(backend, own)


def as_dtype(backend: Backend, spec: Any) -> Any:
    """The backend's own dtype for `spec`: its dtype object, or any spelling that NumPy knows."""
    host = host_backend()
    if backend is not host and (isinstance(spec, (str, type)) or hasattr(spec, "name")):
        return backend.dtype(host.dtype_name(host.dtype(spec)))
    return backend.dtype(spec)

"""The namespace of traced arrays: the functions of the host's, each of which records its call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from core.arrays.backend import host
from core.programs import Call, Value, mapped, names
from core.tracing import tape as tapes
from core.tracing.array import TracedArray, TracedSum, apply, apply_into, as_values


class Namespace:
    """Functions by name; with a shape those that operations on such arrays compute with."""

    def __init__(self, path: str = "", of: tuple[int, ...] | None = None) -> None:
        self._path = path
        self._of = of

    def __getattr__(self, name: str) -> Any:
        where: Any = host().xp
        for part in self._path.split("."):
            where = getattr(where, part) if part else where
        found = getattr(where, name)
        if isinstance(found, ModuleType):
            found = Namespace(f"{self._path}{name}.".lstrip("."), self._of)
        elif name in names.TOLD:
            found = partial(_told, found)
        elif callable(found) and not isinstance(found, type):
            own = _OWN.get(self._path + name)
            call = Call("xp", self._path + name, self._of)
            found = partial(own, call) if own else partial(_recorded, call)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return "<the namespace of traced arrays>"


def _told(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*mapped(_outline, args, TracedArray), **mapped(_outline, kwargs, TracedArray))


def _outline(array: TracedArray) -> Any:
    xp = host().xp
    return xp.broadcast_to(xp.ones((), dtype=array.dtype), array.shape)


def _recorded(call: Call, *args: Any, **kwargs: Any) -> Any:
    kwargs.pop("device", None)
    if call.name in names.WRITING:
        raise tapes.current().refusal(
            f"{call.name}: this change in place cannot be traced; assign to x[...]"
        )
    return apply_into(call, args, kwargs)


def _asarray(call: Call, obj: Any, dtype: Any = None, copy: Any = None, **_: Any) -> Any:
    if isinstance(obj, TracedArray) and not (obj._value.scalar or isinstance(obj, TracedSum)):
        same = dtype is None or host().dtype(dtype) == obj.dtype
        if same:
            return obj.copy("K") if copy else obj
        return apply(Call("method", "astype"), (obj, host().dtype(dtype)), {})
    if isinstance(obj, TracedArray) and dtype is None:
        return apply(call, (obj,), {})
    kwargs = {} if dtype is None else {"dtype": host().dtype(dtype)}
    tape = tapes.current()
    if list(_traced_in(obj)):
        return apply(call, (obj,), kwargs)
    value = tape.constant(host().xp.array(obj, **kwargs), made=True)
    return TracedArray(tape, value)


def _traced_in(obj: Any) -> Any:
    if isinstance(obj, TracedArray):
        yield obj
    elif isinstance(obj, (list, tuple)):
        for part in obj:
            yield from _traced_in(part)


def _astype(call: Call, x: Any, dtype: Any, /, *, copy: bool = True, **_: Any) -> Any:
    if isinstance(x, TracedArray) and not copy and not x._value.scalar and x.dtype == dtype:
        return x
    return apply(call, (x, dtype), {} if copy else {"copy": copy})


def _nan_to_num(call: Call, x: Any, copy: bool = True, **how: Any) -> Any:
    """Without a copy, it changes the array."""
    found = apply(call, (x,), how)
    if copy or not isinstance(x, TracedArray):
        return found
    x[...] = found
    return x


def _made(call: Call, shape: Any, *args: Any, **kwargs: Any) -> Any:
    """An array of one number, whose shape is known."""
    kwargs.pop("device", None)
    tape = tapes.current()
    args, kwargs = as_values(tape, args), as_values(tape, kwargs)
    whole = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    one = mapped(_single, args), mapped(_single, kwargs)
    dtype = call.found(host())((), *one[0], **one[1]).dtype
    value = Value(tuple([n.__index__() for n in whole]), dtype)
    tape.record(call, (value.shape, *args), kwargs, (value,))
    made = TracedArray(tape, value)
    made._memory.plain = True
    return made


def _single(value: Value) -> Any:
    return host().xp.ones((), dtype=value.dtype)


_OWN: dict[str, Callable[..., Any]] = {
    "asarray": _asarray,
    "array": partial(_asarray, copy=True),
    "astype": _astype,
    "nan_to_num": _nan_to_num,
    "zeros": _made,
    "ones": _made,
    "empty": _made,
    "full": _made,
}

NAMESPACE = Namespace()

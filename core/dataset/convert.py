"""Conversion of a list of examples into arrays on a device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import update_wrapper
from typing import Any

from core.arrays.backend import get_device, host, to_backend
from core.arrays.backend import of as backend_of
from core.errors.scalars import holds
from core.errors.set_by_init import NeedsInit


def to_device(device: Any, x: Any) -> Any:
    """Move `x` to `device`: a name (`'cuda:1'`), a Device, a GPU's number, or -1 for the host.

    None leaves the array where it is.

    >>> import numpy as np
    >>> to_device(-1, np.zeros(2))
    array([0., 0.])
    """
    return x if device is None else to_backend(x, get_device(device))


_WHOLE = "the examples"


def concat_examples(batch: Sequence[Any], device: Any = None, padding: Any = None) -> Any:
    """Join a list of examples into arrays with a new first axis.

    Examples that are tuples give a tuple of arrays, dicts a dict, anything else one array.
    Numbers become host arrays. Where shapes differ, `padding` (a number, or one for each element
    of the tuple or dict) fills what the smaller arrays lack. `device` is what `to_device` takes.
    Raises ValueError for an empty batch, for examples that do not match, for shapes that differ
    without a padding and for a padding that the dtype cannot hold. An empty batch that has an
    `example`, as a rank may have in an epoch's last step, gives arrays of no examples.

    >>> import numpy as np
    >>> concat_examples([(np.array([1.0, 2.0]), 0), (np.array([3.0]), 1)], padding=(-1, None))
    (array([[ 1.,  2.],
           [ 3., -1.]]), array([0, 1]))
    """
    if len(batch) == 0 and hasattr(batch, "example"):
        return _of_none(concat_examples([batch.example], device, padding))
    if len(batch) == 0:
        raise ValueError("concat_examples: expected at least one example, got an empty batch.")
    first = batch[0]
    if isinstance(first, tuple):
        _check_alike(batch, tuple, set(range(len(first))), lambda e: set(range(len(e))))
        return tuple(
            _join([e[i] for e in batch], device, _pick(padding, i, tuple), f"element {i}")
            for i in range(len(first))
        )
    if isinstance(first, dict):
        _check_alike(batch, dict, set(first), set)
        return {
            key: _join([e[key] for e in batch], device, _pick(padding, key, dict), f"{key!r}")
            for key in first
        }
    return _join(batch, device, padding, _WHOLE)


def _of_none(arrays: Any) -> Any:
    """Arrays of one example with that example left out: of length 0."""
    if isinstance(arrays, tuple):
        return tuple([array[:0] for array in arrays])
    if isinstance(arrays, dict):
        return {key: array[:0] for key, array in arrays.items()}
    return arrays[:0]


def _check_alike(
    batch: Sequence[Any], kind: type, parts: set[Any], parts_of: Callable[[Any], set[Any]]
) -> None:
    for i, example in enumerate(batch):
        if not isinstance(example, kind) or parts_of(example) != parts:
            raise ValueError(
                f"concat_examples: expected every example to be a {kind.__name__} like the first "
                f"one, with {sorted(parts, key=str)}; example {i} of the batch is {example!r:.200}."
            )


def _pick(padding: Any, key: Any, kind: type[tuple[Any, ...]] | type[dict[Any, Any]]) -> Any:
    if not isinstance(padding, kind):
        return padding
    try:
        return padding[key]
    except LookupError:
        raise ValueError(
            f"concat_examples: expected a padding for each element, or one for all; {padding!r} "
            f"has none for {key!r}."
        ) from None


def _join(values: Sequence[Any], device: Any, padding: Any, what: str) -> Any:
    if padding is None and not any(map(_is_array, values)):
        with suppress(ValueError):  # lists of different lengths, which is told below
            return to_device(device, host().asarray(values))
    arrays = [_as_array(v, what) for v in values]
    if padding is None or len({a.shape for a in arrays}) == 1:
        return to_device(device, _stack(arrays, what))
    return to_device(device, _stack_padded(arrays, padding, what))


def _is_array(value: Any) -> bool:
    return hasattr(value, "__dlpack__")  # every array library has it; numbers do not


def _as_array(value: Any, what: str) -> Any:
    if _is_array(value):
        return value
    try:
        return host().asarray(value)
    except ValueError as error:
        raise ValueError(
            f"concat_examples: expected arrays, numbers or lists of numbers as {what}, got "
            f"{value!r:.200}. Make a tuple of what are several arrays."
        ) from error


def _stack(arrays: Sequence[Any], what: str) -> Any:
    shapes = {a.shape for a in arrays}
    if len(shapes) > 1:
        cure = "Give padding=... to fill the smaller ones, or a converter of your own."
        if what == _WHOLE and len({shape[:1] for shape in shapes}) == 1:
            cure = "If these are columns, core.datasets.TupleDataset(*columns) has their examples."
        raise ValueError(
            f"concat_examples: expected equal shapes in {what}, got {sorted(shapes)}. {cure}"
        )
    (shape,), xp = shapes, _backend_of(arrays).xp
    if not shape:
        return xp.stack(list(arrays))
    return xp.reshape(xp.concat(list(arrays)), (len(arrays), *shape))  # stack takes twice as long


def _backend_of(arrays: Sequence[Any]) -> Any:
    """The backend of all the arrays; `backends.of` compares them one by one, and explains."""
    backend = backend_of(arrays[0])
    if len(set(map(type, arrays))) == 1 and len(set(map(backend.spec_device, arrays))) == 1:
        return backend
    return backend_of(*arrays)


def _stack_padded(arrays: Sequence[Any], padding: Any, what: str) -> Any:
    ranks = {a.ndim for a in arrays}
    if len(ranks) > 1:
        raise ValueError(
            f"concat_examples: padding fills arrays of one number of axes, got {sorted(ranks)}."
        )
    shape = tuple(map(max, zip(*(a.shape for a in arrays), strict=True)))
    backend, first = _backend_of(arrays), arrays[0]
    device = backend.device_of(first)
    dtypes = {a.dtype for a in arrays}
    dtype = first.dtype if len(dtypes) == 1 else backend.xp.result_type(*dtypes)
    if not _fills(backend.dtype_name(dtype), padding):
        raise ValueError(
            f"concat_examples: expected a padding for {what} that {dtype} can hold, got "
            f"{padding!r}. Give another, a tuple or dict with one for each element, or arrays of "
            "another dtype."
        )
    with device:
        result = backend.xp.full((len(arrays), *shape), padding, dtype=dtype)
    for i, array in enumerate(arrays):
        result[(i, *(slice(n) for n in array.shape))] = array
    return result


def _fills(dtype: str, padding: Any) -> bool:
    """Whether arrays of the dtype of this name can be filled with the padding, as it is.

    >>> _fills("int8", 1), _fills("float32", [0, 1]), _fills("str64", "no"), _fills("str64", "yes")
    (True, False, True, False)
    """
    for kind, name, bits in ((str, "str", 32), (bytes, "bytes", 8)):
        if isinstance(padding, kind) or dtype.startswith(name):
            alike = isinstance(padding, kind) and dtype.startswith(name)
            return alike and bits * len(padding) <= int(dtype.removeprefix(name) or 0)
    several = hasattr(padding, "__len__") and getattr(padding, "ndim", None) != 0
    return not several and holds(dtype, padding)


concat_examples_func = concat_examples
"""Another name of `concat_examples`, which the reference has."""


class Converter(NeedsInit, ABC):
    """Base of converters, which make a batch into arrays; `converter()` makes one of a function."""

    @abstractmethod
    def __call__(self, batch: Sequence[Any], device: Any = None) -> Any:
        """Return the arrays made of `batch`, on `device`, which is as for `to_device`."""


class _FunctionConverter(Converter):
    """A function `f(batch, device)` as a converter; it goes by the function's name."""

    def __init__(self, function: Callable[[Sequence[Any], Any], Any]) -> None:
        self._function = function
        update_wrapper(self, function)

    def __call__(self, batch: Sequence[Any], device: Any = None) -> Any:
        return self._function(batch, None if device is None else get_device(device))

    def __reduce__(self) -> str:
        return str(getattr(self, "__qualname__", type(self).__name__))  # found there as itself


def converter() -> Callable[[Callable[[Sequence[Any], Any], Any]], Converter]:
    """Decorate a function of (batch, device) to make it a converter; it gets a Device, or None.

    >>> import numpy as np
    >>> @converter()
    ... def doubled(batch, device):
    ...     return to_device(device, np.asarray(batch) * 2)
    >>> doubled([1, 2], -1)
    array([2, 4])
    """
    return _FunctionConverter

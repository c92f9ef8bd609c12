"""Arguments that links have in common: initializers with their defaults, and checks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import core
from core.arrays.spec import spec_of
from core.errors import InvalidType
from core.link.initializer import as_initializer
from core.link.replays import met
from core.typing import DType
from plugins.initializers.normal import LeCunNormal


def check_rank(link: Any, x: Any, ndim: int, *, more: bool = False) -> None:
    """Refuse an input of the wrong rank before sizes are taken from it."""
    core.backend.of(core.as_array(x))  # which refuses what is not an array
    given = len(x.shape)
    if given == ndim or (more and given > ndim):
        return
    signs = (">=", "<") if more else ("==", "!=")
    raise InvalidType(
        f"x.ndim {signs[0]} {ndim}",
        f"{given} {signs[1]} {ndim}",
        operation=type(link).__name__,
        inputs={"x": spec_of(core.as_array(x))},
        accepts=lambda specs: len(specs["x"].shape) == ndim,
    )


def statistics_dtype(dtype: DType = None) -> Any:
    """The dtype for the parameters and statistics of a normalization: mixed16 means float32."""
    dtype = core.config.dtype if dtype is None else dtype
    return "float32" if dtype is core.mixed16 else dtype


def is_narrower(x: Any, array: Any) -> bool:
    """Whether `x` holds 16-bit floats, and `array` float32."""
    if getattr(x, "dtype", None) == array.dtype:
        return False
    home, halves = core.backend.of(core.as_array(x)), ("float16", "bfloat16")
    return home.dtype_name(array.dtype) == "float32" and home.dtype_name(x.dtype) in halves


def shown_size(array: Any) -> int | tuple[int, ...] | None:
    """The size of an array as it was given: a number for one axis; None if there is no array."""
    if array is None:
        return None
    return int(array.shape[0]) if len(array.shape) == 1 else tuple(array.shape)


def weight(spec: Any, dtype: DType = None) -> Any:
    """Return the initializer of a weight: LeCunNormal by default."""
    return as_initializer(spec, LeCunNormal(), dtype)


def bias(spec: Any, dtype: DType = None) -> Any:
    """Return the initializer of a bias: 0 by default."""
    return as_initializer(spec, 0, dtype)


def sizes(link: str, in_size: int | None, out_size: int | None) -> tuple[int | None, int]:
    """Return the sizes of inputs and outputs; a single one is that of the outputs."""
    if out_size is None:
        in_size, out_size = None, in_size
    if out_size is None:
        raise TypeError(f"links.{link}: expected an out_size, got None.")
    return in_size, out_size


@contextmanager
def running(link: core.Link, *names: str) -> Iterator[list[Any]]:
    """Running statistics of a link, for a function that moves them; the link has them afterwards.

    Arrays move in place; those that cannot be changed are given as Variables, which take others.
    What `F.forget` computes again has moved them before, and moves copies of what they were.
    """

    def copies(arrays: list[Any]) -> list[Any]:
        return [core.backend.of(array).copy(array) for array in arrays]

    arrays = [getattr(link, name) for name in names]
    before = met(lambda: copies(arrays))
    if core.config.in_recomputing:
        yield copies(arrays if before is None else before)
        return
    if core.backend.of(*arrays).mutable:
        yield arrays
        return
    moved = [core.Variable(array, requires_grad=False) for array in arrays]
    yield moved
    for name, variable in zip(names, moved, strict=True):
        setattr(link, name, variable.array)

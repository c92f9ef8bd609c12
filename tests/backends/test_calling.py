"""How Python calls compiled loops: they take arrays and numbers of their kind, and no others."""

from __future__ import annotations

import sys
import tracemalloc
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import core
from backends.numpy_backend import parallel
from backends.numpy_backend.kernels import compiler, packing
from backends.numpy_backend.kernels.compiler import Read1, Real, View3, Write1, Write2

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")


def given_loop(x: Read1, y: Write2, view: View3, number: int, real: Real) -> None:
    y[0, 0] = x[0] + view[0, 0, 0] + number + real


GIVEN = compiler.compiled(given_loop)
FITS = {"x": 4, "y": (1, 1), "view": (2, 3, 2)}
TAKEN = {  # one element lies in one piece, however it was cut out
    "x": ["as it is", "read only"],
    "y": ["as it is", "strided"],
    "view": ["as it is", "read only", "strided", "broadcast"],
}


def changed(array: np.ndarray, how: str) -> Any:
    """An array of ones that differs in one respect."""
    raw = np.zeros(array.nbytes + 1, np.uint8)
    odd = raw[1:].view(array.dtype).reshape(array.shape)
    odd[...] = array
    read_only = array.copy()
    read_only.flags.writeable = False
    strided = np.ones([2 * n for n in array.shape], array.dtype)[
        (slice(None, None, 2),) * array.ndim
    ]
    return {
        "as it is": array,
        "read only": read_only,
        "strided": strided,
        "broadcast": np.broadcast_to(np.ones((), array.dtype), array.shape),
        "of another dtype": array.astype("f" if array.dtype == "d" else "d"),
        "of whole numbers of its size": array.astype(f"i{array.dtype.itemsize}"),
        "in the other order of bytes": array.astype(array.dtype.newbyteorder()),
        "odd": odd,
        "of another axis": array[None],
        "of a subclass": array.view(np.recarray),
        "a list": array.tolist(),
        "a number": 1.0,
        "an object": object(),
    }[how]


HOW = ["as it is", "read only", "strided", "broadcast", "of another dtype", "odd", "a list"]
HOW += ["of whole numbers of its size", "in the other order of bytes", "of another axis"]
HOW += ["of a subclass", "a number", "an object"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("which", FITS)
def test_a_loop_takes_arrays_of_its_kind_alone(which: str, how: str, dtype: str) -> None:
    arrays: dict[str, Any] = {name: np.ones(shape, dtype) for name, shape in FITS.items()}
    arrays[which] = given = changed(arrays[which], how)
    fits = how in TAKEN[which]
    room = np.zeros(packing.STRIDE, np.uint8)
    before = sys.getrefcount(given)
    for function, more in (
        (GIVEN.at(np.dtype(dtype)), ()),
        (GIVEN.packer(np.dtype(dtype)), (0, room.ctypes.data)),
    ):
        with nullcontext() if fits else pytest.raises(TypeError, match="given_loop.*: expected"):
            assert function(*arrays.values(), 3, 0.5, *more) is None
    assert sys.getrefcount(given) == before
    assert fits == room[:8].any()  # the address of what is called
    assert not fits or arrays["y"][0, 0] == 1 + 1 + 3 + 0.5


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        ((3, 0.5), None),
        ((np.int32(3), np.float64(0.5)), None),
        ((True, np.float32(0.5)), None),
        ((-1, -1.0), None),  # which would also say that there was an error
        ((3.0, 0.5), TypeError),
        (("3", 0.5), TypeError),
        ((3, "0.5"), TypeError),
        ((3, None), TypeError),
        ((2**63, 0.5), OverflowError),
        ((3, 10**400), OverflowError),
        ((3,), TypeError),
        ((3, 0.5, 1), TypeError),
    ],
)
def test_a_loop_takes_numbers_of_its_kind_alone(numbers: tuple[Any, ...], error: Any) -> None:
    x, y, view = (np.ones(shape, "f") for shape in FITS.values())
    call = GIVEN.at(x.dtype)
    if error is None:
        call(x, y, view, *numbers)
        assert y[0, 0] == 2 + sum(map(float, numbers))
    else:
        with pytest.raises(error):
            call(x, y, view, *numbers)
        assert y[0, 0] == 1


def test_no_call_counts_what_it_returns_twice() -> None:
    x, y, view = (np.ones(shape, "f") for shape in FITS.values())
    call, before = GIVEN.at(x.dtype), sys.getrefcount(None)
    for _ in range(10_000):
        call(x, y, view, 1, 1.0)
    assert abs(sys.getrefcount(None) - before) < 5_000


def making(x: Read1, y: Write1, size: int) -> None:
    room = np.empty(size, x.dtype)
    for i in range(min(size, 1000)):
        room[i] = x[0] * i
    y[0] = room[min(size, 1000) - 1]


MAKING = compiler.compiled(making)


@pytest.mark.parametrize("size", [1, 1000, 300_000])
def test_arrays_that_a_loop_makes_are_given_back(size: int) -> None:
    x, y = np.full(1, 2.0), np.zeros(1)
    MAKING(x, y, size)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(20):
            MAKING(x, y, size)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert y[0] == 2 * (min(size, 1000) - 1)
    assert 0 <= peak - before - size * 8 < 5_000
    assert after - before < 5_000


def test_a_loop_without_memory_for_its_arrays_says_so() -> None:
    x = np.ones(4)
    with pytest.raises(MemoryError, match="making.*no memory for the arrays"):
        MAKING(x, x, 1 << 50)
    assert (x == 1).all()


def test_nor_has_a_part_in_another_thread() -> None:
    x, y = np.ones(4), np.zeros(4)
    with core.using_config("num_threads", 2):
        for sizes in ([3, 1 << 50], [1 << 50, 3], [1 << 50] * 3):
            with pytest.raises(MemoryError, match="no memory for the arrays"):
                parallel.each(MAKING, [(x, y, size) for size in sizes])
        parallel.each(MAKING, [(x, y, size) for size in (3, 4)])
        with pytest.raises(MemoryError, match="no memory for the arrays"):
            parallel.share(FILLING, (y, 1 << 50, 0, 4), 2)
        parallel.share(FILLING, (y, 2, 0, 4), 2)
    assert (y == 7).all()


def filling(y: Write1, size: int, start: int, stop: int) -> None:
    room = np.empty(size, y.dtype)
    room[0] = 7
    for i in range(start, stop):
        y[i] = room[0]


FILLING = compiler.compiled(filling)

"""Arrays that are copied into larger ones in threads, with their bits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

import core
import core.functions as F
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.array import copies
from core.ops.dispatch import forget_plans
from core.registry.threads import using_threads
from plugins.functions.array.concat import Concat
from plugins.functions.array.pad import ConstantPad

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

NUMPY = core.backend.get("numpy")

dtypes = st.sampled_from(["float32", "float64"])
threads = st.integers(2, 3)


@pytest.fixture(autouse=True, scope="module")
def of_few() -> Iterator[None]:
    """Parts may have few elements."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "PART", 5)
        forget_plans(NUMPY)
        yield
    forget_plans(NUMPY)


def drawn(shape: tuple[int, ...], dtype: str) -> Any:
    """An array of numbers of which each is another, and some with bits to lose."""
    a = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    a.reshape(-1)[::7] = np.nan
    a.reshape(-1)[::5] = -0.0
    return a


def bits(a: Any) -> Any:
    return np.ascontiguousarray(a).view(f"u{a.itemsize}")


@given(array_shapes(min_dims=1, max_dims=4, max_side=9), st.data(), dtypes, threads)
def test_arrays_are_joined(shape: Any, data: Any, dtype: str, threads: int) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    sizes = data.draw(st.lists(st.integers(0, 40), min_size=1, max_size=4))
    shapes = [(*shape[: axis % len(shape)], n, *shape[axis % len(shape) + 1 :]) for n in sizes]
    xs = [drawn(shape, dtype) for shape in shapes]
    xs[0] = data.draw(st.sampled_from([xs[0], xs[0][::-1].copy()[::-1]]))
    with using_threads(threads):
        joined = F.concat(xs, axis=axis).array
    np.testing.assert_array_equal(bits(joined), bits(np.concatenate(xs, axis)))


@given(
    array_shapes(min_dims=1, max_dims=4, max_side=20),
    st.data(),
    st.sampled_from([0.0, -0.0, 2.5, np.nan]),
    dtypes,
    threads,
)
def test_borders(shape: Any, data: Any, value: float, dtype: str, threads: int) -> None:
    pairs = st.tuples(*[st.integers(0, 3)] * 2)
    widths = [(0, 0) if i < len(shape) - 2 else data.draw(pairs) for i in range(len(shape))]
    x = drawn(shape, dtype)
    with using_threads(threads):
        padded = F.pad(x, widths, "constant", constant_values=value).array
    expected = np.pad(x, widths, constant_values=np.asarray(value, dtype))
    np.testing.assert_array_equal(bits(padded), bits(expected))


def test_loops_copy_what_suits_them() -> None:
    x = np.ones((4, 6), "float32")
    with using_threads(2):
        assert copies.concat(Concat(axis=1), np, x, x).shape == (4, 12)
        assert copies.concat(Concat(axis=1), np, x[:, ::2], x) is NotImplemented
        assert copies.concat(Concat(axis=1), np, *[x.astype("int32")] * 2) is NotImplemented
        two = ConstantPad(pad_width=((0, 0), (1, 1)), constant_values=((0, 0), (1, 2)))
        assert copies.constant_pad(two, np, x) is NotImplemented
    with using_threads(1):
        assert copies.concat(Concat(axis=1), np, x, x) is NotImplemented


def test_arrays_in_files(tmp_path: Path) -> None:
    x = np.memmap(tmp_path / "x", "float32", "w+", shape=(4, 6))
    x[...] = drawn(x.shape, "float32")
    with using_threads(2):
        joined, padded = F.concat([x, x]).array, F.pad(x, 1, "constant").array
    np.testing.assert_array_equal(bits(joined), bits(np.concatenate([x, x], 1)))
    np.testing.assert_array_equal(bits(padded), bits(np.pad(x, 1)))


@pytest.mark.parametrize(
    ("shape", "axis"), [((5, 6), 1), ((4, 6, 1), 1), ((6,), 0), ((4, 6), 2), ((4, 6), -3)]
)
def test_arrays_that_do_not_fit_are_left_to_numpy(shape: Any, axis: int) -> None:
    """Where nothing else checks them a loop would write beyond its result."""
    xs = np.ones((4, 6), "float32"), np.ones(shape, "float32")
    with using_threads(2), core.using_config("type_check", False):
        with pytest.raises(ValueError, match="dimension"):
            F.concat(xs, axis=axis)
        mixed = F.concat([xs[0], xs[0].astype("float64")]).array
    assert mixed.dtype == "float64"

"""What the NumPy backend does in its own way equals what the defaults do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from backends.numpy_backend import scatter
from backends.numpy_backend.backend import NumpyBackend
from backends.numpy_backend.triangles import TRIANGLES
from core.arrays.array_backend import Backend
from core.arrays.fallbacks import Fallbacks
from core.arrays.random_streams import seed, stream
from core.errors import BackendError, CheckpointError

B = NumpyBackend()


def drawn(key: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.RandomState(key).uniform(-2, 2, shape)


@given(
    st.sampled_from([(7,), (6, 5)]),
    st.integers(1, 3),
    st.integers(1, 2),
    st.integers(0, 2),
    st.integers(1, 2),
    st.booleans(),
)
def test_windows_equal_the_default(
    size: tuple[int, ...], k: int, stride: int, pad: int, dilate: int, cover_all: bool
) -> None:
    x = drawn(0, 2, 3, *size)
    args = (x, k, stride, pad, dilate, cover_all, -7.0)
    found = B.windows(*args)
    np.testing.assert_array_equal(found, Fallbacks.windows(B, *args))
    assert not found.flags.writeable


@given(
    st.sampled_from(["tril", "triu"]),
    st.sampled_from([0, 1, 5, 16, 17, 40, 300]),
    st.sampled_from([0, 1, 5, 16, 17, 40, 300]),
    st.integers(-320, 320) | st.integers(-20, 20),
    st.sampled_from(["f4", ">f8", "i8", "?", "c8"]),
)
def test_triangles_are_those_of_numpy(name: str, n: int, m: int, k: int, dtype: str) -> None:
    x = drawn(n, 2, n, m).astype(dtype)
    x[:1] = 1
    for given_x in (x, np.asfortranarray(x)):
        found, expected = TRIANGLES[name](given_x, k=k), getattr(np, name)(x, k)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("dtype", ["f4", "i8", "?", "c8"])
@pytest.mark.parametrize("name", ["tril", "triu"])
@pytest.mark.parametrize("sizes", [(5, 7), (300, 300), (30, 600), (600, 30), (129, 131)], ids=repr)
def test_triangles_of_all_sizes_are_those_of_numpy(
    sizes: tuple[int, int], name: str, dtype: str
) -> None:
    x = drawn(0, *sizes).astype(dtype)
    for k in (-700, -300, -17, -1, 0, 1, 16, 100, 300, 700):
        found, expected = TRIANGLES[name](x, k=k), getattr(np, name)(x, k)
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("size", [6, 600])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_formulas_reduce_numbers_of_other_machines(name: str, size: int) -> None:
    x = np.linspace(0.9, 1.1, size, dtype="f").reshape(2, -1)
    swapped = x.astype(x.dtype.newbyteorder())
    xp = B.ops_xp(x.shape)
    for options in ({}, {"axis": 1}, {"axis": (0,), "keepdims": True}):
        expected = getattr(np, name)(x, dtype=x.dtype, **options)
        found = getattr(xp, name)(swapped, dtype=swapped.dtype, **options)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert found.dtype.isnative
        np.testing.assert_array_equal(getattr(xp, name)(x, **options), expected, strict=True)


@given(
    st.sampled_from([(5,), (5, 3), (6, 70), (5, 4, 30)]),
    st.sampled_from([(), (1,), (8,), (3, 4), (0,)]),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_scatter_add_equals_add_at_bit_by_bit(
    shape: tuple[int, ...], many: tuple[int, ...], negative: bool, ordered: bool, data: Any
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    lowest = -shape[axis] if negative else 0
    places = st.integers(lowest, shape[axis] - 1)
    count = int(np.prod(many))
    index = np.array(data.draw(st.lists(places, min_size=count, max_size=count)), np.int32)
    index = index.reshape(many)
    a = np.array(drawn(1, *shape), np.float32, order="C" if ordered else "F")
    values = drawn(2, *shape[:axis], *many, *shape[axis + 1 :]).astype(np.float32)
    before, after = (slice(None),) * axis, (slice(None),) * (len(shape) - axis - 1)
    spellings = [(*before, index), (*before, index, ...), (*before, index, *after)]
    spellings += [(..., index, *after), (*before, ..., index, *after), index]
    spelling = data.draw(st.sampled_from(spellings if axis == 0 else spellings[:-1]))
    expected = a.copy()
    np.add.at(expected, spelling, values)
    B.scatter_add(a, spelling, values)
    np.testing.assert_array_equal(a, expected)


@given(
    st.sampled_from([(5, 6), (3, 1, 4)]),
    st.sampled_from([(1,), (300,), (20, 30)]),
    st.booleans(),
    st.integers(0, 99),
)
def test_scatter_add_by_an_array_for_each_axis(
    shape: tuple[int, ...], many: tuple[int, ...], outside: bool, key: int
) -> None:
    r = np.random.default_rng(key)
    index: Any = tuple([r.integers(-n, n, many).astype("i1") for n in shape])
    index[0].flat[0] = shape[0] if outside else 0
    a, values = np.ones(shape, np.float32), r.standard_normal(many, np.float32)
    expected = a.copy()
    if outside:
        with pytest.raises(IndexError):
            B.scatter_add(a, index, values)
    else:
        np.add.at(expected, index, values)
        B.scatter_add(a, index, values)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize("dtype", ["f", "d", "e", "i8"])
@pytest.mark.parametrize("axis", range(3))
def test_scatter_add_of_whole_rows_in_any_dtype(axis: int, dtype: str) -> None:
    r = np.random.default_rng(axis)
    a = r.integers(-9, 9, (5, 6, 7)).astype(dtype)
    index = (slice(None),) * axis + (r.integers(-5, 5, (4, 30)),)
    values = r.integers(-9, 9, (*a.shape[:axis], 4, 30, *a.shape[axis + 1 :])).astype(dtype)
    expected = a.copy()
    np.add.at(expected, index, values)
    B.scatter_add(a, index, values)
    np.testing.assert_array_equal(a, expected)


def test_scatter_add_refuses_more_axes_than_there_are() -> None:
    a, index = np.zeros((4, scatter.SMALL), np.float32), np.arange(4)
    for many in ((index, slice(None), slice(None)), (slice(None), slice(None), index)):
        with pytest.raises(IndexError):
            B.scatter_add(a, many, 1.0)
    assert not a.any()


def test_scatter_add_broadcasts_its_values() -> None:
    a = np.zeros((4, scatter.SMALL), np.float32)
    B.scatter_add(a, np.array([1, 1, 3]), 2.0)
    np.testing.assert_array_equal(a[:, 0], [0, 4, 0, 2])


@pytest.mark.parametrize("place", [4, -5])
def test_scatter_add_refuses_rows_that_are_not_there(place: int) -> None:
    a = np.zeros((4, scatter.SMALL), np.float32)
    with pytest.raises(IndexError):
        B.scatter_add(a, np.array([0, place]), 1.0)
    assert not a.any()


@pytest.mark.parametrize("index", [1, slice(None, None, 2), (Ellipsis, 0), (None, 1)], ids=repr)
def test_scatter_add_by_slices(index: Any) -> None:
    a = drawn(3, 4, 3)
    expected = a.copy()
    expected[index] += 1
    B.scatter_add(a, index, 1)
    np.testing.assert_array_equal(a, expected)


def test_scatter_add_by_a_mask() -> None:
    a = drawn(4, 4, 3)
    expected = np.where(a > 0, a + 1, a)
    B.scatter_add(a, a > 0, 1.0)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint16", "bool"])
def test_names_kinds_and_dtypes_agree(dtype: str) -> None:
    made = B.dtype(dtype)
    assert made == np.dtype(dtype)
    assert B.dtype_name(made) == B.dtype_name(getattr(np, dtype)) == dtype
    assert B.kind(made) == B.kind(dtype) == np.dtype(dtype).kind
    if dtype != "float16":
        assert Backend.kind(B, made) == B.kind(made)
        assert Backend.dtype_name(B, made) == dtype
        assert Backend.dtype(B, dtype) == made
    assert dtype in B.dtypes()


@pytest.mark.parametrize("dtype", [None, "S3", object, "datetime64[s]"])
def test_what_holds_no_numbers_is_refused(dtype: Any) -> None:
    with pytest.raises(BackendError, match="no dtype of numbers"):
        B.dtype(dtype)


def test_an_unknown_dtype_is_refused_with_the_nearest() -> None:
    for dtype in (B.dtype, lambda name: Backend.dtype(B, name)):
        with pytest.raises(BackendError, match="Did you mean 'float32'"):
            dtype("flaot32")


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("make", [np.asmatrix, np.ma.asarray])
def test_arrays_whose_operators_mean_something_else_are_refused(make: Any) -> None:
    x = make(np.ones((2, 2)))
    variable = core.Variable(np.ones((2, 2)))
    for use in (
        lambda: core.Variable(x),
        lambda: variable * x,
        lambda: core.functions.exp(x),
        lambda: setattr(variable, "array", x),
        lambda: setattr(variable, "grad", x),
    ):
        with pytest.raises((TypeError, BackendError), match=r"(?i)expected .*an array"):
            use()


def test_a_memmap_is_an_array_like_any_other(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "a", np.float32, "w+", shape=(3,))
    assert isinstance(mapped, B.array_type)
    assert type(B.copy(np.asarray(mapped))) is np.ndarray


def test_copy_and_copyto_share_nothing() -> None:
    a = drawn(5, 3, 4).T
    b = B.copy(a)
    assert not np.shares_memory(a, b)
    assert b.strides == a.strides
    B.copyto(b, 3)
    assert (b == 3).all()
    assert not (a == 3).any()


def test_add_in_place_keeps_the_array_even_without_dimensions() -> None:
    a = np.array(1.0, np.float32)
    assert B.add_in_place(a, np.float32(2)) is a
    assert a == 3
    assert a.dtype == np.float32


def test_memory_is_its_own_unless_it_is_a_view_or_read_only() -> None:
    a = np.ones(3)
    assert B.owns(a) and not B.owns(a[:2]) and not B.owns(np.frombuffer(bytearray(8)))
    a.flags.writeable = False
    assert not B.owns(a)


@pytest.mark.parametrize("length", [4, 4096])
def test_formulas_compute_with_a_module_whose_names_python_remembers(length: int) -> None:
    namespace = B.ops_xp((length,))
    assert type(namespace) is ModuleType and not hasattr(namespace, "__getattr__")
    assert namespace.tanh is np.tanh
    for rarer, name in (("random", "normal"), ("ma", "masked_array"), ("testing", "assert_equal")):
        assert getattr(getattr(namespace, rarer), name) is getattr(getattr(np, rarer), name)


def test_there_is_one_device() -> None:
    (device,) = B.devices()
    assert str(device) == "numpy"
    assert B.device_of(np.ones(2)) == device
    assert B.to_device(a := np.ones(2), device) is a
    with pytest.raises(BackendError, match="has no device numpy:1; it has numpy"):
        B.as_device(1)


# -- random numbers -----------------------------------------------------------------------------


@pytest.fixture
def unseeded() -> Iterator[None]:
    before = np.random.get_state()
    yield
    seed(None)
    np.random.set_state(before)


def draw_everything() -> list[Any]:
    r = B.random
    return [
        r.normal((2, 3)),
        r.uniform((4,), "float64", -1, 2),
        r.uniform((), "float16"),
        r.bernoulli(0.3, (5,)),
        r.permutation(6),
        r.integers(2, 9, (3,)),
    ]


def assert_same(a: list[Any], b: list[Any]) -> None:
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


def test_numpys_own_seed_fixes_what_is_drawn(unseeded: None) -> None:
    np.random.seed(3)
    first = draw_everything()
    np.random.seed(3)
    assert_same(first, draw_everything())
    np.random.seed(3)
    np.testing.assert_array_equal(first[0], np.random.standard_normal((2, 3)).astype("f"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_many_draws_are_those_that_numpy_draws_at_once(unseeded: None, dtype: str) -> None:
    shape = (3, 7_001)  # of odd size: NumPy's global generator draws normals in pairs
    alone = np.random.RandomState(3)
    np.random.seed(3)
    backend = NumpyBackend()
    for _ in range(2):
        expected = alone.standard_normal(shape).astype(dtype)
        np.testing.assert_array_equal(backend.random.normal(shape, dtype), expected)
        expected = alone.random_sample(shape).astype(dtype)
        found = backend.random.uniform(shape, dtype)
        np.testing.assert_array_equal(found, np.minimum(expected, np.nextafter(1, 0, dtype=dtype)))


def test_a_seed_makes_numpys_generator_irrelevant(unseeded: None) -> None:
    seed(7)
    first = draw_everything()
    seed(7)
    np.random.seed(99)
    before = B.random.get_state()
    assert_same(first, draw_everything())
    assert B.random.get_state() == before
    seed(8)
    assert any((x != y).any() for x, y in zip(first, draw_everything(), strict=True))


def test_draws_of_one_seed_are_a_fixed_sequence(unseeded: None) -> None:
    seed(0)
    key = 0
    expected = np.random.Generator(np.random.Philox(key=key)).random(3, dtype=np.float32)
    np.testing.assert_array_equal(B.random.uniform((3,)), expected)
    installed = stream()
    assert installed is not None
    assert installed.get_state() == {"seed": 0, "draws": 1}


def test_any_integer_is_a_seed(unseeded: None) -> None:
    for n in (-1, 0, 2**200, np.int64(5)):
        seed(n)  # type: ignore[arg-type]
        assert B.random.uniform((2,)).shape == (2,)
    for wrong in (1.5, "1", True):
        with pytest.raises(TypeError, match="expected an integer or None"):
            seed(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("seeded", [False, True])
def test_what_is_drawn_has_its_range_shape_and_dtype(unseeded: None, seeded: bool) -> None:
    np.random.seed(0)
    seed(0 if seeded else None)
    for dtype in ("float16", "float32", "float64"):
        u = B.random.uniform((50, 40), dtype, -1.0, 0.5)
        assert (u.dtype, u.shape) == (np.dtype(dtype), (50, 40))
        assert u.min() >= -1
        assert u.max() < 0.5
        assert abs(u.mean() + 0.25) < 0.05
        z = B.random.normal((2000,), dtype)
        assert z.dtype == np.dtype(dtype)
        assert abs(z.mean()) < 0.1
        assert abs(z.std() - 1) < 0.1
    coins = B.random.bernoulli(0.3, (2000,))
    assert coins.dtype == np.bool_
    assert abs(coins.mean() - 0.3) < 0.05
    assert not B.random.bernoulli(0.0, (100,)).any()
    assert B.random.bernoulli(1.0, (100,)).all()
    assert sorted(B.random.permutation(5).tolist()) == [0, 1, 2, 3, 4]
    assert set(B.random.integers(2, 4, (100,)).tolist()) == {2, 3}
    for value in (B.random.normal(), B.random.bernoulli(0.5), B.random.integers(0, 2)):
        assert type(value) is np.ndarray


def test_the_state_goes_through_json(unseeded: None) -> None:
    np.random.standard_normal(3)  # leaves a second value waiting inside the generator
    state = json.loads(json.dumps(B.random.get_state()))
    first = draw_everything()
    B.random.set_state(state)
    assert_same(first, draw_everything())


def test_a_state_of_something_else_is_refused(unseeded: None) -> None:
    with pytest.raises(CheckpointError, match="does not fit NumPy's global generator"):
        B.random.set_state({"bit_generator": "PCG64", "state": {}})


def test_bfloat16_is_known_by_its_name_before_ml_dtypes_is_imported():
    pytest.importorskip("ml_dtypes")
    code = (
        "import sys, core; assert 'ml_dtypes' not in sys.modules\n"
        "print(core.backend.get('numpy').asarray([1.0], 'bfloat16').dtype)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "bfloat16"

"""Products of matrices in blocks: of any layout, with stacks and biases, in parts of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backends.numpy_backend.kernels import compiler

if not compiler.available():
    pytest.skip("loops are not compiled here", allow_module_level=True)

from backends.numpy_backend.kernels.compiled.products import blocked

SIDE = st.one_of(st.integers(1, 70), st.integers(1, 1100))
LAYOUTS: dict[str, Any] = {
    "rows": np.ascontiguousarray,
    "columns": lambda x: np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2),
    "every second": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: x[..., ::-1].copy()[..., ::-1],
    "upwards": lambda x: x[..., ::-1, :].copy()[..., ::-1, :],
    "inside": lambda x: np.pad(x, [(0, 0)] * (x.ndim - 2) + [(2, 1), (3, 2)])[..., 2:-1, 3:-2],
    "one row": lambda x: np.broadcast_to(x[..., :1, :], x.shape),
    "rows apart": lambda x: np.moveaxis(np.ascontiguousarray(np.moveaxis(x, -2, 0)), 0, -2),
    "one column": lambda x: np.broadcast_to(x[..., :1], x.shape),
}
LAYOUT = st.sampled_from(sorted(LAYOUTS))
STACKS = st.sampled_from(
    [
        *[((), ()), ((1,), (5,)), ((5,), (1,)), ((7,), (7,)), ((), (3,)), ((2,), ())],
        *[((2, 3), (2, 3)), ((2, 1), (1, 3)), ((1, 3), (2, 1)), ((3,), (2, 3)), ((2, 3), ())],
    ]
)


@pytest.fixture(autouse=True, scope="module")
def all_sizes() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"LEAST": 0, "LEAST_TURNED": 0, "NARROW": 1, "PART": 1000}.items():
            patch.setattr(blocked, name, value)
        patch.setattr(blocked, "LARGE", 1 << 60)
        blocked._plan.cache_clear()
        yield
    blocked._plan.cache_clear()


def whole(*shape: int, dtype: str) -> Any:
    """Small whole numbers, of which sums of products are exact in any order."""
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(dtype)


@settings(max_examples=150)
@given(
    st.tuples(SIDE, SIDE, SIDE).filter(lambda sides: np.prod(sides) < 1e7),
    STACKS,
    LAYOUT,
    LAYOUT,
    st.sampled_from(["float32", "float64"]),
    st.booleans(),
    st.integers(1, 3),
)
@example((3, 1000, 40), ((), ()), "rows", "rows", "float32", False, 1)  # blocks, half a tile
def test_products_are_products(
    sides: tuple[int, int, int],
    stacks: tuple[tuple[int, ...], tuple[int, ...]],
    left: str,
    right: str,
    dtype: str,
    biased: bool,
    threads: int,
) -> None:
    (m, k, n), (before, after) = sides, stacks
    a = LAYOUTS[left](whole(*before, m, k, dtype=dtype))
    b = LAYOUTS[right](whole(*after, k, n, dtype=dtype))
    bias = whole(n, dtype=dtype) if biased else None
    found = blocked.product(a, b, bias, lambda: threads)
    expected = np.matmul(a, b) + (0 if bias is None else bias)
    assert found is not None
    np.testing.assert_array_equal(found, expected.astype(dtype), strict=True)


@given(st.sampled_from([(5, 21, 40), (33, 7, 100), (40, 400, 17), (3, 900, 90)]), LAYOUT, LAYOUT)
def test_what_is_not_finite_stays_in_its_row_and_column(
    sides: tuple[int, int, int], left: str, right: str
) -> None:
    """Nothing is multiplied with a lane beside it, nor with what lies behind a matrix."""
    m, k, n = sides
    a, b = np.ones((m, k), "f"), np.ones((k, n), "f")
    a[m - 1, k // 2], b[0, n - 1] = np.nan, np.inf
    a, b = LAYOUTS[left](a), LAYOUTS[right](b)
    found = blocked.product(a, b)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, np.matmul(a, b))


@given(SIDE, st.integers(1, 300), SIDE, LAYOUT, LAYOUT)
def test_the_bits_do_not_depend_on_who_computes_what(
    m: int, k: int, n: int, left: str, right: str
) -> None:
    r = np.random.default_rng(m)
    m, n = m % 200 + 1, n % 200 + 1
    a = LAYOUTS[left](r.standard_normal((m, k)).astype("f"))
    b = LAYOUTS[right](r.standard_normal((k, n)).astype("f"))
    first = blocked.product(a, b, threads=lambda: 1)
    assert first is not None
    for threads in (1, 2, 2, 3):
        found = blocked.product(a, b, threads=lambda n=threads: n)
        np.testing.assert_array_equal(found, first)
    np.testing.assert_allclose(first, a.astype("d") @ b.astype("d"), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.astype("f2"),
        lambda x: x.astype("i4"),
        lambda x: x.astype(">f4"),
        lambda x: x[0],
        lambda x: x[None, None, None],
        lambda x: x[:, :-1],
        lambda x: x.view(np.matrix),
        lambda x: np.frombuffer(b"0" + x.tobytes(), "u1")[1:].view("f").reshape(x.shape),
    ],
)
def test_other_arrays_are_left_to_numpy(change: Any) -> None:
    a, b = np.ones((30, 40), "f"), np.ones((40, 50), "f")
    assert blocked.product(change(a), b) is None
    for lead, other in (((3,), (2,)), ((2, 3), (2, 2)), ((2, 3), (3, 3))):
        assert blocked.product(np.ones((*lead, *a.shape)), np.ones((*other, *b.shape))) is None
    assert blocked.product(a[:, :0], b[:0]) is None
    for stack in (a, a[None]):
        assert blocked.product(stack, np.ones((0, *b.shape), "f")) is None

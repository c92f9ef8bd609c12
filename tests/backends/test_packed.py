"""A matrix that is packed once, and multiplied by many: beside NumPy's products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
from backends.numpy_backend.kernels import compiler

if not compiler.available():
    pytest.skip("loops are not compiled here", allow_module_level=True)

from backends.numpy_backend.kernels.compiled.products import packed

LAYOUTS = [
    np.ascontiguousarray,
    np.asfortranarray,
    lambda b: np.repeat(b, 2, axis=1)[:, ::2],
    lambda b: b[::-1, ::-1].copy()[::-1, ::-1],
]


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "PART", 1)
        yield


@settings(max_examples=60)
@given(
    st.tuples(st.integers(1, 60), st.integers(1, 900), st.integers(1, 300)),
    st.sampled_from(["float32", "float64"]),
    st.sampled_from(LAYOUTS),
    st.integers(1, 3),
)
def test_products_are_added(
    sizes: tuple[int, int, int], dtype: str, layout: Any, threads: int
) -> None:
    m, k, n = sizes
    r = np.random.default_rng(m + k + n)  # small whole numbers, of which sums are exact
    a, b, c = [r.integers(-4, 5, shape).astype(dtype) for shape in ((m, k), (k, n), (m, n))]
    wanted = c + a @ b
    with core.using_config("num_threads", threads):
        by = packed.Packed(layout(b))
        for times in (1, 2):
            by.add_product(a, c)
            np.testing.assert_array_equal(c, wanted + (times - 1) * (a @ b))


def test_the_bits_do_not_depend_on_who_computes_what() -> None:
    r = np.random.default_rng(0)
    a, b, c = [r.standard_normal(s).astype("f") for s in ((20, 700), (700, 500), (20, 500))]
    found = []
    for threads in (1, 2, 2, 3):
        sums = c.copy()
        with core.using_config("num_threads", threads):
            packed.Packed(b).add_product(a, sums)
        found.append(sums)
    assert all([np.array_equal(found[0], each) for each in found])

"""Matrix products in our threads: what they compute, and what BLAS is told before, in and after."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend import blas, parallel, products
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled.products import blocked, few_rows
from benchmarks.isa import AVX2

needs_openblas = pytest.mark.skipif(blas.control() is None, reason="NumPy has another BLAS")


@contextmanager
def blas_threads(number: int) -> Iterator[Any]:
    """OpenBLAS with so many threads, as a user may set it."""
    control = blas.control()
    assert control is not None
    before = control.get()
    control.set(number)
    try:
        yield control
    finally:
        control.set(before)


@pytest.fixture
def two() -> Iterator[Any]:
    with blas_threads(2) as control, core.using_config("num_threads", 2):
        yield control


@pytest.fixture(autouse=True)
def limits_of_this_test() -> Iterator[None]:
    """Nothing of how other tests divided, whose limits may have been others."""
    blocked._plan.cache_clear()
    yield
    blocked._plan.cache_clear()


SHAPES = [
    ((300, 5), (5, 200)),
    ((70, 40), (40, 500)),
    ((9, 30, 20), (9, 20, 30)),
    ((9, 30, 20), (1, 20, 30)),
    ((30, 20), (9, 20, 30)),
    ((9, 30, 20), (20, 30)),
    ((3, 1, 70, 20), (4, 20, 90)),
    ((1, 50, 300), (30, 1, 300, 64)),
    ((1, 48, 400), (1, 400, 216)),
    ((64,), (64, 30)),
    ((3, 40, 64), (64,)),
    ((0, 4), (4, 300)),
    ((300, 0), (0, 300)),
]


@needs_openblas
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
@pytest.mark.parametrize("loops", [True, False])
def test_divided_products_are_products(
    shapes: Any, dtype: str, loops: bool, two: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    available = loops and compiler.available()
    for module, names in (
        (products, "ALONE DIVIDED"),
        (few_rows, "LEAST"),
        (blocked, "LEAST NARROW"),
    ):
        for name in names.split():
            monkeypatch.setattr(module, name, 0)
    monkeypatch.setattr(blocked, "PART", 1)
    monkeypatch.setattr(products.compiler, "available", lambda: available)
    r = np.random.RandomState(0)
    a, b = [r.randint(-4, 5, shape).astype(dtype) for shape in shapes]
    expected = np.matmul(a, b)  # whole numbers: exact in any order
    lefts = (
        a,
        np.asfortranarray(a),
        np.repeat(a, 2, axis=-1)[..., ::2],
        a[..., ::-1].copy()[..., ::-1],
    )
    for left in lefts:
        found = products.matmul(left, b)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    assert two.get() == 2


@needs_openblas
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_the_other_order_of_bytes_are_numpys(dtype: str) -> None:
    a, b = (np.arange(160.0 * 160).reshape(160, 160) % n for n in (5, 7))
    turned = [x.astype(np.dtype(dtype).newbyteorder()) for x in (a, b)]
    with blas_threads(2), core.using_config("num_threads", 2):
        found = products.matmul(*turned)
    np.testing.assert_array_equal(found, np.matmul(a, b).astype(dtype), strict=True)
    assert found.dtype.isnative  # as in NumPy's products of any size


@needs_openblas
@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 4))
def test_results_repeat_to_the_bit(m: int, n: int, threads: int) -> None:
    r = np.random.RandomState(m)
    a, b = r.randn(m, 64).astype("f"), r.randn(64, n).astype("f")
    blocked._plan.cache_clear()
    with pytest.MonkeyPatch.context() as patch, blas_threads(4):
        patch.setattr(products, "DIVIDED", 0)
        patch.setattr(blocked, "PART", 1)
        with core.using_config("num_threads", threads):
            first = products.matmul(a, b)
            assert all((products.matmul(a, b) == first).all() for _ in range(3))


SIDES = st.integers(1, 3000)


@given(SIDES, SIDES, SIDES, st.booleans(), st.booleans(), st.integers(1, 5))
def test_threads_have_equal_shares_of_a_product(
    m: int, k: int, n: int, left: bool, right: bool, threads: int
) -> None:
    units, size, parts, _ = blocked._division((1, m, n), k, (left, right), threads)
    assert parts < threads or parts % threads == 0
    assert sorted(units)[:2] == [0, 0] and units[0] == 0
    assert size * max(units) >= (m if units[1] else n) > (size - 1) * max(units)


@given(st.integers(400, 1000), st.integers(400, 1000), st.integers(24, 128))
def test_a_gradient_of_weights_needs_few_panels(m: int, n: int, batch: int) -> None:
    """Of a tall product each thread has rows, of a wide one columns: it packs the less."""
    for shape, axis in (((1, m, 24), 1), ((1, 24, n), 2)):
        assert blocked._division(shape, batch, (True, False), 2).units[axis]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "complex64"])
@pytest.mark.parametrize("width", [5, 200])
def test_outer_products_are_numpys_to_the_bit(dtype: str, width: int) -> None:
    r = np.random.RandomState(0)
    a, b = [r.randn(*shape).astype(dtype) for shape in ((96, 1), (1, width))]
    if dtype.startswith("float"):
        a[:3, 0], b[0, :4] = (0.0, -0.0, np.inf), (1, -1, -0.0, np.nan)
    for left in (a, np.asfortranarray(a), np.repeat(a, 2, axis=0)[::2]):
        with np.errstate(invalid="ignore"):
            found, expected = products.matmul(left, b), np.matmul(left, b)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found.real), np.signbit(expected.real))


def test_products_go_by_their_work_however_few_elements_one_factor_has() -> None:
    for shape in ((1, 4), (200, 300)):
        assert core.backend.get("numpy").ops_xp(shape).matmul is products.matmul


@needs_openblas
def test_shapes_that_do_not_fit_are_numpys_to_refuse(two: Any) -> None:
    for a, b in ((np.ones((3, 4)), np.ones((5, 6))), (np.ones((600, 500)), np.ones((501, 600)))):
        with pytest.raises(ValueError, match="mismatch in its core dimension|not aligned"):
            products.matmul(a, b)
    assert two.get() == 2


@needs_openblas
def test_inside_a_product_of_ours_blas_has_one_thread(
    two: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, real = [], np.matmul

    def spy(*args: Any, **options: Any) -> Any:
        seen.append((two.get(), threading.current_thread().name))
        return real(*args, **options)

    monkeypatch.setattr(np, "matmul", spy)
    monkeypatch.setattr(blocked, "product", lambda *_, **__: None)
    x, w = (core.Variable(np.ones((600, 600), "f")) for _ in range(2))
    F.linear(x, w)
    assert len(seen) == 2 and {threads for threads, _ in seen} == {1}
    assert two.get() == 2


@needs_openblas
def test_where_the_user_limits_blas_products_are_not_divided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parallel, "each", lambda *_: pytest.fail("divided"))
    parts, share = [], parallel.share
    monkeypatch.setattr(parallel, "share", lambda *a, **o: (parts.append(a[2]), share(*a, **o)))
    with blas_threads(1) as control, core.using_config("num_threads", 2):
        products.matmul(np.ones((600, 600), "f"), np.ones((600, 600), "f"))
        assert control.get() == 1 and set(parts) <= {1}


@needs_openblas
def test_the_lowest_of_the_open_limits_holds() -> None:
    with blas_threads(4) as control:
        with core.using_threads(3):
            assert control.get() == 3
            with core.using_threads(2):
                assert control.get() == 2 and core.config.num_threads == 2
                other = threading.Thread(target=lambda: seen.append(control.get()))
                seen: list[int] = []
                other.start()
                other.join()
                assert seen == [2], "one number for the process"
            assert control.get() == 3
            with core.using_threads(8):
                assert control.get() == 3 and core.config.num_threads == 8
        assert control.get() == 4 and core.config.num_threads is None


@pytest.mark.parametrize("number", [0, None, "2", 1.5])
def test_what_is_no_number_of_threads_is_refused(number: Any) -> None:
    with pytest.raises(ValueError, match="expected a whole number of at least 1"):
        core.using_threads(number).__enter__()


@needs_openblas
def test_products_of_several_threads_leave_blas_as_it_was(two: Any) -> None:
    def work() -> None:
        a = np.ones((120, 120), "f")
        for _ in range(50):
            assert (products.matmul(a, a) == 120).all()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert two.get() == 2


@needs_openblas
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_inside_a_limit_has_all_threads_again() -> None:
    with blas_threads(2) as control:
        with blas.limited(1):
            child = os.fork()
            if not child:
                os._exit(control.get())
            _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 2


def test_another_blas_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_limits", None)
    monkeypatch.setattr(blas, "control", lambda: None)
    monkeypatch.setattr(parallel, "each", lambda *_: pytest.fail("divided"))
    a = np.ones((600, 600), "f")
    assert (products.matmul(a, a) == 600).all()
    with core.using_threads(1):
        assert core.config.num_threads == 1


@needs_openblas
def test_threadpoolctl_finds_it_where_it_is_not_beside_numpy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("threadpoolctl")
    monkeypatch.setattr(blas.Path, "glob", lambda self, pattern: [])
    found = blas.control.__wrapped__()
    expected = blas.control()
    assert found is not None and expected is not None
    assert found.name == expected.name


@pytest.mark.skipif(not compiler.available(), reason="loops are not compiled")
def test_smaller_products_are_in_blocks_by_a_turned_factor_alone() -> None:
    r = np.random.default_rng(0)
    x, W = r.standard_normal((48, 64)).astype("f"), r.standard_normal((64, 64)).astype("f")
    y = blocked.product(x, W.T, W[0])
    assert y is not None
    np.testing.assert_allclose(y, x.astype("d") @ W.T + W[0], rtol=0, atol=1e-4)
    assert blocked.product(x, W) is None
    assert blocked.product(x[:31], W.T) is None
    several = np.ones((64, 2, 64), "f"), np.ones((64, 64, 64), "f")
    assert blocked.product(several[0], several[1].transpose(0, 2, 1)) is None  # of few rows each


OF_80 = """
import numpy as np
from backends.numpy_backend.kernels.compiled.products import blocked
a = np.ones((80, 80), "f")
print(blocked.product(a, a) is not None, blocked._few_registers())
"""


@needs_openblas
@pytest.mark.skipif(not compiler.available(), reason="loops are not compiled")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="vectors of 512 bits are Intel's")
@pytest.mark.parametrize(
    "variables", [AVX2, {"OPENBLAS_CORETYPE": "Haswell"}], ids=["both", "BLAS"]
)
def test_loops_serve_smaller_products_where_blas_has_narrower_vectors(variables: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OF_80],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    served, few = [word == "True" for word in done.stdout.split()]
    assert served is not few
    assert few or variables is not AVX2

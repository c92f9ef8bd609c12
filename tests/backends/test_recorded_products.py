"""Products while a CUDA graph is made: what cuBLAS is told; inside it is NumPy or OpenBLAS.

Its functions are called with the types of C, and read and write by address, as BLAS says they do.
"""

import ctypes
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import core
import core.functions as F
from backends.cuda_backend import products
from backends.cuda_backend.backend import CudaBackend
from backends.cuda_backend.cublas import ALGORITHM, SIGNATURES, TYPES, Cublas, CublasError, side
from backends.cuda_backend.graphs import Graphs
from backends.cuda_backend.products import Products
from backends.cuda_backend.recording import HERE, Recording, recording
from core.arrays.backend import host

sys.path.insert(0, str(Path(__file__).parent))

from imitation import Imitation, ndarray

DTYPES = {number: name for name, number in TYPES.items()}
SUMS = {68: "f4", 70: "f8", 77: "f4"}


def read(place, count, dtype):
    room = (ctypes.c_char * (count * dtype.itemsize)).from_address(place)
    return np.frombuffer(room, dtype=dtype)


def lying(place, rows, columns, step, dtype):
    """The matrix, by columns that are `step` elements from each other."""
    assert step >= rows
    memory = read(place, (columns - 1) * step + rows, dtype)
    strides = dtype.itemsize, step * dtype.itemsize
    return np.lib.stride_tricks.as_strided(memory, (rows, columns), strides)


def by_numpy(turned, sizes, numbers, a, b, c, dtype, sums):
    (m, n, k), (alpha, beta) = sizes, numbers
    left = lying(a[0], *((k, m) if turned[0] else (m, k)), a[1], dtype)
    right = lying(b[0], *((n, k) if turned[1] else (k, n)), b[1], dtype)
    left, right = left.T if turned[0] else left, right.T if turned[1] else right
    assert beta == 0 and c[1] >= m
    lying(c[0], m, n, c[1], dtype)[...] = alpha * (left.astype(sums) @ right.astype(sums))


def openblas():
    """The library that NumPy has brought, and what its names end with."""
    folder = Path(np.__file__).parents[1] / "numpy.libs"
    for path in folder.glob("*openblas64*"):
        return ctypes.CDLL(str(path))
    return None


def by_openblas(turned, sizes, numbers, a, b, c, dtype, sums):
    if dtype.name not in ("float32", "float64"):
        return by_numpy(turned, sizes, numbers, a, b, c, dtype, sums)
    letter, number = ("s", ctypes.c_float) if dtype.itemsize == 4 else ("d", ctypes.c_double)
    whole, place = ctypes.c_int64, ctypes.c_void_p
    function = getattr(openblas(), f"scipy_cblas_{letter}gemm64_")
    function.argtypes = [ctypes.c_int] * 3 + [whole] * 3 + [number, place, whole, place, whole]
    function.argtypes += [number, place, whole]
    function.restype = None
    function(102, *[111 + t for t in turned], *sizes, numbers[0], *a, *b, numbers[1], *c)


class Library:
    """The functions that are called, as pointers to C functions; `asked` has what they were."""

    def __init__(self, compute=by_numpy):
        self.asked, self.compute, self.status = [], compute, 0
        for name, kinds in SIGNATURES.items():
            made = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(getattr(self, f"_{name}"))
            setattr(self, name, made)

    def _cublasSetStream_v2(self, handle, stream):
        self.asked.append(("stream", handle, stream))
        return self.status

    def _cublasSetWorkspace_v2(self, handle, place, size):
        self.asked.append(("workspace", place, size))
        return self.status

    def _cublasGemmEx_64(self, handle, ta, tb, m, n, k, alpha, *rest):
        a, b, (beta, *c, sums, algorithm) = rest[:3], rest[3:6], rest[6:]
        self._gemm((ta, tb), (m, n, k), (alpha, beta), a, b, c, sums, algorithm)
        return self.status

    def _cublasGemmStridedBatchedEx_64(self, handle, ta, tb, m, n, k, alpha, *rest):
        (*a, a_apart), (*b, b_apart) = rest[:4], rest[4:8]
        beta, *c, c_apart, count, sums, algorithm = rest[8:]
        size = np.dtype(DTYPES[a[1]]).itemsize
        for i in range(count):
            moved = [
                (x[0] + i * apart * size, *x[1:])
                for x, apart in ((a, a_apart), (b, b_apart), (c, c_apart))
            ]
            self._gemm((ta, tb), (m, n, k), (alpha, beta), *moved, sums, algorithm)
        return self.status

    def _gemm(self, turned, sizes, numbers, a, b, c, sums, algorithm):
        assert a[1] == b[1] == c[1] and algorithm == ALGORITHM
        dtype, of = host().dtype(DTYPES[a[1]]), np.dtype(SUMS[sums])
        assert (of.itemsize == 8) == (dtype.name == "float64")
        kind = ctypes.c_double if of.itemsize == 8 else ctypes.c_float
        numbers = [kind.from_address(place).value for place in numbers]
        places = [(x[0], x[2]) for x in (a, b, c)]
        self.asked.append(("product", sums, *sizes))
        self.compute(turned, sizes, numbers, *places, dtype, of)


@pytest.fixture
def made(monkeypatch):
    """An imitation of CuPy, and a library of cuBLAS's functions."""
    device = SimpleNamespace(get_cublas_handle=lambda: 77, get_compute_capability=lambda: "80")
    exact = SimpleNamespace(
        COMPUTE_TYPE_TF32=7,
        get_compute_type=lambda dtype: exact.now,
        set_compute_type=lambda dtype, kind: vars(exact).update(now=kind),
        now=1,
    )
    monkeypatch.setitem(sys.modules, "cupy.cuda.device", device)
    monkeypatch.setitem(sys.modules, "cupy._core._routines_linalg", exact)
    library = Library()
    monkeypatch.setattr(products, "Cublas", lambda cupy: Cublas(cupy, library))
    return Imitation(), library


@st.composite
def stacks(draw, shape, dtype):
    """Whole numbers in an array of a shape that lies in one of many ways."""
    order = draw(st.permutations(range(len(shape))))
    gaps = [draw(st.integers(1, 2)) for _ in shape]
    room = np.random.default_rng(0).integers(
        -3, 4, [n * gap + 1 for n, gap in zip(shape, gaps, strict=True)]
    )
    room = np.ascontiguousarray(room.astype(dtype).transpose(order)).transpose(np.argsort(order))
    part = room[tuple([slice(1, 1 + n * g, g) for n, g in zip(shape, gaps, strict=True)])]
    return part.view(ndarray)


@st.composite
def pairs(draw):
    n, k, m = [draw(st.integers(1, 5)) for _ in range(3)]
    lead = draw(st.sampled_from([(), (), (3,), (2, 3)]))
    shapes = [(n, k), (k, m)]
    for i in range(2):
        mine = lead[draw(st.integers(0, len(lead))) :]
        shapes[i] = (*[draw(st.sampled_from([1, size])) for size in mine], *shapes[i])
    if draw(st.booleans()) and draw(st.booleans()):
        shapes = [(k,), shapes[1]] if draw(st.booleans()) else [shapes[0], (k,)]
    dtypes = draw(st.sampled_from(["e", "f", "d", "fd", "df"]))
    return [
        draw(stacks(shape, dtype)) for shape, dtype in zip(shapes, (dtypes * 2)[:2], strict=True)
    ]


def check_products(made, compute, pair):
    cupy, library = made
    library.compute = compute
    a, b = pair
    with recording(SimpleNamespace(ptr=5)):
        found = Products(cupy).matmul(a, b)
    expected = np.matmul(np.asarray(a), np.asarray(b))  # whole numbers: exact in any order
    np.testing.assert_array_equal(np.asarray(found), expected, strict=True)


suppressed = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(deadline=None, max_examples=50, suppress_health_check=suppressed)
@given(pair=pairs())
def test_products_are_those_of_numpy(made, pair):
    check_products(made, by_numpy, pair)


@pytest.mark.skipif(openblas() is None, reason="NumPy has another BLAS")
@settings(deadline=None, max_examples=25, suppress_health_check=suppressed)
@given(pair=pairs())
def test_products_are_those_of_a_blas_that_is_told_the_same(made, pair):
    check_products(made, by_openblas, pair)


def test_rows_and_columns_are_read_where_they_lie(made):
    """A part of a batch, transposed weights, a stack beside one matrix: without a copy."""
    cupy, library = made
    whole = np.arange(40.0).reshape(8, 5).view(ndarray)
    for x in (whole, whole.T, whole[2:5], whole[:, 1:4], whole[:, 1:4].T, whole[3:4, ::-5]):
        assert side(x.shape, x.strides, 8) is not None
    stack = np.arange(60.0).reshape(3, 4, 5).view(ndarray)
    for x in (stack, stack[:, 1:], np.swapaxes(stack, 1, 2), np.broadcast_to(whole, (2, 8, 5))):
        assert side(x.shape, x.strides, 8) is not None
    for x in (whole[:, ::2], whole[::-1], np.broadcast_to(whole[:1], (4, 5)), stack[:, :, ::2]):
        assert side(x.shape, x.strides, 8) is None


def test_bfloat16_is_summed_in_float32_and_its_stacks_as_without_a_graph(made):
    pytest.importorskip("ml_dtypes")
    cupy, library = made
    dtype = host().dtype("bfloat16")
    a, b = [np.full(s, 1.0).astype(dtype).view(ndarray) for s in ((2, 300), (300, 2))]
    with recording(SimpleNamespace(ptr=5)):
        found = Products(cupy).matmul(a, b)
        assert found.dtype == dtype and found.tolist() == [[300, 300]] * 2
        assert library.asked[-1] == ("product", 68, 2, 2, 300)
        stack = Products(cupy).matmul(a[None], b[None])
    assert stack.dtype == dtype and stack.tolist() == [[[300, 300]] * 2]


def test_what_cupy_computes_without_cublas_is_left_to_it(made):
    cupy, library = made
    one, none = np.ones(4).view(ndarray), np.ones((4, 0)).view(ndarray)
    with recording(SimpleNamespace(ptr=5)):
        assert Products(cupy).matmul(one, one) == 4
        assert Products(cupy).matmul(one[None], one[:, None]).tolist() == [[4]]
        assert Products(cupy).matmul(none, none.T).tolist() == np.zeros((4, 4)).tolist()
        whole = Products(cupy).matmul(*[np.ones((2, 2), "i8").view(ndarray)] * 2)
        assert whole.tolist() == [[2, 2], [2, 2]]
        with pytest.raises(ValueError, match="mismatch"):
            Products(cupy).matmul(np.ones((2, 3)).view(ndarray), np.ones((2, 3)).view(ndarray))
    assert library.asked == []


def test_the_stream_is_told_before_the_workspace_and_tf32_is_that_of_cupy(made):
    cupy, library = made
    x = np.ones((2, 2), "f").view(ndarray)
    with recording(SimpleNamespace(ptr=5)) as now:
        product = Products(cupy).matmul
        product(x, x)
        with core.using_config("tf32", True):
            product(x, x)
            product(x[None], x[None])
    memory = now.keep("workspace of cuBLAS", None)
    told = [("stream", 77, 5), ("workspace", memory.ctypes.data, 4 << 20)]
    expected = []
    for sums in (68, 77, 68):
        expected += [*told, ("product", sums, 2, 2, 2)]
    assert library.asked == expected
    library.asked.clear()
    product(x, x)
    assert library.asked == []


def test_a_status_is_told(made):
    cupy, library = made
    library.status = 15
    with (
        recording(SimpleNamespace(ptr=5)),
        pytest.raises(CublasError, match="cublasSetStream_v2: cuBLAS gives status 15"),
    ):
        Products(cupy).matmul(*[np.ones((2, 2), "f").view(ndarray)] * 2)
    assert HERE.recording is None


# -- graphs ---------------------------------------------------------------------------------------


class Stream:
    """Computes while it records, unlike one of CUDA's: so what it gives is that of one call."""

    ptr, phases = 9, []

    def __init__(self, non_blocking=False):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def record(self):
        return "event"

    def wait_event(self, event):
        self.phases.append(event)

    def synchronize(self):
        self.phases.append("ready")

    def begin_capture(self):
        self.phases.append("records")

    def end_capture(self):
        self.phases.append("recorded")
        return SimpleNamespace(launch=lambda stream: self.phases.append("launched"))


@pytest.fixture
def gpu(made, monkeypatch):
    cupy, library = made
    cupy.cuda.Stream, Stream.phases = Stream, []
    cupy.cuda.MemoryPool = lambda: SimpleNamespace(malloc=None)
    cupy.cuda.using_allocator = lambda malloc: nullcontext()
    cupy.cuda.get_current_stream = lambda: Stream()
    cupy.count = 1
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupyx", None)
    backend = core.backend.register(CudaBackend())
    vars(backend).update(cudnn=None, epilogues=None)
    yield backend
    core.backend.unregister(backend)


PRODUCTS = [
    lambda x: F.matmul(x[0].T, x[1]),
    lambda x: core.Variable(x[0] @ x[1].T),
    lambda x: F.spatial_transformer_grid(x, (2, 3)),  # whose formula has an `@`
]


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_captured_step_with_products_is_a_graph(gpu, made, product):
    x = gpu.asarray(np.arange(12.0).reshape(2, 2, 3))
    step = core.capture(product)
    found = [core.backend.to_host(step(x).array) for _ in range(5)]
    assert "1 parts by cuda as a whole" in step.report() and "not" not in step.report()
    recorded = Stream.phases.index("records")
    assert Stream.phases[:recorded] == ["event", "ready"] and "launched" in Stream.phases
    assert made[1].asked.count(("stream", 77, Stream.ptr)) == 2  # once before
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])


def test_a_step_that_nvmath_keeps_from_being_a_graph_is_one_without_it(gpu, made):
    class Epilogues:
        def product(self, a, b, name, bias):
            if HERE.recording is not None and "records" in Stream.phases:
                raise RuntimeError("operation not permitted when stream is capturing")
            return (np.matmul(a, b) + bias[:, None]).view(ndarray)

    vars(gpu)["epilogues"] = Epilogues()
    x, W, b = [gpu.asarray(np.ones(shape)) for shape in ((4, 3), (2, 3), (2,))]
    step = core.capture(F.linear)
    for _ in range(5):
        found = core.backend.to_host(step(x, W, b).array)
        np.testing.assert_array_equal(found, np.full((4, 2), 4.0))
    assert "1 parts by cuda as a whole" in step.report() and "not" not in step.report()
    assert Stream.phases.count("records") == 2


def test_a_stream_of_its_own_waits_for_what_was_asked_before(gpu):
    with gpu.stream() as stream:
        assert isinstance(stream, Stream) and Stream.phases == ["event"]


def test_a_refused_product_leaves_the_step_to_eager(gpu, made):
    made[1].status = 14
    x = gpu.asarray(np.ones((3, 3)))
    step = core.capture(lambda x: F.matmul(x, x))
    with pytest.warns(UserWarning, match="cuBLAS gives status 14"):
        found = [core.backend.to_host(step(x).array) for _ in range(5)]
    assert HERE.recording is None
    for each in found:
        np.testing.assert_array_equal(each, np.full((3, 3), 3.0))


def test_plans_of_fourier_transforms_are_not_left_to_graphs(gpu):
    x = gpu.asarray(np.arange(8.0).reshape(2, 4))
    step = core.capture(lambda x: F.fft((x, x))[0])
    with pytest.warns(UserWarning, match="fft.fft is not recorded"):
        found = [core.backend.to_host(step(x).array) for _ in range(5)]
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])


def test_what_a_graph_uses_lives_as_long(gpu):
    class Thing:
        gone = False

        def __del__(self):
            Thing.gone = True

    launch = Graphs(gpu.cupy).record(lambda: HERE.recording.keep("thing", Thing))
    assert not Thing.gone
    launch()
    del launch
    assert Thing.gone


def test_threads_that_record_nothing_are_left_alone():
    from threading import Thread

    seen = []
    with recording(None) as outer:
        Thread(target=lambda: seen.append(HERE.recording)).start()
        with recording(None) as inner:
            assert HERE.recording is inner
        assert HERE.recording is outer
    assert seen == [None] and HERE.recording is None and isinstance(outer, Recording)


# -- against NVIDIA's own -------------------------------------------------------------------------


@pytest.mark.cupy
@pytest.mark.skipif(find_spec("nvmath") is None, reason="nvmath-python is not installed")
def test_numbers_and_arguments_are_those_of_nvidias_bindings():
    from nvmath import CudaDataType
    from nvmath.bindings import cublas

    of = {"int": ctypes.c_int, "int64_t": ctypes.c_int64, "long long": ctypes.c_int64}
    of |= {"intptr_t": ctypes.c_void_p, "size_t": ctypes.c_size_t}
    names = "set_stream", "set_workspace", "gemm_ex_64", "gemm_strided_batched_ex_64"
    for name, ours in zip(names, SIGNATURES.values(), strict=True):
        text = getattr(cublas, name).__doc__.split("(")[1].split(")")[0]
        assert [of[part.rpartition(" ")[0]] for part in text.split(", ")] == ours
    assert {n: int(CudaDataType[f"CUDA_R_{k}"]) for n, k in KINDS.items()} == TYPES
    sums = cublas.ComputeType
    assert list(SUMS) == [sums.COMPUTE_32F, sums.COMPUTE_64F, sums.COMPUTE_32F_FAST_TF32]
    assert [cublas.Operation.N, cublas.Operation.T] == [0, 1]
    assert cublas.GemmAlgo.DFALT == ALGORITHM


KINDS = {"float32": "32F", "float64": "64F", "float16": "16F", "bfloat16": "16BF"}


@pytest.mark.cupy
@pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed")
def test_the_functions_are_found_in_the_library_that_cupy_has_loaded(monkeypatch):
    import cupy
    import cupy_backends.cuda.libs

    try:
        assert cupy_backends.cuda.libs.cublas
    except ImportError as error:
        pytest.skip(f"cuBLAS is not installed: {error}")
    found = Cublas(cupy)
    stand = SimpleNamespace(get_cublas_handle=lambda: None)
    monkeypatch.setattr(found, "_device", stand)
    with pytest.raises(CublasError, match="gives status 1"):  # not initialized
        found.call("cublasSetStream_v2", 0)
    with pytest.raises(CublasError, match="gives status 1"):
        found.call("cublasSetWorkspace_v2", 0, 0)

"""Kernels in CUDA C, computed on a CPU from their own text, and compiled for GPUs by NVRTC."""

import shutil
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import cuda_kernels
import numpy as np
import pytest
from all_ops import drawn
from cuda_kernels import (
    DRAWN,
    FLOATS,
    FORMULAS,
    RULES,
    Collected,
    Floats,
    standing_in,
)
from cuda_on_cpu import Kernels, compiled

import core
import core.functions as F
from backends.cuda_backend import scatter
from backends.cuda_backend.fusion import CudaLoops
from backends.cuda_backend.kernels import philox
from backends.cuda_backend.kernels.source import OPTIONS
from backends.cuda_backend.kernels.words import PRELUDE, STORED
from backends.cuda_backend.products import Products
from backends.cuda_backend.random import CudaRandom
from backends.cuda_backend.updates import Updates
from backends.numpy_backend.kernels import compiler
from core.arrays.backend import host
from core.programs import Group
from core.programs.loops.fusion import fused
from core.testing.checks import CHECKS

on_cpu = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++ of GCC 12 or later")
R = np.random.default_rng(0)


def place_of(array):
    return array.ctypes.data


# -- formulas -------------------------------------------------------------------------------------


@on_cpu
@pytest.mark.slow
def test_kernels_compute_what_operations_declare():
    sources, asked = cuda_kernels.of_formulas(1)
    assert {name for name, _ in asked} == {*DRAWN} and len(asked) == len(FLOATS) * len(DRAWN)
    assert [each for each, count in asked.items() if not count] == []
    assert len(FORMULAS) == len(cuda_kernels.operations.FORMULAS)
    kernels = Kernels()
    kernels.known = dict(zip(sources, compiled(sources), strict=True))
    with standing_in(kernels):
        for name in DRAWN:
            for case in drawn(name, 1):
                CHECKS["kernels"](Floats(case, host(), None, "reduction"))
    assert len(sources) > 2 * len(DRAWN)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("function", [F.relu, F.gelu, F.softmax, F.log_softmax])
def test_16_bit_floats_are_widened_and_rounded_within_the_kernel(function, dtype):
    """One kernel each way, which reads and writes 16 bits."""
    collected = Collected()
    with standing_in(collected):
        x = core.Variable(np.ones((3, 40)).astype(host().dtype(dtype)))
        y = function(x)
        y.grad = np.ones(y.shape).astype(x.dtype)
        y.backward()
    assert x.grad.dtype == y.dtype == x.dtype
    assert len(collected.sources) == 2 - (dtype == "float16" and function is F.relu)
    arrays = {p.type for source in collected.sources for p in source.parameters if "*" in p.type}
    assert arrays == {f"{const}{STORED[dtype]}* __restrict__" for const in ("", "const ")}


def norms(x, b):
    y = np.tanh(x + b)
    return [y / np.sum(y * y, axis=1, keepdims=True), np.sum(y, axis=0), np.mean(y), y.max(axis=1)]


def whole(x, b):
    y = x * x + b * b
    return [np.sum(y), np.min(y, axis=-1), y / np.mean(y, axis=-1, keepdims=True)]


def plain(x, b):
    z = np.where(x < b, x * 2, -b) - np.maximum(x, b)
    return [z, (x > 0).astype(x.dtype) + z, np.exp(b) * 2 - 1]


@on_cpu
@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("function", [norms, whole, plain])
def test_loops_compute_what_the_program_does(function, threads):
    kernels = Kernels(threads)
    fuser = CudaLoops(np, kernels)
    dtypes = ["f"] if threads else ["f", "d", "e", host().dtype("bfloat16")]
    for dtype in dtypes:
        for shape in [(3, 70), (9, 3)] if threads else [(37, 70), (300, 3), (1, 9)]:
            x, b = R.normal(size=shape).astype(dtype), R.normal(size=shape[-1:]).astype(dtype)
            program = core.trace(function, x, b)
            loops = program.changed(equations=fused(program, fuser))
            assert any(isinstance(e.call.function, Group) for e in loops.equations)
            unit = np.finfo("f").eps if dtype in ("f", "d") else 2.0**-8
            found, again, expected = loops(x, b), loops(x, b), program(x, b)
            exactly = function(x.astype("d"), b.astype("d"))
            for one, two, three, exact in zip(found, again, expected, exactly, strict=True):
                assert one.dtype == three.dtype and one.shape == three.shape
                assert one.tobytes() == two.tobytes()
                scale = max(1.0, np.abs(exact).max())
                np.testing.assert_allclose(one.astype("d"), exact, 16 * unit, 16 * unit * scale)


@on_cpu
def test_arithmetic_has_the_bits_of_single_operations():
    x = R.normal(size=(40, 33))
    x.flat[:4] = np.inf, np.nan, -0.0, 1e-8
    b = R.normal(size=33)
    for dtype in ("f", "d", "e"):
        given = x.astype(dtype), b.astype(dtype)
        with np.errstate(all="ignore"):
            program = core.trace(plain_arithmetic, *given)
            loops = program.changed(equations=fused(program, CudaLoops(np, Kernels())))
            for one, two in zip(loops(*given), program(*given), strict=True):
                np.testing.assert_array_equal(one, two, strict=True)


def plain_arithmetic(x, b):
    y = np.clip(x, -1.5, 0.75) + x**2 / 3
    z = np.sqrt(np.abs(y - b)) * np.sign(x) + 0.1
    return [y, z, np.isfinite(z), np.minimum(y, z) - np.reciprocal(b), (x != x) | (y <= z)]


# -- update rules ---------------------------------------------------------------------------------


class Launches(Kernels):
    """Counts launches."""

    count = 0

    def ready(self, source):
        launch = super().ready(source)

        def counted(*args):
            self.count += 1
            launch(*args)

        return counted


@on_cpu
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.filterwarnings("ignore:.* is 0 in float16")
def test_one_launch_makes_the_steps_of_all_parameters(rule):
    for dtype in ("f", "e"):
        results = []
        for kernels in (None, Launches()):
            random = np.random.default_rng(1)
            shapes = (3, 4), (5000,), (0, 2), (7,)
            params = [core.Parameter(random.normal(size=s).astype(dtype)) for s in shapes]
            for param in params:
                param.update_rule = rule()
            for _ in range(3):
                for param in params:
                    param.grad = random.normal(size=param.shape).astype(dtype)
                if kernels is None:
                    for param in params:
                        param.update()
                    continue
                for param in params:
                    param.update_rule._prepare(param)
                    param.update_rule._count()
                states = [p.update_rule.state or {} for p in params]
                grads = [p.grad for p in params]
                arrays = [p.array for p in params]
                updates = Updates(host(), place_of, kernels)
                assert updates.update_all(params[0].update_rule, np, arrays, grads, states) == []
            states = [list((p.update_rule.state or {}).values()) for p in params]
            results.append([[p.array for p in params], states])
            if kernels is not None:
                assert kernels.count == 3
        for one, two in zip(*results, strict=True):
            for a, b in zip(_flat(one), _flat(two), strict=True):
                np.testing.assert_array_equal(a, b, strict=True)


def _flat(tree):
    return [each for part in tree for each in (_flat(part) if isinstance(part, list) else [part])]


def test_what_no_loop_can_do_is_left_to_the_rule():
    updates = Updates(host(), place_of, Collected())
    param, grad = np.ones(3, "f"), np.ones(3, "f")

    class Sorted(core.UpdateRule):
        def step(self, xp, param, grad):
            param -= xp.sort(grad)

    class Looking(core.UpdateRule):
        def step(self, xp, param, grad):
            if grad > 0:
                param -= grad

    for rule in (Sorted, Looking):
        assert updates.update_all(rule(), np, [param], [grad], [{}]) == [0]
    sgd = RULES[[rule.__name__ for rule in RULES].index("SGDRule")]()
    strided = np.ones((3, 4), "f").T
    for params in ([strided, param], [np.ones(3, "i"), param]):
        grads = [np.ones_like(p) for p in params]
        assert updates.update_all(sgd, np, params, grads, [{}, {}]) == [0]
    assert updates.update_all(sgd, np, [param, param], [grad, grad], [{}, {}]) == [0, 1]


# -- sums into places -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sums():
    kernels, sources = Kernels(), cuda_kernels.of_sums()
    kernels.known = dict(zip(sources, compiled(sources), strict=True))
    return kernels


@on_cpu
@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "int64", "complex64"])
@pytest.mark.parametrize("run", [scatter.RUN, 2])
def test_sums_into_places_have_the_bits_of_the_host_in_its_order(dtype, run, sums, monkeypatch):
    monkeypatch.setattr(scatter, "RUN", run)
    dtype = host().dtype(dtype)
    table = (9 * R.standard_normal((5, 4))).astype(dtype)
    for a in (table, table.T.copy().T, table[::2, 1:]):
        at = R.integers(-len(a), len(a), (3, 7))
        columns = R.integers(0, a.shape[1], 7)
        for index in (at, (at[0], columns), (slice(1, None), columns), (Ellipsis, 1), at[:0]):
            values = (9 * R.standard_normal(a[index].shape)).astype(dtype)
            for given in (values, 2):
                found, expected = a.copy("K"), a.copy("K")
                name = host().dtype_name(dtype)
                assert scatter.scatter_add(np, sums, found, index, given, name) is found
                np.add.at(expected, index, given)
                assert found.tobytes() == expected.tobytes()


@on_cpu
@pytest.mark.parametrize("count", [1, 2, 3, 1023, 1024, 1025, 5000, 40961])
@pytest.mark.parametrize("run", [1, 7, scatter.RUN])
def test_places_are_sorted_and_equal_ones_stay_in_order(count, run, sums, monkeypatch):
    monkeypatch.setattr(scatter, "RUN", run)
    for most in (1, 9, 1 << 40):
        flat = R.integers(-most, most, count)
        ranked, order = scatter.in_order(np, sums, flat)
        expected = np.argsort(flat, kind="stable")
        np.testing.assert_array_equal(order, expected)
        np.testing.assert_array_equal(ranked, flat[expected])


@on_cpu
def test_places_outside_of_a_table_are_passed_over(sums):
    table = np.zeros((3, 2), "f")
    scatter.scatter_add(np, sums, table, np.array([3, 1, -4, 1]), np.ones((4, 2), "f"), "float32")
    assert table.tolist() == [[0, 0], [2, 2], [0, 0]]


# -- products -------------------------------------------------------------------------------------


def test_stacks_of_bfloat16_matrices_are_multiplied_in_float32():
    pytest.importorskip("ml_dtypes")
    wide = R.standard_normal((2, 2, 3, 3), dtype="f")
    a, b = wide.astype(host().dtype("bfloat16"))
    product = Products(np).matmul(a, b)
    assert product.dtype == a.dtype
    exact = np.matmul(a.astype("f"), b.astype("f"))
    np.testing.assert_array_equal(product, exact.astype(a.dtype))
    np.testing.assert_array_equal(Products(np).matmul(wide[0], wide[1]), wide[0] @ wide[1])


def test_a_stack_times_one_matrix_is_one_product_of_its_rows():
    asked = []

    def matmul(a, b):
        asked.append((a.shape, b.shape))
        return np.matmul(a, b)

    product = Products(SimpleNamespace(matmul=matmul, result_type=np.result_type)).matmul
    stack, W = R.integers(-3, 4, (2, 3, 4, 5)).astype("f"), np.ones((5, 6), "f")
    for x, weights, rows in (
        (stack, W, (24, 5)),
        (stack[:, 1:], W, (2, 2, 4, 5)),
        (stack[:, :0], W, (2, 0, 4, 5)),
        (stack[0, 0], W, (4, 5)),
        (stack, W[:, :0], (24, 5)),
    ):
        np.testing.assert_array_equal(product(x, weights), x @ weights, strict=True)
        assert asked[-1][0] == rows
    with pytest.raises(ValueError, match="mismatch"):
        product(stack, W[1:])


@pytest.mark.parametrize(("capability", "during"), [("80", "tf32"), ("75", "first")])
def test_cupy_is_told_of_tf32_around_products_alone(monkeypatch, capability, during):
    now, seen = ["first"], []
    of = SimpleNamespace(
        COMPUTE_TYPE_TF32="tf32",
        get_compute_type=lambda dtype: now[-1],
        set_compute_type=lambda dtype, kind: now.append(kind),
    )
    device = SimpleNamespace(get_compute_capability=lambda: capability)
    monkeypatch.setitem(sys.modules, "cupy._core._routines_linalg", of)
    monkeypatch.setitem(sys.modules, "cupy.cuda.device", device)

    def matmul(a, b):
        seen.append(now[-1])
        return np.matmul(a, b)

    products, x = Products(SimpleNamespace(matmul=matmul, dtype=np.dtype)), np.ones((2, 2), "f")
    for tf32 in (False, True, True, False):
        with core.using_config("tf32", tf32):
            products.matmul(x, x)
        assert now[-1] == "first"
    with core.using_config("tf32", True), pytest.raises(ValueError, match="mismatch"):
        products.matmul(x, np.ones(3, "f"))
    assert now[-1] == "first" and seen == ["first", during, during, "first", during]


# -- random numbers -------------------------------------------------------------------------------


def philox_in_numpy(places, key):
    """Philox4x32-10 by its paper: the words of counters (place, draw)."""
    k = [np.uint64(w) for w in philox.words_of(key)]
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b = places & low, places >> half
    c, d = np.full_like(places, k[2]), np.full_like(places, k[3])
    one, two = k[0], k[1]
    for _ in range(10):
        p, q = np.uint64(0xD2511F53) * a, np.uint64(0xCD9E8D57) * c
        a, b, c, d = (q >> half) ^ b ^ one, q & low, (p >> half) ^ d ^ two, p & low
        one = (one + np.uint64(0x9E3779B9)) & low
        two = (two + np.uint64(0xBB67AE85)) & low
    return np.stack([a, b, c, d])


def test_the_reference_of_philox_has_the_answers_of_its_authors():
    zero = philox_in_numpy(np.zeros(1, np.uint64), 0)[:, 0]
    assert [hex(w) for w in zero] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    ones = philox_in_numpy(np.full(1, 2**64 - 1, np.uint64), 2**128 - 1)[:, 0]
    assert [hex(w) for w in ones] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]
    key = 0x03707344_13198A2E_299F31D0_A4093822  # of pi, as the counter
    pi = philox_in_numpy(np.full(1, 0x85A308D3_243F6A88, np.uint64), key)[:, 0]
    assert [hex(w) for w in pi] == ["0xd16cfe09", "0x94fdcceb", "0x5001e420", "0x24126ea1"]


def in_order(words, size):
    """The words of a draw of so many numbers, as they stand in the array."""
    each = words.reshape(len(words), -1, philox.PLACES).transpose(1, 0, 2).reshape(-1)
    return each[:size]


@pytest.fixture(scope="module")
def random():
    if shutil.which("g++") is None:
        pytest.skip("needs g++ of GCC 12 or later")
    return CudaRandom(host(), np, Kernels())


@pytest.fixture
def seeded():
    core.seed(7)
    yield
    core.seed(None)


RANGES = (-5, 7), (0, 1), (-(2**63), 2**63), (-(2**62), 2**62), (-3, 2**63), (2**63 - 2, 2**63)


def test_draws_are_those_of_the_reference(random, seeded):
    size, key = 9000, 7
    places = np.arange(philox.PLACES * -(-size // (4 * philox.PLACES)), dtype=np.uint64)
    words = in_order(philox_in_numpy(places, key), size)
    unit = ((words >> np.uint64(8)) * 2.0**-24).astype("f")
    np.testing.assert_array_equal(random.uniform((size,)), unit)
    words = in_order(philox_in_numpy(places, key | 1 << 64), size)
    np.testing.assert_array_equal(random.bernoulli(0.3, (size,)), words >= round(0.7 * 2**32))
    places = np.arange(philox.PLACES * -(-size // (2 * philox.PLACES)), dtype=np.uint64)
    a, b, c, d = philox_in_numpy(places, key | 2 << 64)
    pairs = [(x >> np.uint64(5)) * 2.0**26 + (y >> np.uint64(6)) for x, y in ((a, b), (c, d))]
    expected = in_order(np.stack(pairs), size) * 2.0**-53
    np.testing.assert_array_equal(random.uniform((size,), "float64"), expected)
    for count, (low, high) in enumerate(RANGES, 3):
        a, b, c, d = philox_in_numpy(places, key | count << 64)
        whole = in_order(np.stack([b << np.uint64(32) | a, d << np.uint64(32) | c]), size)
        expected = [low + (int(w) * (high - low) >> 64) for w in whole]
        np.testing.assert_array_equal(random.integers(low, high, (size,)), expected)


@pytest.mark.skipif(not compiler.available(), reason="NumPy's own masks come of numba")
def test_masks_have_the_bits_of_the_host(random):
    try:
        core.seed(3)
        expected = host().random.bernoulli(0.3, (100, 77))
        core.seed(3)
        np.testing.assert_array_equal(random.bernoulli(0.3, (100, 77)), expected)
        x = R.normal(size=(100, 77)).astype("f")
        core.seed(3)
        mask, y = random.dropout(x, 0.7)
    finally:
        core.seed(None)
    one = np.float32(1) / np.float32(1 - 0.7)
    np.testing.assert_array_equal(mask, expected * one)
    np.testing.assert_array_equal(y, x * mask)


def test_draws_are_distributed_as_they_should_be(random, seeded):
    for dtype in FLOATS:
        y = random.uniform((50000,), dtype, -2, 3)
        assert y.dtype == host().dtype(dtype)
        y = y.astype("d")
        assert y.min() >= -2 and y.max() < 3
        np.testing.assert_allclose([y.mean(), y.var()], [0.5, 25 / 12], atol=0.05)
        z = random.normal((50000,), dtype).astype("d")
        found = [z.mean(), z.var(), (z**3).mean(), (z**4).mean()]
        np.testing.assert_allclose(found, [0, 1, 0, 3], atol=0.15)
        assert np.isfinite(z).all()
    for n in (0, 1, 1000, 5000):
        order = random.permutation(n)
        assert sorted(order) == list(range(n)) and (n < 5 or list(order[:5]) != [0, 1, 2, 3, 4])
    assert random.bernoulli(1.0, (5,)).all() and not random.bernoulli(0.0, (5,)).any()
    assert random.uniform(()).shape == () and random.normal((0, 3)).shape == (0, 3)
    with pytest.raises(ValueError, match="low < high"):
        random.integers(3, 3)
    with pytest.raises(ValueError, match="bounds of int64"):
        random.integers(0, 2**63 + 1)


def test_a_device_may_have_a_stream_of_its_own(random):
    random.seed(5)
    first = random.uniform((3,))
    state = random.get_state()
    second = random.uniform((3,))
    random.set_state(state)
    np.testing.assert_array_equal(random.uniform((3,)), second)
    random.seed(5)
    np.testing.assert_array_equal(random.uniform((3,)), first)
    random.seed(None)
    assert random.get_state() == {}
    with pytest.raises(TypeError, match="expected an integer or None"):
        random.seed(1.5)
    with pytest.raises(core.errors.CheckpointError, match="does not fit"):
        random.set_state({"0": {"draws": 1}})


# -- for GPUs -------------------------------------------------------------------------------------


@pytest.mark.cupy
@pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed")
@pytest.mark.parametrize("capability", ["70", "80", "90"])
def test_every_kernel_compiles(capability, every_source):
    from cupy_backends.cuda.libs import nvrtc

    by_preamble = {}
    for source in every_source:
        by_preamble.setdefault(source.preamble, []).append(source)
    for preamble, sources in by_preamble.items():
        named = [source._replace(name=f"kernel{i}") for i, source in enumerate(sources)]
        text = PRELUDE + preamble + "".join([source.kernel() for source in named])
        program = nvrtc.createProgram(text, "kernels.cu", (), ())
        try:
            nvrtc.compileProgram(program, (f"-arch=sm_{capability}", *OPTIONS))
        except Exception:
            pytest.fail(nvrtc.getProgramLog(program)[:2000])
        assert all([source.name.encode() in nvrtc.getCUBIN(program) for source in named])


@pytest.fixture(scope="module")
def every_source():
    found = [*cuda_kernels.of_formulas(1)[0], *cuda_kernels.of_rules()]
    found += [*cuda_kernels.of_draws(), *cuda_kernels.of_sums()]
    assert len(found) > 400
    for stored in STORED.values():
        assert any(stored in str(p) for source in found for p in source.parameters)
    return found

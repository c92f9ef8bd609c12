"""What only a GPU can show: run by `python -m pytest -m cuda` where there is one."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import several_devices
from all_ops import drawn
from cuda_kernels import DRAWN, FORMULAS, RULES, Floats
from cuda_on_cpu import Kernels

import core
import core.functions as F
import core.links as L
from backends.cuda_backend import presence
from backends.cuda_backend.random import CudaRandom
from core.arrays.backend import host
from core.testing import check_backend, check_link, check_optimizer
from core.testing.checks import CHECKS
from core.testing.trial import Trial

ABSENT = presence.missing()
pytestmark = [pytest.mark.cuda, pytest.mark.skipif(ABSENT is not None, reason=str(ABSENT))]


@pytest.fixture(scope="module")
def gpu():
    return core.backend.get("cuda")


@contextmanager
def nobody_waits() -> Iterator[None]:
    """A context in which CuPy refuses what waits for the GPU, copies to the host among it."""
    import cupyx

    with pytest.warns(UserWarning, match="allow_synchronize"), cupyx.allow_synchronize(False):
        yield


def sent(array):
    return core.backend.get("cuda").asarray(array)


def test_the_backend_keeps_its_contract():
    check_backend("cuda")


@pytest.mark.parametrize("name", DRAWN)
def test_kernels_compute_what_operations_declare(name, gpu):
    for case in drawn(name, 3):
        CHECKS["kernels"](Floats(case, gpu, None, "reduction"))


@pytest.mark.parametrize("name", DRAWN)
def test_an_operation_waits_for_nothing(name, gpu):
    for case in drawn(name, 2):
        trial = Trial(case, gpu, None, "reduction")
        trial.run_with_gradients("float32")  # kernels are compiled, constants are copied
        inputs = [sent(array) for array in case.arrays("float32")]
        with nobody_waits():
            outputs = FORMULAS[name](**case.settings).apply(inputs)
        assert all(y.backend is gpu for y in outputs)


def test_a_step_of_training_waits_for_nothing(gpu):
    with core.using("cuda"):
        model = core.Sequential(L.Linear(20, 30), F.gelu, L.LayerNormalization(30), F.dropout)
        model.append(L.Linear(30, 5))
        x, t = sent(np.ones((8, 20), "f")), sent(np.arange(8, dtype="i") % 5)
        optimizer = core.optimizers.Adam().setup(model)

        def step():
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()

        for _ in range(3):
            step()
        with nobody_waits():
            for _ in range(3):
                step()


def test_sums_into_many_places_and_orders_wait_for_nothing(gpu):
    at, W = np.random.default_rng(0).integers(0, 9, 100_000), core.Variable(sent(np.ones((9, 2))))
    x = sent(at)

    def step():
        W.cleargrad()
        F.sum(F.embed_id(x, W)).backward()
        return gpu.random.permutation(100_000)

    step()
    with nobody_waits():
        order = step()
    counts = np.bincount(at, minlength=9).astype("d")
    np.testing.assert_array_equal(core.backend.to_host(W.grad)[:, 0], counts)
    assert np.array_equal(np.sort(core.backend.to_host(order)), np.arange(100_000))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rules_have_the_bits_of_their_formulas(rule, gpu):
    found = []
    for together in (True, False):
        random = np.random.default_rng(0)
        params = [core.Parameter(sent(random.normal(size=n).astype("f"))) for n in (7, 9000)]
        for param in params:
            param.update_rule = rule()
        for _ in range(3):
            for param in params:
                param.grad = sent(random.normal(size=param.shape).astype("f"))
                param.update_rule._prepare(param)
                param.update_rule._count()
            if together:
                states = [p.update_rule.state or {} for p in params]
                arrays, grads = [p.array for p in params], [p.grad for p in params]
                first = params[0].update_rule
                assert gpu.updates.update_all(first, gpu.xp, arrays, grads, states) == []
            else:
                for param in params:
                    param.update_rule.step(
                        gpu.xp, param.array, param.grad, **(param.update_rule.state or {})
                    )
        found.append([core.backend.to_host(p) for p in params])
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, rtol=3e-7)


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "RMSprop"])
def test_optimizers_are_proven(optimizer):
    check_optimizer(getattr(core.optimizers, optimizer), backends=["cuda"])


def test_draws_are_those_that_the_same_text_gives_on_a_cpu(gpu):
    here = CudaRandom(host(), np, Kernels())
    draws = [
        lambda r: r.uniform((9001,)),
        lambda r: r.uniform((9001,), "float64", -1, 3),
        lambda r: r.bernoulli(0.3, (50, 99)),
        lambda r: r.integers(-4, 9, (5000,)),
    ]
    for draw in draws:
        try:
            core.seed(11)
            expected = draw(here)
            core.seed(11)
            found = draw(gpu.random)
        finally:
            core.seed(None)
        np.testing.assert_array_equal(core.backend.to_host(found), expected)


def test_random_state_is_saved_and_resumed(gpu):
    try:
        core.seed(2)
        gpu.random.seed(3, 0)
        F.dropout(sent(np.ones(100, "f")))
        state = core.backend.random_state()
        first = gpu.random.normal((100,)), gpu.random.permutation(50)
        core.backend.set_random_state(state)
        second = gpu.random.normal((100,)), gpu.random.permutation(50)
    finally:
        core.seed(None)
        gpu.random.seed(None, 0)
    for one, two in zip(first, second, strict=True):
        assert core.backend.to_host(one).tobytes() == core.backend.to_host(two).tobytes()


def test_several_streams_compute_the_same(gpu):
    x = sent(np.random.default_rng(0).normal(size=(300, 200)).astype("f"))
    expected = core.backend.to_host(F.softmax(F.gelu(x)))
    found, inputs = [], []
    for _ in range(4):
        inputs.append(x * 1)  # asked of the current stream, for which the others wait
        with gpu.stream():
            found.append(F.softmax(F.gelu(inputs[-1])))
    gpu.synchronize()
    for y in found:
        assert core.backend.to_host(y).tobytes() == expected.tobytes()


def test_arrays_go_through_pinned_memory(gpu):
    upload = gpu.uploader()
    arrays = [np.arange(1000, dtype="f") + i for i in range(3)]
    for array in arrays:
        (there,) = upload([array])
        np.testing.assert_array_equal(core.backend.to_host(there * 2), array * 2)


def test_operations_compute_on_a_device_that_is_not_current(gpu):
    if len(gpu.devices()) < 2:
        pytest.skip("needs two GPUs")
    x = core.Variable(gpu.asarray(np.ones((5, 4), "f"), device=1))
    y = F.sum(F.softmax(F.gelu(x)))
    y.backward()
    assert str(y.device) == "cuda:1" and str(gpu.device_of(x.grad)) == "cuda:1"
    back = F.copy(y, "cuda:0")
    assert str(back.device) == "cuda:0"


@pytest.mark.parametrize("train", [several_devices.of_halves, several_devices.of_shares])
def test_models_and_batches_are_divided_among_gpus_or_on_one(gpu, train):
    several_devices.check(train, "cuda:0", f"cuda:{len(gpu.devices()) - 1}")


DTYPES = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 2e-4, "float64": 1e-10}

STEPS = {
    "convolution": (
        lambda x, W, b: F.convolution_nd(x, W, b, (2, 1), (1, 2), True, 1, 2),
        ((2, 8, 9, 7), (16, 4, 3, 3), (16,)),
    ),
    "dilated": (
        lambda x, W, b: F.convolution_nd(x, W, b, 1, 2, False, 2),
        ((2, 8, 9), (16, 8, 3), (16,)),
    ),
    "volumes": (
        lambda x, W, b: F.convolution_nd(x, W, b, 1, 1),
        ((2, 8, 5, 4, 3), (16, 8, 3, 3, 3), (16,)),
    ),
    "deconvolution": (
        lambda x, W, b: F.deconvolution_nd(x, W, b, 2, 1, (10, 8)),
        ((2, 8, 5, 4), (8, 16, 3, 3), (16,)),
    ),
    "batch normalization": (
        lambda x, gamma, beta: F.batch_normalization(x, gamma, beta),
        ((4, 16, 5, 6), (16,), (16,)),
    ),
    "attention": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        ((2, 4, 33, 64), (2, 4, 33, 64), (2, 4, 33, 32)),
    ),
    "linear": (lambda x, W, b: F.linear(x, W, b), ((8, 32), (16, 32), (16,))),
}


def by_libraries(gpu, name, dtype, use, last=False):
    """Result and gradients of a step, in float64 on the host."""
    step, shapes = STEPS[name]
    random = np.random.default_rng(0)
    arrays = [gpu.asarray(random.normal(size=shape).astype("f"), dtype) for shape in shapes]
    if last:
        turned = gpu.xp.ascontiguousarray(gpu.xp.moveaxis(arrays[0], 1, -1))
        arrays[0] = gpu.xp.moveaxis(turned, -1, 1)
    inputs = [core.Variable(a) for a in arrays]
    kept = gpu.epilogues
    vars(gpu)["epilogues"] = kept if use == "auto" else None
    try:
        with core.using_config("use_cudnn", use), core.using_config("cudnn_deterministic", True):
            y = step(*inputs)
            F.sum(y * y).backward()
    finally:
        vars(gpu)["epilogues"] = kept
    return [core.backend.to_host(a).astype("f8") for a in (y.array, *[v.grad for v in inputs])]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", STEPS)
def test_libraries_compute_what_cupy_does(gpu, name, dtype, last):
    """By cuDNN and cuBLASLt, with the bits of another run, and by CuPy alone."""
    if gpu.cudnn is None or gpu.epilogues is None:
        pytest.skip(str(gpu.without_cudnn or gpu.without_epilogues))
    if last and name not in ("convolution", "deconvolution", "volumes", "batch normalization"):
        pytest.skip("has no channels")
    plain = by_libraries(gpu, name, dtype, "never", last)
    found = by_libraries(gpu, name, dtype, "auto", last)
    again = by_libraries(gpu, name, dtype, "auto", last)
    for one, other, repeated in zip(found, plain, again, strict=True):
        np.testing.assert_array_equal(one, repeated)
        most = np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=DTYPES[dtype], atol=DTYPES[dtype] * most)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", STEPS)
def test_libraries_read_arrays_that_begin_anywhere(gpu, name, dtype):
    """A part of a batch, after plans for arrays that begin at whole lines of memory."""
    step, shapes = STEPS[name]
    random = np.random.default_rng(1)
    first, *others = [gpu.asarray(random.normal(size=s).astype("f"), dtype) for s in shapes]
    room = gpu.xp.zeros(first.size + 1, dtype=first.dtype)
    part = room[1:].reshape(first.shape)
    part[...] = first
    one, two = [core.backend.to_host(step(x, *others)).astype("f8") for x in (first, part)]
    np.testing.assert_allclose(one, two, rtol=DTYPES[dtype], atol=DTYPES[dtype])


def test_cudnn_declines_nothing_that_it_has_plans_for_without_a_gpu(gpu):
    if gpu.cudnn is None:
        pytest.skip(str(gpu.without_cudnn))
    if int(gpu.native_device().compute_capability) < 80:
        pytest.skip("cuDNN has no batch normalization nor attention before 8.0")
    gpu.cudnn.declined.clear()
    for name in STEPS:
        by_libraries(gpu, name, "float16", "auto")
    assert gpu.cudnn.declined == {}


def test_a_step_of_libraries_is_captured_and_waits_for_nothing(gpu):
    if gpu.cudnn is None:
        pytest.skip(str(gpu.without_cudnn))

    def trained(capture):
        core.seed(1)
        model = core.Sequential(
            L.Convolution2D(2, 8, 3, pad=1), L.BatchNormalization(8), F.relu, L.Linear(None, 3)
        )
        model.to_device("cuda")
        model(sent(np.zeros((2, 2, 6, 6), "f")))
        optimizer = core.optimizers.SGD(lr=0.1).setup(model)

        def step(x, t):
            optimizer.update(lambda: F.softmax_cross_entropy(model(x), t))

        made, rng = core.capture(step) if capture else step, np.random.default_rng(0)
        batches = [
            (sent(rng.random((4, 2, 6, 6), "f")), sent(rng.integers(0, 3, 4))) for _ in range(6)
        ]
        for x, t in batches[:3]:
            made(x, t)
        if capture:
            assert "parts by cuda as a whole" in made.report()
        with nobody_waits():
            for x, t in batches[3:]:
                made(x, t)
        return [core.backend.to_host(p.array) for p in model.params()]

    try:
        with core.using_config("cudnn_deterministic", True):
            for one, other in zip(trained(False), trained(True), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    finally:
        core.arrays.random_streams.set_stream_state(None)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: L.Linear(4, 3), (2, 4)),
        (lambda: L.LayerNormalization(4), (5, 4)),
        (lambda: L.BatchNormalization(4), (5, 4)),
        (lambda: L.Convolution2D(2, 3, 3, pad=1), (2, 2, 5, 4)),
    ],
)
def test_links_are_proven(make, shape):
    check_link(make, (np.random.default_rng(0).normal(size=shape).astype("f"),), backends=["cuda"])


@pytest.mark.parametrize(
    ("layers", "rtol"),
    [
        (lambda: (L.BatchNormalization(8), F.tanh), 0),
        (lambda: (L.Linear(8, 16), F.relu, L.BatchNormalization(16), L.Linear(16, 3)), 1e-4),
    ],
    ids=["without products", "with products"],
)
def test_a_captured_step_is_launched_as_one_graph_and_does_what_the_step_does(gpu, layers, rtol):
    def trained(capture):
        core.seed(1)
        model = core.Sequential(*layers())
        model.to_device("cuda")
        optimizer = core.optimizers.Adam().setup(model)

        def step(x, t):
            optimizer.update(lambda: F.softmax_cross_entropy(F.dropout(model(x), 0.1), t))

        made = core.capture(step) if capture else step
        rng = np.random.default_rng(0)
        for _ in range(6):
            made(sent(rng.random((4, 8), "f")), sent(rng.integers(0, 3, 4)))
        if capture:
            report = made.report()
            assert "parts by cuda as a whole" in report
            assert "not" not in report
        return [core.backend.to_host(p.array) for p in model.params()]

    try:
        for one, other in zip(trained(False), trained(True), strict=True):
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)
    finally:
        core.arrays.random_streams.set_stream_state(None)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shapes",
    [((64, 32), (32, 48)), ((5, 8, 16), (16, 4)), ((2, 1, 8, 16), (3, 16, 4)), ((32,), (32, 48))],
    ids=["matrices", "beside one", "broadcast", "a vector"],
)
def test_products_within_a_graph_are_those_of_cupy(gpu, dtype, shapes):
    """Transposed ones and parts of larger ones, by cuBLAS called past CuPy, and by CuPy."""
    random = np.random.default_rng(0)
    a, b = [gpu.asarray(random.normal(size=s).astype("f"), dtype) for s in shapes]
    pairs = [(a, b), (a[..., 1:], b[..., 1:, :]), (a[..., ::2], b[..., ::2, :])]
    if a.ndim == b.ndim == 2:
        pairs.append((gpu.xp.ascontiguousarray(a.T).T, gpu.xp.ascontiguousarray(b.T).T))
    for one, other in pairs:
        step, moved = core.capture(F.matmul), [one, other]
        expected = core.backend.to_host(F.matmul(one, other).array).astype("f8")
        for _ in range(4):
            found = core.backend.to_host(step(*moved).array).astype("f8")
            most = DTYPES[dtype] * np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=DTYPES[dtype], atol=most)
            moved = [gpu.copy(x) for x in (one, other)]
        assert "1 parts by cuda as a whole" in step.report() and "not" not in step.report()

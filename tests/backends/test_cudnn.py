"""What cuDNN is asked for, with the graphs' meaning in NumPy; and that nothing else changes."""

import sys
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

import cudnn_on_numpy
import numpy as np
import pytest
from all_ops import CHECKED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from backends.cuda_backend import operations
from backends.cuda_backend.backend import CudaBackend
from backends.cuda_backend.cudnn import layout, presence
from core.arrays.backend import host
from core.compat import cuda
from core.errors import BackendUnavailable
from core.registry.lazy import resolve
from core.testing.checks import CHECKS
from core.testing.strategies import cases
from core.testing.trial import Trial

sys.path.insert(0, str(Path(__file__).parent))

from imitation import Device, Imitation

BY_CUDNN = {
    key: {resolve(op): resolve(kernel) for op, kernel in table.items() if "cudnn" in kernel}
    for key, table in operations.LIBRARIES.items()
}
ATTENTION, BATCH = "Attention", "BatchNormalization"
NAMES = sorted([op.__name__ for op in BY_CUDNN["compute"] if op.__name__ in CHECKED])
OPS = {op.__name__: op for op in BY_CUDNN["compute"]}


@pytest.fixture(scope="module")
def gpu():
    """The backend on an imitation of CuPy, its cuDNN in NumPy, and cuDNN's kernels alone."""
    library = cudnn_on_numpy.module()
    before = {name: sys.modules.get(name) for name in ("cupy", "cupyx", "cudnn")}
    sys.modules.update({"cupy": Imitation(), "cupyx": None, "cudnn": library})
    backend = core.backend.register(CudaBackend())
    backend.library_of_graphs = library.pygraph
    for key, table in (("compute", backend.kernels), ("gradient", backend.gradient_kernels)):
        table.clear()
        for op, kernel in BY_CUDNN[key].items():
            alone = getattr(kernel, "__wrapped__", kernel)
            alone.takes_halves = True
            table[op] = alone
    backend.update_all_kernels.clear()
    yield backend
    core.backend.unregister(backend)
    for name, module in before.items():
        if module is None:
            del sys.modules[name]
        else:
            sys.modules[name] = module


def launches(gpu, call):
    before = gpu.library_of_graphs.launched
    found = call()
    return found, gpu.library_of_graphs.launched - before


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=15)
@given(data=st.data())
def test_kernels_compute_what_operations_declare(name, gpu, data):
    case = data.draw(cases(OPS[name], "plain"))
    CHECKS["kernels"](Trial(case, gpu, None, "reduction"))


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40)
@given(
    sizes=st.lists(st.tuples(*[st.integers(1, n) for n in (6, 3, 3)]), min_size=1, max_size=3),
    pad=st.integers(0, 2),
    dilate=st.integers(1, 2),
    cover_all=st.booleans(),
    groups=st.sampled_from([1, 2, 3]),
    last=st.booleans(),
    dtype=st.sampled_from(["f2", "f4", "f8"]),
)
def test_windows_of_all_kinds_have_the_hosts_results_and_gradients(
    gpu, sizes, pad, dilate, cover_all, groups, last, dtype
):
    """One to three axes, any layout; padding is more after an axis where all is covered."""
    size, ksize, stride = zip(*sizes, strict=True)
    size = [n + dilate * (k - 1) for n, k in zip(size, ksize, strict=True)]
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (2, 2 * groups, *size)).astype(dtype)
    W = random.uniform(-1, 1, (3 * groups, 2, *ksize)).astype(dtype)
    b = random.uniform(-1, 1, 3 * groups).astype(dtype)

    def computed(backend):
        there = [backend.asarray(a) for a in (x, W, b)]
        if last and backend is gpu:
            there[0] = layout.laid(gpu.cupy, there[0], True)
        inputs = [core.Variable(a) for a in there]
        y = F.convolution_nd(*inputs, stride, pad, cover_all, dilate, groups)
        z = y  # deconvolution has no `cover_all`
        if not cover_all:
            z = F.deconvolution_nd(y, inputs[1], None, stride, pad, x.shape[2:], dilate, groups)
        (F.sum(y * y) + F.sum(z * z)).backward()
        return [core.backend.to_host(a) for a in (y.array, z.array, *[v.grad for v in inputs])]

    expected = computed(host())
    found, launched = launches(gpu, lambda: computed(gpu))
    assert launched == (3 if cover_all else 6)
    for one, other in zip(found, expected, strict=True):
        most = np.abs(other).max(initial=1)
        rtol = {"f2": 2e-2, "f4": 2e-5, "f8": 1e-12}[dtype]
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * most)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("shape", [(4, 6), (3, 6, 5), (2, 6, 3, 4), (2, 6, 2, 3, 2)])
@pytest.mark.parametrize("last", [False, True])
def test_a_batch_is_normalized_in_one_launch_each_way(gpu, shape, dtype, last):
    random = np.random.default_rng(1)
    x = random.normal(2, 3, shape).astype(dtype)
    gamma, beta = random.normal(size=(2, 6)).astype(dtype)

    def computed(backend):
        there = [backend.asarray(a) for a in (x, gamma, beta)]
        if last and backend is gpu:
            there[0] = layout.laid(gpu.cupy, there[0], True)
        inputs = [core.Variable(a) for a in there]
        mean, var = [backend.asarray(np.full(6, n, dtype)) for n in (0, 1)]
        y = F.batch_normalization(*inputs, running_mean=mean, running_var=var)
        weights = backend.asarray(np.cos(np.arange(x.size)).reshape(shape).astype(dtype))
        F.sum(y * weights).backward()
        arrays = [y.array, mean, var, *[v.grad for v in inputs]]
        return [core.backend.to_host(a) for a in arrays]

    found, launched = launches(gpu, lambda: computed(gpu))
    assert launched == 2
    for one, other in zip(found, computed(host()), strict=True):
        assert one.dtype == other.dtype
        tolerance = 2e-2 if dtype == "float16" else 2e-5
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_heads_of_16_bit_floats_are_read_where_they_lie(gpu, lead, is_causal, dtype):
    random = np.random.default_rng(2)
    shapes = [(*lead, 5, 8), (*lead, 7, 8), (*lead, 7, 16)]
    arrays = [random.normal(size=s).astype("f4") for s in shapes]

    def computed(backend):
        there = [backend.asarray(a, dtype) for a in arrays]
        if len(lead) == 2:  # as heads lie after a projection: (batch, rows, heads, elements)
            there = [backend.xp.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2) for a in there]
        inputs = [core.Variable(a) for a in there]
        y = F.scaled_dot_product_attention(*inputs, is_causal=is_causal)
        F.sum(y * y).backward()
        found = [y.array, *[v.grad for v in inputs]]
        return [core.backend.to_host(a).astype("f4") for a in found]

    found, launched = launches(gpu, lambda: computed(gpu))
    assert launched == 2
    for one, other in zip(found, computed(host()), strict=True):
        tolerance = 6e-2 if dtype == "bfloat16" else 1e-2
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_arrays_begin_where_cudnn_reads(gpu):
    """It reads 16 bytes at once: parts of arrays that begin elsewhere are copied."""
    r = np.random.default_rng(4)
    images, W = r.normal(size=(4, 1, 3, 3)).astype("f"), r.normal(size=(2, 1, 2, 2)).astype("f")
    last = r.normal(size=(4, 3, 3, 1)).astype("f").transpose(0, 3, 1, 2)
    rows = r.normal(size=(2, 5, 3 * 8 + 1)).astype("f2")

    def computed(send):
        found = [F.convolution_2d(send(x)[1:], send(W)) for x in (images, last)]
        found.append(F.batch_normalization(send(images)[1:], *send(np.ones((2, 3), "f"))[:, 2:]))
        heads = [core.Variable(send(rows)[..., n : n + 8]) for n in (1, 9, 17)]
        found.append(F.scaled_dot_product_attention(*heads))
        F.sum(found[-1] ** 2).backward()
        return [core.backend.to_host(a) for a in (*found, *[v.grad for v in heads])]

    found, launched = launches(gpu, lambda: computed(gpu.asarray))
    assert launched == 5
    for one, other in zip(found, computed(lambda a: a), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-2, atol=2e-2)


def test_graphs_are_planned_once_for_each_layout_and_what_the_settings_allow(gpu):
    made = gpu.library_of_graphs.made
    x, W = [gpu.asarray(np.ones(s, "f")) for s in ((1, 1, 4, 4), (1, 1, 2, 2))]
    asked = [
        lambda: F.convolution_2d(x, W),
        lambda: F.convolution_2d(x + 1, W * 2),
        lambda: F.convolution_2d(x[:, :, :3], W),
    ]
    for call, count in zip(asked, (1, 1, 2), strict=True):
        call()
        assert gpu.library_of_graphs.made - made == count
    for name, value in (("tf32", True), ("cudnn_deterministic", True)):
        with core.using_config(name, value):
            asked[0]()
        count += 1
        assert gpu.library_of_graphs.made - made == count
    there = [core.get_device("cuda:1").send(np.ones(s, "f")) for s in (x.shape, W.shape)]
    y = F.convolution_2d(*there)
    assert gpu.library_of_graphs.made - made == count + 1
    assert y.array.device == Device(1)


@pytest.mark.parametrize(
    ("settings", "dtype", "barred"),
    [
        ({}, "float32", {"DOWN_CONVERT_INPUTS", "TENSOR_CORE"}),
        ({"tf32": True}, "float32", {"DOWN_CONVERT_INPUTS"}),
        ({}, "float16", {"DOWN_CONVERT_INPUTS"}),
        ({"use_cudnn_tensor_core": "never"}, "float16", {"DOWN_CONVERT_INPUTS", "TENSOR_CORE"}),
        (
            {"tf32": True, "cudnn_deterministic": True},
            "float32",
            {"DOWN_CONVERT_INPUTS", "NONDETERMINISTIC"},
        ),
    ],
)
def test_settings_say_what_a_plan_must_not_do(settings, dtype, barred):
    unwanted = import_module("backends.cuda_backend.cudnn.plans").unwanted
    with ExitStack() as entered:
        for name, value in settings.items():
            entered.enter_context(core.using_config(name, value))
        assert set(unwanted(dtype)) == barred


def test_what_cudnn_declines_is_computed_without_it_and_said(gpu, monkeypatch):
    monkeypatch.setattr(gpu.library_of_graphs, "refused", {"DOUBLE"})
    x, W = [np.random.default_rng(3).normal(size=s) for s in ((1, 2, 5, 5), (3, 2, 3, 3))]
    y, launched = launches(gpu, lambda: F.convolution_2d(*map(gpu.asarray, (x, W)), pad=2))
    assert launched == 0
    expected = F.convolution_2d(x, W, pad=2).array
    np.testing.assert_allclose(core.backend.to_host(y), expected, rtol=1e-12)
    assert gpu.cudnn.declined["conv_fprop"] == "no engine for this dtype"
    assert gpu.state()["cuDNN declined conv_fprop"] == "no engine for this dtype"
    assert gpu.state()["cuDNN"] == "9.28.0 by its frontend 1.28.0"


def test_plans_that_were_not_asked_for_the_longest_go_first(gpu, monkeypatch):
    monkeypatch.setattr("backends.cuda_backend.cudnn.plans.MOST", 2)
    W, made = gpu.asarray(np.ones((1, 1, 1, 1))), gpu.library_of_graphs.made
    gpu.cudnn._threads.known.clear()
    x = [gpu.asarray(np.ones((7, 1, 1, n))) for n in (1, 2, 3)]
    for n in (0, 1, 0, 2, 0, 1):
        F.convolution_2d(x[n], W)
    assert gpu.library_of_graphs.made - made == 4


def test_it_is_not_asked_where_that_is_not_wanted(gpu):
    x, W = gpu.asarray(np.ones((1, 1, 3, 3))), gpu.asarray(np.ones((1, 1, 2, 2)))
    with core.using_config("use_cudnn", "never"):
        assert launches(gpu, lambda: F.convolution_2d(x, W))[1] == 0
    assert launches(gpu, lambda: F.convolution_2d(x, W))[1] == 1


def test_a_network_learns_what_it_learns_on_the_host(gpu):
    def losses(device):
        core.seed(4)
        model = core.Sequential(
            L.Convolution2D(2, 4, 3, pad=1), L.BatchNormalization(4), F.relu,
            L.Deconvolution2D(4, 3, 3, stride=2), lambda x: F.mean(x, axis=(2, 3)),
        ).to_device(device)  # fmt: skip
        optimizer = core.optimizers.SGD(lr=0.1).setup(model)
        random = np.random.default_rng(5)
        x = core.get_device(device).send(random.normal(size=(4, 2, 6, 6)).astype("f"))
        t = core.get_device(device).send(np.arange(4) % 3)
        found = []
        for _ in range(3):
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            found.append(float(core.backend.to_host(loss)))
        return found

    try:
        there, launched = launches(gpu, lambda: losses("cuda"))
        assert launched > 10
        np.testing.assert_allclose(there, losses("numpy"), rtol=1e-4)
    finally:
        core.seed(None)


def test_the_facade_says_what_operations_do(gpu):
    assert cuda.cudnn_enabled and cuda.should_use_cudnn(">=auto")
    assert not cuda.should_use_cudnn("==always") and not cuda.should_use_cudnn(">=auto", 10**6)
    assert cuda.should_use_cudnn_tensor_core("float16")
    assert not cuda.should_use_cudnn_tensor_core("float32")
    with core.using_config("tf32", True):
        assert cuda.should_use_cudnn_tensor_core("float32")
    with core.using_config("use_cudnn", "always"):
        assert cuda.should_use_cudnn("==always")
    with core.using_config("use_cudnn", "never"):
        assert not cuda.should_use_cudnn(">=auto")


# -- where it is missing ---------------------------------------------------------------------------


def test_what_is_missing_names_the_extra(monkeypatch):
    monkeypatch.setattr(presence, "find_spec", lambda name: None)
    assert "plugrad[cudnn]" in presence.missing()

    def broken(name):
        raise RuntimeError("Unable to find symbol cudnnGetVersion\nand more")

    monkeypatch.setattr(presence, "find_spec", lambda name: object())
    monkeypatch.setattr(presence, "import_module", broken)
    assert "cannot be loaded (Unable to find symbol cudnnGetVersion)" in presence.missing()


def test_without_it_nothing_is_said_until_it_is_wanted(gpu, monkeypatch):
    x, W = gpu.asarray(np.ones((1, 1, 3, 3))), gpu.asarray(np.ones((1, 1, 2, 2)))
    for name, value in (("cudnn", None), ("without_cudnn", "nothing is here: pip install it")):
        monkeypatch.setitem(vars(gpu), name, value)
    assert launches(gpu, lambda: F.convolution_2d(x, W))[1] == 0
    assert "pip install it; convolutions" in gpu.state()["cuDNN"]
    assert not cuda.should_use_cudnn(">=auto")
    with core.using_config("use_cudnn", "always"):
        with pytest.raises(BackendUnavailable, match="'always', but nothing is here"):
            F.convolution_2d(x, W)
        with pytest.raises(BackendUnavailable, match="'always', but nothing is here"):
            cuda.should_use_cudnn("==always")

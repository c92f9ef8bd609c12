"""The CUDA backend: its absence explained, its logic on an imitation of CuPy, itself on a GPU."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import several_devices

import core
import core.functions as F
import core.links as L
from backends.cuda_backend import presence
from backends.cuda_backend.backend import CudaBackend
from core.arrays.fallbacks import Fallbacks
from core.compat import cuda
from core.errors import BackendError, BackendUnavailable
from core.testing import check_backend

sys.path.insert(0, str(Path(__file__).parent))

from cuda_on_cpu import Kernels
from imitation import Device, Imitation, Stream, ndarray, strays

ROOT = Path(__file__).resolve().parents[2]
ABSENT = presence.missing()
on_cpu = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++ of GCC 12 or later")


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Imitation:
    module = Imitation()
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setitem(sys.modules, "cupyx", None)
    return module


@pytest.fixture
def gpu(cupy: Imitation, monkeypatch: pytest.MonkeyPatch) -> Iterator[CudaBackend]:
    monkeypatch.setattr("backends.cuda_backend.backend.Kernels", lambda cupy: Kernels())
    backend = core.backend.register(CudaBackend())
    yield backend
    core.backend.unregister(backend)


def test_importing_the_plugin_does_not_import_cupy() -> None:
    code = "import sys, backends.cuda_backend.backend, core.cuda; print('cupy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


# -- why it cannot be used ------------------------------------------------------------------------


def test_without_cupy_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "find_spec", lambda name: None)
    said = presence.missing()
    assert said is not None
    assert "pip install 'plugrad[cuda]'" in said


def test_a_broken_cupy_is_told_from_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> Any:
        raise ImportError("libcudart.so: no such file\nand more")

    monkeypatch.setattr(presence, "find_spec", lambda name: object())
    monkeypatch.setattr(presence, "import_module", broken)
    said = presence.missing()
    assert said is not None
    assert "cannot be imported (libcudart.so: no such file)" in said


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("cudaErrorInsufficientDriver: too old", "no NVIDIA driver"),
        ("cudaErrorNoDevice: none", "sees no GPU"),
        ("cudaErrorUnknown: who knows", "does not start"),
    ],
)
def test_what_is_wrong_with_the_machine_is_said(cupy: Imitation, error: str, words: str) -> None:
    def fail() -> int:
        raise RuntimeError(error)

    cupy.cuda.runtime.getDeviceCount = fail
    said = presence.missing()
    assert said is not None
    assert words in said
    assert error in said


def test_no_visible_device_and_two_of_them(cupy: Imitation) -> None:
    assert presence.missing() is None
    cupy.count = 0
    said = presence.missing()
    assert said is not None
    assert "CUDA_VISIBLE_DEVICES" in said


@pytest.mark.skipif(ABSENT is None, reason="CUDA can be used here")
@pytest.mark.parametrize(
    "ask",
    [
        lambda: core.use("cuda"),
        lambda: core.get_device("cuda:1"),
        lambda: core.get_device(0),
        lambda: cuda.check_cuda_available(),
        lambda: cuda.to_gpu(np.zeros(2)),
        lambda: cuda.cupy.zeros(2),
        lambda: cuda.Stream(),
        lambda: cuda.seed(0),
        lambda: core.Variable(np.zeros(2)).to_gpu(),
        lambda: L.Linear(2, 3).to_gpu(),
        lambda: L.Linear(2, 3).to_device("cuda:0"),
        lambda: cuda.elementwise("T x", "T y", "y = x", "same"),
    ],
)
def test_what_needs_a_gpu_says_why_there_is_none(ask: Any) -> None:
    with pytest.raises(BackendUnavailable) as caught:
        ask()
    assert str(ABSENT) in str(caught.value)
    assert "numpy" in str(caught.value)


def test_a_library_that_is_imported_and_has_no_device_makes_no_backend(tmp_path: Path) -> None:
    (tmp_path / "cupy.py").write_text(
        "class ndarray: pass\n"
        "class cuda:\n"
        "    class runtime:\n"
        "        def getDeviceCount(): raise RuntimeError('cudaErrorNoDevice: none')\n"
    )
    code = (
        "import cupy, core, numpy as np\n"
        "try: core.Variable(object())\n"
        "except Exception: pass\n"
        "try: core.Variable(np.zeros(2)).to_gpu()\n"
        "except core.errors.BackendUnavailable as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "sees no GPU" in done.stdout


# -- the backend on the imitation -----------------------------------------------------------------


def test_arrays_go_there_and_back(gpu: CudaBackend) -> None:
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    there = gpu.asarray(host)
    assert type(there) is ndarray
    assert core.backend.of(there) is gpu
    assert not np.shares_memory(there, host)
    back = core.backend.to_host(there)
    assert type(back) is np.ndarray
    np.testing.assert_array_equal(back, host)
    assert gpu.asarray(there) is there
    assert gpu.asarray([1, 2], "float32").dtype == np.float32
    assert gpu.asarray(there, "float64").dtype == np.float64


def test_devices_are_numbered_and_arrays_move_between_them(gpu: CudaBackend) -> None:
    assert list(map(str, gpu.devices())) == ["cuda:0", "cuda:1"]
    a = gpu.asarray(np.ones(3, np.float32))
    assert str(gpu.device_of(a)) == "cuda:0"
    b = core.backend.to_backend(a, "cuda:1")
    assert str(gpu.device_of(b)) == "cuda:1"
    assert core.get_device("cuda:1").send(b) is b
    assert core.backend.to_backend(b, "cuda") is b
    assert gpu.device_of(gpu.copy(b)) == gpu.device_of(b)
    with core.get_device("cuda:1"):
        assert core.backend.current() is gpu
        assert gpu.asarray([1.0]).device == Device(1)
        assert gpu.xp.zeros(2).device == Device(1)
    assert gpu.asarray([1.0]).device == Device(0)
    with pytest.raises(BackendError, match="has no device cuda:2; it has cuda:0, cuda:1"):
        core.get_device("cuda:2")


def test_two_gpus_in_one_operation_are_refused(gpu: CudaBackend) -> None:
    a, b = (core.get_device(f"cuda:{i}").send(np.ones(2)) for i in (0, 1))
    with pytest.raises(BackendError, match=r"two devices.*cuda:0 and cuda:1.*to_device\('cuda:0'"):
        core.backend.of(a, b)
    with pytest.raises(BackendError, match="two backends.*cuda:0 and numpy"):
        core.backend.of(a, np.ones(2))


@on_cpu
def test_padding_windows_and_sums_stay_on_their_gpu(gpu: CudaBackend) -> None:
    host = np.random.RandomState(0).rand(2, 3, 5, 4)
    x = core.get_device("cuda:1").send(host)
    w = gpu.windows(x, 3, 2, pad=1, pad_value=2.0)
    np.testing.assert_array_equal(
        gpu.to_host(w), Fallbacks.windows(core.backend.host(), host, 3, 2, 1, 1, False, 2.0)
    )
    assert w.device == gpu.fold(w, (5, 4), 2, 1).device == Device(1)
    gpu.scatter_add(x, np.array([0, 0]), gpu.asarray(np.ones((2, 3, 5, 4)), device=1))
    host[0] += 2
    np.testing.assert_array_equal(gpu.to_host(x), host)


@on_cpu
def test_random_numbers_are_drawn_where_they_are_wanted(gpu: CudaBackend) -> None:
    core.seed(5)
    try:
        drawn = gpu.random.uniform((3,), device=1)
        core.seed(5)
        here = gpu.random.uniform((3,))
        assert (drawn.device, here.device) == (Device(1), Device(0))
        np.testing.assert_array_equal(gpu.to_host(drawn), gpu.to_host(here))
        gpu.random.seed(9, 1)
        own = gpu.random.normal((3,), device=1)
        core.seed(None)
        gpu.random.seed(9, core.get_device("cuda:1"))
        np.testing.assert_array_equal(gpu.random.normal((3,), device=1), own)
        assert core.backend.random_state()["backends"]["cuda"] == {"1": {"seed": 9, "draws": 1}}
    finally:
        core.seed(None)


@on_cpu
def test_a_training_takes_the_kernels_and_learns_what_it_learns_on_the_host(
    gpu: CudaBackend,
) -> None:
    def losses(device: str) -> list[float]:
        with core.using(device):
            model = core.Sequential(
                L.Linear(5, 16, initialW=np.cos(np.arange(80, dtype="f")).reshape(16, 5)),
                F.gelu,
                L.LayerNormalization(16),
                L.Linear(16, 3, initialW=np.linspace(-1, 1, 48, dtype="f").reshape(3, 16)),
            )
        model.to_device(device)
        optimizer = core.optimizers.MomentumSGD(lr=0.1).setup(model)
        x = core.get_device(device).send(np.linspace(-1, 1, 40, dtype="f").reshape(8, 5))
        t = core.get_device(device).send(np.arange(8, dtype="i") % 3)
        found = []
        for _ in range(4):
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            found.append(float(core.backend.to_host(loss)))
        return found

    on_gpu = losses("cuda")
    assert len(gpu._compiler.known) > 5  # type: ignore[attr-defined]
    assert {source.name for source in gpu._compiler.known} >= {"loop", "update"}  # type: ignore[attr-defined]
    np.testing.assert_allclose(on_gpu, losses("numpy"), rtol=1e-4)
    assert on_gpu[-1] < on_gpu[0]


def test_tables_of_steps_lie_where_the_arrays_do(gpu: CudaBackend) -> None:
    x = gpu.asarray(np.ones(3, np.float32), device=1)
    with core.using_device("cuda:0"):
        assert gpu.updates._table(x, (1, 2), list).device == Device(1)


def test_steps_that_a_kernel_leaves_are_made_where_the_arrays_are(
    gpu: CudaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    strided = gpu.asarray(np.ones((3, 4), np.float32), device=1).T
    parameter = core.Parameter(strided)
    link = core.Link()
    with link.init_scope():
        link.p = parameter
    optimizer = core.optimizers.SGD(lr=0.5).setup(link)
    parameter.grad = gpu.asarray(np.ones((4, 3), np.float32), device=1)
    seen, rule = [], type(parameter.update_rule)
    plain = rule.update_core

    def noting(self: Any, given: Any) -> None:
        seen.append(cuda.Device().id)
        plain(self, given)

    monkeypatch.setattr(rule, "update_core", noting)
    optimizer.update()
    assert seen == [1]
    np.testing.assert_array_equal(gpu.to_host(parameter.array), np.full((4, 3), 0.5))


SEEN: list[int] = []


class Here(core.FunctionNode):
    """Notes which device is current while it computes."""

    def compute(self, xp: Any, x: Any) -> Any:
        SEEN.append(cuda.Device().id)
        return x * 2

    def gradient(self, xp: Any, g: Any) -> Any:
        SEEN.append(cuda.Device().id)
        return g * 2


class GeneralHere(core.FunctionNode):
    def forward_gpu(self, inputs: Any) -> Any:
        SEEN.append(cuda.Device().id)
        return (inputs[0] * 2,)


def test_operations_compute_on_the_device_of_their_arrays(gpu: CudaBackend) -> None:
    for number in (0, 1):
        x = core.Variable(gpu.asarray(np.ones((2, 2), np.float32), device=number))
        SEEN.clear()
        y = Here.call(x)
        y.grad = gpu.asarray(np.ones((2, 2), np.float32), device=number)
        y.backward()
        GeneralHere()(x)
        assert [number] * 3 == SEEN
        np.testing.assert_array_equal(gpu.to_host(x.grad), 2)
    assert cuda.Device().id == 0


def test_the_error_function_keeps_float16(
    gpu: CudaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def erf(x: Any) -> Any:  # of the types 'e->d', 'f->f' and 'd->d', as CuPy's
        return x.astype("d") if x.dtype == np.float16 else x

    monkeypatch.setitem(sys.modules, "cupyx.scipy.special", SimpleNamespace(erf=erf))
    for dtype in ("float16", "float32", "float64"):
        assert F.erf(gpu.asarray(np.ones(2), dtype)).dtype == dtype


def test_one_device_is_always_current(cupy: Imitation) -> None:
    cupy.count = 1
    backend = CudaBackend()
    assert backend.around(0) is None


@on_cpu
@pytest.mark.parametrize("rule", ["SGD", "LAMB"])  # with a kernel for all parameters, and without
def test_a_step_on_a_gpu_that_is_not_current_computes_there(gpu: CudaBackend, rule: str) -> None:
    model = core.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 3)).to_device("cuda:1")
    optimizer = getattr(core.optimizers, rule)().setup(model)
    for hook in (
        core.optimizer_hooks.GradientClipping(0.1),
        core.optimizer_hooks.WeightDecay(0.1),
        core.optimizer_hooks.GradientLARS(),
        core.optimizer_hooks.GradientHardClipping(-1, 1),
    ):
        optimizer.add_hook(hook)
    optimizer.set_loss_scale(8.0)
    x = core.get_device("cuda:1").send(np.ones((2, 3), np.float32))

    def lossfun() -> Any:
        return F.sum(model(model(x)) ** 2)  # each parameter twice

    optimizer.update(lossfun)
    strays.clear()
    optimizer.update(lossfun)
    assert strays == []


def test_copies_between_devices_are_differentiable(gpu: CudaBackend) -> None:
    x = core.Variable(gpu.asarray(np.full(3, 2, np.float32)))
    there = F.copy(x * x, "cuda:1")
    assert str(there.device) == "cuda:1"
    back = F.copy(there * there, 0)
    (g,) = core.grad([F.sum(back)], [x], enable_double_backprop=True)
    assert str(g.device) == "cuda:0"
    np.testing.assert_allclose(gpu.to_host(g.array), 32.0)
    (second,) = core.grad([F.sum(g)], [x])
    np.testing.assert_allclose(gpu.to_host(second.array), 48.0)


BESIDE = [
    *["batch_normalization-0", "batch_renormalization-0", "black_out-0", "gumbel_softmax-0"],
    *["connectionist_temporal_classification-0", "decorrelated_batch_normalization-0"],
    *["deformable_convolution_2d_sampler-0", "discriminative_margin_based_clustering_loss-0"],
    *["negative_sampling-0", "roi_average_align_2d-0", "roi_average_pooling_2d-0"],
    *["roi_max_align_2d-0", "sparse_matmul-0"],
]


@pytest.mark.parametrize("name", BESIDE)
def test_functions_compute_beside_their_arrays_between_operations(
    gpu: CudaBackend, name: str
) -> None:
    from oracles.cases import _called, all_cases, draw

    def moved(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return gpu.asarray(part, device=1)
        if isinstance(part, dict):
            return {key: moved(value) for key, value in part.items()}
        if isinstance(part, (list, tuple)):
            return type(part)([moved(each) for each in part])
        return part

    nothing = SimpleNamespace(ready=lambda source: lambda grid, block, args: None)
    gpu._compiler = gpu.random._kernels = nothing  # type: ignore[assignment, attr-defined]
    args, settings, leaves, _, _ = draw(all_cases()[name], "float32")
    variables = [core.Variable(moved(leaf)) for leaf in leaves]
    strays.clear()
    with np.errstate(all="ignore"):  # of what no kernel has written
        _called(core, all_cases()[name], moved(args), moved(settings), variables)
    assert strays == []


HOOKS = ["SpectralNormalization", "WeightStandardization", "average", "LBFGS"]


@pytest.mark.parametrize("name", HOOKS)
def test_hooks_compute_beside_their_arrays(gpu: CudaBackend, name: str) -> None:
    nothing = SimpleNamespace(ready=lambda source: lambda grid, block, args: None)
    gpu._compiler = gpu.random._kernels = nothing  # type: ignore[assignment, attr-defined]
    model = L.Linear(4, 3).to_device("cuda:1")
    rule = core.optimizers.LBFGS if name == "LBFGS" else core.optimizers.SGD
    optimizer = rule().setup(model)
    if name == "average":
        optimizer.add_hook(core.optimizer_hooks.ExponentialMovingAverage(0.9))
    elif name != "LBFGS":
        model.add_hook(getattr(core.link_hooks, name)())
    x = gpu.asarray(np.ones((2, 4), np.float32), device=1)
    strays.clear()
    with np.errstate(all="ignore"):  # of what no kernel has written
        for _ in range(2):
            optimizer.update(lambda: F.sum(model(x)))
        assert list(core.training.extensions.ParameterStatistics(model)._taken())
    assert strays == []


@on_cpu
@pytest.mark.parametrize("second", ["cuda:0", "cuda:1"])
@pytest.mark.parametrize("train", [several_devices.of_halves, several_devices.of_shares])
def test_models_and_batches_are_divided_among_gpus(
    gpu: CudaBackend, train: Any, second: str
) -> None:
    strays.clear()
    several_devices.check(train, "cuda:0", second)
    assert strays == []


def test_an_unknown_dtype_is_refused(gpu: CudaBackend) -> None:
    with pytest.raises(BackendError, match="no dtype 'flot'"):
        gpu.dtype("flot")
    assert gpu.kind("float16") == "f"
    assert gpu.dtype_name(np.float32) == "float32"


def test_memory_that_the_pools_keep_is_given_back(gpu: CudaBackend) -> None:
    assert gpu.memory_stats() == {"used": 1, "held": 2}
    gpu.release_memory()
    assert gpu.memory_stats() == {"used": 1, "held": 1}


def test_memory_that_graphs_need_is_counted_while_they_are_there(gpu: CudaBackend) -> None:
    from backends.cuda_backend.graphs import POOLS

    before = gpu.memory_stats()
    launch = lambda: None  # noqa: E731 - of which the pool is the graph's
    POOLS[launch] = gpu.cupy.get_default_memory_pool()
    assert gpu.memory_stats() == {what: 2 * size for what, size in before.items()}
    del launch
    assert gpu.memory_stats() == before


def test_the_namespace_has_what_cupy_lacks(gpu: CudaBackend) -> None:
    xp, x = gpu.xp, gpu.asarray([[3.0, 1.0, 2.0], [2.0, 2.0, 5.0]])
    host = gpu.to_host(x)
    assert xp.exp is xp.exp
    np.testing.assert_array_equal(xp.sort(x, descending=True), -np.sort(-host))
    np.testing.assert_array_equal(xp.sort(x, axis=0), np.sort(host, axis=0))
    np.testing.assert_array_equal(xp.argsort(x, stable=True), np.argsort(host, kind="stable"))
    np.testing.assert_array_equal(
        xp.argsort(x, descending=True), np.argsort(-host, axis=-1, kind="stable")
    )
    np.testing.assert_allclose(xp.var(x, axis=1, correction=1), np.var(host, axis=1, ddof=1))
    np.testing.assert_allclose(xp.std(x, correction=1, keepdims=True), [[np.std(host, ddof=1)]])
    np.testing.assert_array_equal(xp.clip(x, min=2.0), np.maximum(host, 2))
    np.testing.assert_array_equal(xp.clip(x, 1.5, 2.5), np.clip(host, 1.5, 2.5))
    assert xp.clip(x) is not x
    np.testing.assert_array_equal(xp.count_nonzero(x - 2, axis=1, keepdims=True), [[2], [1]])
    np.testing.assert_array_equal(xp.unstack(x, axis=1)[2], host[:, 2])
    np.testing.assert_allclose(xp.vecdot(x, x), np.sum(host * host, axis=-1))
    np.testing.assert_allclose(xp.vecdot(x, x, axis=0), np.sum(host * host, axis=0))
    assert "unstack" in dir(xp)
    assert "exp" in dir(xp)


def test_copies_between_gpus_are_in_the_order_of_both_streams(gpu: CudaBackend) -> None:
    x = gpu.asarray(np.arange(3.0), device=0)
    Stream.waited.clear()
    assert gpu.device_of(gpu.to_device(x, 1)).id == 1
    assert Stream.waited == [(1, 0), (0, 1)]  # until it is written, and until it is read
    assert gpu.to_device(x, 0) is x and len(Stream.waited) == 2


@on_cpu
def test_the_backend_keeps_its_contract_with_what_cupy_has(gpu: CudaBackend) -> None:
    check_backend(gpu)


def test_linear_algebra_has_what_cupy_lacks(gpu: CudaBackend) -> None:
    host = np.random.default_rng(0).standard_normal((2, 3, 4))
    x, linalg = gpu.asarray(host), gpu.xp.linalg
    vars(gpu.cupy)["linalg"] = SimpleNamespace(  # as of CuPy 14.2
        norm=np.linalg.norm, svd=np.linalg.svd, det=np.linalg.det
    )
    calls: list[tuple[str, dict[str, Any]]] = [
        *[("svdvals", {}), ("diagonal", {"offset": 1}), ("trace", {"offset": -1})],
        *[("matrix_norm", {}), ("matrix_norm", {"ord": 2, "keepdims": True})],
        *[("vector_norm", {}), ("vector_norm", {"axis": (0, -1), "keepdims": True})],
        *[("vector_norm", {"axis": 1, "ord": 1}), ("vector_norm", {"keepdims": True, "ord": 3})],
    ]
    for name, kwargs in calls:
        expected = getattr(np.linalg, name)(host, **kwargs)
        np.testing.assert_allclose(getattr(linalg, name)(x, **kwargs), expected)
        assert getattr(linalg, name)(x, **kwargs).shape == expected.shape
    np.testing.assert_allclose(linalg.vecdot(x, x), np.linalg.vecdot(host, host))
    np.testing.assert_allclose(linalg.outer(x[0, 0], x[0, 1]), np.outer(host[0, 0], host[0, 1]))
    assert {"det", "svdvals"} <= {*dir(linalg)}
    with pytest.raises(AttributeError, match="'_hidden'"):
        linalg._hidden  # noqa: B018


def test_decompositions_are_looked_at_in_debug_mode(
    gpu: CudaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    @contextmanager
    def errstate(linalg: str) -> Iterator[None]:
        asked.append(linalg)
        yield

    monkeypatch.setitem(sys.modules, "cupyx", SimpleNamespace(errstate=errstate))
    x = gpu.asarray(np.eye(3))
    gpu.xp.linalg.cholesky(x)
    assert asked == []
    with core.using_config("debug", True):
        gpu.xp.linalg.cholesky(x)
        gpu.xp.linalg.svdvals(x)
    assert asked == ["raise", "raise"]


@pytest.mark.parametrize("number", [3, -4])
def test_indexes_beyond_an_axis_are_refused_in_debug_mode(gpu: CudaBackend, number: int) -> None:
    """CuPy itself would begin again with the first element."""
    at = gpu.asarray(np.array([0, number], "int8"))
    x = core.Variable(gpu.asarray(np.arange(6.0).reshape(3, 2)), requires_grad=False)

    namespace = x.__array_namespace__()
    calls = {
        "GetItem": lambda: F.get_item(x, (..., at, slice(1))),
        "SetItem": lambda: x.__setitem__((at, None), 1.0),
        "Take": lambda: namespace.take(x, at, axis=0),
        "TakeAlongAxis": lambda: namespace.take_along_axis(x, at[:, None], axis=0),
    }
    for name, call in calls.items():
        with (
            core.using_config("debug", True),
            pytest.raises(IndexError, match=f"{name}: exp.*axis 0"),
        ):
            call()
    assert np.array_equal(x.array.get(), np.arange(6.0).reshape(3, 2))


def test_the_namespace_describes_itself(gpu: CudaBackend) -> None:
    info = gpu.xp.__array_namespace_info__()
    assert info.default_device() == Device(0)
    assert info.devices() == [Device(0), Device(1)]
    assert info.default_dtypes()["real floating"] == np.float64
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert "bool" in info.dtypes()
    assert info.capabilities()["boolean indexing"]
    with pytest.raises(AttributeError, match="_hidden"):
        gpu.xp._hidden  # noqa: B018


# -- core.cuda ------------------------------------------------------------------------------------


def test_the_facade_makes_a_device_the_current_one(gpu: CudaBackend) -> None:
    try:
        assert cuda.use_device(1) == Device(1) and str(gpu.default_device()) == "cuda:1"
        cuda.use_device(np.zeros(2))
        assert str(gpu.default_device()) == "cuda:1"
    finally:
        assert cuda.use_device(core.get_device("cuda:0")) == Device(0)
    assert str(gpu.default_device()) == "cuda:0"


def test_the_facade_copies_and_tells_devices(gpu: CudaBackend) -> None:
    x = np.ones(3, np.float32)
    a = cuda.to_gpu(x)
    b = cuda.to_gpu(x, device=1)
    assert (cuda.get_device_from_array(x, b).id, cuda.get_device_from_array(a).id) == (1, 0)
    assert cuda.get_array_module(x, a) is sys.modules["cupy"] is cuda.cupy
    assert isinstance(a, cuda.ndarray)
    assert cuda.available
    assert cuda.to_gpu(b, 1) is b
    assert cuda.to_gpu(b, cuda.Device(0)).device == Device(0)
    assert cuda.to_gpu(b, core.get_device("cuda:0"), stream=cuda.Stream()).device == Device(0)
    assert type(cuda.to_cpu(b, stream=cuda.Stream())) is np.ndarray
    assert [type(y) for y in cuda.to_cpu([a, b])] == [np.ndarray, np.ndarray]
    assert type(cuda.to_gpu((x, None))[0]) is ndarray
    assert cuda.copy(a, out_device=1).device == Device(1)
    out = cuda.to_gpu(np.zeros(3, np.float32))
    assert cuda.copy(b, out=out) is out
    np.testing.assert_array_equal(out, x)
    with pytest.raises(ValueError, match="not both"):
        cuda.copy(a, out=out, out_device=0)
    assert cuda.get_device(1).id == 1
    assert cuda.get_device(cuda.Device(1)).id == 1
    assert cuda.get_device(core.get_device("cuda:1")).id == 1
    assert cuda.get_device(b).id == 1
    assert cuda.memory_pool.used_bytes() == cuda.pinned_memory_pool.used_bytes() == 1


@on_cpu
def test_each_gpu_may_have_a_seed_of_its_own(gpu: CudaBackend) -> None:
    cuda.seed(4, 1)
    first = gpu.random.uniform((4,), device=1)
    cuda.seed(4, cuda.Device(1))
    gpu.random.uniform((4,), device=0)
    np.testing.assert_array_equal(gpu.random.uniform((4,), device=1), first)
    cuda.seed(None, 1)
    assert gpu.random.get_state() == {}


def test_kernels_are_made_once_for_each_gpu(gpu: CudaBackend, cupy: Imitation) -> None:
    cuda.clear_memo()
    for _ in range(2):
        cuda.elementwise("T x", "T y", "y = x", "same")
        with cuda.get_device_from_id(1):
            cuda.elementwise("T x", "T y", "y = x", "same")
    assert len(cupy.kernels) == 2
    cuda.reduce("T x", "T y", "x", "a + b", "y = a", 0, "total")
    cuda.raw("code", "name")
    assert len(cupy.kernels) == 4
    cuda.clear_memo()
    cuda.raw("code", "name")
    assert len(cupy.kernels) == 5
    cuda.clear_memo()
    assert cuda.fuse(len) == ("fused", (len,))


def test_cudnn_is_not_used_where_it_is_missing_and_its_absence_is_said(gpu: CudaBackend) -> None:
    assert not cuda.cudnn_enabled
    assert not cuda.should_use_cudnn(">=auto")
    assert not cuda.should_use_cudnn_tensor_core(np.float16)
    with pytest.raises(ValueError, match="'==always' or '>=auto'"):
        cuda.should_use_cudnn("always")
    with (
        core.using_config("use_cudnn", "always"),
        pytest.raises(BackendUnavailable, match=r"plugrad\[cudnn\]"),
    ):
        cuda.should_use_cudnn("==always")


@pytest.mark.skipif(ABSENT is None, reason="CUDA can be used here")
def test_without_cuda_the_facade_still_serves_scripts() -> None:
    x = np.ones(2)
    assert not cuda.available
    assert not isinstance(x, cuda.ndarray)
    assert cuda.get_array_module(x, core.Variable(x)) is np
    assert cuda.to_cpu(x) is x
    assert cuda.to_cpu([x, None])[1] is None
    assert [(y.shape, y.dtype) for y in cuda.to_cpu([x.sum(), np.True_])] == [
        ((), float),
        ((), bool),
    ]
    for device in (
        cuda.get_device_from_array(x),
        cuda.get_device_from_id(-1),
        cuda.get_device(x, None),
        cuda.get_device(core.get_device("numpy")),
    ):
        assert device == cuda.DummyDevice
        assert int(device) == device.id == -1
        with device as entered:
            assert entered is device
    assert cuda.DummyDevice != 0
    assert hash(cuda.DummyDevice) == hash(cuda.DummyDeviceType())
    assert cuda.fuse(len) is len
    assert cuda.fuse(kernel_name="f")(len) is len
    with pytest.raises(AttributeError, match="'core.cuda' has no attribute 'cublas'"):
        cuda.cublas  # noqa: B018


def test_memoized_functions_run_once_for_an_argument() -> None:
    calls: list[int] = []

    @cuda.memoize(for_each_device=True)
    def f(x: int, y: int = 0) -> int:
        calls.append(x)
        return x + y

    assert [f(1), f(1), f(1, y=2), f(2)] == [1, 1, 3, 2]
    assert calls == [1, 1, 2]
    cuda.clear_memo()
    f(1)
    assert calls == [1, 1, 2, 1]


def test_the_workspace_size_is_kept() -> None:
    before = cuda.get_max_workspace_size()
    try:
        cuda.set_max_workspace_size(10)
        assert cuda.get_max_workspace_size() == 10
    finally:
        cuda.set_max_workspace_size(before)


# -- the real thing -------------------------------------------------------------------------------


@pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="CuPy is not installed")
def test_cupy_has_every_name_of_the_standard() -> None:
    import array_api_strict

    xp = CudaBackend().xp
    flags = {"Device", "ArrayAPIStrictFlags"}
    names = [n for n in array_api_strict.__all__ if not n.startswith("_") and "flags" not in n]
    assert [name for name in names if name not in flags and not hasattr(xp, name)] == []


@pytest.mark.cuda
@pytest.mark.skipif(ABSENT is not None, reason=str(ABSENT))
def test_the_defaults_hold_on_a_gpu() -> None:
    backend = core.backend.get("cuda")
    host = np.random.RandomState(0).rand(2, 3, 6, 5).astype(np.float32)
    x = backend.asarray(host)
    w = backend.windows(x, 3, 2, 1)
    expected = Fallbacks.windows(core.backend.host(), host, 3, 2, 1, 1, False, 0.0)
    np.testing.assert_array_equal(backend.to_host(w), expected)
    np.testing.assert_allclose(
        backend.to_host(backend.fold(w, (6, 5), 2, 1)),
        Fallbacks.fold(core.backend.host(), expected, (6, 5), 2, 1, 1),
        rtol=1e-5,
    )
    found = core.functions.erf(x)
    np.testing.assert_allclose(
        backend.to_host(found.array), core.functions.erf(host).array, rtol=1e-5
    )
    index = backend.asarray(np.array([0, 1, 0]))
    backend.scatter_add(x, index, backend.asarray(np.ones((3, 3, 6, 5), np.float32)))
    np.add.at(host, np.array([0, 1, 0]), 1)
    np.testing.assert_allclose(backend.to_host(x), host, rtol=1e-6)
    backend.synchronize()

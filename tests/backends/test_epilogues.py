"""Products with a bias, and with its gradient, where cuBLASLt computes them: its rules in NumPy."""

import sys
import threading
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import core
import core.functions as F
from backends.cuda_backend import epilogues
from backends.cuda_backend.backend import CudaBackend
from core.arrays.backend import host

sys.path.insert(0, str(Path(__file__).parent))

from imitation import Imitation


class Matmul:
    """What nvmath-python documents: a bias stands for rows, and a result lies by columns."""

    made, launched, freed, sums, without = 0, 0, 0, None, ()

    def __init__(self, a, b, options, stream):
        self.operands, self.like = (a, b), [(x.shape, x.strides, x.dtype) for x in (a, b)]
        self.begins = [epilogues.begin(x) for x in (a, b)]
        type(self).made += 1
        type(self).sums = options["compute_type"]

    def plan(self, epilog, epilog_inputs, stream):
        if epilog in self.without:
            raise RuntimeError("no suitable algorithm\nand more")
        self.epilog, self.inputs = epilog, epilog_inputs

    def reset_operands_unchecked(self, a, b, epilog_inputs, stream):
        assert self.operands is None
        assert [(x.shape, x.strides, x.dtype) for x in (a, b)] == self.like
        begins = [epilogues.begin(x) for x in (a, b)]
        assert all([new >= old for new, old in zip(begins, self.begins, strict=True)])
        self.operands, self.inputs = (a, b), epilog_inputs

    def execute(self, stream, release_workspace):
        type(self).launched += 1
        a, b = [x.astype("f8") for x in self.operands]
        y, dtype = a @ b, self.operands[0].dtype
        if self.epilog == "BIAS":
            (bias,) = self.inputs.values()
            assert bias.shape == (y.shape[0],) and bias.data.ptr % 16 == 0
            y += np.asarray(bias, "f8")[:, None]
        columns = np.asfortranarray(y.astype(dtype)).view(type(self.operands[0]))
        if self.epilog == "BIAS":
            return columns
        assert self.epilog == "BGRADB" and self.inputs is None
        return columns, {"bgradb": b.sum(axis=0).astype(dtype)}

    def release_operands(self):
        self.operands = self.inputs = None

    def free(self):
        type(self).freed += 1


@pytest.fixture(scope="module")
def gpu():
    names = "COMPUTE_32F", "COMPUTE_64F", "COMPUTE_32F_FAST_TF32"
    library = SimpleNamespace(
        Matmul=Matmul,
        MatmulEpilog=SimpleNamespace(BIAS="BIAS", BGRADB="BGRADB"),
        MatmulComputeType=SimpleNamespace(**{name: name for name in names}),
    )
    root, version = ModuleType("nvmath"), SimpleNamespace(get_version=lambda: 120900)
    root.__spec__ = ModuleSpec("nvmath", None)
    stands = {
        "cupy": Imitation(), "cupyx": None, "nvmath": root,
        "nvmath.linalg.advanced": library, "nvmath.bindings.cublasLt": version,
    }  # fmt: skip
    before = {name: sys.modules.get(name) for name in stands}
    sys.modules.update(stands)
    backend = core.backend.register(CudaBackend())
    vars(backend)["cudnn"] = None
    yield backend
    core.backend.unregister(backend)
    for name, module in before.items():
        if module is None:
            del sys.modules[name]
        else:
            sys.modules[name] = module


@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    n=st.integers(1, 5),
    k=st.integers(1, 5),
    m=st.integers(1, 5),
    dtype=st.sampled_from(["f2", "f4", "f8"]),
    turned=st.booleans(),
    frozen=st.sampled_from([None, 0, 1, 2]),
)
def test_a_bias_is_added_and_summed_along_with_the_products(gpu, n, k, m, dtype, turned, frozen):
    random = np.random.default_rng(0)
    arrays = [random.uniform(-1, 1, s).astype(dtype) for s in ((n, k), (m, k), (m,))]

    def computed(backend):
        there = [backend.asarray(a) for a in arrays]
        if turned:
            there[1] = backend.xp.ascontiguousarray(there[1].T).T
        inputs = [core.Variable(a, requires_grad=i != frozen) for i, a in enumerate(there)]
        y = F.linear(*inputs)
        F.sum(y * y).backward()
        grads = [v.grad for v in inputs if v.requires_grad]
        assert backend is host() or all([a.flags.c_contiguous for a in (y.array, *grads)])
        return [core.backend.to_host(a) for a in (y.array, *grads)]

    before = Matmul.launched
    found = computed(gpu)
    assert Matmul.launched - before == (2 if frozen in (None, 0) else 1)
    for one, other in zip(found, computed(host()), strict=True):
        assert one.dtype == other.dtype
        rtol = {"f2": 1e-2, "f4": 1e-5, "f8": 1e-12}[dtype]
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)


def test_each_layout_is_planned_once_and_some_are_kept(gpu, monkeypatch):
    monkeypatch.setattr(epilogues, "MOST", 2)
    monkeypatch.setattr(epilogues, "begin", lambda array: 256)
    monkeypatch.setattr(gpu.epilogues, "_threads", threading.local())
    made, freed = Matmul.made, Matmul.freed
    W, b = gpu.asarray(np.ones((3, 4), "f")), gpu.asarray(np.ones(3, "f"))
    for n in (1, 2, 1, 7, 1, 2):
        F.linear(gpu.asarray(np.ones((n, 4), "f")), W, b)
    assert (Matmul.made - made, Matmul.freed - freed) == (4, 2)


def test_plans_rely_on_no_more_than_where_their_first_arrays_began(gpu):
    """Rows of a batch may begin anywhere; a plan for whole lines of memory must not read them."""
    room = gpu.asarray(np.zeros(200, "f"))
    first = -room.data.ptr % 256 // 4
    W, b = gpu.asarray(np.ones((3, 5), "f")), gpu.asarray(np.arange(4, dtype="f"))[1:]
    for place in (first, first + 1, first + 4, first):
        x = room[place : place + 10].reshape(2, 5)
        x[...] = np.arange(10, dtype="f").reshape(2, 5)
        y = F.linear(x, W, b)
        assert core.backend.to_host(y).tolist() == [[11, 12, 13], [36, 37, 38]]


@pytest.mark.parametrize("without", ["BIAS", "BGRADB"])
def test_what_cublaslt_has_no_plan_for_is_computed_without_it(gpu, monkeypatch, without):
    monkeypatch.setattr(epilogues, "begin", lambda array: 256)
    monkeypatch.setattr(Matmul, "without", [without])
    gpu.epilogues._threads = threading.local()
    x, W, b = [np.arange(n, dtype="f") for n in (28, 21, 3)]
    inputs = [core.Variable(gpu.asarray(a)) for a in (x.reshape(4, 7), W.reshape(3, 7), b)]
    made, freed = Matmul.made, Matmul.freed
    for _ in range(2):  # the second time it is not asked
        y = F.linear(*inputs)
        F.sum(y).backward()
    assert (Matmul.made - made, Matmul.freed - freed) == (2, 1)
    np.testing.assert_array_equal(y.array, x.reshape(4, 7) @ W.reshape(3, 7).T + b)
    assert core.backend.to_host(inputs[2].grad).tolist() == [8, 8, 8]
    told = gpu.state()[f"cuBLASLt declined {without} of float32"]
    assert told == "no suitable algorithm"


def test_how_exact_products_are_follows_the_setting(gpu):
    x, W, b = [gpu.asarray(np.ones(s, "f")) for s in ((6, 4), (3, 4), (3,))]
    F.linear(x, W, b)
    assert Matmul.sums == "COMPUTE_32F"
    with core.using_config("tf32", True):
        F.linear(x, W, b)
    assert Matmul.sums == "COMPUTE_32F_FAST_TF32"


def test_what_is_missing_names_the_extra(gpu, monkeypatch):
    assert gpu.state()["nvmath-python"] == "used"
    monkeypatch.setattr(epilogues, "find_spec", lambda name: None)
    assert "plugrad[nvmath]" in epilogues.missing()

    def broken(name):
        raise RuntimeError("Failed to dlopen libcublasLt\nand more")

    monkeypatch.setattr(epilogues, "find_spec", lambda name: object())
    monkeypatch.setattr(epilogues, "import_module", broken)
    assert "cannot be loaded (Failed to dlopen libcublasLt)" in epilogues.missing()
    monkeypatch.setitem(vars(gpu), "epilogues", None)
    before = Matmul.launched
    F.linear(gpu.asarray(np.ones((2, 4))), gpu.asarray(np.ones((3, 4))), gpu.asarray(np.ones(3)))
    assert Matmul.launched == before

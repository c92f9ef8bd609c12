"""What is asked of NVIDIA's packages, held against the packages themselves, without a GPU."""

import inspect
import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from cudnn_graphs import DRIVER, FLOATS, SHARED, graphs
from hypothesis import given
from hypothesis import strategies as st

from backends.cuda_backend.cudnn import convolution
from backends.cuda_backend.cudnn.layout import packed
from backends.cuda_backend.cudnn.plans import _DTYPES, drawn, unwanted
from core import using_config
from core.arrays.windows import Geometry

ROOT = Path(__file__).resolve().parents[2]
_NVIDIA = import_module("nvidia") if find_spec("nvidia") else None
LIBRARIES = any(
    [list(Path(p).glob("cudnn/lib/libcudnn.so*")) for p in getattr(_NVIDIA, "__path__", [])]
)

pytestmark = pytest.mark.cupy
frontend = pytest.mark.skipif(find_spec("cudnn") is None, reason="cuDNN's frontend is not there")
nvmath = pytest.mark.skipif(find_spec("nvmath") is None, reason="nvmath-python is not there")


@frontend
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_frontend_makes_each_graph(dtype):
    cudnn, made = import_module("cudnn"), 0
    for name, asked in graphs(dtype):
        graph = drawn(cudnn, *asked)
        (node,) = graph.inspect()["nodes"]
        assert node["type"].lower().startswith(name.split(",")[0].split("_")[0][:4])
        _, inputs, outputs, *_ = asked
        uids = {tensor.get_uid(): tensor for tensor in graph.tensors.values()}
        for uid, layout in enumerate((*inputs, *outputs), 1):
            assert uids[uid].get_dim() == list(layout.shape)
            assert uids[uid].get_stride() == list(layout.strides)
            assert uids[uid].get_data_type() == getattr(cudnn.data_type, _DTYPES[layout.dtype])
        made += 1
    assert made >= 12


@frontend
@given(
    sizes=st.lists(st.tuples(*[st.integers(1, n) for n in (9, 3, 3)]), min_size=2, max_size=3),
    pad=st.integers(0, 2),
    dilate=st.integers(1, 2),
    cover_all=st.booleans(),
)
def test_the_frontend_finds_as_many_windows_as_we_do(sizes, pad, dilate, cover_all):
    cudnn = import_module("cudnn")
    size, ksize, stride = zip(*sizes, strict=True)
    size = [n + dilate * (k - 1) for n, k in zip(size, ksize, strict=True)]
    geometry = Geometry(size, ksize, stride, pad, dilate, cover_all)
    before, after = zip(*geometry.widths(), strict=True)
    single = cudnn.data_type.FLOAT
    graph = cudnn.pygraph(io_data_type=single, compute_data_type=single)
    tensors = []
    for uid, shape in enumerate(((2, 4, *size), (6, 2, *ksize)), 1):
        laid = packed(shape, "float32")
        tensors.append(graph.tensor(laid.shape, laid.strides, single, name=f"{uid}", uid=uid))
    windows = before, after, geometry.stride, geometry.dilate
    (y,) = convolution.conv_fprop(graph, tensors, *windows)
    assert tuple(y.get_dim()) == (2, 6, *geometry.out)


@frontend
def test_what_is_named_of_the_frontend_is_there():
    cudnn = import_module("cudnn")
    for name in ("A", "FALLBACK"):
        assert hasattr(cudnn.heur_mode, name)
    for name in ("create_handle", "set_stream", "backend_version", "backend_version_string"):
        assert callable(getattr(cudnn, name))
    inspect.signature(cudnn.set_stream).bind(handle=None, stream=0)
    for method, args in {
        "execute": ({}, 0),
        "create_execution_plans": ([],),
        "deselect_numeric_notes": ([],),
        "get_workspace_size": (),
        **dict.fromkeys(("validate", "build_operation_graph", "check_support", "build_plans"), ()),
    }.items():
        named = {"handle": None} if method == "execute" else {}
        inspect.signature(getattr(cudnn.pygraph, method)).bind(None, *args, **named)
    assert issubclass(cudnn.cudnnGraphNotSupportedError, Exception)
    with using_config("cudnn_deterministic", True):
        assert all([hasattr(cudnn.numerical_note, name) for name in unwanted("float32")])


@frontend
@pytest.mark.skipif(not LIBRARIES, reason="cuDNN's libraries (700 MB) are not there")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("capability", SHARED)
def test_cudnn_plans_each_graph_for_a_gpu_that_is_described(capability, dtype, tmp_path):
    """Up to, and without, its launch; what has no plan is said, and expected to have none."""
    (tmp_path / "driver.c").write_text(DRIVER)
    library = tmp_path / "libcuda.so.1"
    command = ["gcc", "-w", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library]
    subprocess.run([*command, tmp_path / "driver.c"], check=True)
    known = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    known["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    program = [sys.executable, ROOT / "tests/cudnn_graphs.py", str(capability), dtype]
    done = subprocess.run(program, env=known, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(found) == len(list(graphs(dtype)))
    without = {name: said for name, plan, said in found if plan is None}
    expected = {name for name, *_ in found if declined(name, capability, dtype)}
    assert without.keys() == expected, without


def declined(name, capability, dtype):
    """Whether cuDNN 9.28 has no plan: kernels that it knows for later capabilities alone."""
    if dtype == "bfloat16" and capability < 800:
        return True
    return capability < 800 and name.startswith(("batchnorm", "sdpa"))


@nvmath
def test_what_is_called_of_nvmath_takes_what_it_is_given():
    library = import_module("nvmath.linalg.advanced")
    inspect.signature(library.Matmul).bind(1, 2, options={}, stream=0)
    for method, names in {
        "plan": ("epilog", "epilog_inputs", "stream"),
        "reset_operands_unchecked": ("a", "b", "epilog_inputs", "stream"),
        "execute": ("stream", "release_workspace"),
        "release_operands": (),
        "free": (),
    }.items():
        inspect.signature(getattr(library.Matmul, method)).bind(None, **dict.fromkeys(names))
    for name in ("COMPUTE_32F", "COMPUTE_32F_FAST_TF32", "COMPUTE_64F"):
        sums = getattr(library.MatmulComputeType, name)
        assert library.MatmulOptions(compute_type=sums).compute_type == sums
    assert {"BIAS", "BGRADB"} <= {epilogue.name for epilogue in library.MatmulEpilog}
    assert callable(import_module("nvmath.bindings.cublasLt").get_version)

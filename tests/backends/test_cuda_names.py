"""`core.cuda` has the names of chainer.cuda 3, and what needs a GPU says so where there is none."""

import ast
import copy
import inspect
from pathlib import Path

import numpy as np
import pytest

import core
from backends.cuda_backend import presence
from core import cuda
from core.errors import BackendUnavailable

FUNCTIONS = """
    check_cuda_available()
    clear_memo()
    copy(array, out=None, out_device=None, stream=None)
    elementwise(in_params, out_params, operation, name, **kwargs)
    get_array_module(*args)
    get_device(*args)
    get_device_from_array(*arrays)
    get_device_from_id(device_id)
    get_max_workspace_size()
    memoize(for_each_device=False)
    reduce(in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name, **kwargs)
    set_max_workspace_size(size)
    to_cpu(array, stream=None)
    to_gpu(array, device=None, stream=None)
    should_use_cudnn(level, lowest_version=0)
    fuse(*args, **kwargs)
    should_use_cudnn_tensor_core(dtype)
    raw(code, name, *args, **kwargs)
    use_device(*args)
"""
"""The functions of 3.0.0; from `should_use_cudnn` on those of 3.2, 4 and 5, and one of 1."""

VALUES = "available cudnn_enabled memory_pool pinned_memory_pool ndarray cupy Device Event Stream"
DUMMY = "__enter__ __eq__ __exit__ __int__ __ne__ synchronize use id"
GONE = "cudnn libcudnn"
"""What CuPy has no more: its own bindings of cuDNN."""

ABSENT = presence.missing()
no_gpu = pytest.mark.skipif(ABSENT is None, reason="CUDA can be used here")

X = np.ones(2, "f")
KERNEL = ("T x", "T y", "y = x", "same")
REDUCTION = ("T x", "T y", "x", "a + b", "y = a", "0", "total")

WITHOUT = {
    "clear_memo": ((), None),
    "get_array_module": ((X,), np),
    "get_device": ((X,), cuda.DummyDevice),
    "get_device_from_array": ((X,), cuda.DummyDevice),
    "get_device_from_id": ((-1,), cuda.DummyDevice),
    "to_cpu": ((X,), X),
    "use_device": ((X,), cuda.DummyDevice),
    "should_use_cudnn": ((">=auto",), False),
    "should_use_cudnn_tensor_core": (("float16",), False),
    "fuse": ((len,), len),
    "get_max_workspace_size": ((), cuda.get_max_workspace_size()),
    "set_max_workspace_size": ((cuda.get_max_workspace_size(),), None),
}
"""What has something to give without a GPU: arguments and the result."""

NEEDING = {
    "check_cuda_available": ((),),
    "copy": ((X,), (X, X), (X, None, 0)),
    "elementwise": (KERNEL,),
    "get_device": ((0,), (None, 1)),
    "get_device_from_id": ((0,), (1,)),
    "reduce": (REDUCTION,),
    "to_gpu": ((X,), (X, 0), ([X, None],), (X, None, object())),
    "use_device": ((0,),),
    "raw": (('extern "C" __global__ void f() {}', "f"),),
}
"""What needs one, called with these arguments."""


def declared():
    """Name -> its parameters, each with its kind and default."""
    for line in FUNCTIONS.strip().splitlines():
        name, _, rest = line.strip().partition("(")
        function = eval(f"lambda {rest.removesuffix(')')}: None")
        yield name, parameters(function)


def parameters(function):
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in found]


@pytest.mark.parametrize(("name", "expected"), list(declared()))
def test_functions_have_the_signatures_of_the_reference_and_say_what_they_do(name, expected):
    function = getattr(cuda, name)
    assert parameters(function) == expected
    assert len(inspect.getdoc(function).split()) > 4
    assert name in dir(cuda)


def test_all_functions_are_tried():
    assert {name for name, _ in declared()} == {*WITHOUT, *NEEDING, "memoize"}


def test_values_are_there_by_name():
    """Each is answered for by the module's `__getattr__`, which is read for it."""
    tree = ast.parse(inspect.getsource(inspect.getmodule(cuda.to_gpu)))
    (getter,) = [n for n in tree.body if getattr(n, "name", "") == "__getattr__"]
    answered = {n.value for n in ast.walk(getter) if isinstance(n, ast.Constant)}
    assert {*VALUES.split()} <= answered


def test_the_dummy_device_has_its_members():
    for name in DUMMY.split():
        assert hasattr(cuda.DummyDevice, name)
    assert isinstance(cuda.DummyDevice, cuda.DummyDeviceType)
    assert cuda.DummyDeviceType() == cuda.DummyDevice != 0
    assert int(cuda.DummyDevice) == cuda.DummyDevice.id == -1
    with cuda.DummyDevice as entered:
        entered.use()
        entered.synchronize()


@pytest.mark.parametrize("name", GONE.split())
def test_what_cupy_has_no_more_says_what_to_ask_instead(name):
    with pytest.raises(AttributeError, match=r"Ask core.cuda.should_use_cudnn\('>=auto'\)"):
        getattr(cuda, name)
    assert not hasattr(cuda, name)


@no_gpu
@pytest.mark.parametrize("name", WITHOUT)
def test_what_needs_no_gpu_serves_without(name):
    arguments, expected = WITHOUT[name]
    found = getattr(cuda, name)(*arguments)
    assert found is expected or found == expected


def refused(ask):
    with pytest.raises(BackendUnavailable) as caught:
        ask()
    said = str(caught.value)
    assert ABSENT in said and "install" in said and "numpy" in said


@no_gpu
@pytest.mark.parametrize("name", NEEDING)
def test_what_needs_a_gpu_names_the_cure(name):
    for arguments in NEEDING[name]:
        refused(lambda arguments=arguments: getattr(cuda, name)(*arguments))


@no_gpu
def test_values_of_a_gpu_name_the_cure():
    assert not cuda.available and not cuda.cudnn_enabled
    assert not isinstance(X, cuda.ndarray)
    for name in {*VALUES.split()} - {"available", "cudnn_enabled", "ndarray", "cupy"}:
        refused(lambda name=name: getattr(cuda, name))
    refused(lambda: cuda.cupy.zeros)


@no_gpu
def test_programs_import_cupy_and_compare_with_it_without_one():
    from core.backends.cuda import cupy

    assert cuda.get_array_module(X) is not cupy is cuda.cupy
    assert copy.copy(cupy) is not None


@no_gpu
def test_the_page_on_gpus_shows_what_is_said_without_cupy(monkeypatch):
    monkeypatch.setattr(presence, "find_spec", lambda name: None)
    with pytest.raises(BackendUnavailable) as caught:
        core.use("cuda")
    said = str(caught.value).partition(" Available")[0]
    page = (Path(__file__).parents[2] / "docs/gpus.md").read_text()
    assert f"{BackendUnavailable.__module__}.BackendUnavailable: {said}" in " ".join(page.split())

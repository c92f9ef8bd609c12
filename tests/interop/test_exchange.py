"""The doors that need no library, and the one that most libraries ask at."""

import inspect

import numpy as np
import pytest

import core
from core import Variable
from core.ops.namespace import namespace_of
from core.testing.gradient_check import check_backward, check_double_backward


def test_array_api_compat():
    compat = pytest.importorskip(
        "array_api_compat", reason="array-api-compat is missing: pip install 'plugrad[interop]'"
    )
    x = Variable(np.ones((2, 3)))
    assert compat.is_array_api_obj(x)
    assert compat.array_namespace(x, x) is namespace_of(x.backend)
    assert compat.device(x) == x.device and compat.to_device(x, x.device) is x
    assert compat.size(x) == 6
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(x, np.ones(1))


def test_array_api_extra():
    """Functions made of the standard's are differentiable, too."""
    xpx = pytest.importorskip(
        "array_api_extra", reason="array-api-extra is missing: pip install 'plugrad[interop]'"
    )
    x = np.random.default_rng(0).normal(size=(3, 4))
    g, seed = np.ones((3, 3)) + np.eye(3), x + 1
    check_backward(xpx.cov, (x,), g, rtol=1e-4, atol=1e-5)
    check_double_backward(lambda x: xpx.cov(x) ** 2, (x,), g, (seed,), rtol=1e-3, atol=1e-3)
    g = np.ones((3, 4))
    check_backward(lambda x: xpx.at(x)[1:, 0].multiply(3.0, copy=True) ** 2, (x,), g, atol=1e-4)
    check_backward(lambda x: xpx.sinc(x), (x,), g, rtol=1e-4, atol=1e-5)
    labels = Variable(np.array([2, 0]), requires_grad=False)
    assert xpx.one_hot(labels, 3).array.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert xpx.isclose(Variable(x), Variable(x + 1e-12)).array.all()
    assert xpx.nunique(labels).array == 2


def test_dlpack_shares_memory_both_ways():
    array = np.arange(3.0)
    x = Variable(array, requires_grad=False)
    assert np.shares_memory(np.from_dlpack(x), array)
    assert x.__dlpack_device__() == array.__dlpack_device__()
    xp = x.__array_namespace__()
    assert np.shares_memory(xp.from_dlpack(array).array, array)
    assert not np.shares_memory(xp.from_dlpack(array, copy=True).array, array)


@pytest.mark.parametrize("index", [np.s_[::-1], np.s_[:, ::-1], np.s_[::-1, ::2], np.s_[:0:-1]])
def test_dlpack_copies_what_lies_backwards(index):
    torch = pytest.importorskip("torch")
    x = Variable(np.arange(6.0).reshape(2, 3), requires_grad=False)[index]
    assert x.array.strides != x.array.copy().strides
    assert torch.from_dlpack(x).tolist() == torch.asarray(x).tolist() == x.array.tolist()
    assert np.shares_memory(np.from_dlpack(x, copy=False), x.array)


@pytest.mark.parametrize("make", [lambda a: Variable(a, requires_grad=False), core.Parameter])
def test_dlpack_takes_the_standards_arguments(make):
    array = np.arange(3.0)
    x = make(array)
    with core.no_backprop_mode():
        cpu = x.__dlpack_device__()
        asked = {"stream": None, "max_version": (1, 0), "dl_device": cpu, "copy": False}
        assert type(x.__dlpack__(**asked)).__name__ == "PyCapsule"
        assert np.shares_memory(np.from_dlpack(x, device="cpu", copy=False), x.array)
        assert not np.shares_memory(np.from_dlpack(x, copy=True), x.array)
        with pytest.raises(TypeError):
            x.__dlpack__(None, (1, 0))
        with pytest.raises(TypeError):
            x.__dlpack__(version=(1, 0))
    parameters = inspect.signature(Variable.__dlpack__).parameters.values()
    assert {p.name for p in parameters if p.kind is p.KEYWORD_ONLY} == set(asked)


def test_dlpack_of_what_has_no_array():
    for method in ("__dlpack__", "__dlpack_device__"):
        with pytest.raises(core.errors.UnknownName, match=f"{method}.*no array yet"):
            getattr(core.Parameter(), method)()
    with pytest.raises(core.errors.UnknownName, match="__array__.*no array yet"):
        np.asarray(core.Parameter())


def test_torch_shares_memory():
    torch = pytest.importorskip("torch", reason="PyTorch is missing")
    array = np.arange(3.0)
    for x in (Variable(array, requires_grad=False), core.Parameter(array)):
        with core.no_backprop_mode():
            tensor = torch.from_dlpack(x)
        tensor[0] += 1
        assert tensor.tolist() == x.array.tolist()
    y = x.__array_namespace__().from_dlpack(tensor)
    assert y.array.tolist() == tensor.tolist()


def test_what_wants_a_gradient_is_not_exported():
    x = Variable(np.arange(3.0))
    for lose in (np.from_dlpack, np.asarray):
        with pytest.raises((TypeError, BufferError), match="needs a gradient"):
            lose(x)
    with core.no_backprop_mode():
        assert np.from_dlpack(x).tolist() == [0, 1, 2]


def test_python_numbers_of_variables():
    x = Variable(np.array(3), requires_grad=False)
    assert [10, 11, 12, 13][x] == 13 and complex(x) == 3 and float(x) == 3.0
    for other in (np.array(3.0), np.array([3])):
        with pytest.raises(TypeError, match="can be an index"):
            range(Variable(other).__index__())

"""check_backend passes on the backends there are, and finds what is wrong with a broken one."""

from pathlib import Path

import numpy as np
import pytest
from strict_backend import StrictBackend
from unchanging import UnchangingBackend

from core.arrays import backend
from core.arrays.array_backend import Backend
from core.testing import backends, check_backend, demands


@pytest.mark.parametrize("name", ["numpy", "strict"])
def test_the_backends_keep_their_contract(name):
    check_backend(name)


@pytest.fixture
def unchanging():
    found = backend.register(UnchangingBackend())
    yield found
    backend.unregister(found)


def test_arrays_need_not_be_mutable(unchanging):
    check_backend(unchanging)


def test_what_never_changes_is_not_shared_with_the_host(unchanging, monkeypatch):
    def shared(self, array):
        array.base.flags.writeable = True
        return array.base

    monkeypatch.setattr(UnchangingBackend, "to_host", shared)
    with pytest.raises(AssertionError, match="to_host gives a copy"):
        check_backend(unchanging)


class _Broken(StrictBackend):
    name = "broken"


def _shared_with_the_host(self, obj, dtype=None, device=None):
    if isinstance(obj, np.ndarray) and dtype is None:
        return self.xp.asarray(obj, copy=False)
    return StrictBackend.asarray(self, obj, dtype, device)


def _without_high_bits(self, obj, dtype=None, device=None):
    if isinstance(obj, (int, list)) and dtype == "uint8":
        obj = np.array(obj).astype("uint8")
    return StrictBackend.asarray(self, obj, dtype, device)


def _scatter_without_repeats(self, a, index, values):
    a[...] = self.xp.asarray(np.asarray(a._array))
    host = np.array(a._array)
    host[np.asarray(getattr(index, "_array", index))] += values._array
    a[...] = self.asarray(host)
    return a


def _only_to_be_read(self, array):
    host = np.array(array._array)
    host.flags.writeable = False
    return host


@pytest.mark.parametrize(
    ("method", "fault", "message"),
    [
        ("copy", lambda self, a: a, "copy shares no memory"),
        ("dtype_name", lambda self, dtype: "float", "stays|dtype= takes a name|dtype_name"),
        ("kind", lambda self, dtype: "f", "kind of int32 is 'i', not 'f'"),
        ("add_in_place", lambda self, a, b: a + b, "add_in_place of shape"),
        ("memory", lambda self, array: id(array), "memory is that of the whole"),
        ("put", lambda self, a, index, value: self.copy(a), "put of shape"),
        ("owns", lambda self, array: True, "owns is False of a view"),
        ("scatter_add", _scatter_without_repeats, "scatter_add at"),
        ("writable", lambda self, array: True, "writable is False of what shows one element"),
        ("writable", lambda self, array: False, "writable is True of other arrays"),
        ("outside", lambda self, numbers, size: False, "outside of"),
        ("asarray", _shared_with_the_host, "asarray gives a copy of a host array"),
        ("asarray", _without_high_bits, "asarray refuses 300 for uint8"),
        ("to_host", _only_to_be_read, "to_host gives what can be written to"),
        ("unavailable", classmethod(lambda cls: "no such thing"), "no such thing"),
    ],
)
def test_a_broken_backend_is_found_out(monkeypatch, method, fault, message):
    broken = _Broken()
    backend.register(broken)
    monkeypatch.setattr(_Broken, method, fault, raising=False)
    try:
        # The strict backend has the same type of arrays: make the broken one theirs for a moment.
        monkeypatch.setitem(backend.BACKENDS, broken.array_type, broken)
        with pytest.raises(AssertionError, match=message) as caught:
            check_backend(broken)
    finally:
        backend.unregister(broken)
    assert "of 12, of backend 'broken'; " in caught.value.__notes__[-1]


def test_rates_that_are_whole_numbers_are_asked_for(monkeypatch):
    draws = type(backend.get("numpy").random)
    drawn = draws.bernoulli

    def bernoulli(self, p, *args, **kwargs):
        assert isinstance(p, float), "a floating dtype is wanted"
        return drawn(self, p, *args, **kwargs)

    monkeypatch.setattr(draws, "bernoulli", bernoulli)
    with pytest.raises(AssertionError, match="a floating dtype is wanted") as caught:
        check_backend("numpy")
    assert "random numbers" in caught.value.__notes__[-1]


def test_draws_that_no_state_brings_back_are_found(monkeypatch):
    own = np.random.default_rng()

    def uniform(self, shape, dtype="float32", low=0.0, high=1.0, *, device=None):
        return own.uniform(low, high, shape).astype(dtype)

    monkeypatch.setattr(type(backend.get("numpy").random), "uniform", uniform)
    with pytest.raises(AssertionError, match="the same numbers, of uniform"):
        check_backend("numpy")


def test_the_page_tells_what_is_asked_for():
    page = (Path(__file__).parents[2] / "docs" / "backends.md").read_text(encoding="utf-8")
    told = "\n".join([f"{number}. {text}" for number, text in enumerate(demands(), 1)])
    assert told in page and not any([text.endswith(": ") for text in demands()])


def test_attributes_that_arrays_lack_are_told(unchanging, monkeypatch):
    monkeypatch.setattr(backends, "ATTRIBUTES", "dtype place shape")
    with pytest.raises(AssertionError, match="the standard's attributes place\n"):
        check_backend(unchanging)


def test_a_dtype_may_be_a_class(unchanging):
    """As those in the namespaces of libraries that take NumPy's."""
    assert Backend.dtype_name(unchanging, np.float32) == "float32"

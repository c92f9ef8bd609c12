"""check_backend: what every op relies on, asked of an array backend."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from core.arrays import random_streams
from core.arrays.array_backend import Backend
from core.arrays.backend import get as get_backend
from core.arrays.backend import of as backend_of
from core.arrays.backend import random_state, set_random_state
from core.registry.configuration import using_config
from core.testing.tolerances import assert_near, tolerance

FLOATS = ("float16", "float32", "float64")

NEEDED = """
abs add all any arange argmax argmin argsort asarray astype bool broadcast_to ceil clip concat cos
cosh divide empty equal exp expand_dims expm1 eye flip float32 float64 floor full full_like greater
int32 int64 isfinite isnan less linspace log log1p logical_and logical_not logical_or logical_xor
matmul matrix_transpose max maximum mean min minimum multiply negative nonzero ones ones_like
permute_dims pow prod reshape roll round sign sin sinh sort sqrt square squeeze stack subtract sum
take tan tanh tensordot tril triu where zeros zeros_like
"""
"""Names of the array API standard that ops are written with."""


def check_backend(backend: Backend | str) -> None:
    """Prove that a backend keeps its contract; AssertionError, naming the part, where not.

    Values go to the host and back unchanged; dtypes keep their names and are never widened; arrays
    change in place and are copied apart; devices do not mix; random numbers have their shapes,
    ranges and state; each method that the standard lacks equals its definition.

    Args:
        backend: A backend or its name; it has to be available.

    >>> check_backend('numpy')
    """
    b = get_backend(backend) if isinstance(backend, str) else backend
    for check in _CHECKS:
        try:
            check(b)
        except Exception as error:
            error.add_note(f"{check.__name__.strip('_').replace('_', ' ')}, of backend {b.name!r}")
            raise


def _demand(condition: object, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def _floats(b: Backend) -> list[str]:
    return [name for name in FLOATS if name in b.dtypes()]


def _values(*shape: int) -> Any:
    """Repeatable numbers between -2 and 2 that every dtype holds."""
    count = math.prod(shape)
    return ((np.arange(count) * 7919 % 33 - 16) / 8).reshape(shape)


def _near(b: Backend, actual: Any, expected: Any, dtype: str, what: str) -> None:
    _demand(isinstance(actual, b.array_type), f"{what}: got {type(actual).__name__}")
    assert_near(b.to_host(actual), expected, tolerance("reduction", dtype), what)


def _names_and_types(b: Backend) -> None:
    _demand(isinstance(b.name, str) and b.name, "name is a string")
    _demand(isinstance(b.library, str) and b.library, "library is a string")
    _demand(b.unavailable() is None, f"it is available: {b.unavailable()}")
    missing = [name for name in NEEDED.split() if not hasattr(b.xp, name)]
    _demand(not missing, f"the namespace has the standard's {', '.join(missing)}")
    array = b.asarray([1.0])
    _demand(isinstance(array, b.array_type), "asarray gives arrays of array_type")
    _demand(backend_of(array) is b, "the backend is found by the type of its arrays")


def _values_there_and_back(b: Backend) -> None:
    for name in (*_floats(b), "int32", "int64", "bool"):
        for shape in ((), (3,), (2, 0), (2, 3, 1)):
            host = _values(*shape).astype(name)
            array = b.asarray(host)
            back = b.to_host(array)
            _demand(isinstance(back, np.ndarray), f"to_host gives a numpy.ndarray for {name}")
            _demand(back.dtype == host.dtype, f"{name} stays {name} on the way")
            _demand(array.shape == shape, f"shape {shape} stays on the way")
            _demand(np.array_equal(back, host), f"{name} values stay on the way")
            _demand(b.asarray(array) is array, "asarray gives back an array that is as asked")
    _demand(b.to_host(b.asarray([[1, 2], [3, 4]])).tolist() == [[1, 2], [3, 4]], "lists are read")
    _demand(b.dtype_name(b.asarray([1.5], "float32").dtype) == "float32", "dtype= takes a name")


def _dtypes(b: Backend) -> None:
    kinds = {"f": _floats(b), "i": ["int32", "int64"], "b": ["bool"]}
    for kind, names in kinds.items():
        for name in names:
            dtype = b.asarray(np.zeros(1, name)).dtype
            _demand(b.kind(dtype) == kind, f"kind of {name} is {kind!r}, not {b.kind(dtype)!r}")
            _demand(b.dtype_name(dtype) == name, f"dtype_name of {name}: {b.dtype_name(dtype)}")
            _demand(b.dtype(name) == dtype, f"dtype({name!r}) is the dtype of its arrays")


def _nothing_is_widened(b: Backend) -> None:
    xp = b.xp
    for name in _floats(b):
        for shape in ((), (2, 3)):
            x = b.asarray(_values(*shape).astype(name))
            results = {
                "x * 2.0": x * 2.0,
                "x + 1": x + 1,
                "1 - x": 1 - x,
                "x ** 2": x**2,
                "-x": -x,
                "sum": xp.sum(x, dtype=x.dtype),
                "mean": xp.mean(x),
                "max": xp.max(x),
                "exp": xp.exp(x),
                "where": xp.where(x > 0, x, xp.zeros_like(x)),
            }
            for what, y in results.items():
                found = b.dtype_name(y.dtype)
                _demand(found == name, f"{what} of {name} with shape {shape} is {found}")


def _arrays_change_in_place(b: Backend) -> None:
    x = b.asarray(_values(2, 3), "float32")
    same = x
    x += x
    _demand(x is same, "+= keeps the array")
    x[0, :] = 5.0
    _demand(b.to_host(same)[0].tolist() == [5.0] * 3, "item assignment writes")
    for shape in ((), (2,)):
        a = b.asarray(np.ones(shape, "float32"))
        total = b.add_in_place(a, b.asarray(np.ones(shape, "float32")))
        _demand(total is a and b.to_host(a).sum() == 2 * math.prod(shape), "add_in_place adds")


def _copies_are_apart(b: Backend) -> None:
    for shape in ((), (2, 3)):
        a = b.asarray(_values(*shape), "float32")
        kept = b.to_host(a).copy()
        c = b.copy(a)
        a[...] = 9.0
        _demand(np.array_equal(b.to_host(c), kept), "copy shares no memory")
        b.copyto(a, c)
        _demand(np.array_equal(b.to_host(a), kept), "copyto copies an array")
        b.copyto(a, 3.0)
        _demand((b.to_host(a) == 3).all(), "copyto copies a number")
        b.copyto(a, np.asarray(kept))
        _demand(np.array_equal(b.to_host(a), kept), "copyto copies from the host")
    whole = b.asarray(_values(4), "float32")
    part = whole[1:]
    if b.owns(part):
        part += 1.0
        _demand(np.array_equal(b.to_host(whole), _values(4)), "owns is False of a view")


def _devices(b: Backend) -> None:
    devices = b.devices()
    _demand(devices, "there is a device")
    for device in devices:
        _demand(device.backend is b, f"{device} is of this backend")
        array = b.asarray(np.ones(2, "float32"), device=device)
        _demand(b.device_of(array) == device, f"asarray puts arrays on {device}")
        _demand(b.to_device(array, device) is array, "an array that is there stays itself")
        moved = b.to_device(array, devices[0])
        _demand(b.device_of(moved) == devices[0], f"to_device moves to {devices[0]}")
        _demand(b.to_host(moved).tolist() == [1.0, 1.0], "moving keeps the values")
    b.synchronize()


def _random_numbers(b: Backend) -> None:
    before = random_state()
    try:
        for seed in (None, 7):
            random_streams.seed(seed)
            _draws(b)
    finally:
        set_random_state(before)


def _draws(b: Backend) -> None:
    r = b.random
    shape = (40, 50)
    normal = b.to_host(r.normal(shape, "float32"))
    _demand(normal.shape == shape and normal.dtype == "float32", "normal has its shape and dtype")
    _demand(abs(normal.mean()) < 0.15 and abs(normal.std() - 1) < 0.15, "normal is standard")
    uniform = b.to_host(r.uniform(shape, "float64", 2.0, 3.0))
    _demand(((uniform >= 2) & (uniform < 3)).all(), "uniform lies in its range")
    _demand(abs(uniform.mean() - 2.5) < 0.05, "uniform is even")
    coins = b.to_host(r.bernoulli(0.3, shape))
    _demand(coins.dtype == bool and abs(coins.mean() - 0.3) < 0.06, "bernoulli has its rate")
    _demand(sorted(b.to_host(r.permutation(9)).tolist()) == list(range(9)), "permutation permutes")
    whole = b.to_host(r.integers(-2, 3, shape))
    _demand(set(whole.ravel().tolist()) == {-2, -1, 0, 1, 2}, "integers fill their range")
    state = random_state()
    one = b.to_host(r.normal((5,), "float32"))
    set_random_state(state)
    again = b.to_host(r.normal((5,), "float32"))
    _demand(np.array_equal(one, again), "a state put back gives the same numbers")


def _sums_into_places(b: Backend) -> None:
    for name in _floats(b):
        for index in ([0, 2, 2, 1, 2], slice(1, None), (slice(None), 1)):
            _one_sum_into_places(b, name, index)


def _one_sum_into_places(b: Backend, name: str, index: Any) -> None:
    expected = _values(3, 2).astype(name)
    a = b.asarray(expected.copy())
    listed = isinstance(index, list)
    host_index = np.array(index, "int32") if listed else index
    values = _values(*expected[host_index].shape).astype(name)
    np.add.at(expected, host_index, values)
    b.scatter_add(a, b.asarray(host_index) if listed else index, b.asarray(values))
    _near(b, a, expected, name, f"scatter_add at {index} in {name}")


def _windows_and_back(b: Backend) -> None:
    x = _values(2, 1, 5, 4).astype("float32")
    host = get_backend("numpy")
    for arguments in ((2, 1, 0, 1), (3, 2, 1, 1), (2, 1, 1, 2)):
        expected = Backend.windows(host, x, *arguments)
        seen = b.windows(b.asarray(x), *arguments)
        _near(b, seen, expected, "float32", f"windows{arguments}")
        folded = Backend.fold(host, np.array(expected), (5, 4), *arguments[1:])
        back = b.fold(b.asarray(np.array(expected)), (5, 4), *arguments[1:])
        _near(b, back, folded, "float32", f"fold{arguments}")


def _numbers_out_of_range(b: Backend) -> None:
    with using_config("debug", True):  # without, an asynchronous library need not look
        for name in ("int32", "int64", "uint8"):
            for numbers, expected in (([0, 2], False), ([0, 3], True), ([0, 200], True)):
                given = b.asarray(np.array([numbers], name))
                assert b.outside(given, 3) is expected, f"outside of {numbers} in {name}"
        assert b.outside(b.asarray(np.array([-1, 0])), 3) is True, "outside of negative numbers"
        assert b.outside(b.asarray(np.array([], "int32")), 3) is False, "outside of nothing"


_CHECKS: tuple[Callable[[Backend], None], ...] = (
    _names_and_types,
    _values_there_and_back,
    _dtypes,
    _nothing_is_widened,
    _arrays_change_in_place,
    _copies_are_apart,
    _devices,
    _random_numbers,
    _sums_into_places,
    _windows_and_back,
    _numbers_out_of_range,
)

"""check_backend: what every op relies on, asked of an array backend."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from core.arrays import random_streams
from core.arrays.array_backend import Backend
from core.arrays.backend import available as available_backends
from core.arrays.backend import get as get_backend
from core.arrays.backend import get_device, random_state, set_random_state, using
from core.arrays.backend import names as backend_names
from core.arrays.backend import of as backend_of
from core.link.parameter import Parameter
from core.optimizer import UpdateRule
from core.registry.configuration import using_config
from core.testing.demand import demand
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

ATTRIBUTES = "T device dtype ndim shape"
"""Attributes of arrays that ops ask for."""


def tried(names: Iterable[str] | None) -> list[str]:
    """The backends by these names, on which something is tried; all that are available for None."""
    if names is not None:
        return list(names)
    return [name for name, reason in available_backends().items() if reason is None]


def fresh(who: str, make: Any, kind: type) -> None:
    """Refuse what is of the kind already: each check makes another one."""
    if isinstance(make, kind):
        name = type(make).__name__
        raise TypeError(
            f"{who}: expected a function that makes one, as `lambda: {name}(...)`, got a {name}."
        )


def explained(check: Callable[[Any], None], trial: Any) -> None:
    """Make a check on the backend of a trial, in its dtype; errors say of what, and where."""
    try:
        with using_config("dtype", trial.dtype), using(trial.backend.name):
            check(trial)
    except Exception as error:
        error.add_note(f"check {check.__name__!r} of {trial}")
        raise


def check_backend(backend: Backend | str) -> None:
    """Prove that a backend keeps its contract; AssertionError, naming the part, where not.

    The parts come in the order in which a backend is best written; `demands()` tells what each of
    them asks for. The error says which part it is, and what that asks for.

    Args:
        backend: A backend or its name; it has to be available.

    >>> check_backend('numpy')
    """
    b = get_backend(backend) if isinstance(backend, str) else backend
    for number, check in enumerate(_CHECKS, 1):
        try:
            check(b)
        except Exception as error:
            which = f"part {number} of {len(_CHECKS)}, of backend {b.name!r}"
            error.add_note(f"{which}; {_told(check)}")
            raise


def demands() -> list[str]:
    """What `check_backend` asks of a backend, part by part, in the order in which to write it.

    >>> print(demands()[0][:15])
    names and types
    """
    return [_told(check) for check in _CHECKS]


def _told(check: Callable[[Backend], None]) -> str:
    name = check.__name__.strip("_").replace("_", " ")
    return f"{name}: {' '.join((check.__doc__ or '').split())}"


def _floats(b: Backend) -> list[str]:
    return [name for name in FLOATS if name in b.dtypes()]


def _values(*shape: int) -> Any:
    """Repeatable numbers between -2 and 2 that every dtype holds."""
    count = math.prod(shape)
    return ((np.arange(count) * 7919 % 33 - 16) / 8).reshape(shape)


def _near(b: Backend, actual: Any, expected: Any, dtype: str, what: str) -> None:
    demand(isinstance(actual, b.array_type), f"{what}: got {type(actual).__name__}")
    assert_near(b.to_host(actual), expected, tolerance("reduction", dtype), what)


def _names_and_types(b: Backend) -> None:
    """`name`, `library`, `array_type`, `unavailable()`; functions of `xp`, attributes of arrays."""
    demand(isinstance(b.name, str) and b.name, "name is a string")
    demand(isinstance(b.library, str) and b.library, "library is a string")
    demand(b.unavailable() is None, f"it is available: {b.unavailable()}")
    missing = [name for name in NEEDED.split() if not hasattr(b.xp, name)]
    demand(not missing, f"the namespace has the standard's {', '.join(missing)}")
    array = b.asarray([[1.0]])
    demand(isinstance(array, b.array_type), "asarray gives arrays of array_type")
    missing = [name for name in ATTRIBUTES.split() if not hasattr(array, name)]
    demand(not missing, f"arrays have the standard's attributes {', '.join(missing)}")
    demand(backend_of(array) is b, "the backend is found by the type of its arrays")


def _values_there_and_back(b: Backend) -> None:
    """`asarray`, `to_host` keep values, shapes, dtypes, of none too; what comes is apart."""
    for name in (*_floats(b), "int32", "int64", "bool"):
        for shape in ((), (3,), (2, 0), (2, 3, 1)):
            host = _values(*shape).astype(name)
            array = b.asarray(host)
            back = b.to_host(array)
            demand(isinstance(back, np.ndarray), f"to_host gives a numpy.ndarray for {name}")
            demand(back.dtype == host.dtype, f"{name} stays {name} on the way")
            demand(array.shape == shape, f"shape {shape} stays on the way")
            demand(np.array_equal(back, host), f"{name} values stay on the way")
            demand(back.flags.writeable, "to_host gives what can be written to: a copy if need be")
            if not b.mutable:
                back[...] = 1
                demand(np.array_equal(b.to_host(array), host), "to_host gives a copy")
            demand(b.asarray(array) is array, "asarray gives back an array that is as asked")
            if b is not get_backend("numpy"):
                expected = host.copy()
                host[...] = 1
                apart = np.array_equal(b.to_host(array), expected)
                demand(apart, "asarray gives a copy of a host array, which may change")
    demand(b.to_host(b.asarray([[1, 2], [3, 4]])).tolist() == [[1, 2], [3, 4]], "lists are read")
    demand(b.dtype_name(b.asarray([1.5], "float32").dtype) == "float32", "dtype= takes a name")
    for number in [300, [300]] if "uint8" in b.dtypes() else []:
        try:
            found = b.to_host(b.asarray(number, "uint8"))
        except Exception:
            continue
        raise AssertionError(f"asarray refuses {number} for uint8, of which it made {found}")


def _dtypes(b: Backend) -> None:
    """`dtypes`, `dtype`, `dtype_name` and `kind` agree with the dtypes of arrays."""
    kinds = {"f": _floats(b), "i": ["int32", "int64"], "b": ["bool"]}
    for kind, names in kinds.items():
        for name in names:
            dtype = b.asarray(np.zeros(1, name)).dtype
            demand(b.kind(dtype) == kind, f"kind of {name} is {kind!r}, not {b.kind(dtype)!r}")
            demand(b.dtype_name(dtype) == name, f"dtype_name of {name}: {b.dtype_name(dtype)}")
            demand(b.dtype(name) == dtype, f"dtype({name!r}) is the dtype of its arrays")


def _nothing_is_widened(b: Backend) -> None:
    """Operators and functions keep the dtype of an array, beside Python's numbers too."""
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
                demand(found == name, f"{what} of {name} with shape {shape} is {found}")


def _arrays_change(b: Backend) -> None:
    """`+=`, `put`, `put_sum`, `add_in_place`: in place if `mutable`; else all give new arrays."""
    for shape in ((), (2, 3)):
        for what, change in _CHANGES.items():
            x = b.asarray(_values(*shape), "float32")
            kept = b.to_host(x).copy()
            expected = kept.copy()
            found, expected = change(b, x, expected)
            what = f"{what} of shape {shape}"
            demand(np.array_equal(b.to_host(found), expected), f"{what} writes")
            demand((found is x) is b.mutable, f"{what} gives the array itself, if mutable")
            demand(b.mutable or np.array_equal(b.to_host(x), kept), f"{what} leaves x as it was")
    x = same = b.asarray(_values(2, 3), "float32")
    x += x
    demand((x is same) is b.mutable, "+= keeps the array, if mutable")


def _put(b: Backend, x: Any, expected: Any) -> tuple[Any, Any]:
    index = (0, slice(1, None)) if expected.ndim else ...
    expected[index] = 5.0
    return b.put(x, index, 5.0), expected


def _put_backwards(b: Backend, x: Any, expected: Any) -> tuple[Any, Any]:
    index = (slice(None), slice(None, None, -1)) if expected.ndim else ...
    more = _values(*expected.shape).astype("float32")
    expected[index] = more
    return b.put(x, index, b.asarray(more)), expected


def _put_sum(b: Backend, x: Any, expected: Any) -> tuple[Any, Any]:
    index = (slice(None), slice(None, None, 2)) if expected.ndim else ...
    more = _values(*expected[index].shape).astype("float32")
    expected[index] += more
    return b.put_sum(x, index, b.asarray(more)), expected


def _added(b: Backend, x: Any, expected: Any) -> tuple[Any, Any]:
    return b.add_in_place(x, b.copy(x)), expected + expected


_CHANGES = {
    "put": _put,
    "put backwards": _put_backwards,
    "put_sum": _put_sum,
    "add_in_place": _added,
}


def _copies_are_apart(b: Backend) -> None:
    """`copy`, `filled_like` are new memory; `copyto` takes all; `memory`, `writable` know views."""
    for shape in ((), (2, 3)):
        a = b.asarray(_values(*shape), "float32")
        kept = b.to_host(a).copy()
        c = b.copy(a)
        a = b.put(a, ..., 9.0)
        demand(np.array_equal(b.to_host(c), kept), "copy shares no memory")
        two = b.filled_like(a, 2.0)
        demand((b.to_host(a) == 9).all(), "filled_like shares no memory")
        alike = (two.shape, two.dtype) == (a.shape, a.dtype)
        demand(alike and (b.to_host(two) == 2).all(), "filled_like gives an array of a number")
        for source in (c, np.asarray(kept)):
            copied = b.copyto(a, source)
            demand((copied is a) is b.mutable, "copyto gives the array itself, if mutable")
            demand(np.array_equal(b.to_host(copied), kept), "copyto copies an array")
            a = b.copyto(copied, 3.0)
            demand((b.to_host(a) == 3).all(), "copyto copies a number")
    whole = b.asarray(_values(4), "float32")
    part = whole[1:]
    if b.owns(part):
        part += 1.0
        demand(np.array_equal(b.to_host(whole), _values(4)), "owns is False of a view")
    if b.mutable:
        part = b.put(whole[1:], ..., 7.0)
        seen = b.to_host(whole)[1] == 7
        demand(not seen or b.memory(part) == b.memory(whole), "memory is that of the whole")
        spread = b.xp.broadcast_to(whole[:1], (3,))
        alone = not b.writable(spread) or _changes_alone(b, spread)
        demand(alone, "writable is False of what shows one element several times")
        nothing, row = b.asarray(np.zeros((3, 0), "float32")), b.xp.expand_dims(whole, axis=0)
        others = all(map(b.writable, (whole, whole[1:], row, nothing)))
        demand(others, "writable is True of other arrays")
    demand(b.memory(b.copy(whole)) != b.memory(whole), "memory tells copies apart")


def _changes_alone(b: Backend, array: Any) -> bool:
    """Whether an element is written to, and the one beside it is not."""
    try:
        host = b.to_host(b.put(array, 0, 5.0))
    except Exception:
        return False
    return bool(host[0] == 5 and host[1] != 5)


def _devices(b: Backend) -> None:
    """`devices`, `device_of`, `as_device`, `to_device`; each has a name that `get_device` knows."""
    devices = b.devices()
    demand(devices, "there is a device")
    for device in devices:
        demand(device.backend is b, f"{device} is of this backend")
        array = b.asarray(np.ones(2, "float32"), device=device)
        demand(b.device_of(array) == device, f"asarray puts arrays on {device}")
        demand(b.to_device(array, device) is array, "an array that is there stays itself")
        moved = b.to_device(array, devices[0])
        demand(b.device_of(moved) == devices[0], f"to_device moves to {devices[0]}")
        demand(b.to_host(moved).tolist() == [1.0, 1.0], "moving keeps the values")
        if b.name in backend_names():
            demand(get_device(str(device)) == device, f"get_device knows {device}")
    b.synchronize()


def _random_numbers(b: Backend) -> None:
    """`random` draws in its range and shape, and `random_state` brings the numbers back."""
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
    demand(normal.shape == shape and normal.dtype == "float32", "normal has its shape and dtype")
    demand(abs(normal.mean()) < 0.15 and abs(normal.std() - 1) < 0.15, "normal is standard")
    uniform = b.to_host(r.uniform(shape, "float64", 2.0, 3.0))
    demand(((uniform >= 2) & (uniform < 3)).all(), "uniform lies in its range")
    demand(abs(uniform.mean() - 2.5) < 0.05, "uniform is even")
    coins = b.to_host(r.bernoulli(0.3, shape))
    demand(coins.dtype == bool and abs(coins.mean() - 0.3) < 0.06, "bernoulli has its rate")
    sure = [b.to_host(r.bernoulli(rate, (9,))).all() for rate in (1, 0)]
    demand(sure == [True, False], "bernoulli takes rates of 0 and 1, as whole numbers too")
    demand(sorted(b.to_host(r.permutation(9)).tolist()) == list(range(9)), "permutation permutes")
    whole = b.to_host(r.integers(-2, 3, shape))
    demand(set(whole.ravel().tolist()) == {-2, -1, 0, 1, 2}, "integers fill their range")
    state = random_state()
    one = _drawn(b)
    set_random_state(state)
    for (name, drawn), again in zip(one.items(), _drawn(b).values(), strict=True):
        demand(np.array_equal(drawn, again), f"a state put back gives the same numbers, of {name}")


def _drawn(b: Backend) -> dict[str, Any]:
    """Some numbers by each method."""
    r, shape = b.random, (40,)
    draws = {
        "normal": r.normal(shape, "float32"),
        "uniform": r.uniform(shape, "float32"),
        "bernoulli": r.bernoulli(0.5, shape),
        "permutation": r.permutation(40),
        "integers": r.integers(0, 1 << 20, shape),
    }
    return {name: b.to_host(array) for name, array in draws.items()}


def _sums_into_places(b: Backend) -> None:
    """`scatter_add` adds as often as an index names a place, and gives the array."""
    for name in _floats(b):
        indices: tuple[Any, ...] = [0, 2, 2, 1, 2], slice(1, None), (slice(None), 1)
        for index in indices:
            _one_sum_into_places(b, name, index, (3, 2))
        _one_sum_into_places(b, name, (..., None), ())
    for integer in ("uint8", "int8", "int64"):  # of few bits: places are counted in more
        named = np.array([9, 120, 9], integer)
        for index in (named, (named, named)):
            _one_sum_into_places(b, "float32", index, (130, 121))


def _one_sum_into_places(b: Backend, name: str, index: Any, shape: tuple[int, ...]) -> None:
    expected = _values(*shape).astype(name)
    a = b.asarray(expected.copy())
    index = np.array(index, "int32") if isinstance(index, list) else index
    parts = index if isinstance(index, tuple) else (index,)
    there = tuple([b.asarray(part) if isinstance(part, np.ndarray) else part for part in parts])
    values = _values(*expected[index].shape).astype(name)
    np.add.at(expected, index, values)
    found = b.scatter_add(a, there if len(there) > 1 else there[0], b.asarray(values))
    demand((found is a) is b.mutable, "scatter_add gives the array itself, if mutable")
    _near(b, found, expected, name, f"scatter_add at {index} in {name}")


def _windows_and_back(b: Backend) -> None:
    """`windows` and `fold` are what the host's are."""
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
    """`outside` finds numbers out of range, in debug mode at least."""
    with using_config("debug", True):  # without, an asynchronous library need not look
        for name in ("int32", "int64", "uint8"):
            for numbers, expected in (([0, 2], False), ([0, 3], True), ([0, 200], True)):
                given = b.asarray(np.array([numbers], name))
                demand(b.outside(given, 3) is expected, f"outside of {numbers} in {name}")
        demand(b.outside(b.asarray(np.array([-1, 0])), 3) is True, "outside of negative numbers")
        demand(b.outside(b.asarray(np.array([], "int32")), 3) is False, "outside of nothing")


def _a_step_of_training(b: Backend) -> None:
    """Gradients that meet, and a step of an optimizer with a state, are what NumPy's are."""
    found = [_trained(each) for each in (b, get_backend("numpy"))]
    for part, (actual, expected) in enumerate(zip(*found, strict=True)):
        assert_near(actual, expected, tolerance("reduction", "float32"), f"array {part}")


def _trained(b: Backend) -> list[Any]:
    x = Parameter(b.asarray(_values(2, 3), "float32"))
    rule = _Momentum()
    rule.enabled = True
    x.update_rule = rule
    grads = []
    for _ in range(2):
        x.cleargrad()
        for _ in range(2):  # the second adds to the first
            y = x * x + x * b.asarray(_values(3), "float32") + x + x
            y.grad = b.asarray(_values(2, 3), "float32")
            y.backward()
        grads.append(b.to_host(x.grad).copy())
        x.update()
    return [*grads, b.to_host(x.array), b.to_host(rule.state["v"])]


class _Momentum(UpdateRule):
    state_names = ("v",)

    def step(self, xp: Any, param: Any, grad: Any, v: Any) -> None:
        v *= 0.5
        v[...] = v - 0.25 * grad
        param += xp.clip(v, -2.0, 2.0)


_CHECKS: tuple[Callable[[Backend], None], ...] = (
    _names_and_types,
    _values_there_and_back,
    _dtypes,
    _nothing_is_widened,
    _devices,
    _arrays_change,
    _copies_are_apart,
    _random_numbers,
    _sums_into_places,
    _windows_and_back,
    _numbers_out_of_range,
    _a_step_of_training,
)

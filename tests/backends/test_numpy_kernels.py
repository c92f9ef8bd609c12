"""Each kernel of the NumPy backend gives the bits of the formula it replaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend.kernels.plain import COMPUTE, GRADIENT, select
from core.errors import PluginError
from core.registry.kernel_table import KernelTable
from core.registry.lazy import resolve

NUMPY = core.backend.get("numpy")
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40]
DTYPES = ["float32", "float64"]


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No array is too small for the kernels, and none of them is compiled."""
    monkeypatch.setattr(select, "SMALL", 0)
    kept = [(table, dict(table)) for table in (NUMPY.kernels, NUMPY.gradient_kernels)]
    for (table, _), own in zip(kept, (COMPUTE, GRADIENT), strict=True):
        table.clear()
        table.update({name: resolve(target) for name, target in own.items()})
    yield
    for table, before in kept:
        table.clear()
        table.update(before)


@pytest.fixture
def without_kernels() -> Iterator[None]:
    tables: list[tuple[KernelTable, dict[str, Any]]] = [
        (table, dict(table)) for table in (NUMPY.kernels, NUMPY.gradient_kernels)
    ]
    for table, _ in tables:
        table.clear()
    yield
    for table, kept in tables:
        table.update(kept)


def test_what_is_registered_is_used() -> None:
    for table, registered in ((NUMPY.kernels, COMPUTE), (NUMPY.gradient_kernels, GRADIENT)):
        for name, target in registered.items():
            module, _, attribute = target.partition(":")
            assert table[name] is getattr(import_module(module), attribute)


def ran(function: Callable[[Any], Any], x: Any, g: Any = None) -> tuple[Any, Any]:
    """Value and gradient."""
    v = core.Variable(x.copy())
    y = function(v)
    y.grad = np.ones_like(y.array) if g is None else g.reshape(y.shape)
    y.backward()
    return y.array, v.grad


def padded(v: Any, widths: Any, values: Any) -> Any:
    """As much of the padded array as `v` has."""
    y = F.pad(v, widths, "constant", constant_values=values)
    return y[tuple([slice(n) for n in v.shape])]


CASES: dict[str, Callable[[Any], Any]] = {
    "relu": F.relu,
    "leaky_relu": lambda v: F.leaky_relu(v, 0.3),
    "leaky_relu_steep": lambda v: F.leaky_relu(v, -2.0),
    "clip": lambda v: F.clip(v, -1.0, 1.0),
    "clip_above": lambda v: F.clip(v, None, 1.0),
    "clip_below": lambda v: F.clip(v, -1.0, None),
    "clipped_relu": lambda v: F.clipped_relu(v, 1.0),
    "crelu": lambda v: F.crelu(v, 0)[: v.shape[0]] - F.crelu(v, 0)[v.shape[0] :],
    "hard_sigmoid": F.hard_sigmoid,
    "maximum": lambda v: F.maximum(v, -v),
    "maximum_of_one": lambda v: F.maximum(v.array, v),
    "minimum": lambda v: F.minimum(v * v, v),
    "minimum_broadcast": lambda v: F.minimum(v, v[:1] * 2),
    "pad": lambda v: padded(v, 1, -0.0),
    "pad_uneven": lambda v: padded(v, ((2, 1),) * v.ndim, (1.0, 3.0)),
    "pad_of_either_sign": lambda v: padded(v, 2, (0.0, -0.0)),
    "pad_none": lambda v: padded(v, 0, 1.0),
}
POOLS = [(2, None, 0, True), (3, 2, 1, True), (3, 1, 2, False), ((2, 1), (1, 2), (1, 0), False)]


def irregular(dtype: str, *shape: int) -> Any:
    r = np.random.RandomState(0)
    x = r.uniform(-3, 3, shape).astype(dtype)
    places = r.randint(0, x.size, x.size // 4)
    x.reshape(-1)[places] = r.choice(SPECIAL, len(places))
    return x


def formulas(cases: dict[str, Callable[[Any], Any]], inputs: list[Any]) -> list[Any]:
    with np.errstate(all="ignore"):
        return [ran(case, *args) for case in cases.values() for args in inputs]


def assert_same_bits(found: list[Any], expected: list[Any]) -> None:
    for pair, other in zip(found, expected, strict=True):
        for a, b in zip(pair, other, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


ACTIVATION_INPUTS = [
    (irregular(dtype, *shape), irregular(dtype, *shape)[::-1].copy())
    for dtype in DTYPES
    for shape in ((7,), (40, 3), (0, 2))
] + [
    (irregular("float32", 6, 8).T, irregular("float32", 8, 6)),
    # Of another machine: what NumPy computes from these is in the order of this one.
    (irregular(">f4", 40, 3), irregular("float32", 40, 3)),
]
POOLING = {
    str(args): lambda v, args=args: F.max_pooling_2d(v, *args)  # type: ignore[misc]
    for args in POOLS
} | {"1d": lambda v: F.max_pooling_1d(v.reshape(v.shape[0], v.shape[1], -1), 3, 2)}
POOLING_INPUTS = [
    (np.random.RandomState(n).uniform(-2, 2, (2, 3, 5, 4)).round(1).astype(dtype),)
    for n in range(3)
    for dtype in DTYPES
]


@pytest.fixture(params=["activation", "pooling"])
def kind(request: pytest.FixtureRequest) -> tuple[dict[str, Any], list[Any]]:
    return (
        (CASES, ACTIVATION_INPUTS)
        if request.param == "activation"
        else (
            POOLING,
            POOLING_INPUTS,
        )
    )


def test_kernels_and_formulas_give_the_same_bits(
    kind: tuple[dict[str, Any], list[Any]], request: pytest.FixtureRequest
) -> None:
    with_kernels = formulas(*kind)
    request.getfixturevalue("without_kernels")
    assert_same_bits(with_kernels, formulas(*kind))


def test_a_nan_in_a_window_is_its_maximum() -> None:
    x = np.array([[[[1, np.nan], [3, 4]]]], np.float32)
    y, gradient = ran(lambda v: F.max_pooling_2d(v, 2), x)
    assert np.isnan(y).all()
    np.testing.assert_array_equal(gradient, [[[[0, 1], [0, 0]]]])
    _, indexes = F.max_pooling_2d(np.flip(x, 2).copy(), 2, return_indices=True)
    assert indexes.item() == 3


FLOATS = st.sampled_from([*SPECIAL, 2.5, -7.25])


@given(st.lists(st.tuples(st.booleans(), FLOATS, FLOATS), max_size=30), st.sampled_from(DTYPES))
def test_choosing_by_bits_equals_where(rows: list[tuple[bool, float, float]], dtype: str) -> None:
    mask = np.array([row[0] for row in rows], bool)
    a, b = (np.array([row[i] for row in rows], dtype) for i in (1, 2))
    for found, expected in [
        (select.select(mask, a), np.where(mask, a, np.zeros((), dtype))),
        (select.blend(mask, a, b), np.where(mask, a, b)),
    ]:
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()


def test_only_many_floats_alike_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "SMALL", 4)
    many = np.ones(4, np.float32)
    assert select.worthwhile(many, many)
    for others in [
        (many[:3],),
        (many.astype(int),),
        (many, many.astype(np.float64)),
        (many, np.ones((2, 2), np.float32)),
        (many.astype(np.longdouble),),
    ]:
        assert not select.worthwhile(*others)


SETTINGS = {
    "AsStrided": {"shape": (3, 4), "strides": (5, 2)},
    "Clip": {"x_min": -1.0, "x_max": 1.0},
    "ClippedReLU": {"z": 1.0},
    "LeakyReLU": {"slope": 0.3},
    "CReLU": {"axis": 1},
    "ConstantPad": {"pad_width": ((1, 1),) * 4, "constant_values": ((1.0, 1.0),) * 4},
    "Depth2Space": {"r": 2},
    "MaxPooling2D": {"ksize": 2},
    "MaxPoolingND": {"ndim": 2, "ksize": 2},
    "MaxPoolingGradient": {
        "ksize": 2,
        "stride": 2,
        "indexes": np.zeros((1, 1, 48, 48), "i"),
        "size": (96, 96),
    },
    "PlaceItem": {"length": 9},
    "AddAlongAxis": {"axis": -1, "shape": (4, 9)},
    "AddTaken": {"axis": -1, "shape": (4, 9)},
}
SHAPES: dict[str, list[tuple[int, ...]]] = {
    "Depth2Space": [(2, 8, 3, 5)],
    "EmbedIDFunction": [(8,), (256, 256)],
    "LinearFunction": [(8, 256), (256, 256), (256,)],
    "PlaceItem": [(8,), (8,)],
    "SelectItem": [(8, 9), (8,)],
    "AddAlongAxis": [(4, 8), (4, 8)],
    "AddTaken": [(4, 8), (8,)],
    "TakeAlongAxis": [(4, 9), (4, 8)],
}
NUMBERS = {"EmbedIDFunction": 0, "PlaceItem": 1, "SelectItem": 1, "TakeAlongAxis": 1}
NUMBERS |= {"AddAlongAxis": 1, "AddTaken": 1}
"""Operations -> the input that is of whole numbers."""


def tripled(method: Any) -> Any:
    """The same rule, with the same arguments by name, giving three times as much."""

    @wraps(method)
    def changed(*args: Any) -> Any:
        found = method(*args)
        return tuple(3 * g for g in found) if isinstance(found, tuple) else 3 * found

    return changed


def ran_op(op: Any) -> list[Any]:
    """Outputs and gradients for inputs that are large enough for any kernel."""
    inputs: list[Any] = [
        core.Variable(np.random.RandomState(i).uniform(-3, 3, shape).astype("f"))
        for i, shape in enumerate(SHAPES.get(op.__name__, [(1, 1, 48, 48)] * 9))
    ][: len(op.declared.names) or None]
    if (i := NUMBERS.get(op.__name__)) is not None:
        numbers = np.broadcast_to(np.arange(8), inputs[i].shape)
        inputs[i] = core.Variable(numbers, requires_grad=False)
    (y,) = op(**SETTINGS.get(op.__name__, {})).apply(inputs)
    if not op.declared.differentiable:
        return [y.array]
    y.grad = np.ones_like(y.array)
    y.backward()
    return [y.array, *[x.grad for x in inputs if x.requires_grad]]


@pytest.mark.parametrize("key", sorted(COMPUTE | GRADIENT))
@pytest.mark.parametrize("said", [{"__module__": "stranger"}, {"__qualname__": "Derived"}, {}])
def test_another_s_formula_is_not_replaced(key: str, said: dict[str, Any]) -> None:
    """Kernels are of our classes: a namesake elsewhere or a subclass computes what it says."""
    ours = resolve(key)
    rules = [name for name in dir(ours) if name == "compute" or name.startswith("gradient")]
    body = {name: tripled(getattr(ours, name)) for name in rules}
    theirs = type(ours.__name__, (ours,), {"__module__": __name__, **body, **said})
    for found, expected in zip(ran_op(theirs), ran_op(ours), strict=True):
        np.testing.assert_allclose(found, 3 * expected, rtol=1e-6)


def test_a_subclass_that_computes_the_same_says_so() -> None:
    from plugins.functions.activation.relu import ReLU

    class Renamed(ReLU):
        kernels_of = ReLU

    class Derived(Renamed):
        pass

    class Again(Renamed):
        kernels_of = Renamed

    expected = NUMPY.gradient_kernels[ReLU]
    assert NUMPY.gradient_kernels[Renamed] is NUMPY.gradient_kernels[Again] is expected
    assert Derived not in NUMPY.gradient_kernels  # what a base says is not said of it
    with pytest.raises(PluginError, match="expected a class or 'package.module:Class'"):
        NUMPY.kernels["ReLU"] = expected


@given(
    st.sampled_from([((3, 4), (3, 2)), ((3, 4), (1, 5)), ((1, 4), (3, 5)), ((2, 1, 3), (2, 1, 1))]),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_elements_along_an_axis_may_be_counted_from_its_end(
    shapes: Any, turned: bool, whole: bool, data: Any
) -> None:
    axis = -1 if len(shapes[0]) == 2 else data.draw(st.sampled_from([0, 2, -1]))
    n = shapes[0][axis]
    x = np.random.default_rng(0).standard_normal(shapes[0])
    numbers = st.integers(-n, n - 1 if whole else n)
    if len(shapes[0]) == 3 and axis == 0:
        shapes = shapes[0], (3, 1, 3)
    count = int(np.prod(shapes[1]))
    drawn = data.draw(st.lists(numbers, min_size=count, max_size=count))
    indices = np.array(drawn).reshape(shapes[1])
    v = core.Variable(np.asfortranarray(x) if turned else x)
    take = v.__array_namespace__().take_along_axis
    if n in drawn:
        with pytest.raises(IndexError):
            take(v, indices, axis=axis)
        return
    y = take(v, indices, axis=axis)
    np.testing.assert_array_equal(y.array, np.take_along_axis(x, indices, axis))
    y.grad = np.cos(y.array)
    y.backward()
    expected, places = np.zeros_like(x), np.arange(x.size).reshape(x.shape)
    np.add.at(expected.reshape(-1), np.take_along_axis(places, indices, axis), y.grad)
    np.testing.assert_array_equal(v.grad, expected)

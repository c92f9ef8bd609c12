"""Steps of all parameters in one launch: the bits of the formula, whatever the parameters are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from compiled_kernels import call_small
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

import core
from backends.numpy_backend import placement
from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled import UPDATE_ALL
from backends.numpy_backend.kernels.compiled.optimizers import update
from core import optimizers
from core.registry import configuration
from core.testing import check_optimizer

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

NUMPY = core.backend.get("numpy")
NAMES = sorted(key.rpartition(":")[2].removesuffix("Rule") for key in UPDATE_ALL)
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "Adam": [{"weight_decay_rate": 0.1, "eta": 0.5}, {"beta2": 0.25}],
    "AMSGrad": [{"beta2": 0.25}],
    "AdaBound": [{"alpha": 0.5, "final_lr": 0.01}, {"beta2": 0.0}],
    "AMSBound": [{"beta2": 0.25}],
    "AdaDelta": [{"rho": 0.25}],
    "LAMB": [{"weight_decay_rate": 0.1}, {"beta1": 0.25}],
    "AdaMax": [{"weight_decay_rate": 0.1, "eta": 0.5}],
    "NAdam": [{"weight_decay_rate": 0.1, "beta1": 0.25}, {"beta2": 0.25}],
    "Lion": [{"weight_decay_rate": 0.1}],
    "RAdam": [{"beta2": 0.25}],
    "RMSprop": [{"eps_inside_sqrt": True}, {"alpha": 0.25}],
    "RMSpropGraves": [{"alpha": 0.25}],
}
CASES = [(name, options) for name in NAMES for options in [{}, *OPTIONS.get(name, [])]]
SHAPES = [(), (3,), (0, 2), (7, 300), (5000,), (2, 3, 4)]


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small parts, in three threads; no group of parameters is too small."""
    call_small(monkeypatch, 0)
    monkeypatch.setattr(update, "LEAST", 600)
    monkeypatch.setitem(configuration._shared, "num_threads", 3)


@contextmanager
def by_formula() -> Iterator[None]:
    """Rules step by themselves."""
    tables = [(table, dict(table)) for table in (NUMPY.update_kernels, NUMPY.update_all_kernels)]
    for table, _ in tables:
        table.clear()
    try:
        yield
    finally:
        for table, kernels in tables:
            table.update(kernels)


def trained(name: str, options: Any, starts: Any, gradients: Any, groups: Any = ()) -> list[Any]:
    """All parameters and their states after a step by each list of gradients."""
    model = core.Link()
    with model.init_scope():
        for i, start in enumerate(starts):
            setattr(model, f"p{i}", core.Parameter(start.copy(order="K")))
    optimizer = getattr(optimizers, name)(**options).setup(model)
    for pattern, numbers in groups:
        optimizer.group(pattern, **numbers)
    for grads in gradients:
        for param, grad in zip(model.params(), grads, strict=True):
            param.grad = None if grad is None else grad.copy(order="K")
        optimizer.update()
    counts = [param.update_rule.t for param in model.params()]
    states = [value for p in model.params() for value in (p.update_rule.state or {}).values()]
    return [*(param.array for param in model.params()), *states, counts]


def assert_same_bits(*args: Any) -> None:
    with np.errstate(all="ignore"):
        mine = trained(*args)
        with by_formula():
            theirs = trained(*args)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b, strict=isinstance(a, np.ndarray))
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(np.signbit(a) & (a == a), np.signbit(b) & (b == b))


def normal(shape: Any, seed: int, dtype: str) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_bits_are_those_of_the_formula(name: str, options: Any, dtype: str) -> None:
    starts = [normal(shape, i, dtype) for i, shape in enumerate(SHAPES)]
    gradients = [
        [normal(shape, 100 * step + i, dtype) for i, shape in enumerate(SHAPES)]
        for step in range(1, 8)  # RAdam divides by the second moment from the sixth on
    ]
    gradients[1][3][0] = 1e30  # whose square is infinite in float32
    assert_same_bits(name, options, starts, gradients)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_asked_of_optimizers(name: str) -> None:
    check_optimizer(getattr(optimizers, name), None, ["numpy"])


SPECIAL = st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 1e30, 1.0, -2.0])


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_values_that_are_no_ordinary_numbers(name: str, data: st.DataObject) -> None:
    values = arrays_of.arrays("float32", (1, 19), elements=SPECIAL | st.floats(-2, 2, width=32))
    start, *grads = (data.draw(values) for _ in range(4))
    assert_same_bits(name, {}, [start], [[grad] for grad in grads])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    dtype=st.sampled_from(["float32", "float64"]),
    offset=st.integers(0, 17),
    edges=st.lists(st.integers(0, 100), min_size=2, max_size=2).map(sorted),
)
def test_a_part_is_changed_and_nothing_else_wherever_it_lies(
    dtype: str, offset: int, edges: list[int]
) -> None:
    start, stop = edges
    p = np.zeros(120, dtype)[offset : offset + 100]
    update._sgd(p, np.ones(100, dtype), p.dtype.type(-1), start, stop)
    np.testing.assert_array_equal(p, [start <= i < stop for i in range(100)])


@settings(max_examples=30, deadline=None)
@given(
    shape=st.sampled_from([(1 << 17,), (300, 300), (3, 5), ()]),
    dtype=st.sampled_from(["float32", "float64", "float16"]),
    offset=st.integers(0, 40),
    number=st.floats(-4, 4, width=16),
)
def test_state_lies_in_lines_as_its_parameter_and_elsewhere_in_pages(
    shape: tuple[int, ...], dtype: str, offset: int, number: float
) -> None:
    size = int(np.prod(shape))
    array = np.zeros(size + 40, dtype)[offset : offset + size].reshape(shape)
    first, second = (NUMPY.filled_like(array, number) for _ in range(2))
    for found in (first, second):
        np.testing.assert_array_equal(found, np.full(shape, number, dtype), strict=True)
    arrays = (array, first, second)
    assert not any(np.may_share_memory(a, b) for a, b in combinations(arrays, 2))
    if array.nbytes >= placement.LARGE:
        places = [placement.address(a) for a in arrays]
        assert len({place % placement.LINE for place in places}) == 1
        assert len({place % placement.PAGE for place in places}) == 3


def test_state_keeps_the_memory_order_of_its_parameter() -> None:
    array = np.asfortranarray(normal((300, 400), 0, "float32"))
    assert NUMPY.filled_like(array, 2.0).flags.f_contiguous


def test_parameters_in_other_orders_and_dtypes_step_by_themselves() -> None:
    starts = [
        np.asfortranarray(normal((30, 40), 0, "float32")),
        normal((40, 30), 1, "float32"),
        normal((30,), 2, "float64"),
        normal((30,), 3, "float16"),
        normal((60, 4), 4, "float32")[::2],
    ]
    gradients = [
        [
            normal((30, 40), 5, "float32"),
            normal((30, 40), 6, "float32").T,
            normal((30,), 7, "float64"),
            None,
            normal((60, 8), 8, "float32")[::2, ::2],
        ]
        for _ in range(3)
    ]
    assert_same_bits("Adam", {}, starts, gradients)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_gradients_may_begin_at_any_address(name: str) -> None:
    def odd(array: Any) -> Any:  # as those that are read from a file as they lie there
        raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
        raw[:] = np.frombuffer(array.tobytes(), np.uint8)
        return raw.view(array.dtype).reshape(array.shape)

    def stepped(lying: Any) -> Any:
        model = core.Link()
        with model.init_scope():
            model.p = param = core.Parameter(lying(normal((70, 30), 0, "float32")))
        optimizer = getattr(optimizers, name)().setup(model)
        for seed in (1, 2):
            param.grad = lying(normal((70, 30), seed, "float32"))
            optimizer.update()
        return param.array

    np.testing.assert_array_equal(stepped(odd), stepped(np.copy))


def test_groups_and_single_rules_have_their_own_numbers() -> None:
    starts = [normal((50, 40), i, "float32") for i in range(4)]
    gradients = [[normal((50, 40), 10 * step + i, "float32") for i in range(4)] for step in (1, 2)]
    groups = [("/p1", {"lr": 0.5}), ("/p[23]", {"lr": 0.25, "momentum": 0.1})]
    assert_same_bits("MomentumSGD", {}, starts, gradients, groups)


def test_rules_of_bounds_may_have_been_made_at_other_rates() -> None:
    def stepped() -> list[Any]:
        model = core.Link()
        with model.init_scope():
            model.a, model.b = (core.Parameter(normal(50, i, "float32")) for i in range(2))
        optimizer = optimizers.AdaBound(alpha=0.1, final_lr=0.01).setup(model)
        optimizer.alpha = 0.2
        model.b.update_rule = optimizer.create_update_rule()
        for param in model.params():
            param.grad = normal(50, 3, "float32")
        optimizer.update()
        return [param.array for param in model.params()]

    mine = stepped()
    with by_formula():
        np.testing.assert_array_equal(mine, stepped())


def test_arrays_that_share_memory_change_one_after_the_other() -> None:
    def stepped() -> Any:
        memory = normal(4000, 0, "float32")
        model = core.Link()
        with model.init_scope():
            model.a, model.b = core.Parameter(memory[:3000]), core.Parameter(memory[1000:])
            model.c = core.Parameter(normal(1000, 1, "float32"))
        optimizer = optimizers.SGD(lr=0.5).setup(model)
        for param in model.params():
            param.grad = normal(param.shape, 2, "float32")
        model.c.grad = memory[500:1500]
        optimizer.update()
        return memory, model.c.array

    mine = stepped()
    with by_formula():
        theirs = stepped()
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_hooks_of_a_rule_are_called_around_its_step() -> None:
    model = core.Link()
    with model.init_scope():
        model.a, model.b = (core.Parameter(np.ones(5, "f")) for _ in range(2))
    optimizer = optimizers.SGD(lr=1.0).setup(model)
    model.a.update_rule.add_hook(core.optimizer_hooks.WeightDecay(0.5))
    for param in model.params():
        param.grad = np.ones(5, "f")
    optimizer.update()
    assert model.a.array.tolist() == [-0.5] * 5
    assert model.b.array.tolist() == [0.0] * 5


def test_one_call_makes_the_steps_of_all_parameters_alike() -> None:
    rule, calls = optimizers.SGD.rule, []
    kernel = NUMPY.update_all_kernels[rule]

    def counted(*args: Any) -> Any:
        calls.append(len(args[2]))
        return kernel(*args)

    NUMPY.update_all_kernels[rule] = counted
    try:
        starts = [normal(shape, 0, "float32") for shape in SHAPES]
        trained("SGD", {}, starts, [starts], [("/p[12]", {"lr": 0.5})])
    finally:
        NUMPY.update_all_kernels[rule] = kernel
    assert sorted(calls) == [2, 4]


def test_a_subclass_with_another_step_is_none_of_the_kernel_s() -> None:
    class Doubled(optimizers.SGD.rule):  # type: ignore[misc,name-defined]
        def step(self, xp: Any, param: Any, grad: Any) -> None:
            param -= 2 * self.lr * grad

    class Wrapped(optimizers.SGD.rule):  # type: ignore[misc,name-defined]
        kernels_of = optimizers.SGD.rule

        def update_core(self, param: Any) -> None:
            super().update_core(param)
            param.array[...] += 1

    for kind, expected in ((Doubled, -1.0), (Wrapped, 1.5)):
        parameter = core.Parameter(np.ones(4000, "f"))
        parameter.grad = np.ones(4000, "f")
        parameter.update_rule = kind(lr=1.0 if kind is Doubled else 0.5)
        parameter.update()
        assert set(parameter.array.tolist()) == {expected}


def test_a_run_that_is_resumed_ends_with_the_same_bits() -> None:
    from core.testing.memory import load, saved

    def start() -> Any:
        model = core.Link()
        with model.init_scope():
            model.a, model.b = (core.Parameter(normal((70, 90), i, "float32")) for i in range(2))
        return optimizers.Adam().setup(model), model

    def steps(optimizer: Any, model: Any, numbers: Any) -> None:
        for step in numbers:
            for i, param in enumerate(model.params()):
                param.grad = normal((70, 90), 10 + 2 * step + i, "float32")
            optimizer.update()

    whole = start()
    steps(*whole, range(6))
    first, again = start(), start()
    steps(*first, range(3))
    for there, here in zip(again, first, strict=True):
        load(there, saved(here))
    steps(*again, range(3, 6))
    for mine, theirs in zip(again[1].params(), whole[1].params(), strict=True):
        np.testing.assert_array_equal(mine.array, theirs.array)

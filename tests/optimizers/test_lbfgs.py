"""L-BFGS and its line search: the conditions, dense matrices, SciPy, and exact resume."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from models import model_of
from scipy.optimize import minimize

import core
import core.functions as F
import core.links as L
from core import iterators, optimizer_hooks, optimizers, training
from core.errors import UpdateError
from core.testing import check_optimizer
from core.testing.memory import load, saved
from plugins.optimizers.lbfgs import _direction
from plugins.optimizers.line_search import strong_wolfe


def arrays(link):
    return [core.backend.to_host(p.array).copy() for p in link.params()]


def assert_same(link, other):
    for mine, theirs in zip(arrays(link), arrays(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def rosenbrock(model):
    x, y = model.p0, model.p1
    return F.sum((1 - x) ** 2 + 100 * (y - x**2) ** 2)


# -- the line search --------------------------------------------------------------------------


@given(
    curvature=st.floats(0.01, 10),
    minimum=st.floats(0.01, 50),
    wave=st.floats(0, 3),
    frequency=st.floats(0.1, 5),
    first=st.floats(0.01, 20),
    c2=st.sampled_from([0.1, 0.5, 0.9]),
)
def test_a_step_fulfills_both_conditions(curvature, minimum, wave, frequency, first, c2):
    def line(t):
        angle = frequency * t
        value = curvature * (t - minimum) ** 2 + wave * math.sin(angle)
        return value, 2 * curvature * (t - minimum) + wave * frequency * math.cos(angle)

    value, slope = line(0.0)
    assume(slope < -1e-3)
    t = strong_wolfe(line, value, slope, first, 1e-4, c2, max_eval=80)
    there, left = line(t)
    assert there <= value + 1e-4 * t * slope
    assert abs(left) <= c2 * abs(slope)


@given(st.floats(0.1, 100), st.integers(1, 5), st.sampled_from([math.nan, -math.inf, -1.0]))
def test_few_evaluations_give_the_best_step_so_far_or_none(first, most, behind):
    tried = [0.0]

    def wall(t):
        tried.append(t)
        return (behind, math.nan) if t > 1 else ((t - 0.9) ** 2, 2 * (t - 0.9))

    t = strong_wolfe(wall, 0.81, -1.8, first, 1e-4, 1e-3, most)
    assert t in tried and len(tried) <= most + 1 and t <= 1
    assert strong_wolfe(lambda t: (1.0, -1.0), 0.0, -1.0, first, max_eval=most) == 0.0
    found = strong_wolfe(lambda t: (-t, -1.0), 0.0, -1.0, first, max_eval=most)  # without end
    assert found >= first


# -- the direction ----------------------------------------------------------------------------


@given(st.integers(1, 5), st.integers(0, 4), st.integers(0, 1000))
def test_the_direction_is_that_of_the_dense_bfgs_matrix(n, pairs, seed):
    draw = np.random.default_rng(seed)
    root = draw.normal(size=(n, n))
    hessian = root @ root.T + 0.1 * np.eye(n)
    steps = [draw.normal(size=n) for _ in range(pairs)]
    changes = [hessian @ s for s in steps]
    gradient = draw.normal(size=n)
    inverse = np.eye(n)
    if pairs:
        s, y = steps[-1], changes[-1]
        inverse *= (s @ y) / (y @ y)
    for s, y in zip(steps, changes, strict=True):
        left = np.eye(n) - np.outer(s, y) / (s @ y)
        inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
    parts = [slice(0, n // 2), slice(n // 2, n)]  # two parameters
    memory = [
        ([s[p] for p in parts], [y[p] for p in parts])
        for s, y in zip(steps[::-1], changes[::-1], strict=True)
    ]
    found = np.concatenate(
        _direction(optimizers.LBFGS()._dot, [gradient[p] for p in parts], memory)
    )
    np.testing.assert_allclose(found, -inverse @ gradient, rtol=1e-6, atol=1e-8)


# -- the optimizer ----------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"lr": 0.1, "history_size": 2}])
def test_what_is_asked_of_optimizers(settings):
    check_optimizer(lambda: optimizers.LBFGS(**settings), together=True)


def find_the_minimum(x, y, scale=None, place="numpy", steps=80):
    model = model_of([x], y, place=place)
    optimizer = optimizers.LBFGS().setup(model)
    optimizer.set_loss_scale(scale)
    for _ in range(steps):
        optimizer.update(rosenbrock, model)
    np.testing.assert_allclose(arrays(model)[0], [1.0], rtol=1e-6)
    np.testing.assert_allclose(arrays(model)[1], 1.0, rtol=1e-6)
    assert optimizer.t == steps and model.p0.update_rule.t == steps


@given(st.floats(-2, 2), st.floats(-2, 2), st.sampled_from([None, 64.0]))
def test_it_finds_the_minimum_of_a_curved_valley(x, y, scale):
    find_the_minimum(x, y, scale)


def test_it_needs_no_more_than_the_array_standard_has():
    find_the_minimum(-1.2, 1.0, 64.0, "strict", 45)


def test_each_step_fulfills_both_conditions_and_restores_what_it_tried():
    model = model_of([-1.0, 2.0], [0.5, 1.5])
    optimizer = optimizers.LBFGS(c2=0.3).setup(model)

    def look():
        model.cleargrads()
        loss = rosenbrock(model)
        loss.backward()
        return float(loss.array), np.concatenate([p.grad for p in model.params()])

    for _ in range(12):
        before = np.concatenate(arrays(model))
        value, gradient = look()
        optimizer.update(rosenbrock, model)
        np.testing.assert_array_equal(np.concatenate([p.grad for p in model.params()]), gradient)
        step = np.concatenate(arrays(model)) - before
        there, left = look()
        assert there <= value + 1e-4 * (gradient @ step)
        assert abs(left @ step) <= 0.3 * abs(gradient @ step) * (1 + 1e-9)


def test_it_fits_as_well_as_scipys():
    draw = np.random.default_rng(1)
    x, t = draw.normal(size=(60, 5)), draw.integers(0, 3, 60)
    with core.using_config("dtype", "float64"):
        model = L.Linear(5, 3, initialW=0)

    def loss():
        fit = F.softmax_cross_entropy(model(x), t)
        return fit + 0.01 * F.sum(model.W**2)

    def dense(flat):
        w, b = flat[:15].reshape(3, 5), flat[15:]
        scores = x @ w.T + b
        scores -= scores.max(1, keepdims=True)
        log = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        return -log[np.arange(60), t].mean() + 0.01 * (w**2).sum()

    optimizer = optimizers.LBFGS().setup(model)
    for _ in range(40):
        optimizer.update(loss)
    best = minimize(dense, np.zeros(18), method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-8})
    np.testing.assert_allclose(float(loss().array), best.fun, rtol=1e-8)
    np.testing.assert_allclose(model.W.array.ravel(), best.x[:15], atol=1e-3)


@pytest.mark.parametrize("half", [False, True])
def test_a_resumed_run_ends_with_the_same_bits(half):
    def start():
        model = model_of([-1.0, 2.0], [0.5, 1.5], dtype="float16" if half else "float64")
        optimizer = optimizers.LBFGS(history_size=3)
        optimizer.use_fp32_update(half)
        return optimizer.setup(model)

    whole = start()
    for _ in range(8):
        whole.update(rosenbrock, whole.target)
    for stop in range(8):
        first, resumed = start(), start()
        for _ in range(stop):
            first.update(rosenbrock, first.target)
        load(resumed.target, saved(first.target))
        load(resumed, saved(first))
        for _ in range(stop, 8):
            resumed.update(rosenbrock, resumed.target)
        assert_same(resumed.target, whole.target)


def test_masters_of_16_bit_parameters_go_downhill():
    model = model_of([-1.0, 2.0], [0.5, 1.5], dtype="float16")
    optimizer = optimizers.LBFGS()
    optimizer.use_fp32_update()
    optimizer.setup(model)
    optimizer.set_loss_scale(8.0)
    before = float(rosenbrock(model).array)
    for _ in range(20):
        optimizer.update(rosenbrock, model)
    assert {p.dtype for p in model.params()} == {np.dtype("float16")}
    assert float(rosenbrock(model).array) < 0.1 * before


def test_steps_beyond_what_is_defined_are_taken_back():
    model = model_of([0.01, 30.0])
    optimizer = optimizers.LBFGS(lr=1000.0).setup(model)
    with np.errstate(all="ignore"):
        for _ in range(60):
            optimizer.update(lambda: F.sum(model.p0 - F.log(model.p0)))
    np.testing.assert_allclose(model.p0.array, 1.0, rtol=1e-5)


def test_where_nothing_is_gained_parameters_stay_and_the_memory_begins_anew():
    model = model_of([-1.0, 2.0], [0.5, 1.5])
    optimizer = optimizers.LBFGS().setup(model)
    for _ in range(3):
        optimizer.update(rosenbrock, model)
    assert model.p0.update_rule.state["pairs"] == 2
    before, calls = arrays(model), []

    def worse():
        calls.append(None)
        return rosenbrock(model) + 1e3 * len(calls)

    optimizer.update(worse)
    for mine, old in zip(arrays(model), before, strict=True):
        np.testing.assert_array_equal(mine, old)
    assert model.p0.update_rule.state["pairs"] == 0 and len(calls) <= 26
    optimizer.update(lambda: 0.0 * rosenbrock(model))  # no gradient at all
    for mine, old in zip(arrays(model), before, strict=True):
        np.testing.assert_array_equal(mine, old)
    for _ in range(60):
        optimizer.update(rosenbrock, model)
    np.testing.assert_allclose(model.p0.array, 1.0, rtol=1e-6)


def test_an_error_on_the_way_leaves_parameters_as_they_were():
    model = model_of([-1.0, 2.0], [0.5, 1.5])
    duplicate = model_of([-1.0, 2.0], [0.5, 1.5])
    optimizer, other = optimizers.LBFGS().setup(model), optimizers.LBFGS().setup(duplicate)
    calls = []

    def failing():
        calls.append(None)
        if len(calls) == 2:
            raise KeyError("in the line search")
        return rosenbrock(model)

    with pytest.raises(KeyError):
        optimizer.update(failing)
    assert optimizer.t == 0
    for each in (optimizer, other):
        each.update(rosenbrock, each.target)
    assert_same(model, duplicate)


def test_frozen_parameters_and_those_without_a_gradient_stay():
    model = model_of([-1.0], [0.5], [7.0])
    model.p0.update_rule = None
    optimizer = optimizers.LBFGS().setup(model)
    model.p0.update_rule.enabled = False
    for _ in range(30):
        optimizer.update(rosenbrock, model)
    assert model.p0.array == [-1.0] and model.p2.array == [7.0]
    np.testing.assert_allclose(model.p1.array, 1.0, rtol=1e-6)  # of 100 (y - 1)^2
    model.p0.update_rule.enabled = True
    for _ in range(60):
        optimizer.update(rosenbrock, model)
    np.testing.assert_allclose(model.p0.array, 1.0, rtol=1e-5)


def test_a_part_of_the_parameters_may_be_unused_at_a_step_along_the_way():
    model = model_of([3.0], [1.0])
    optimizer = optimizers.LBFGS().setup(model)

    def loss():
        both = F.sum((model.p0 - 1) ** 2)
        return both + F.sum(model.p1**2) if model.p0.array[0] > 2 else both

    for _ in range(10):
        optimizer.update(loss)
    np.testing.assert_allclose(model.p0.array, 1.0, rtol=1e-6)


def test_within_an_updater_what_is_reported_is_the_loss_before_the_step():
    class Model(L.Linear):
        def forward(self, x):
            loss = F.mean((super().forward(x) - 3) ** 2)
            core.report({"loss": loss}, self)
            return loss

    model = Model(2, 1, initialW=0)
    optimizer = optimizers.LBFGS().setup(model)
    batches = iterators.SerialIterator(np.eye(2, dtype="f"), 2)
    updater = training.updaters.StandardUpdater(batches, optimizer)
    reporter, seen = core.Reporter(), {}
    reporter.add_observer("main", model)
    with reporter.scope(seen):
        updater.update()
    assert float(seen["main/loss"].array) == 9.0
    for _ in range(10):
        updater.update()
    np.testing.assert_allclose(model(np.eye(2, dtype="f")).array, 0, atol=1e-8)


def test_what_does_not_go_together_is_refused():
    model = model_of([-1.0], [0.5])
    optimizer = optimizers.LBFGS().setup(model)
    before = arrays(model)
    optimizer.add_hook(optimizer_hooks.WeightDecay(0.1))
    with pytest.raises(UpdateError, match="gradients of the loss itself, which WeightDecay may"):
        optimizer.update(rosenbrock, model)
    optimizer.remove_hook("WeightDecay")
    average = optimizer_hooks.ExponentialMovingAverage()
    optimizer.add_hook(average)  # which only looks
    model.p0.update_rule.add_hook(optimizer_hooks.WeightDecay(0.1))
    with pytest.raises(UpdateError, match="the rule of the parameter p0 has a hook"):
        optimizer.update(rosenbrock, model)
    model.p0.update_rule.remove_hook("WeightDecay")
    with pytest.raises(UpdateError, match="none can have lr of its own"):
        optimizer.group("*", lr=0.1)
    with pytest.raises(UpdateError, match="return a Variable, got float"):
        optimizer.update(lambda: 1.0)
    with pytest.raises(UpdateError, match="expected a function"):
        optimizer.update(rosenbrock(model))
    for mine, old in zip(arrays(model), before, strict=True):
        np.testing.assert_array_equal(mine, old)
    optimizer.update(rosenbrock, model)
    assert average.t == 1
    with average.applied():
        pass
    assert optimizer.group("/p0").paths == ("/p0",)
    for wrong in ({"lr": 0}, {"history_size": 0}, {"c1": 1}, {"c2": 0}, {"max_eval": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            optimizers.LBFGS(**wrong)

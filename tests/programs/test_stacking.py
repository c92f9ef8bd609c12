"""Products that share a factor, or are added up, as one: what they give, and in which order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core.programs.loops.stacking import stacked

N = 130  # of which the square is large
R = np.random.default_rng(0)
WEIGHTS = [R.normal(size=(N, N)) / N**0.5 for _ in range(3)]
BIASES = [R.normal(size=N) for _ in range(2)]


def products(program):
    return sum([e.call.name == "matmul" for e in program.equations])


def one_product(program):
    return program.changed(equations=stacked(program))


STEPS = st.tuples(
    st.sampled_from(["product", "biased", "transposed", "tanh", "add", "sum of products"]),
    st.integers(0, 99),
    st.integers(0, 99),
    st.integers(0, 99),
)


def network(plan):
    """A function of two matrices that makes the steps of a plan, each of values before it."""

    def function(x, y, *rest):
        weights, biases = rest[: len(WEIGHTS)], rest[len(WEIGHTS) :]
        values, sums = [x, y], None
        for kind, i, j, k in plan:
            a, b, w = values[i % len(values)], values[j % len(values)], weights[k % len(weights)]
            if kind == "product":
                values.append(a @ w)
            elif kind == "biased":
                values.append(a @ w + biases[j % len(biases)])
            elif kind == "transposed":
                values.append(a @ w.T)
            elif kind == "tanh":
                values.append(np.tanh(a))
            elif kind == "add" and a.shape == b.shape:
                values.append(a + b)
            elif kind == "sum of products" and len(a) == len(b):
                product = a.T @ b
                sums = product if sums is None else sums + product
        return [*values[2:], sums if sums is not None else x + 0]

    return function


@given(st.lists(STEPS, min_size=4, max_size=24))
def test_programs_give_the_same(plan):
    x, y = R.normal(size=(5, N)), R.normal(size=(7, N))
    arrays = (x, y, *WEIGHTS, *BIASES)
    program = core.trace(network(plan), *arrays)
    one = one_product(program)
    assert products(one) <= products(program)
    for found, expected in zip(one(*arrays), program(*arrays), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


class Recurrent(core.Chain):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        with self.init_scope():
            self.below = L.Linear(N, N)
            self.again = L.Linear(N, N, nobias=True)
            self.above = L.Linear(N, N)

    def loss(self, x):
        h = loss = 0
        for i in range(6):
            h = F.dropout(F.tanh(self.below(x[:, i]) + (self.again(h) if i else 0)), self.rate)
            loss += F.mean(self.above(h) ** 2)
        return loss


def test_a_recurrent_network_makes_one_product_for_all_steps():
    model = Recurrent(0.0)

    def step(x):
        model.cleargrads()
        loss = model.loss(x)
        loss.backward()
        return [loss.array, *[p.grad for p in model.params()]]

    x = R.normal(size=(4, 6, N)).astype("f")
    program = core.trace(step, x)
    one = one_product(program)
    recurrent = 5 + 5  # forward and backward, of one step after the other
    assert products(program) > 30
    # below and above, what goes back through above, and the gradients of three weights
    assert products(one) == recurrent + 2 + 1 + 3
    for found, expected in zip(one(x), step(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_products_of_all_steps_are_those_that_operations_have():
    """Which are divided among threads of ours: BLAS's own wait awake for each other."""
    from backends.numpy_backend.products import matmul

    def function(x, y, w):
        return x @ w, y @ w, x.T @ y + y.T @ x

    program = one_product(core.trace(function, WEIGHTS[0][:9], WEIGHTS[1][:9], WEIGHTS[2]))
    calls = [e.call for e in program.equations if e.call.name == "matmul"]
    assert len(calls) == 2
    assert all([call.found(core.backend.get("numpy")) is matmul for call in calls])


def test_captured_steps_draw_in_eagers_order():
    pytest.importorskip("numba")
    x = R.normal(size=(4, 6, N)).astype("f")
    runs = []
    start = Recurrent(0.4)
    for capture in (lambda step: step, core.capture(fuse=True)):
        model = start.copy("copy")
        optimizer = core.optimizers.MomentumSGD().setup(model)
        step = capture(lambda x, m=model, o=optimizer: o.update(m.loss, x))
        core.seed(7)
        for i in range(4):
            step(x * (i + 1))
        runs.append([p.array for p in model.params()])
    core.seed(None)
    assert step.replayed == 3
    assert products(step.programs[0]) < 20
    for eager, fused in zip(*runs, strict=True):
        np.testing.assert_allclose(fused, eager, rtol=1e-4, atol=1e-5)


def test_weights_are_read_before_an_update_and_after_it():
    pytest.importorskip("numba")
    x = R.normal(size=(3, N)).astype("f")
    runs = []
    start = L.Linear(N, N)
    for capture in (lambda step: step, core.capture(fuse=True)):
        model = start.copy("copy")
        optimizer = core.optimizers.SGD(0.5).setup(model)

        def step(x, m=model, o=optimizer):
            before = m(x)
            o.update(lambda: F.mean((m(x) - m(x * 2)) ** 2))
            return before, m(x * 3), m(x)

        call = capture(step)
        for _ in range(4):
            found = call(x)
        runs.append([y.array for y in found])
    for eager, fused in zip(*runs, strict=True):
        np.testing.assert_allclose(fused, eager, rtol=1e-4, atol=1e-5)


def test_products_before_an_update_are_not_made_after_it():
    pytest.importorskip("numba")
    x = R.normal(size=(3, N)).astype("f")
    runs = []
    for capture in (lambda step: step, core.capture(fuse=True)):
        model = core.Link()
        with model.init_scope():
            model.W = core.Parameter(x * 2)
        optimizer = core.optimizers.SGD(0.5).setup(model)

        def step(x, m=model, o=optimizer):
            before = F.matmul(x.T, m.W)
            o.update(lambda: F.sum(m.W**2) * 0.1)
            return (before + F.matmul(x.T, m.W)).array

        call = capture(step)
        runs.append([call(x) for _ in range(4)])
    assert call.replayed == 3
    for eager, fused in zip(*runs, strict=True):
        np.testing.assert_allclose(fused, eager, rtol=1e-4, atol=1e-5)


def test_products_of_transposed_rows_stay_apart_for_their_copies_take_longer():
    def gradients(g, h, x):
        return g.T @ x, h.T @ x

    g, h, x = (np.ones((1000, n), "f") for n in (100, 100, 130))
    program = core.trace(gradients, g, h, x)
    assert products(one_product(program)) == products(program) == 2


def test_a_column_times_a_row_is_elementwise():
    program = core.trace(lambda x, y: x @ y, R.normal(size=(5, 1)), R.normal(size=(1, 7)))
    changed = one_product(program)
    assert [e.call.name for e in changed.equations] == ["mul"]
    x, y = R.normal(size=(5, 1)), R.normal(size=(1, 7))
    assert (changed(x, y) == x @ y).all()

"""Forgetting: the same values and gradients of any order, from less memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core import Parameter, Variable
from core.errors import GraphError, TraceError
from core.testing.gradient_check import check_backward, check_double_backward

A, B = np.random.default_rng(0).normal(size=(2, 3, 4))


def mixed(a, b):
    return F.exp(a) * b, a * F.sin(b) + a


def gradients(function, order):
    """The function's values, and derivatives of one order after the other."""
    xs = [Variable(A.copy()), Variable(B.copy())]
    (y, z), found = function(*xs), []
    total = F.sum(y * z)
    for _ in range(order):
        found.append(core.grad([total], xs, enable_double_backprop=True))
        total = F.sum(found[-1][0] * found[-1][1] * B)
    return [v.array for part in ([y, z, total], *found) for v in part]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_gradients_of_any_order_are_those_of_the_function(order):
    plain = gradients(mixed, order)
    again = gradients(lambda a, b: F.forget(mixed, a, b), order)
    for one, other in zip(again, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_first_and_second_order_against_differences():
    def function(a, b):
        return F.forget(mixed, a, b)

    check_backward(function, (A, B), (A, B))
    check_double_backward(function, (A, B), (A, B), (B, A))


def test_one_output_of_several_and_an_argument_that_is_not_used():
    a, b = Variable(A.copy()), Variable(B.copy())
    y, _ = F.forget(lambda a, b: (a * a, b * a), a, b)
    F.sum(y).backward()
    np.testing.assert_allclose(a.grad, 2 * A)
    assert b.grad is None or not b.grad.any()


def test_a_lone_output_and_a_tuple_of_one():
    for y in (F.forget(F.exp, A), F.forget(lambda a: (F.exp(a),), Variable(A))):
        assert isinstance(y, Variable)
        np.testing.assert_allclose(y.array, np.exp(A))


def test_a_node_is_applied_twice():
    f, a, b = F.Forget(lambda x: x * x), Variable(A.copy()), Variable(2 * A)
    y, z = f(a), f(b)
    F.sum(y + z).backward()
    np.testing.assert_allclose(a.grad, 2 * A)
    np.testing.assert_allclose(b.grad, 4 * A)


def test_an_output_may_be_an_argument_or_have_no_gradient():
    a = Variable(A.copy())
    y, k = F.forget(lambda a: (a, F.argmax(a)), a)
    assert k.array == A.argmax()
    F.sum(y * y).backward()
    np.testing.assert_allclose(a.grad, 2 * A)


def test_arguments_that_are_computed_from_each_other():
    def through(call):
        x = Variable(A.copy())
        y, z = call(mixed, x, F.exp(x))
        (g,) = core.grad([F.sum(y * z)], [x], enable_double_backprop=True)
        (gg,) = core.grad([F.sum(g * g)], [x])
        return g.array, gg.array

    for one, other in zip(through(F.forget), through(lambda f, *xs: f(*xs)), strict=True):
        np.testing.assert_allclose(one, other)


def test_parameters_get_their_gradients():
    layer = L.Linear(4, 2)
    x = Variable(A.astype("f"))
    F.sum(F.forget(lambda x: F.tanh(layer(x)), x) ** 2).backward()
    found = [layer.W.grad, layer.b.grad, x.grad]
    layer.cleargrads()
    x.cleargrad()
    F.sum(F.tanh(layer(x)) ** 2).backward()
    for one, other in zip(found, [layer.W.grad, layer.b.grad, x.grad], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_parameters_alone_that_are_made_on_the_way():
    layer = L.Linear(None, 2)
    y = F.forget(layer, A.astype("f"))
    gW, _ = core.grad([F.sum(y)], [layer.W, layer.b])
    np.testing.assert_allclose(gW.array, np.tile(A.sum(0), (2, 1)), rtol=1e-5)
    assert layer.W.grad is None or np.isnan(layer.W.grad).all()


def test_gradients_with_respect_to_a_parameter_twice():
    W = Parameter(B.copy())

    def second(call):
        x = Variable(A.copy())
        y = call(lambda x: F.exp(x * W) * W, F.sin(x) * W)
        gx, gW = core.grad([F.sum(y)], [x, W], enable_double_backprop=True)
        return core.grad([F.sum(gx * gW)], [x, W])

    for one, other in zip(second(F.forget), second(lambda f, x: f(x)), strict=True):
        np.testing.assert_allclose(one.array, other.array)


@given(st.integers(0, 2**31))
def test_random_numbers_are_replayed_and_none_is_lost(seed):
    core.seed(seed)
    try:
        x = Variable(np.ones((5, 20)))
        y = F.forget(F.dropout, x)
        following = F.dropout(np.ones((5, 20))).array
        before = core.backend.random_state()
        F.sum(y).backward()
        assert core.backend.random_state() == before
        np.testing.assert_array_equal(x.grad, y.array)
        core.seed(seed)
        np.testing.assert_array_equal(F.dropout(np.ones((5, 20))).array, y.array)
        np.testing.assert_array_equal(F.dropout(np.ones((5, 20))).array, following)
    finally:
        core.seed(None)


def test_the_mode_is_replayed():
    x = Variable(np.ones(8))
    with core.using_config("train", False):
        y = F.forget(F.dropout, x)
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, np.ones(8))


def test_segments_within_segments():
    x = Variable(A.copy())
    y = F.forget(lambda x: F.forget(F.exp, F.forget(F.sin, x)) * x, x)
    (g,) = core.grad([F.sum(y)], [x], enable_double_backprop=True)
    F.sum(g).backward()
    e, s, c = np.exp(np.sin(A)), np.sin(A), np.cos(A)
    np.testing.assert_allclose(g.array, e * c * A + e)
    np.testing.assert_allclose(x.grad, e * (c * c * A - s * A + 2 * c))


def test_without_a_graph_the_function_is_simply_called():
    with core.no_backprop_mode():
        y = F.forget(F.exp, Variable(A))
    assert y.creator is None
    assert F.forget(F.exp, A).creator is None


def test_in_debug_mode_and_under_hooks():
    from core.function_hooks import TimerHook

    x = Variable(A.copy())
    with core.using_config("debug", True), TimerHook() as hook:
        y = F.forget(lambda x: F.exp(F.sin(x)), x)
        F.sum(y).backward(enable_double_backprop=True)
    np.testing.assert_allclose(x.grad, np.exp(np.sin(A)) * np.cos(A))
    assert hook.total_time() > 0


def test_what_the_function_may_not_do():
    x = Variable(A.copy())
    outside = F.exp(x)
    with pytest.raises(GraphError, match="exp computed outside. Make it an argument"):
        F.forget(lambda a: a * outside, x)
    with pytest.raises(TypeError, match="a Variable or a tuple of them, got ndarray"):
        F.forget(lambda a: a.array, x)
    with pytest.raises(TypeError, match="got NoneType in a tuple"):
        F.forget(lambda a: (a, None), x)


SIZE, STEPS, SEGMENTS = 100_000, 10, 5


def chain(x):
    for _ in range(STEPS):
        x = F.sin(x)  # which keeps its input
    return x


def memory(call):
    """Arrays' worth of memory that the graph keeps, and at the peak of its backward."""
    x = Variable(np.ones(SIZE))
    tracemalloc.start()
    try:
        y = x
        for _ in range(SEGMENTS):
            y = call(chain, y)
        kept, _ = tracemalloc.get_traced_memory()
        F.sum(y).backward()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return kept / x.array.nbytes, peak / x.array.nbytes, x.grad


def test_a_segment_keeps_its_input_alone():
    kept, peak, gradient = memory(F.forget)
    all_kept, all_peak, expected = memory(lambda f, x: f(x))
    np.testing.assert_allclose(gradient, expected)
    assert all_kept >= SEGMENTS * STEPS - 1
    assert kept < SEGMENTS + 1
    assert peak < SEGMENTS + STEPS + 5 < all_peak


def test_the_class_gives_tuples():
    (y,) = F.Forget(F.exp).apply((A,))
    np.testing.assert_array_equal(y.array, np.exp(A))
    xs = [Variable(A.copy()), Variable(B.copy())]
    y, z = F.Forget(mixed).apply(xs)
    again = core.grad([y * z], xs, [Variable(np.ones_like(A))])
    plain = core.grad([F.exp(xs[0]) * xs[1] * mixed(*xs)[1]], xs, [Variable(np.ones_like(A))])
    for one, other in zip(again, plain, strict=True):
        np.testing.assert_allclose(one.array, other.array, rtol=1e-12)
    with core.no_backprop_mode():
        assert F.Forget(F.exp).apply(xs[:1])[0].creator is None


def spectral():
    """A link whose weight is divided by what a vector, moved by each call, says."""
    link = L.Linear(4, 4, initialW=np.tri(4, dtype="f") * np.array([4, 1, 2, 8], "f"))
    link.add_hook(core.link_hooks.SpectralNormalization())
    link.W_u = np.full(4, 0.5, "f")
    return link


@pytest.mark.parametrize("finetune", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda: L.BatchNormalization(4),
        lambda: L.BatchRenormalization(4, rmax=4.0, dmax=1.0),
        lambda: L.DecorrelatedBatchNormalization(4, groups=2),
        spectral,
    ],
)
def test_running_statistics_move_once(make, finetune):
    """Whether or not the function is computed again, for gradients of either order.

    Calls that are made again meet what the first ones met, also where the link was called since.
    """
    left = []
    for around in (lambda f, x: f(x), F.forget):
        link = make()
        options = {"finetune": finetune} if hasattr(link, "start_finetuning") else {}
        kept = {}
        for i in range(1, 3):
            xs = [
                Variable(np.sin(np.arange(20.0).reshape(5, 4) * k * i).astype("f")) for k in (1, 2)
            ]
            ys = [
                around(lambda x, link=link, options=options: F.tanh(link(x, **options)), x)
                for x in xs
            ]
            gxs = core.grad([F.sum(y * y) for y in ys], xs, enable_double_backprop=True)
            F.sum(gxs[0] * gxs[1]).backward()
            kept |= {(i, k): [gxs[k].array, x.grad] for k, x in enumerate(xs)}
        left.append(kept | {name: getattr(link, name) for name in link._persistent})
    once, again = left
    for name, value in once.items():
        np.testing.assert_allclose(value, again[name], rtol=1e-4, atol=1e-5)
    assert core.config.in_recomputing is False


DRAWING = {
    "dropout": lambda a: F.dropout(a * a, 0.5),
    "none": lambda a: F.relu(a * a),
    "one within another": lambda a: F.dropout(F.forget(lambda a: F.dropout(a * a), a) * a / a),
    "normal": lambda a: F.absolute(F.gaussian(a * 0, a * 0)) * a * a,
}


@pytest.mark.parametrize("name", DRAWING)
def test_traces_draw_for_gradients_what_the_values_have(name):
    def step(x):
        x = Variable(x)
        y = F.forget(DRAWING[name], x)
        (gx,) = core.grad([F.sum(y)], [x])
        return y.array, gx.array

    captured = core.capture(step)
    x = np.linspace(1, 2, 50)
    functions = (step, captured, captured, captured, core.trace(step, x))
    for function in (*functions, core.vmap(step)):
        core.seed(0)
        y, gx = function(x if function in functions else x[None])
        np.testing.assert_allclose(gx, 2 * y / x)
        assert function not in functions or y.tobytes() == step_of_seed(step, x)
    assert captured.replayed == 2
    core.seed(None)


def step_of_seed(step, x):
    core.seed(0)
    return step(x)[0].tobytes()


def test_what_was_drawn_outside_of_a_trace_is_not_drawn_in_it():
    x = Variable(np.ones(9))
    y = F.forget(F.dropout, x)
    with pytest.raises(TraceError, match="draws other random .* first called outside of the trace"):
        core.trace(lambda w: core.grad([F.sum(y * w)], [x])[0], np.ones(9))

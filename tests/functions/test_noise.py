"""Random functions: what their draws are distributed by, and that given draws decide."""

import numpy as np
import pytest

import core
import core.functions as F


@pytest.fixture
def seeded():
    core.seed(7)
    yield
    core.seed(None)


def test_dropout_keeps_the_mean_and_drops_its_share(seeded):
    y = F.dropout(np.ones(100_000), ratio=0.3).array
    assert abs(np.mean(y == 0) - 0.3) < 0.01
    np.testing.assert_allclose(y[y != 0], 1 / 0.7)


@pytest.mark.parametrize("axis", [(0, 1), 0, -1, (-3, 2)])
def test_dropout_along_axes_drops_all_that_is_at_a_place(seeded, axis):
    x = core.Variable(np.ones((20, 30, 5, 40)))
    y, mask = F.dropout(x, 0.3, axis=axis, return_mask=True)
    own = {a % 4 for a in (axis if isinstance(axis, tuple) else (axis,))}
    assert mask.shape == tuple(n if a in own else 1 for a, n in enumerate(x.shape))
    np.testing.assert_array_equal(y.array, np.broadcast_to(mask, x.shape))
    np.testing.assert_allclose(mask[mask != 0], 1 / 0.7)
    assert abs(np.mean(mask == 0) - 0.3) < 4 * 0.46 / mask.size**0.5
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, y.array)
    with core.using_config("train", False):
        np.testing.assert_array_equal(F.dropout(x, 0.3, axis=axis).array, x.array)
    with pytest.raises(ValueError, match="expected a mask or an axis, got both"):
        F.dropout(x, 0.3, axis=axis, mask=mask)


def test_zoneout_takes_each_element_from_one_of_the_two(seeded):
    h, x = np.zeros(100_000), np.ones(100_000)
    y = F.zoneout(h, x, ratio=0.3).array
    assert set(np.unique(y)) == {0.0, 1.0}
    assert abs(np.mean(y) - 0.7) < 0.01
    with core.using_config("train", False):
        np.testing.assert_array_equal(F.zoneout(h, x, ratio=0.3).array, x)


def test_zoneout_with_a_mask_is_a_choice():
    mask = np.array([True, False])
    y = F.zoneout(np.array([1.0, 2.0]), np.array([3.0, 4.0]), mask=mask)
    np.testing.assert_array_equal(y.array, [1.0, 4.0])
    with pytest.raises(core.type_check.InvalidType, match="Zoneout"):
        F.zoneout(np.ones(3), np.ones(3), mask=mask)


def test_gaussian_has_the_mean_and_variance_asked_for(seeded):
    y = F.gaussian(np.full(100_000, 2.0), np.full(100_000, np.log(9.0))).array
    assert abs(y.mean() - 2) < 0.05
    assert abs(y.std() - 3) < 0.05


def test_gaussian_gives_its_draw_for_another_time(seeded):
    mean, ln_var = np.ones((2, 3), "f"), np.zeros((2, 3), "f")
    y, eps = F.gaussian(mean, ln_var, return_eps=True)
    np.testing.assert_array_equal(y.array, mean + eps)
    np.testing.assert_array_equal(F.gaussian(mean, ln_var, eps=eps).array, y.array)


def test_gumbel_softmax_draws_classes_by_their_probabilities(seeded):
    pi = np.array([0.1, 0.2, 0.7])
    y = F.gumbel_softmax(np.tile(np.log(pi), (50_000, 1)), tau=0.5).array
    np.testing.assert_allclose(y.sum(axis=1), 1)
    shares = np.bincount(y.argmax(axis=1)) / len(y)
    np.testing.assert_allclose(shares, pi, atol=0.01)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gumbel_softmax_keeps_the_dtype_and_the_axis(dtype):
    y = F.gumbel_softmax(np.zeros((2, 3, 4), dtype), axis=2)
    assert y.dtype == dtype
    np.testing.assert_allclose(y.array.sum(axis=2), 1, rtol=2e-3)
    with pytest.raises(ValueError, match="tau above 0"):
        F.gumbel_softmax(np.zeros((2, 3), dtype), tau=0)


@pytest.mark.parametrize("batchwise", [True, False])
def test_dropconnect_by_a_mask_is_a_product_with_masked_weights(batchwise):
    draw = np.random.default_rng(0)
    x, W, b = draw.normal(size=(3, 2, 2)), draw.normal(size=(5, 4)), draw.normal(size=5)
    mask = draw.integers(0, 2, (3, 5, 4) if batchwise else (5, 4)) == 1
    y = F.simplified_dropconnect(x, W, b, ratio=0.2, mask=mask).array
    expected = [
        (W * (mask[i] if batchwise else mask)) @ row / (1 - 0.2) + b
        for i, row in enumerate(x.reshape(3, 4))
    ]
    np.testing.assert_allclose(y, expected, rtol=1e-12)


@pytest.mark.parametrize("batchwise", [True, False])
def test_dropconnect_drops_its_share_and_keeps_the_mean(seeded, batchwise):
    x, W = np.ones((300, 1)), np.ones((300, 1))
    y = F.simplified_dropconnect(x, W, ratio=0.25, use_batchwise_mask=batchwise).array
    assert abs(np.mean(y == 0) - 0.25) < 0.1
    np.testing.assert_allclose(y[y != 0], 1 / 0.75)
    assert np.all(y == y[0]) != batchwise


def test_dropconnect_out_of_training_is_linear():
    x, W = np.ones((2, 3)), np.arange(6.0).reshape(2, 3)
    y = F.simplified_dropconnect(x, W, train=False)
    np.testing.assert_array_equal(y.array, F.linear(x, W).array)


def test_given_draws_of_other_shapes_are_refused():
    x, W = np.ones((2, 3)), np.ones((4, 3))
    InvalidType = core.type_check.InvalidType
    with pytest.raises(InvalidType, match=r"eps of the shape \(2, 3\)\nActual: \(2, 1\)"):
        F.gaussian(x, x, eps=np.ones((2, 1)))
    with pytest.raises(InvalidType, match=r"eps of the shape \(2, 3\)"):
        F.gaussian(x, x, eps=np.ones(3))
    for mask in (np.ones((4, 1)), np.ones((1, 4, 3))):
        with pytest.raises(InvalidType, match="SimplifiedDropconnect"):
            F.simplified_dropconnect(x, W, mask=mask)
    with pytest.raises(ValueError, match=r"got \(3,\)"):
        F.simplified_dropconnect(x, W, mask=np.ones(3))


def test_ratios_out_of_range_are_refused():
    x, W = np.ones((2, 2)), np.ones((2, 2))
    for call in (
        lambda: F.dropout(x, ratio=1.0),
        lambda: F.zoneout(x, x, ratio=1.5),
        lambda: F.simplified_dropconnect(x, W, ratio=1.0),
    ):
        with pytest.raises(ValueError, match="expected a ratio in"):
            call()
    with pytest.raises(ValueError, match="train"):
        F.zoneout(x, x, train=False)


def test_rrelu_draws_its_factors_from_the_interval(seeded):
    x = np.full(100_000, -1.0)
    y, r = F.rrelu(x, 0.2, 0.4, return_r=True)
    np.testing.assert_array_equal(y.array, -r)
    assert 0.2 <= r.min() < 0.201 < 0.399 < r.max() <= 0.4
    assert abs(r.mean() - 0.3) < 0.002
    assert abs(r.var() - 0.2**2 / 12) < 1e-4


def test_rrelu_with_factors_and_out_of_training():
    x, r = np.array([-2.0, 0.0, 3.0]), np.array([0.5, 0.25, 0.125])
    np.testing.assert_array_equal(F.rrelu(x, r=r).array, [-1.0, 0.0, 3.0])
    with core.using_config("train", False):
        y, mean = F.rrelu(x, 0.1, 0.3, r=r, return_r=True)
    np.testing.assert_allclose(y.array, [-0.4, 0.0, 3.0])
    np.testing.assert_allclose(mean, 0.2)


def test_rrelu_refuses_other_factors_and_empty_intervals():
    x, InvalidType = np.ones((2, 3), "f"), core.type_check.InvalidType
    with pytest.raises(InvalidType, match="RReLU"):
        F.rrelu(x, r=np.ones((2, 1), "f"))
    with pytest.raises(InvalidType, match="RReLU"):
        F.rrelu(x, r=np.ones((2, 3), "d"))
    with pytest.raises(ValueError, match="l <= u"):
        F.rrelu(x, 0.5, 0.25)
    with pytest.raises(ValueError, match="train"):
        F.rrelu(x, train=False)


# -- the same draws again -------------------------------------------------------------------------

X, Y = np.random.default_rng(5).normal(size=(2, 6, 8)).astype("f")
LABELS = np.arange(6)


def n_step(x):
    first, second = F.split_axis(x, [2], axis=0)
    W = F.matmul(x, x, transa=True) / 20  # so that tanh is far from 1
    ws, bs = [[W] * 2] * 2, [[F.sum(x, axis=0)] * 2] * 2
    return F.n_step_rnn(2, 0.5, F.stack([first, second[:2, :]]), ws, bs, [first] * 3)[1][-1]


RANDOM = {
    "dropout": lambda x, y: F.dropout(x, 0.4),
    "zoneout": lambda x, y: F.zoneout(x, y, 0.4),
    "gaussian": lambda x, y: F.gaussian(x, y),
    "rrelu": lambda x, y: F.rrelu(x),
    "gumbel_softmax": lambda x, y: F.gumbel_softmax(x, tau=2.0),
    "simplified_dropconnect": lambda x, y: F.simplified_dropconnect(x, y),
    "simplified_dropconnect, one mask": lambda x, y: F.simplified_dropconnect(
        x, y, use_batchwise_mask=False
    ),
    "scaled_dot_product_attention": lambda x, y: F.scaled_dot_product_attention(
        x, y, y, dropout_p=0.4
    ),
    "n_step_rnn": lambda x, y: n_step(x),
    "forget": lambda x, y: F.forget(lambda x: F.dropout(x, 0.4), x),
}


def drawn(name, backend):
    """Outputs and gradients of a random function."""
    xs = [core.Variable(backend.asarray(a)) for a in (X, Y)]
    y = RANDOM[name](*xs)
    F.sum(y * y).backward()
    return [backend.to_host(a) for a in (y.array, *[x.grad for x in xs]) if a is not None]


@pytest.mark.parametrize("name", RANDOM)
def test_a_seed_gives_the_same_again_on_every_backend(name):
    found = []
    try:
        for seed, backend in ((3, "numpy"), (3, "numpy"), (3, "strict"), (4, "numpy")):
            core.seed(seed)
            found.append(drawn(name, core.backend.get(backend)))
    finally:
        core.seed(None)
    for one, other, strict in zip(*found[:3], strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, strict, rtol=1e-4, atol=1e-5)
    assert not np.array_equal(found[0][0], found[3][0])


@pytest.mark.parametrize("name", RANDOM)
def test_without_a_seed_numpys_own_decides(name):
    backend, state = core.backend.get("numpy"), np.random.get_state()
    try:
        found = []
        for seed in (3, 3, 4):
            np.random.seed(seed)
            found.append(drawn(name, backend))
    finally:
        np.random.set_state(state)
    for one, other in zip(*found[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(found[0][0], found[2][0])


def test_what_was_drawn_can_be_given_again(seeded):
    x, y = core.Variable(X), core.Variable(Y)
    given = [
        (F.dropout(x, 0.4, return_mask=True), lambda mask: F.dropout(x, 0.4, mask=mask)),
        (F.rrelu(x, return_r=True), lambda r: F.rrelu(x, r=r)),
        (F.gaussian(x, y, return_eps=True), lambda eps: F.gaussian(x, y, eps=eps)),
    ]
    for (first, draw), again in given:
        np.testing.assert_array_equal(again(draw).array, first.array)
    for node, inputs in ((F.Zoneout(0.4), (x, y)), (F.SimplifiedDropconnect(0.4), (x, y))):
        (first,) = node.apply(inputs)
        (again,) = type(node)(0.4, mask=node.mask).apply(inputs)
        np.testing.assert_array_equal(again.array, first.array)


def test_given_draws_are_constants_of_traces_and_those_of_every_example():
    x, draw, W = np.ones((2, 3)), np.array([[0.0, 1, 0], [1, 1, 0]]), np.ones((2, 3))
    functions = (
        lambda x: F.dropout(x, mask=draw),
        lambda x: F.rrelu(x, r=draw),
        lambda x: F.gaussian(x, x, eps=draw),
        lambda x: F.zoneout(x, 2 * x, mask=draw > 0),
        lambda x: F.simplified_dropconnect(x, W, mask=draw),
    )
    for function in functions:
        y = function(x).array
        np.testing.assert_array_equal(core.trace(function, x)(x).array, y)
        np.testing.assert_array_equal(core.vmap(function)(np.stack([x, x])).array, [y, y])


def test_dropped_weights_of_attention_are_as_many_as_asked_for(seeded):
    q, k = np.zeros((300, 2)), np.zeros((300, 2))
    y = F.scaled_dot_product_attention(q, k, np.eye(300), dropout_p=0.3).array
    assert abs(np.mean(y == 0) - 0.3) < 0.01
    np.testing.assert_allclose(y[y != 0], 1 / 300 / 0.7)


def test_dropout_between_layers_drops_as_many_as_asked_for(seeded):
    n = 400
    eye, zero, ones = np.eye(n), np.zeros((n, n)), np.ones((1, n))
    ws, bs = [[eye, zero]] * 2, [[np.zeros(n)] * 2] * 2
    _, ys = F.n_step_rnn(2, 0.3, np.zeros((2, 1, n)), ws, bs, [ones] * 20, "relu")
    y = np.stack([y.array for y in ys])
    assert abs(np.mean(y == 0) - 0.3) < 0.02
    np.testing.assert_allclose(y[y != 0], 1 / 0.7)


def test_draws_of_one_element_do_not_depend_on_others(seeded):
    """Correlations of neighbours, by rows and by columns, are within four standard deviations."""
    x = np.ones((200, 200))
    for y in (
        F.dropout(x, 0.5).array,
        F.zoneout(x, 0 * x, 0.5).array,
        F.gaussian(x, 0 * x).array,
        F.rrelu(-x).array,
    ):
        y = (y - y.mean()) / y.std()
        assert abs((y[1:] * y[:-1]).mean()) < 4 / 200
        assert abs((y[:, 1:] * y[:, :-1]).mean()) < 4 / 200


def test_given_draws_of_another_dtype_do_not_widen():
    x, wide = np.ones(2, "f"), np.array([0.0, 2.0])
    for y in (
        F.dropout(x, mask=wide),
        F.dropout(x, mask=wide > 0),
        F.gaussian(x, x, eps=wide),
        F.simplified_dropconnect(x[None], x[None], mask=wide[None]),
    ):
        assert y.dtype == np.float32
    with pytest.raises(core.type_check.InvalidType, match="Dropout"):
        F.dropout(x, mask=np.ones(3, "f"))

"""core.capture: what a step returns has a graph in eager, and none where the step has gone back."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L

X = np.random.default_rng(0).normal(size=(5, 3)).astype("f")
T = np.array([0, 1, 1, 0, 1])


def losses_and_gradients(link, x, t):
    loss = F.softmax_cross_entropy(link(x), t)
    return loss, core.grad([loss], list(link.params()))


def results_and_slopes(link, x, t):
    y = F.tanh(link(x))
    return y, core.grad([F.sum(y)], [y])


def steps_by_hand(link, x, t):
    loss = F.softmax_cross_entropy(link(x), t)
    parameters = list(link.params())
    for p, g in zip(parameters, core.grad([loss], parameters), strict=True):
        p.array = p.array - 0.1 * g.array
    return loss


def bits(returned):
    if isinstance(returned, (tuple, list)):
        return [bits(each) for each in returned]
    return returned.array.tobytes()


@pytest.mark.parametrize("step", [losses_and_gradients, results_and_slopes, steps_by_hand])
def test_a_step_that_asks_core_grad_is_replayed(step):
    model = L.Linear(3, 2)
    other = model.copy("copy")
    captured = core.capture(lambda x, t: step(model, x, t))
    for scale in (1, 2, -1, 3):
        assert bits(captured(X * scale, T)) == bits(step(other, X * scale, T))
        assert bits(list(model.params())) == bits(list(other.params()))
    assert captured.replayed == 3


def test_gradients_that_go_on_outside_are_left_to_eager():
    model = L.Linear(3, 2)

    @core.capture
    def slope(x):
        x = core.Variable(x)
        return core.grad([F.sum(F.tanh(model(x)))], [x], enable_double_backprop=True)[0]

    with pytest.warns(UserWarning, match="a graph of their own do not count"):
        for _ in range(3):
            model.cleargrads()
            F.sum(slope(X) ** 2).backward()
            assert model.W.grad.any()
    assert slope.replayed == 0

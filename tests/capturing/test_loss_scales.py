"""Captured steps read the loss scale in each replay: what follows overflows needs no recording."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import optimizers

R = np.random.default_rng(0)
X, T = R.standard_normal((8, 6)).astype("e"), (np.arange(8) % 3).astype("i")


class Training:
    """Steps of a network of 16-bit floats, of which some overflow."""

    def __init__(self, dynamic, parts, capture):
        np.random.seed(0)
        with core.using_config("dtype", "float16"):
            self.model = core.Sequential(L.Linear(6, 4), F.relu, L.Linear(4, 3))
        self.optimizer = optimizers.MomentumSGD(0.1).setup(self.model)
        self.optimizer.use_fp32_update()
        self.optimizer.loss_scaling(3, None if dynamic else 8.0)
        self.parts = parts
        self.step = capture(self.update)

    def loss(self, x, t, factor):
        return F.softmax_cross_entropy(self.model(x), t) * factor

    def update(self, x, t, factor):
        if self.parts == 1:
            self.optimizer.update(self.loss, x, t, factor)
            return
        for share, part in ((0.25, slice(0, 2)), (0.75, slice(2, 8))):
            self.optimizer.accumulate(share, self.loss, x[part], t[part], factor)
        self.optimizer.update()

    def run(self, factors):
        """After each step: the scale, what parameters say of it, their arrays and gradients."""
        found = []
        for i, factor in enumerate(factors):
            if i == 12:
                self.optimizer.set_loss_scale(4.0)
            with np.errstate(over="ignore", invalid="ignore"):
                self.step(X, T, np.full((), factor, "e"))
            params = [p for _, p in sorted(self.model.namedparams())]
            arrays = [a.copy() for p in params for a in (p.array, p.grad)]
            scales = [self.optimizer.loss_scale, *[p.loss_scale for p in params]]
            found.append((self.optimizer.t, scales, arrays))
        return found


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("dynamic", [False, True])
def test_steps_are_those_of_eager_whatever_the_scale_becomes(dynamic, parts):
    factors = [1.0] * 8 + [3000.0] + [1.0] * 12
    eager = Training(dynamic, parts, lambda step: step).run(factors)
    captured = Training(dynamic, parts, core.capture)
    for i, (one, other) in enumerate(zip(eager, captured.run(factors), strict=True)):
        assert one[:2] == other[:2], i
        for a, b in zip(one[2], other[2], strict=True):
            np.testing.assert_array_equal(a, b, err_msg=str(i))
    assert len({scales[0] for _, scales, _ in eager}) > (7 if dynamic else 1)
    assert "1 recording" in captured.step.report() and "not" not in captured.step.report()


@pytest.mark.parametrize("where", ["in the step", "after it"])
def test_scales_that_backward_is_given_are_divided_out_again(where):
    def run(capture):
        model = L.Linear(6, 3, initialW=np.ones((3, 6), "f"))
        optimizer, found = optimizers.SGD(0.01).setup(model), []

        @capture
        def step(x):
            loss = F.sum(model(x) ** 2)
            model.cleargrads()
            loss.backward(loss_scale=4.0)
            if where == "in the step":
                optimizer.update()

        for i in range(6):
            step(core.Variable(X.astype("f")) if i % 2 else X.astype("f"))
            scales = model.W.loss_scale, model.b.loss_scale
            if where == "after it":
                optimizer.update()
            if i == 3:
                model.cleargrads()
                F.sum(model.W).backward()  # without a scale, in between
                optimizer.update()
            found.append((scales, model.W.array.tolist(), model.W.grad.tolist()))
        return found, step

    eager, captured = run(lambda step: step), run(core.capture)
    assert eager[0] == captured[0]
    assert captured[1].replayed == 5 and not captured[1].reasons


@pytest.mark.parametrize("capture", [lambda step: step, core.capture])
def test_what_a_step_leaves_out_has_no_factor_of_another(capture):
    """A recording that no longer holds left one, which gradients set by hand were divided by."""
    model = core.Sequential(L.Linear(2, 2), L.Linear(2, 2))
    model.both = True
    optimizer = optimizers.SGD(lr=1.0).setup(model)
    optimizer.set_loss_scale(8.0)

    def loss(x):
        return F.mean(model(x) if model.both else model[0](x))

    step = capture(lambda x: optimizer.update(loss, x))
    for i in range(8):
        model.both = i < 4
        step(np.ones((1, 2), "f"))
    assert [p.loss_scale for p in model.params()] == [None] * 4
    optimizer.set_loss_scale(None)
    before = model[1].b.array.copy()
    model[1].b.grad = np.ones(2, "f")
    optimizer.update()
    np.testing.assert_array_equal(model[1].b.array, before - 1)

"""The release notes' gradients of gradients: powers, and the penalty of WGAN-GP."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import Variable, optimizers


class Generator(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(2, 8)
            self.l2 = L.Linear(8, 3)

    def forward(self, z):
        return F.sigmoid(self.l2(F.tanh(self.l1(z))))


class Critic(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 8)
            self.l2 = L.Linear(None, 1)

    def forward(self, x):
        return self.l2(F.leaky_relu(self.l1(x)))


class SmoothCritic(Critic):
    """Of class C2, for the comparison with differences."""

    def forward(self, x):
        return self.l2(F.softplus(self.l1(x)))


class ImageCritic(core.Chain):
    """Convolution and normalization by layer, as papers use."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(1, 3, 3, pad=1)
            self.l = L.Linear(None, 1)

    def forward(self, x):
        h = F.average_pooling_2d(F.elu(self.conv(x)), 2)
        return self.l(F.normalize(F.reshape(h, (h.shape[0], -1))))


def test_derivatives_of_derivatives():
    x = Variable(np.array([2], "f"))
    y = x * x * x / 3
    (gx,) = core.grad([y], [x], enable_double_backprop=True)
    (ggx,) = core.grad([gx], [x], enable_double_backprop=True)
    assert gx.array == 4 and ggx.array == 4
    y.backward(enable_double_backprop=True)
    assert x.grad_var.array == 4
    x.grad_var = None
    gx.backward()
    assert x.grad_var.array == ggx.array
    (gggx,) = core.grad([ggx], [x], enable_double_backprop=True)
    assert str(gggx) == "variable([2.])"
    assert repr(gggx) == "variable([2.], dtype=float32)"


def penalty_by_backward(critic, x_hat, weight):
    """The form with backward(): x_hat is a leaf of its own, whose gradient is a Variable."""
    critic.cleargrads()
    F.sum(critic(x_hat)).backward(enable_double_backprop=True)
    norms = F.sqrt(F.sum(x_hat.grad_var**2, axis=1))
    return weight * F.mean((norms - 1) ** 2)


def penalty_by_grad(critic, x_hat, weight):
    """The form with grad(), which computes no gradient of parameters on the way."""
    (gx,) = core.grad([critic(x_hat)], [x_hat], enable_double_backprop=True)
    norms = F.sqrt(F.sum(gx**2, axis=1))
    return weight * F.mean((norms - 1) ** 2)


FORMS = {"backward": penalty_by_backward, "grad": penalty_by_grad}


def sample(dtype="float32", n=6):
    rng = np.random.default_rng(0)
    x, z, u = rng.random((n, 3)), rng.normal(size=(n, 2)), rng.random((n, 1))
    return [a.astype(dtype) for a in (x, z, np.broadcast_to(u, (n, 3)).copy())]


def critic_loss(form, generator, critic, x, z, u):
    x_tilde = generator(z)
    x_hat = x + u * (x_tilde - x)
    if form == "backward":
        x_hat = Variable(x_hat.array)
    penalty = FORMS[form](critic, x_hat, 10)
    return F.mean(critic(x_tilde)) - F.mean(critic(x)) + penalty


def gradients(link):
    return {path: p.grad.copy() for path, p in link.namedparams() if p.grad is not None}


def test_both_forms_give_the_same_gradients():
    np.random.seed(0)
    generator, critic = Generator(), Critic()
    found = {}
    for form in FORMS:
        loss = critic_loss(form, generator, critic, *sample())
        critic.cleargrads()
        loss.backward()
        found[form] = gradients(critic)
    assert set(found["grad"]) == {"/l1/W", "/l1/b", "/l2/W", "/l2/b"}
    for path in found["grad"]:
        np.testing.assert_allclose(
            found["backward"][path], found["grad"][path], rtol=1e-4, atol=1e-6
        )


@pytest.mark.parametrize("form", FORMS)
def test_the_gradient_of_the_penalty_is_that_of_differences(form):
    np.random.seed(1)
    with core.using_config("dtype", "float64"):
        generator, critic = Generator(), SmoothCritic()
        x, z, u = sample("float64")

        def loss():
            return critic_loss(form, generator, critic, x, z, u)

        critic.l2(np.zeros((1, 8)))
        value = loss()
        critic.cleargrads()
        value.backward()
        found = gradients(critic)
        for path, parameter in critic.namedparams():
            expected = np.zeros_like(parameter.array)
            for i in np.ndindex(parameter.shape):
                kept, ends = parameter.array[i], []
                for step in (1e-5, -1e-5):
                    parameter.array[i] = kept + step
                    ends.append(float(loss().array))
                parameter.array[i] = kept
                expected[i] = (ends[0] - ends[1]) / 2e-5
            np.testing.assert_allclose(found[path], expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_training_with_the_penalty(form):
    """A critic learns to tell two clouds apart while its slopes stay near one."""
    np.random.seed(2)
    generator, critic = Generator(), Critic()
    optimizer = optimizers.Adam(alpha=0.01, beta1=0.5).setup(critic)
    rng = np.random.default_rng(3)
    distances = []
    for _ in range(60):
        z = rng.normal(size=(16, 2)).astype("f")
        x = (rng.random((16, 3)) * 0.2 + 2).astype("f")
        u = np.repeat(rng.random((16, 1)).astype("f"), 3, axis=1)
        with core.no_backprop_mode():
            x_tilde = generator(z)
            distances.append(float((F.mean(critic(x)) - F.mean(critic(x_tilde))).array))
        loss = critic_loss(form, generator, critic, x, z, u)
        critic.cleargrads()
        loss.backward()
        optimizer.update()
    assert distances[-1] > max(0.5, distances[0] + 0.3)
    x_hat = Variable(np.full((4, 3), 1.3, "f"))
    (gx,) = core.grad([critic(x_hat)], [x_hat])
    assert 0.3 < np.linalg.norm(gx.array, axis=1).mean() < 2


def test_the_generator_learns_through_the_critic():
    np.random.seed(4)
    generator, critic = Generator(), Critic()
    optimizer = optimizers.SGD(0.5).setup(generator)
    z = np.random.default_rng(5).normal(size=(8, 2)).astype("f")
    scores = []
    for _ in range(5):
        loss = -F.mean(critic(generator(z)))
        generator.cleargrads()
        loss.backward()
        optimizer.update()
        scores.append(float(loss.array))
    assert scores == sorted(scores, reverse=True) and scores[0] > scores[-1]


def test_a_penalty_on_images():
    np.random.seed(6)
    critic = ImageCritic()
    x = Variable(np.random.default_rng(7).random((2, 1, 6, 6)).astype("f"))
    (gx,) = core.grad([critic(x)], [x], enable_double_backprop=True)
    penalty = F.mean((F.sqrt(F.sum(gx**2, axis=(1, 2, 3))) - 1) ** 2)
    critic.cleargrads()
    penalty.backward()
    assert set(gradients(critic)) >= {"/conv/W", "/conv/b", "/l/W"}
    assert all(np.isfinite(g).all() and g.dtype == "f" for g in gradients(critic).values())


def test_grad_checks_what_it_is_given():
    x = Variable(np.ones(1, "f"))
    y = x * 2
    for outputs, inputs in ((y, [x]), ([y], x), ([y.array], [x]), ([y], [x.array])):
        with pytest.raises(TypeError, match="grad: expected"):
            core.grad(outputs, inputs)


def test_functions_named_in_the_notes_are_twice_differentiable():
    x = np.random.default_rng(8).normal(size=(2, 3))
    ones = np.ones((2, 3))
    for function, gy in (
        (lambda v: F.flip(v, 1) ** 2, ones),
        (lambda v: F.swapaxes(v, 0, 1) ** 2, ones.T),
        (lambda v: F.permutate(v, np.array([2, 0, 1]), axis=1) ** 2, ones),
        (lambda v: F.get_item(v, (slice(None), 1)) ** 2, np.ones(2)),
        (lambda v: F.stack(F.transpose_sequence([v, v])) ** 2, np.ones((2, 2, 3))),
    ):
        core.gradient_check.check_double_backward(function, x.copy(), gy, x.copy())

"""check_optimizer, from a stranger's view: it passes a right rule and finds every wrong one."""

import itertools

import numpy as np
import pytest

import core
from core.testing import check_optimizer


class LionRule(core.UpdateRule):
    lr: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.99
    state_names = ("m",)

    def step(self, xp, param, grad, m):
        param -= self.lr * xp.sign(self.beta1 * m + (1 - self.beta1) * grad)
        m *= self.beta2
        m += (1 - self.beta2) * grad


def lion(theta, gradients, lr=0.1, beta1=0.9, beta2=0.99):
    m, path = 0.0, []
    for g in gradients:
        mixture = beta1 * m + (1 - beta1) * g
        theta -= lr * (mixture > 0) - lr * (mixture < 0)
        m = beta2 * m + (1 - beta2) * g
        path.append(theta)
    return path


def method(rule):
    """An optimizer of the rule, in this module, where pickle looks for it."""
    if issubclass(rule, core.GradientMethod):
        return rule
    name = rule.__name__.removesuffix("Rule")
    made = type(name, (core.GradientMethod,), {"rule": rule, "__module__": __name__})
    return globals().setdefault(name, made)


def check(rule_class, **options):
    check_optimizer(method(rule_class), lion, ["numpy"], **options)


def test_one_declaration_is_all():
    Lion = method(LionRule)
    check_optimizer(Lion, lion)
    optimizer = Lion(0.2, beta2=0.5)
    assert (optimizer.lr, optimizer.beta1, optimizer.beta2) == (0.2, 0.9, 0.5)
    assert repr(optimizer) == "Lion(lr=0.2, beta1=0.9, beta2=0.5)"


class DeafRule(LionRule):
    """Takes its numbers from elsewhere."""

    def step(self, xp, param, grad, m):
        param -= 0.1 * xp.sign(0.9 * m + (1 - 0.9) * grad)
        m *= 0.99
        m += (1 - 0.99) * grad


class HeedlessRule(LionRule):
    """Asks the optimizer alone."""

    def step(self, xp, param, grad, m):
        shared = self.hyperparam.parent
        param -= shared.lr * xp.sign(shared.beta1 * m + (1 - shared.beta1) * grad)
        m *= shared.beta2
        m += (1 - shared.beta2) * grad


class LargeRule(LionRule):
    """Shows where gradients are large."""

    def step(self, xp, param, grad, m):
        super().step(xp, param, grad, m)
        param += xp.astype(xp.abs(grad) > 40, param.dtype)


class RebindingRule(LionRule):
    def step(self, xp, param, grad, m):
        param = param - self.lr * xp.sign(self.beta1 * m + (1 - self.beta1) * grad)
        m *= self.beta2


class WrongSignRule(LionRule):
    def step(self, xp, param, grad, m):
        super().step(xp, param, -grad, m)


class ScribblingRule(LionRule):
    def step(self, xp, param, grad, m):
        super().step(xp, param, grad, m)
        grad *= 0


class ForgetfulRule(LionRule):
    """Keeps its average where nobody saves it."""

    state_names = ()

    def step(self, xp, param, grad):
        if self.t == 1:
            self.secret = xp.zeros_like(param)
        super().step(xp, param, grad, self.secret)


class UntouchableRule(LionRule):
    """Has a state that can neither be copied nor pickled."""

    def step(self, xp, param, grad, m):
        super().step(xp, param, grad, m)
        self.hook = lambda: None


class ReplacingRule(LionRule):
    """Puts another array in the parameter's place."""

    def update_core(self, param):
        param.array = param.array.copy()
        super().update_core(param)


class Unscaled(core.GradientMethod):
    """Forgets the loss scale."""

    rule = LargeRule

    def set_loss_scale(self, loss_scale):
        pass


class Counting(core.GradientMethod):
    """Changes the state of parameters that are left alone."""

    rule = LionRule

    def before_step(self, steps):
        moving = [id(step.parameter) for step in steps]
        for param in self.target.params(False):
            if id(param) not in moving:
                param.update_rule.state["m"] += 1


class HostOnlyRule(LionRule):
    def step(self, xp, param, grad, m):
        super().step(np, param, grad, m)


class HalvingRule(LionRule):
    """Loses what float32 masters are for."""

    def step(self, xp, param, grad, m):
        super().step(xp, param, grad, m)
        if param.dtype == np.float32:
            param[...] = param.astype("float16")


@pytest.mark.parametrize(
    ("rule", "found_by"),
    [
        (RebindingRule, "trajectory"),
        (WrongSignRule, "trajectory"),
        (ScribblingRule, "trajectory"),
        (ForgetfulRule, "resuming"),
        (UntouchableRule, "resuming"),
        (ReplacingRule, "trajectory"),
        (Counting, "left_alone"),
        (HalvingRule, "trajectory"),
        (DeafRule, "hyperparameters"),
        (HeedlessRule, "hyperparameters"),
        (Unscaled, "loss_scale"),
    ],
)
def test_what_is_wrong_is_found_and_named(rule, found_by):
    with pytest.raises(Exception) as caught:
        check(rule)
    assert any(
        f"check {name!r} of " in note
        for name, note in itertools.product(found_by.split("|"), caught.value.__notes__)
    )


def test_an_optimizer_that_is_made_already_is_refused():
    with pytest.raises(TypeError, match=r"check_optimizer: expected a function .* `lambda: SGD\("):
        check_optimizer(core.optimizers.SGD(0.1))


def test_a_step_that_knows_one_library_fails_on_another_backend():
    with pytest.raises(TypeError) as caught:
        check_optimizer(method(HostOnlyRule), lion, ["strict"])
    assert "on strict in float64" in caught.value.__notes__[0]


def test_a_kernel_that_differs_is_found():
    home = core.backend.get("numpy")

    def kernel(rule, xp, param, grad, m):
        rule.step(xp, param, -grad, m)

    home.update_kernels[LionRule] = kernel
    try:
        with pytest.raises(AssertionError):
            check(LionRule)
        with pytest.raises(AssertionError, match="the kernel of LionRule"):
            check_optimizer(method(LionRule), None, ["numpy"])
    finally:
        del home.update_kernels[LionRule]

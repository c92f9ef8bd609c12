"""Signum, an optimizer whose steps are all of one length."""

import core


class SignumRule(core.UpdateRule):
    """m <- b m + (1 - b) g, then p <- p - lr sign(m)."""

    lr: float = 1e-3
    momentum: float = 0.9
    state_names = ("m",)

    def step(self, xp, param, grad, m):
        m *= self.momentum
        m += (1.0 - self.momentum) * grad
        param -= self.lr * xp.sign(m)


class Signum(core.GradientMethod):
    """Steps by the sign of an average of the gradients.

    Source: Bernstein et al. 2018 (arXiv:1802.04434), algorithm 2.
    """

    rule = SignumRule

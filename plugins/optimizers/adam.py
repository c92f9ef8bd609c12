"""Adam and its siblings: five rules over the same two moments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from core import Parameter
from core.errors import UpdateError
from core.errors.scalars import as_number
from core.optimizer import GradientMethod, UpdateRule
from plugins.optimizers.half import divisor
from plugins.optimizers.moments import MomentsRule


def corrected_rate(hyperparam: Any, t: int) -> float:
    """The rate `alpha` with both bias corrections of step `t` in it; `alpha` itself before any."""
    if t == 0:
        return float(hyperparam.alpha)
    second = 1.0 - hyperparam.beta2**t
    return float(hyperparam.alpha * math.sqrt(second) / (1.0 - hyperparam.beta1**t))


class _AdamsRule(MomentsRule):
    """What the rules of this file share: the rate, and their state in files.

    Files of earlier versions call all five of them `AdamRule`, among whose numbers were options.
    """

    __slots__ = ()

    @property
    def alpha_t(self) -> float:
        """The rate of the present step, bias corrections included."""
        return corrected_rate(self.hyperparam, self.t)

    @property
    def lr(self) -> float:
        """`alpha_t`, by the name that observers of the learning rate look for."""
        return self.alpha_t

    @classmethod
    def continues(cls, rule: str, hyperparameters: Mapping[str, Any]) -> bool:
        """Whether state of the rule that a file names goes on with this one."""
        shared = rule == "AdamRule" and "adabound" in hyperparameters
        return shared or super().continues(rule, hyperparameters)

    def _rate(self, xp: Any, v: Any) -> Any:
        return self.alpha_t / divisor(self, xp, xp.sqrt(v) + self.eps)


class AdamRule(_AdamsRule):
    """The rule of `Adam`: moments `m` and `v`."""

    __slots__ = ()

    def step(self, xp: Any, param: Any, grad: Any, m: Any, v: Any) -> None:
        """One step, in place."""
        self._average(grad, m, v)
        self._move(param, self._rate(xp, v) * m)


class AdamWRule(AdamRule):
    """The rule of `AdamW`: that of `Adam`, whose decay is what it is for."""

    __slots__ = ()


class AMSGradRule(_AdamsRule):
    """The rule of `AMSGrad`: moments `m` and `v`, and the largest `v`, `vhat`."""

    __slots__ = ()
    state_names = ("m", "v", "vhat")

    def step(self, xp: Any, param: Any, grad: Any, m: Any, v: Any, vhat: Any) -> None:
        """One step, in place."""
        self._average(grad, m, v)
        vhat[...] = xp.maximum(vhat, v)
        self._move(param, self._rate(xp, vhat) * m)


class AdaBoundRule(_AdamsRule):
    """The rule of `AdaBound`: moments `m` and `v`, and the rate that later ones are measured by."""

    __slots__ = ("_alpha_at_setup",)

    final_lr: float = 0.1
    gamma: float = 0.001
    ranges = {"final_lr": "[0, inf)", "gamma": "(0, inf)"}

    def __init__(self, *args: Any, **hyperparameters: Any) -> None:
        super().__init__(*args, **hyperparameters)
        self._alpha_at_setup = float(self.alpha)

    def init_state(self, param: Parameter) -> None:
        """Zeros for each moment, and the rate at setup; UpdateError where that was 0."""
        if not self._alpha_at_setup and "initial_alpha" not in self._loaded:
            self._state = None  # there is none yet
            raise UpdateError(
                f"{type(self).__name__}: expected a positive alpha at setup, got 0. Bounds are "
                "multiples of alpha over that one. Construct the optimizer with the alpha that is "
                "to be reached, and set the first one after setup(). Nothing has been updated."
            )
        super().init_state(param)
        state: Any = self.state
        state["initial_alpha"] = self._alpha_at_setup

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds on the rate of each element at the present step."""
        state: Any = self.state
        final = self.final_lr * self.alpha / float(state["initial_alpha"])
        slack = self.gamma * self.t
        return final * (1 - 1 / (slack + 1)), final * (1 + 1 / slack)

    def step(self, xp: Any, param: Any, grad: Any, m: Any, v: Any, initial_alpha: float) -> None:
        """One step, in place."""
        self._average(grad, m, v)
        self._move(param, xp.clip(self._rate(xp, v), *self.bounds) * m)


class AMSBoundRule(AdaBoundRule):
    """The rule of `AMSBound`: that of `AdaBound`, with the largest `v`, `vhat`, in place of `v`."""

    __slots__ = ()
    state_names = ("m", "v", "vhat")

    def step(  # type: ignore[override]
        self, xp: Any, param: Any, grad: Any, m: Any, v: Any, vhat: Any, initial_alpha: float
    ) -> None:
        """One step, in place."""
        self._average(grad, m, v)
        vhat[...] = xp.maximum(vhat, v)
        self._move(param, xp.clip(self._rate(xp, vhat), *self.bounds) * m)


_VARIANTS: dict[tuple[bool, bool], type[UpdateRule]] = {
    (False, False): AdamRule,
    (True, False): AMSGradRule,
    (False, True): AdaBoundRule,
    (True, True): AMSBoundRule,
}


class _Option:
    """An option of `Adam`, which chooses the class of the rules that `setup` gives.

    Args:
        rules: The classes for which the option is true.
    """

    def __init__(self, *rules: type[UpdateRule]) -> None:
        self._rules = rules

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, optimizer: Any, cls: Any = None) -> Any:
        return self if optimizer is None else issubclass(optimizer.rule, self._rules)

    def __set__(self, optimizer: Any, value: Any) -> None:
        name, present = type(optimizer).__name__, self.__get__(optimizer)
        wanted = bool(as_number(name, self._name, value, present))
        if wanted == present:
            return
        if type(optimizer).rule is not AdamRule:
            raise ValueError(
                f"{name}: {self._name} is {present} for {optimizer.rule.__name__}; "
                f"write Adam({self._name}={wanted})."
            )
        if optimizer.target is not None:
            raise ValueError(
                f"{name}: setup() has chosen {optimizer.rule.__name__} by {self._name}={present}; "
                f"write {name}({self._name}={wanted}).setup(...)."
            )
        flags = {"amsgrad": optimizer.amsgrad, "adabound": optimizer.adabound, self._name: wanted}
        optimizer.rule = _VARIANTS[flags["amsgrad"], flags["adabound"]]


class Adam(GradientMethod):
    r"""Adaptive moment estimation.

    .. math::
        m &\leftarrow m + (1 - \beta_1)(g - m) \\
        v &\leftarrow v + (1 - \beta_2)(g^2 - v) \\
        \theta &\leftarrow \theta - \eta \left(\alpha
            \frac{\sqrt{1 - \beta_2^t}}{1 - \beta_1^t} \frac{m}{\sqrt v + \epsilon}
            + \lambda \theta\right)

    This is the second, cheaper form of the paper, in which :math:`\epsilon` is added before the
    correction of v; libraries that use the first form (as PyTorch) differ by a factor on
    :math:`\epsilon` alone. The decay :math:`\lambda` is decoupled from the rate
    :math:`\alpha`, as in the paper on AdamW; PyTorch's AdamW multiplies the two.

    Args:
        alpha: The rate :math:`\alpha`.
        beta1: Share of the first moment that is kept.
        beta2: Share of the second moment that is kept.
        eps: Added to the root of the second moment.
        eta: Factor on the whole change, to be scheduled.
        weight_decay_rate: The decay :math:`\lambda`.
        amsgrad: Use the largest v so far in place of v, as `AMSGrad` does.
        adabound: Keep the rate of every element within bounds that close in on `final_lr`, as
            `AdaBound` does; with `amsgrad`, as `AMSBound` does.
        final_lr: Where the bounds meet.
        gamma: How fast they do.

    `amsgrad` and `adabound` are decided by `setup`, which gives each parameter its rule.

    Sources: Kingma and Ba 2015 (arXiv:1412.6980), section 2; Loshchilov and Hutter 2019
    (arXiv:1711.05101), algorithm 2; Reddi et al. 2018 (arXiv:1904.09237), algorithm 2; Luo et al.
    2019 (arXiv:1902.09843), algorithm 2.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.Adam(alpha=0.1).setup(model)
    >>> for step in range(3):
    ...     optimizer.update(lambda: model.x * model.x)
    >>> model.x.array.round(3)
    array([0.702])
    """

    rule: ClassVar[type[UpdateRule] | None] = AdamRule
    variants = (AdaBoundRule,)
    arguments = (*AdamRule.hyperparameters, "amsgrad", "adabound", "final_lr", "gamma")
    settings = {"amsgrad": False, "adabound": False}
    amsgrad: bool = _Option(AMSGradRule, AMSBoundRule)  # type: ignore[assignment]
    adabound: bool = _Option(AdaBoundRule)  # type: ignore[assignment]

    @property
    def alpha_t(self) -> float:
        """The rate of the current step, with bias corrections."""
        return corrected_rate(self.hyperparam, self.t)

    @property
    def lr(self) -> float:
        """`alpha_t`, by the name that observers look for. Set `alpha` to change it."""
        return self.alpha_t

    @lr.setter
    def lr(self, rate: float) -> None:
        name = type(self).__name__
        raise AttributeError(
            f"{name}.lr: it follows from alpha and the step. Set {name}.alpha instead."
        )


class AdamW(Adam):
    r"""Adam with decoupled weight decay.

    .. math:: \theta \leftarrow \theta - \eta (d + \lambda \theta)

    with the change d of Adam. The decay is 0 unless given, as in Chainer, and multiplied by `eta`
    alone, not by `alpha`: PyTorch's AdamW(lr, weight_decay=w) is this one with weight_decay_rate =
    lr * w.

    Args: as for `Adam`. Source: Loshchilov and Hutter 2019 (arXiv:1711.05101), algorithm 2.

    >>> import core
    >>> core.optimizers.AdamW(weight_decay_rate=0.01).weight_decay_rate
    0.01
    """

    rule = AdamWRule
    arguments = tuple(AdamWRule.hyperparameters)
    settings = {}


class AMSGrad(Adam):
    r"""Adam whose second moment never shrinks: `Adam` with `amsgrad=True`.

    .. math:: \hat v \leftarrow \max(\hat v, v)

    stands in the place of v.

    Args: as for `Adam`. Source: Reddi et al. 2018 (arXiv:1904.09237), algorithm 2.

    >>> import core
    >>> core.optimizers.AMSGrad().amsgrad
    True
    """

    rule = AMSGradRule
    arguments = ("alpha", "beta1", "beta2", "eps", "eta")
    settings = {}


class AdaBound(Adam):
    r"""Adam that turns into SGD: bounds on the rate of each element close in on one rate.

    .. math:: r \left(1 - \frac{1}{\gamma t + 1}\right) \le \frac{\alpha_t}{\sqrt v + \epsilon}
        \le r \left(1 + \frac{1}{\gamma t}\right)

    holds for the rate of each element: what is outside goes to the bound. r is `final_lr`, in
    proportion to `alpha` where that has changed since setup.

    Args: as for `Adam`. Source: Luo et al. 2019 (arXiv:1902.09843), algorithm 2.

    >>> import core
    >>> core.optimizers.AdaBound().final_lr
    0.1
    """

    rule = AdaBoundRule
    arguments = ("alpha", "beta1", "beta2", "final_lr", "gamma", "eps", "eta")
    settings = {}


class AMSBound(AdaBound):
    r"""AdaBound over AMSGrad: `Adam` with `adabound=True` and `amsgrad=True`.

    The bounds are those of `AdaBound`, and :math:`\hat v \leftarrow \max(\hat v, v)` stands in
    the place of v.

    Args: as for `Adam`. Source: Luo et al. 2019 (arXiv:1902.09843), algorithm 2.

    >>> import core
    >>> optimizer = core.optimizers.AMSBound()
    >>> optimizer.amsgrad, optimizer.adabound
    (True, True)
    """

    rule = AMSBoundRule

"""Optimizers: update rules, their hyper-parameters, and the step from a loss to new parameters.

Start with `gradient_method`, then `step` and `update_rule`; the algorithms themselves are plugins.
"""

from typing import TYPE_CHECKING, Any

from core.optimizer.elements import Unrecorded as Unrecorded
from core.optimizer.elements import record_step as record_step
from core.optimizer.gradient_method import GradientMethod as GradientMethod
from core.optimizer.hyperparameter import Hyperparameter as Hyperparameter
from core.optimizer.hyperparameter import HyperparameterProxy as HyperparameterProxy
from core.optimizer.hyperparameter import Quantity as Quantity
from core.optimizer.optimizer import Optimizer as Optimizer
from core.optimizer.parameter_group import ParameterGroup as ParameterGroup
from core.optimizer.prepared import PreparedStep as PreparedStep
from core.optimizer.step import Step as Step
from core.optimizer.update_rule import UpdateRule as UpdateRule
from core.registry import catalogue
from core.registry.public import listing

__all__ = [
    "GradientMethod",
    "Hyperparameter",
    "HyperparameterProxy",
    "Optimizer",
    "ParameterGroup",
    "PreparedStep",
    "Quantity",
    "Step",
    "Unrecorded",
    "UpdateRule",
    "record_step",
]

__dir__ = listing(__name__)


if TYPE_CHECKING:
    from core.optimizer_hooks import ExponentialMovingAverage as ExponentialMovingAverage
    from core.optimizer_hooks import GradientClipping as GradientClipping
    from core.optimizer_hooks import GradientHardClipping as GradientHardClipping
    from core.optimizer_hooks import GradientLARS as GradientLARS
    from core.optimizer_hooks import GradientNoise as GradientNoise
    from core.optimizer_hooks import GradientValueClipping as GradientValueClipping
    from core.optimizer_hooks import Lasso as Lasso
    from core.optimizer_hooks import WeightDecay as WeightDecay
    from core.optimizer_hooks import exponential_decay_noise as exponential_decay_noise
else:  # checkers shall not take every name for known

    def __getattr__(name: str) -> Any:
        """The hooks, which existing scripts look for here: `core.optimizer.WeightDecay`."""
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return catalogue("optimizer_hooks").get(name)

"""Optimizers: update rules, their hyper-parameters, and the step from a loss to new parameters.

Start with `optimizer`, then `step` and `update_rule`; the algorithms themselves are plugins.
"""

from typing import Any

from core.optimizer.hyperparameter import Hyperparameter as Hyperparameter
from core.optimizer.hyperparameter import HyperparameterProxy as HyperparameterProxy
from core.optimizer.hyperparameter import Quantity as Quantity
from core.optimizer.optimizer import GradientMethod as GradientMethod
from core.optimizer.optimizer import Optimizer as Optimizer
from core.optimizer.parameter_group import ParameterGroup as ParameterGroup
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
    "Quantity",
    "Step",
    "UpdateRule",
]

__dir__ = listing(__name__)


def __getattr__(name: str) -> Any:
    """The hooks, which existing scripts look for here: `core.optimizer.WeightDecay`."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return catalogue("optimizer_hooks").get(name)

"""An extension that watches how large the gradient is."""

import math

import core
from core import training


class ReportGradientNorm(training.Extension):
    """Report the Euclidean norm of the gradient of all parameters after each update.

    Args:
        optimizer: Name of the optimizer to watch.
        name: Under which to report.
    """

    trigger = (1, "iteration")
    priority = training.PRIORITY_WRITER

    def __init__(self, optimizer: str = "main", name: str = "gradient_norm"):
        self.optimizer = optimizer
        self.name = name

    def __call__(self, trainer):
        target = trainer.updater.get_optimizer(self.optimizer).target
        total = 0.0
        for parameter in target.params(include_uninit=False):
            if parameter.grad is not None:
                total += float(parameter.xp.sum(parameter.grad * parameter.grad))
        core.report({self.name: math.sqrt(total)})

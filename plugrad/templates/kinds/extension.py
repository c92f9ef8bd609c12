"""The extension `Thing`."""

import math
from typing import Any

import core
from core import training


class Thing(training.Extension):
    """Report the Euclidean norm of all parameters after each update.

    Args:
        entry: The name under which to report.
    """

    trigger = (1, "iteration")
    priority = training.PRIORITY_WRITER
    ranks = "each"  # of several that train together; "first" for what only prints or writes

    def __init__(self, entry: str = "norm") -> None:
        self.entry = entry

    def __call__(self, trainer: Any) -> None:
        target = trainer.updater.get_optimizer("main").target
        squares = [float((p.array**2).sum()) for p in target.params(include_uninit=False)]
        core.report({self.entry: math.sqrt(sum(squares))})

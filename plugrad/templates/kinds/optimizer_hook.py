"""The hook of optimizers `Thing`."""

from typing import Any


class Thing:
    """Multiply all gradients by a number before they are used.

    Args:
        rate: The number.
    """

    name = "Thing"
    timing = "pre"

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, optimizer: Any) -> None:
        for param in optimizer.target.params(include_uninit=False):
            if param.grad is not None:
                param.grad = param.grad * self.rate

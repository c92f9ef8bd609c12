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
        for _, param in optimizer.working():  # float32 masters, where there are some
            param.grad = param.grad * self.rate

"""The link `Thing`."""

from typing import Any

import core
import core.functions as F
import core.links as L
from core import Variable


class Thing(core.Chain):
    """A linear layer followed by tanh.   x: (n, in_size) -> (n, out_size).

    Args:
        in_size: Size of the input; None to take it from the first one.
        out_size: Size of the output.
    """

    def __init__(self, in_size: int | None, out_size: int) -> None:
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(in_size, out_size)

    def forward(self, x: Any) -> Variable:
        return F.tanh(self.linear(x))

"""A layer that uses the function next door and a bundled link."""

from typing import Any

import core
import core.links as L
from core import Variable
from plugrad_mish.mish import mish


class LinearMish(core.Chain):
    """A linear layer followed by mish.   x: (n, in_size) -> (n, out_size).

    Args:
        in_size: Size of the input; None to take it from the first one.
        out_size: Size of the output.
    """

    def __init__(self, in_size: int | None, out_size: int):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(in_size, out_size)

    def forward(self, x: Any) -> Variable:
        return mish(self.linear(x))

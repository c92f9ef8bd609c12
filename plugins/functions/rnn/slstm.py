"""The S-LSTM cell, which joins two children in a tree (Zhu, Sobhani and Guo 2015)."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, real
from core.typing import AnyArray
from plugins.functions.derived import function_of
from plugins.functions.rnn.lstm import gate, interleaved, sigmoid, through_output


class SLSTM(FunctionNode):
    """Apply one unit of long short-term memory to two children.

    With the columns of x1 and x2 assigned in turn to a, i, f and o:
    c = tanh(a₁) σ(i₁) + tanh(a₂) σ(i₂) + σ(f₁) c_prev1 + σ(f₂) c_prev2 and h = σ(o₁ + o₂) tanh(c).

    Args:
        c_prev1: Cell states of the first children, (n, u, ...), floating.
        c_prev2: Those of the second ones, alike.
        x1: What the first children give to the gates, (n, 4 u, ...), of the same dtype.
        x2: What the second ones give, alike.

    Returns:
        A pair: the cell states and the outputs, both (n, u, ...).

    Raises:
        InvalidType: Sizes or dtypes do not fit.

    Source: Zhu, Sobhani and Guo 2015, "Long short-term memory over recursive structures", ICML.

    >>> import core.functions as F, numpy as np
    >>> one, zero = np.ones((1, 2), "f"), np.zeros((1, 8), "f")
    >>> c, h = F.slstm(one, one, zero, zero)
    >>> c
    variable([[1., 1.]], dtype=float32)
    """

    output_names = ("c", "h")
    saved = ("a1", "a2", "i1", "i2", "f1", "f2", "o")
    wide = True
    domain = Domain(
        "(n,u,...),(n,u,...),(n,v,...),(n,v,...)->(n,u,...),(n,u,...)",
        c_prev1=real(-2, 2),
        c_prev2=real(-2, 2),
        x1=real(-3, 3),
        x2=real(-3, 3),
        dims={"v": "4 * u", "...": (0, 1)},
    )

    def recompute_a1(self, xp: Any, x1: AnyArray) -> AnyArray:
        return xp.tanh(gate(xp, x1, 0))

    def recompute_a2(self, xp: Any, x2: AnyArray) -> AnyArray:
        return xp.tanh(gate(xp, x2, 0))

    def recompute_i1(self, xp: Any, x1: AnyArray) -> AnyArray:
        return sigmoid(xp, gate(xp, x1, 1))

    def recompute_i2(self, xp: Any, x2: AnyArray) -> AnyArray:
        return sigmoid(xp, gate(xp, x2, 1))

    def recompute_f1(self, xp: Any, x1: AnyArray) -> AnyArray:
        return sigmoid(xp, gate(xp, x1, 2))

    def recompute_f2(self, xp: Any, x2: AnyArray) -> AnyArray:
        return sigmoid(xp, gate(xp, x2, 2))

    def recompute_o(self, xp: Any, x1: AnyArray, x2: AnyArray) -> AnyArray:
        return sigmoid(xp, gate(xp, x1, 3) + gate(xp, x2, 3))

    def compute(self, xp, c_prev1, c_prev2, x1, x2):
        self.a1, self.a2 = self.recompute_a1(xp, x1), self.recompute_a2(xp, x2)
        self.i1, self.i2 = self.recompute_i1(xp, x1), self.recompute_i2(xp, x2)
        self.f1, self.f2 = self.recompute_f1(xp, x1), self.recompute_f2(xp, x2)
        self.o = self.recompute_o(xp, x1, x2)
        c = self.a1 * self.i1 + self.a2 * self.i2 + self.f1 * c_prev1 + self.f2 * c_prev2
        return c, self.o * xp.tanh(c)

    def gradient(self, xp, g, c_prev1, c_prev2, c, a1, a2, i1, i2, f1, f2, o):
        gc, gh = g
        gc, go = through_output(xp, gc, gh, c, o)
        gx1, gx2 = [
            interleaved(
                xp,
                gc * i * (1.0 - a * a),
                gc * a * i * (1.0 - i),
                gc * before * f * (1.0 - f),
                go,
            )
            for before, a, i, f in ((c_prev1, a1, i1, f1), (c_prev2, a2, i2, f2))
        ]
        return gc * f1, gc * f2, gx1, gx2


slstm = function_of(SLSTM, "slstm")

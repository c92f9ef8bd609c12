"""The step of a gated recurrent unit (Cho et al. 2014, arXiv:1406.1078)."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, real
from core.typing import AnyArray
from plugins.functions.rnn.lstm import sigmoid


class GRUStep(FunctionNode):
    """h = (1 - z) a + z h_prev, with r, z and a from what the input and h_prev give to them.

    x and q have the blocks r, z, a: r = sigmoid(x_r + q_r), z = sigmoid(x_z + q_z),
    a = tanh(x_a + r q_a).
    """

    saved = ("r", "z", "a")
    wide = True
    domain = Domain(
        "(n,u),(n,v),(n,v)->(n,u)",
        h=real(-1, 1),
        x=real(-3, 3),
        q=real(-3, 3),
        dims={"v": "3 * u"},
    )

    def recompute_r(self, xp: Any, x: AnyArray, q: AnyArray) -> AnyArray:
        return self.squashed(xp, x, q, 0)

    def recompute_z(self, xp: Any, x: AnyArray, q: AnyArray) -> AnyArray:
        return self.squashed(xp, x, q, 1)

    def recompute_a(self, xp: Any, x: AnyArray, q: AnyArray) -> AnyArray:
        return xp.tanh(block(x, 2) + self.squashed(xp, x, q, 0) * block(q, 2))

    def squashed(self, xp: Any, x: AnyArray, q: AnyArray, number: int) -> AnyArray:
        return sigmoid(xp, block(x, number) + block(q, number))

    def compute(self, xp, h, x, q):
        self.r, self.z = self.recompute_r(xp, x, q), self.recompute_z(xp, x, q)
        self.a = xp.tanh(block(x, 2) + self.r * block(q, 2))
        return self.a + self.z * (h - self.a)

    def gradient(self, xp, g, h, q, r, z, a):
        gz = g * (h - a) * z * (1.0 - z)
        ga = g * (1.0 - z) * (1.0 - a * a)
        gr = ga * block(q, 2) * r * (1.0 - r)
        gx = xp.concat([gr, gz, ga], axis=1)
        gq = xp.concat([gr, gz, ga * r], axis=1)
        return g * z, gx, gq


def block(x: AnyArray, number: int) -> AnyArray:
    """One of three equal blocks of columns."""
    units = x.shape[1] // 3
    return x[:, number * units : (number + 1) * units]

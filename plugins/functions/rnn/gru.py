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
        self.r, self.z, self.a = gru_gates(xp, x, q)
        return self.a + self.z * (h - self.a)

    def gradient(self, xp, g, h, q, r, z, a):
        return gru_gradient(xp, g, h, r, z, a, block(q, 2))


def gru_gates(xp: Any, x: Any, q: Any) -> tuple[Any, Any, Any]:
    """r, z and a of `GRUStep`."""
    r, z = [sigmoid(xp, block(x, number) + block(q, number)) for number in (0, 1)]
    return r, z, xp.tanh(block(x, 2) + r * block(q, 2))


def gru_gradient(xp: Any, g: Any, h: Any, r: Any, z: Any, a: Any, qa: Any) -> tuple[Any, Any, Any]:
    """The gradients of h, x and q of `GRUStep`; qa is the last block of q."""
    gz = g * (h - a) * z * (1.0 - z)
    ga = g * (1.0 - z) * (1.0 - a * a)
    gr = ga * qa * r * (1.0 - r)
    return g * z, xp.concat([gr, gz, ga], axis=1), xp.concat([gr, gz, ga * r], axis=1)


def block(x: AnyArray, number: int) -> AnyArray:
    """One of three equal blocks of columns."""
    units = x.shape[1] // 3
    return x[:, number * units : (number + 1) * units]

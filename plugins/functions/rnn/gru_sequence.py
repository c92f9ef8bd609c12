"""Gated recurrent units (Cho et al. 2014, arXiv:1406.1078) over whole sequences."""

from __future__ import annotations

from typing import Any

from core import Domain, real
from core.typing import AnyArray
from plugins.functions.rnn.lstm import sigmoid
from plugins.functions.rnn.sequence import SETTINGS, _RecurrentSequence, fits


class GRUSequence(_RecurrentSequence):
    """h = (1 - z) a + z h_prev, with r, z and a from x and the product q of h_prev, b added.

    Both have the blocks r, z, a: r = sigmoid(x_r + q_r), z = sigmoid(x_z + q_z),
    a = tanh(x_a + r q_a). Kept are r, z, q_a and a.
    """

    output_names = ("h", "h_last")
    saved = ("gates",)
    domain = Domain(
        "(n,u),(r,v),(v,u),(v)->(r,u),(n,u)",
        h_first=real(-1, 1),
        x=real(-2, 2),
        W=real(-1, 1),
        b=real(-1, 1),
        settings=SETTINGS,
        dims={"v": "3 * u", "r": (1, 9)},
        valid=fits,
    )

    def recompute_gates(
        self, xp: Any, h_first: AnyArray, x: AnyArray, W: AnyArray, b: AnyArray
    ) -> AnyArray:
        return self.walk(xp, (h_first,), x, W, b)[0][1]

    def step(self, xp: Any, states: Any, x: Any, q: Any) -> tuple[list[Any], list[Any]]:
        r, z = [sigmoid(xp, _block(x, number) + _block(q, number)) for number in (0, 1)]
        inner = _block(q, 2)
        a = xp.tanh(_block(x, 2) + r * inner)
        return [a + z * (states[0] - a)], [xp.stack([r, z, inner, a], axis=1)]

    def step_back(
        self, xp: Any, g: Any, before: Any, after: Any, kept: Any
    ) -> tuple[list[Any], Any, Any]:
        (g,), (h,) = g, before
        r, z, inner, a = [kept[0][:, number, :] for number in range(4)]
        gz = g * (h - a) * z * (1.0 - z)
        ga = g * (1.0 - z) * (1.0 - a * a)
        gr = ga * inner * r * (1.0 - r)
        return [g * z], xp.concat([gr, gz, ga], axis=1), xp.concat([gr, gz, ga * r], axis=1)

    def compute(self, xp, h_first, x, W, b):
        (h, self.gates), last = self.walk(xp, (h_first,), x, W, b)
        return h, *last

    def gradient(self, xp, g, h_first, W, h, gates):
        first, gx, gW, gq = self.walk_back(xp, g, (h_first,), (h,), (gates,), W)
        return *first, gx, gW, xp.sum(gq, axis=0)


def _block(x: AnyArray, number: int) -> AnyArray:
    """One of three equal blocks of columns."""
    units = x.shape[1] // 3
    return x[:, number * units : (number + 1) * units]

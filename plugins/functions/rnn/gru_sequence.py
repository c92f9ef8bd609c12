"""Gated recurrent units over a whole sequence, as one operation."""

from __future__ import annotations

from typing import Any

from core import Domain, real
from core.typing import AnyArray
from plugins.functions.rnn.gru import block, gru_gates, gru_gradient
from plugins.functions.rnn.sequence import _RecurrentSequence


class GRUSequence(_RecurrentSequence):
    """Steps of `GRUStep`, b added to the products; r, z, a and the last block of q are kept."""

    saved = ("gates",)
    domain = Domain(
        "(n,u),(t,n,v),(v,u),(v)->(t,n,u)",
        h_first=real(-1, 1),
        x=real(-2, 2),
        W=real(-1, 1),
        b=real(-1, 1),
        dims={"v": "3 * u", "t": (1, 4)},
    )

    def recompute_gates(
        self, xp: Any, h_first: AnyArray, x: AnyArray, W: AnyArray, b: AnyArray
    ) -> AnyArray:
        return self.walk(xp, (h_first,), x, W, b)[1]

    def step(self, xp: Any, states: Any, x: Any, q: Any) -> tuple[list[Any], list[Any]]:
        r, z, a = gru_gates(xp, x, q)
        return [a + z * (states[0] - a)], [xp.stack([r, z, a, block(q, 2)], axis=1)]

    def step_back(
        self, xp: Any, g: Any, before: Any, after: Any, kept: Any
    ) -> tuple[list[Any], Any, Any]:
        gates = [kept[0][:, number, :] for number in range(4)]
        gh, gx, gq = gru_gradient(xp, g[0], before[0], *gates)
        return [gh], gx, gq

    def compute(self, xp, h_first, x, W, b):
        h, self.gates = self.walk(xp, (h_first,), x, W, b)
        return h

    def gradient(self, xp, g, h_first, W, gates, out):
        first, gx, gW, gq = self.walk_back(xp, (g,), (h_first,), (out,), (gates,), W)
        return *first, gx, gW, xp.sum(gq, axis=(0, 1))

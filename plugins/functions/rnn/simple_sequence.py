"""Simple recurrent units over a whole sequence, as one operation."""

from __future__ import annotations

from typing import Any

from core import Domain, real
from plugins.functions.rnn.sequence import _RecurrentSequence


class _SimpleSequence(_RecurrentSequence):
    """h = f(x + W h_prev): what is the same whatever the activation f."""

    def compute(self, xp, h_first, x, W):
        return self.walk(xp, (h_first,), x, W)[0]

    def gradient(self, xp, g, h_first, W, out):
        first, gx, gW, _ = self.walk_back(xp, (g,), (h_first,), (out,), (), W)
        return *first, gx, gW


class TanhSequence(_SimpleSequence):
    """Steps of tanh(x + W h_prev)."""

    domain = Domain(
        "(n,u),(t,n,u),(u,u)->(t,n,u)",
        h_first=real(-1, 1),
        x=real(-2, 2),
        W=real(-1, 1, mixed=True),
        dims={"t": (1, 4)},
    )

    def step(self, xp: Any, states: Any, x: Any, q: Any) -> tuple[list[Any], list[Any]]:
        return [xp.tanh(x + q)], []

    def step_back(
        self, xp: Any, g: Any, before: Any, after: Any, kept: Any
    ) -> tuple[list[Any], Any, Any]:
        gx = g[0] * (1.0 - after[0] * after[0])
        return [None], gx, gx


class ReLUSequence(_SimpleSequence):
    """Steps of max(x + W h_prev, 0)."""

    domain = Domain(
        "(n,u),(t,n,u),(u,u)->(t,n,u)",
        h_first=real(-1, 1),
        x=real(-2, 2, kinks=(0,)),
        W=real(-0.005, 0.005, mixed=True),  # so that no product takes x across its kink
        dims={"t": (1, 4)},
    )

    def step(self, xp: Any, states: Any, x: Any, q: Any) -> tuple[list[Any], list[Any]]:
        return [xp.maximum(x + q, 0.0)], []

    def step_back(
        self, xp: Any, g: Any, before: Any, after: Any, kept: Any
    ) -> tuple[list[Any], Any, Any]:
        gx = xp.where(after[0] > 0, g[0], 0.0)
        return [None], gx, gx

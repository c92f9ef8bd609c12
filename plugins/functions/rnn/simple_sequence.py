"""Simple recurrent units over whole sequences, as one operation."""

from __future__ import annotations

from typing import Any

from core import Domain, real
from plugins.functions.rnn.sequence import SETTINGS, _RecurrentSequence, fits


def _domain(x: Any, W: Any) -> Domain:
    return Domain(
        "(n,u),(r,u),(u,u)->(r,u),(n,u)",
        h_first=real(-1, 1),
        x=x,
        W=W,
        settings=SETTINGS,
        dims={"r": (1, 9)},
        valid=fits,
    )


class _SimpleSequence(_RecurrentSequence):
    """h = f(x + W h_prev): what is the same whatever the activation f."""

    output_names = ("h", "h_last")

    def compute(self, xp, h_first, x, W):
        (h,), last = self.walk(xp, (h_first,), x, W)
        return h, *last

    def gradient(self, xp, g, h_first, W, h):
        first, gx, gW, _ = self.walk_back(xp, g, (h_first,), (h,), (), W)
        return *first, gx, gW


class TanhSequence(_SimpleSequence):
    """Steps of tanh(x + W h_prev)."""

    domain = _domain(real(-2, 2), real(-1, 1, mixed=True))

    def step(self, xp: Any, states: Any, x: Any, q: Any) -> tuple[list[Any], list[Any]]:
        return [xp.tanh(x + q)], []

    def step_back(
        self, xp: Any, g: Any, before: Any, after: Any, kept: Any
    ) -> tuple[list[Any], Any, Any]:
        gx = g[0] * (1.0 - after[0] * after[0])
        return [None], gx, gx


class ReLUSequence(_SimpleSequence):
    """Steps of max(x + W h_prev, 0)."""

    # No product takes x across its kink.
    domain = _domain(real(-2, 2, kinks=(0,)), real(-0.005, 0.005, mixed=True))

    def step(self, xp: Any, states: Any, x: Any, q: Any) -> tuple[list[Any], list[Any]]:
        return [xp.maximum(x + q, 0.0)], []

    def step_back(
        self, xp: Any, g: Any, before: Any, after: Any, kept: Any
    ) -> tuple[list[Any], Any, Any]:
        gx = xp.where(after[0] > 0, g[0], 0.0)
        return [None], gx, gx

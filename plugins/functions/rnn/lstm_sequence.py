"""Long short-term memory over whole sequences, as one operation."""

from __future__ import annotations

from typing import Any

from core import Domain, real
from core.typing import AnyArray
from plugins.functions.rnn.lstm import LSTM, cell_gradient
from plugins.functions.rnn.sequence import SETTINGS, _RecurrentSequence, fits


class LSTMSequence(_RecurrentSequence):
    """Steps of `LSTM`; of the gates a, i, f and o are kept, each by itself."""

    output_names = ("h", "h_last", "c_last")
    saved = ("gates", "c")
    domain = Domain(
        "(n,u),(n,u),(r,v),(v,u)->(r,u),(n,u),(n,u)",
        h_first=real(-1, 1),
        c_first=real(-2, 2),
        x=real(-2, 2),
        W=real(-1, 1),
        settings=SETTINGS,
        dims={"v": "4 * u", "r": (1, 9)},
        valid=fits,
    )

    def recompute_gates(
        self, xp: Any, h_first: AnyArray, c_first: AnyArray, x: AnyArray, W: AnyArray
    ) -> AnyArray:
        return self.walk(xp, (h_first, c_first), x, W)[0][2]

    def recompute_c(
        self, xp: Any, h_first: AnyArray, c_first: AnyArray, x: AnyArray, W: AnyArray
    ) -> AnyArray:
        return self.walk(xp, (h_first, c_first), x, W)[0][1]

    def step(self, xp: Any, states: Any, x: Any, q: Any) -> tuple[list[Any], list[Any]]:
        cell, z = LSTM(), x + q
        rules = (cell.recompute_a, cell.recompute_i, cell.recompute_f, cell.recompute_o)
        a, i, f, o = [rule(xp, z) for rule in rules]
        c = a * i + f * states[1]
        return [o * xp.tanh(c), c], [xp.stack([a, i, f, o], axis=1)]

    def step_back(
        self, xp: Any, g: Any, before: Any, after: Any, kept: Any
    ) -> tuple[list[Any], Any, Any]:
        gh, gc = g
        gates = [kept[0][:, number, :] for number in range(4)]
        gc, gz = cell_gradient(xp, gc, gh, before[1], after[1], *gates)
        return [None, gc], gz, gz

    def compute(self, xp, h_first, c_first, x, W):
        (h, self.c, self.gates), last = self.walk(xp, (h_first, c_first), x, W)
        return h, *last

    def gradient(self, xp, g, h_first, c_first, W, h, gates, c):
        firsts, gx, gW, _ = self.walk_back(xp, g, (h_first, c_first), (h, c), (gates,), W)
        return *firsts, gx, gW

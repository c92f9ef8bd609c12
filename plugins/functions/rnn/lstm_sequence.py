"""Long short-term memory over a whole sequence, as one operation."""

from __future__ import annotations

from typing import Any

from core import Domain, real
from core.typing import AnyArray
from plugins.functions.rnn.lstm import LSTM, cell_gradient
from plugins.functions.rnn.sequence import _RecurrentSequence


class LSTMSequence(_RecurrentSequence):
    """Steps of `LSTM`; of the gates a, i, f and o are kept, each by itself."""

    output_names = ("h", "c_last")
    saved = ("gates", "c")
    domain = Domain(
        "(n,u),(n,u),(t,n,v),(v,u)->(t,n,u),(n,u)",
        h_first=real(-1, 1),
        c_first=real(-2, 2),
        x=real(-2, 2),
        W=real(-1, 1),
        dims={"v": "4 * u", "t": (1, 4)},
    )

    def recompute_gates(
        self, xp: Any, h_first: AnyArray, c_first: AnyArray, x: AnyArray, W: AnyArray
    ) -> AnyArray:
        return self.walk(xp, (h_first, c_first), x, W)[2]

    def recompute_c(
        self, xp: Any, h_first: AnyArray, c_first: AnyArray, x: AnyArray, W: AnyArray
    ) -> AnyArray:
        return self.walk(xp, (h_first, c_first), x, W)[1]

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
        h, self.c, self.gates = self.walk(xp, (h_first, c_first), x, W)
        return h, self.c[-1, ...]

    def gradient(self, xp, g, h_first, c_first, W, h, gates, c):
        firsts, gx, gW, _ = self.walk_back(xp, g, (h_first, c_first), (h, c), (gates,), W)
        return *firsts, gx, gW

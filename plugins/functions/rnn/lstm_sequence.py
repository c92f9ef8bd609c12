"""Long short-term memory over a whole sequence, as one operation."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, real
from core.typing import AnyArray
from plugins.functions.rnn.lstm import LSTM, cell_gradient


class LSTMSequence(FunctionNode):
    """Steps of `LSTM` over the first axis of x, to which each adds the product of W and its state.

    The gradient of W is one product over all steps, where steps by themselves would each make a
    matrix of its size.
    """

    output_names = ("h", "c_last")
    saved = ("z", "c")
    wide = True
    domain = Domain(
        "(n,u),(n,u),(t,n,v),(v,u)->(t,n,u),(n,u)",
        h_first=real(-1, 1),
        c_first=real(-2, 2),
        x=real(-2, 2),
        W=real(-1, 1),
        dims={"v": "4 * u", "t": (1, 4)},
    )

    def recompute_z(
        self, xp: Any, h_first: AnyArray, c_first: AnyArray, x: AnyArray, W: AnyArray
    ) -> AnyArray:
        return self.trace(xp, h_first, c_first, x, W)[0]

    def recompute_c(
        self, xp: Any, h_first: AnyArray, c_first: AnyArray, x: AnyArray, W: AnyArray
    ) -> AnyArray:
        return self.trace(xp, h_first, c_first, x, W)[1]

    def trace(self, xp: Any, h: AnyArray, c: AnyArray, x: AnyArray, W: AnyArray) -> list[AnyArray]:
        """Inputs of the gates, cell states and outputs of all steps."""
        kept, transposed = [], xp.matrix_transpose(W)
        for step in range(x.shape[0]):
            z = x[step, ...] + xp.matmul(h, transposed)
            c, h = LSTM().evaluate(c, z)
            kept.append((z, c, h))
        return [xp.stack(each, axis=0) for each in zip(*kept, strict=True)]

    def compute(self, xp, h_first, c_first, x, W):
        self.z, self.c, h = self.trace(xp, h_first, c_first, x, W)
        return h, self.c[-1, ...]

    def gradient(self, xp, g, h_first, c_first, W, h, z, c):
        gh_all, gc = g
        steps, n, units = c.shape
        rows, cell = xp.reshape(z, (steps * n, 4 * units)), LSTM()
        rules = (cell.recompute_a, cell.recompute_i, cell.recompute_f, cell.recompute_o)
        gates = [xp.reshape(rule(xp, rows), c.shape) for rule in rules]
        gh, gx = None, []
        for step in reversed(range(steps)):
            if gh_all is not None:
                gh = gh_all[step, ...] if gh is None else gh + gh_all[step, ...]
            before = c[step - 1, ...] if step else c_first
            here = [gate[step, ...] for gate in gates]
            gc, gz = cell_gradient(xp, gc, gh, before, c[step, ...], *here)
            gh = xp.matmul(gz, W)
            gx.append(gz)
        gx = xp.stack(gx[::-1], axis=0)
        states = xp.concat([xp.reshape(h_first, (1, n, units)), h[:-1, ...]], axis=0)
        columns = xp.matrix_transpose(xp.reshape(gx, rows.shape))
        gW = xp.matmul(columns, xp.reshape(states, (steps * n, units)))
        return gh, gc, gx, gW

"""The long short-term memory cell (Gers, Schmidhuber and Cummins 2000)."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, real
from core.typing import AnyArray
from plugins.functions.derived import function_of


def gate(xp: Any, x: Any, number: int) -> Any:
    """Every fourth column, from `number` on: the gates lie interleaved."""
    return xp.reshape(x, (x.shape[0], x.shape[1] // 4, 4, *x.shape[2:]))[:, :, number, ...]


def interleaved(xp: Any, *gates: Any) -> Any:
    """The columns of all four gates, interleaved."""
    n, units, *rest = gates[0].shape
    return xp.reshape(xp.stack(gates, axis=2), (n, 4 * units, *rest))


def sigmoid(xp: Any, x: Any) -> Any:
    """1 / (1 + exp(-x)), which cannot overflow in this form."""
    return xp.tanh(x * 0.5) * 0.5 + 0.5


def through_output(xp: Any, gc: Any, gh: Any, c: Any, o: Any) -> tuple[Any, Any]:
    """The gradients of c and of the output gate's columns, where h = o tanh(c)."""
    if gh is None:
        return gc, xp.zeros_like(o)
    squashed = xp.tanh(c)
    through = gh * o * (1.0 - squashed * squashed)
    return through if gc is None else gc + through, gh * squashed * o * (1.0 - o)


def cell_gradient(
    xp: Any, gc: Any, gh: Any, c_prev: Any, c: Any, a: Any, i: Any, f: Any, o: Any
) -> tuple[Any, Any]:
    """The gradients of c_prev and x of `LSTM` from those of c and h, of which one may be None."""
    inner, go = through_output(xp, gc, gh, c, o)
    ga, gi = inner * i * (1.0 - a * a), inner * a * i * (1.0 - i)
    gf = inner * c_prev * f * (1.0 - f)
    return inner * f, interleaved(xp, ga, gi, gf, go)


class LSTM(FunctionNode):
    """Make one step of long short-term memory units.

    With the columns of x assigned in turn to a, i, f and o:
    c = tanh(a) σ(i) + σ(f) c_prev and h = σ(o) tanh(c).

    Args:
        c_prev: Cell states, (m, u, ...), floating.
        x: Inputs of the gates, (n, 4 u, ...), n <= m, of the same dtype.

    Returns:
        A pair: the new cell states (m, u, ...), whose rows from n on are those of `c_prev`, and the
        outputs (n, u, ...).

    Raises:
        InvalidType: Sizes or dtypes do not fit.

    Source: Gers, Schmidhuber and Cummins 2000, "Learning to forget: continual prediction with
    LSTM", Neural Computation 12(10).

    >>> import core.functions as F, numpy as np
    >>> c, h = F.lstm(np.ones((1, 2), "f"), np.zeros((1, 8), "f"))
    >>> c
    variable([[0.5, 0.5]], dtype=float32)
    """

    output_names = ("c", "h")
    saved = ("a", "i", "f", "o")
    wide = True
    domain = Domain(
        "(m,u,...),(n,v,...)->(m,u,...),(n,u,...)",
        c_prev=real(-2, 2),
        x=real(-3, 3),
        dims={"v": "4 * u", "...": (0, 1)},
        valid="m >= n",
    )

    def recompute_a(self, xp: Any, x: AnyArray) -> AnyArray:
        return xp.tanh(gate(xp, x, 0))

    def recompute_i(self, xp: Any, x: AnyArray) -> AnyArray:
        return sigmoid(xp, gate(xp, x, 1))

    def recompute_f(self, xp: Any, x: AnyArray) -> AnyArray:
        return sigmoid(xp, gate(xp, x, 2))

    def recompute_o(self, xp: Any, x: AnyArray) -> AnyArray:
        return sigmoid(xp, gate(xp, x, 3))

    def compute(self, xp, c_prev, x):
        n = x.shape[0]
        self.a, self.i = self.recompute_a(xp, x), self.recompute_i(xp, x)
        self.f, self.o = self.recompute_f(xp, x), self.recompute_o(xp, x)
        c = self.a * self.i + self.f * c_prev[:n, ...]
        h = self.o * xp.tanh(c)
        return (c if n == c_prev.shape[0] else xp.concat([c, c_prev[n:, ...]], axis=0)), h

    def gradient(self, xp, g, c_prev, c, a, i, f, o):
        gc, gh = g
        n = a.shape[0]
        inner = None if gc is None else gc[:n, ...]
        gc_prev, gx = cell_gradient(xp, inner, gh, c_prev[:n, ...], c[:n, ...], a, i, f, o)
        if n < c_prev.shape[0]:
            rest = xp.zeros_like(c_prev[n:, ...]) if gc is None else gc[n:, ...]
            gc_prev = xp.concat([gc_prev, rest], axis=0)
        return gc_prev, gx


lstm = function_of(LSTM, "lstm")

"""The tree LSTM cell (Tai, Socher and Manning 2015, arXiv:1503.00075)."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, real
from core.typing import AnyArray, Array
from plugins.functions.array.stack import Stack
from plugins.functions.rnn.lstm import sigmoid, through_output


class TreeLSTM(FunctionNode):
    """c = a i + sum of f_k c_k and h = o tanh(c).

    The gates are squashed blocks of x, in the order a, i, o, f_1, ..., f_K.
    """

    output_names = ("c", "h")
    saved = ("a", "i", "o", "f")
    wide = True
    domain = Domain(
        "(n,k,u),(n,v)->(n,u),(n,u)",
        cells=real(-2, 2),
        x=real(-3, 3),
        dims={"k": (1, 3), "u": (1, 3), "v": "(3 + k) * u"},
        valid="k > 0",
    )

    def gates(self, xp: Any, x: AnyArray) -> tuple[AnyArray, ...]:
        """The four parts of x, not squashed."""
        n, k, u = self.sizes
        rest = xp.reshape(x[:, 3 * u :], (n, k, u))
        return x[:, :u], x[:, u : 2 * u], x[:, 2 * u : 3 * u], rest

    def recompute_a(self, xp: Any, x: AnyArray) -> AnyArray:
        return xp.tanh(self.gates(xp, x)[0])

    def recompute_i(self, xp: Any, x: AnyArray) -> AnyArray:
        return sigmoid(xp, self.gates(xp, x)[1])

    def recompute_o(self, xp: Any, x: AnyArray) -> AnyArray:
        return sigmoid(xp, self.gates(xp, x)[2])

    def recompute_f(self, xp: Any, x: AnyArray) -> AnyArray:
        return sigmoid(xp, self.gates(xp, x)[3])

    def compute(self, xp, cells, x):
        self.sizes = cells.shape
        a, i, o, f = self.gates(xp, x)
        self.a, self.i = xp.tanh(a), sigmoid(xp, i)
        self.o, self.f = sigmoid(xp, o), sigmoid(xp, f)
        c = self.a * self.i + xp.sum(self.f * cells, axis=1)
        return c, self.o * xp.tanh(c)

    def gradient(self, xp, g, cells, c, a, i, o, f):
        gc, gh = g
        gc, go = through_output(xp, gc, gh, c, o)
        ga, gi = gc * i * (1.0 - a * a), gc * a * i * (1.0 - i)
        n, k, u = cells.shape
        each = xp.reshape(gc, (n, 1, u))
        gf = xp.reshape(each * cells * f * (1.0 - f), (n, k * u))
        return each * f, xp.concat([ga, gi, go, gf], axis=1)


def tree_lstm(*inputs: Array) -> tuple[Variable, Variable]:
    """Apply one unit of long short-term memory to any number of children.

    With the columns of x cut into blocks a, i, o, f₁, ..., f_K:
    c = tanh(a) σ(i) + Σ_k σ(f_k) c_k and h = σ(o) tanh(c).

    Args:
        *inputs: The cell states c_1, ..., c_K of the children, each (n, u), K at least 1; then x,
            (n, (3 + K) u), all floating and of one dtype.

    Returns:
        A pair: the cell states and the outputs, both (n, u).

    Raises:
        InvalidType: Sizes or dtypes do not fit.
        TypeError: There are fewer than two inputs.

    Source: Tai, Socher and Manning 2015 (arXiv:1503.00075), equations 9 to 14.

    >>> import core.functions as F, numpy as np
    >>> one, zero = np.ones((1, 2), "f"), np.zeros((1, 10), "f")
    >>> c, h = F.tree_lstm(one, one, zero)
    >>> c
    variable([[1., 1.]], dtype=float32)
    """
    if len(inputs) < 2:
        raise TypeError(
            f"tree_lstm: expected the cell states of one child or more, then x; got {len(inputs)} "
            "inputs"
        )
    return TreeLSTM.call(Stack.call(*inputs[:-1], axis=1), inputs[-1])

"""Long short-term memory over trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core import Chain, Variable, as_variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import Array
from plugins.links.connection.linear import Linear
from plugins.links.rnn.stateful import refuse_other_batch, zeros


class _TreeLSTM(Chain):
    """What nodes have in common: telling apart and filling in their children and input."""

    state_size: int
    W_x: Linear

    def _filled(self, cshsx: tuple[Any, ...]) -> tuple[list[Variable], list[Variable], Variable]:
        """The c and h of the children, with zeros for None, and what the gates get from x."""
        name = f"links.{type(self).__name__}"
        if len(cshsx) % 2 == 0:
            raise TypeError(
                f"{name}: expected the c of all children, the h of all children and x, got "
                f"{len(cshsx)} arguments."
            )
        *children, x = cshsx
        known = next((v for v in (x, *children) if v is not None), None)
        if known is None:
            raise TypeError(f"{name}: expected a child or an input that is not None, got none.")
        if x is None:
            x = zeros(known, self._input_size(name))
        filled = [zeros(known, self.state_size) if v is None else as_variable(v) for v in children]
        half, gates = len(filled) // 2, self.W_x(x)
        refuse_other_batch(self, gates, *filled)
        return filled[:half], filled[half:], gates

    def _input_size(self, name: str) -> int:
        if not self.W_x.W.is_initialized:
            raise TypeError(
                f"{name}: expected a first input that is not None, to know its size. Give in_size."
            )
        return int(self.W_x.W.shape[1])

    def _leaf(self, gates: Any) -> tuple[Variable, Variable]:
        """The states of a node without children."""
        u = self.state_size
        a, i, o = F.split_axis(gates[:, : 3 * u], 3, axis=1)
        c = F.tanh(a) * F.sigmoid(i)
        return c, F.sigmoid(o) * F.tanh(c)


class ChildSumTreeLSTM(_TreeLSTM):
    r"""A layer of long short-term memory units for any number of children in any order.

    .. math::
        (a, i, o) &= W_x x + b + W_h \textstyle\sum_k h_k \\
        f_k &= W_{xf} x + b_f + W_{hf} h_k \\
        c &= \tanh(a) \sigma(i) + \textstyle\sum_k \sigma(f_k) c_k \\
        h &= \sigma(o) \tanh(c)

    Args:
        in_size: Elements of each input; None takes it from the first input.
        out_size: Units u.

    It is called with the c of all children, the h of all children, and x, each one argument; None
    in place of any of them stands for zeros. Its children are `W_x`, whose rows are those of a, i,
    o and f, `W_h_aio` and `W_h_f`. Shapes: c and h (n, u), x (n, in_size); gives the pair of the
    new c and h.

    Source: Tai, Socher and Manning 2015 (arXiv:1503.00075), equations 2 to 8.

    >>> import core.links as L, numpy as np
    >>> cell = L.ChildSumTreeLSTM(3, 2)
    >>> c1, h1 = cell(np.ones((5, 3), "f"))
    >>> c2, h2 = cell(np.ones((5, 3), "f"))
    >>> c, h = cell(c1, c2, h1, h2, np.ones((5, 3), "f"))
    >>> c.shape, h.shape
    ((5, 2), (5, 2))
    """

    @checked
    def __init__(self, in_size: int | None, out_size: int) -> None:
        super().__init__()
        self.state_size = out_size
        with self.init_scope():
            self.W_x = Linear(in_size, 4 * out_size)
            self.W_h_aio = Linear(out_size, 3 * out_size, nobias=True)
            self.W_h_f = Linear(out_size, out_size, nobias=True)

    def forward(self, *cshsx: Array | None) -> tuple[Variable, Variable]:
        """Compute the states of a node from those of its children and its input."""
        cs, hs, gates = self._filled(cshsx)
        if not cs:
            return self._leaf(gates)
        u = self.state_size
        aio, f = gates[:, : 3 * u], gates[:, 3 * u :]
        blocks = [aio + self.W_h_aio(_sum(hs)), *[f + self.W_h_f(h) for h in hs]]
        c, h = F.tree_lstm(*cs, F.concat(blocks, axis=1))
        return c, h

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The sizes."""
        yield "in_size", self.W_x.in_size, 0
        yield "out_size", self.state_size, 0


class NaryTreeLSTM(_TreeLSTM):
    r"""A layer of long short-term memory units for a fixed number of children in order.

    .. math::
        (a, i, o, f_1, \dots, f_K) &= W_x x + b + \textstyle\sum_k W_{hk} h_k \\
        c &= \tanh(a) \sigma(i) + \textstyle\sum_k \sigma(f_k) c_k \\
        h &= \sigma(o) \tanh(c)

    Args:
        in_size: Elements of each input; None takes it from the first input.
        out_size: Units u.
        n_ary: The number K of children.

    It is called with the c of all children, the h of all children, and x, each one argument; None
    in place of any of them stands for zeros. Its children are `W_x` and `W_h1`,
    `W_h2`, .... Shapes: c and h (n, u), x (n, in_size); gives the pair of the new c and h.

    Source: Tai, Socher and Manning 2015 (arXiv:1503.00075), equations 9 to 14.

    >>> import core.links as L, numpy as np
    >>> cell = L.NaryTreeLSTM(3, 2, n_ary=2)
    >>> c, h = cell(None, None, None, None, np.ones((5, 3), "f"))
    >>> c, h = cell(c, None, h, None, np.ones((5, 3), "f"))
    >>> c.shape, h.shape
    ((5, 2), (5, 2))
    """

    @checked
    def __init__(self, in_size: int | None, out_size: int, n_ary: int = 2) -> None:
        if n_ary < 1:
            raise ValueError(f"links.NaryTreeLSTM: expected n_ary of at least 1, got {n_ary}.")
        super().__init__()
        self.state_size = out_size
        self.n_ary = n_ary
        with self.init_scope():
            self.W_x = Linear(in_size, (3 + n_ary) * out_size)
            for k in range(1, n_ary + 1):
                setattr(self, f"W_h{k}", Linear(out_size, (3 + n_ary) * out_size, nobias=True))

    def forward(self, *cshsx: Array | None) -> tuple[Variable, Variable]:
        """Compute the states of a node from those of its children and its input."""
        if len(cshsx) != 2 * self.n_ary + 1:
            raise TypeError(
                f"links.NaryTreeLSTM: expected {self.n_ary} children, their c, their h, and x, got "
                f"{len(cshsx)} arguments. Give None for the c and h of those that are missing."
            )
        cs, hs, gates = self._filled(cshsx)
        parts = [getattr(self, f"W_h{k}")(h) for k, h in enumerate(hs, 1)]
        c, h = F.tree_lstm(*cs, gates + _sum(parts))
        return c, h

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The sizes, and the number of children."""
        yield "in_size", self.W_x.in_size, 0
        yield "out_size", self.state_size, 0
        yield "n_ary", self.n_ary, 2


def _sum(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total

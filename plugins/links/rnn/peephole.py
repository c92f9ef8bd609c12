"""Long short-term memory with peepholes: the gates see the cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Chain, Variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import Array
from plugins.links import arguments
from plugins.links.connection.linear import Linear
from plugins.links.rnn.stateful import KeepsCells, one_step, refuse_other_batch, zeros


class StatefulPeepholeLSTM(Chain, KeepsCells):
    r"""A layer of long short-term memory units with peepholes that keeps its state.

    With the rows of the weights assigned in turn to the gates a, i, f and o:

    .. math::
        (a, i, f, o) &= W_{up} x + b + W_{lat} h_{prev} \\
        c &= \tanh(a) \sigma(i + P_i c_{prev}) + \sigma(f + P_f c_{prev}) c_{prev} \\
        h &= \sigma(o + P_o c) \tanh(c)

    Args:
        in_size: Elements of each input; None, or left out (`StatefulPeepholeLSTM(out_size)`), takes
            it from the first input.
        out_size: Units u.

    Its children are `upward`, `lateral`, `peep_i`, `peep_f` and `peep_o`; the state is in the
    attributes `c` and `h`, None before the first input. Shapes: x (n, in_size); gives h (n, u).

    Source: Gers and Schmidhuber 2000, "Recurrent nets that time and count", IJCNN; the P are full
    matrices here.

    >>> import core.links as L, numpy as np
    >>> layer = L.StatefulPeepholeLSTM(3, 2)
    >>> layer(np.ones((5, 3), "f")).shape, layer.c.shape
    ((5, 2), (5, 2))
    """

    @checked
    def __init__(self, in_size: int | None, out_size: int | None = None) -> None:
        in_size, units = arguments.sizes("StatefulPeepholeLSTM", in_size, out_size)
        super().__init__()
        self.state_size = units
        with self.init_scope():
            self.upward = Linear(in_size, 4 * units)
            self.lateral = Linear(units, 4 * units, nobias=True)
            self.peep_i = Linear(units, units, nobias=True)
            self.peep_f = Linear(units, units, nobias=True)
            self.peep_o = Linear(units, units, nobias=True)

    def forward(self, x: Array) -> Variable:
        """Make one step from the kept state by the input x; keep the new state, return its h."""
        gates = one_step(self, self.upward, x)
        if self.h is not None:
            refuse_other_batch(self, gates, self.h)
            gates = gates + self.lateral(self.h)
        a, i, f, o = F.separate(gates.reshape((-1, self.state_size, 4)), axis=2)
        before = zeros(x, self.state_size) if self.c is None else self.c
        refuse_other_batch(self, gates, before)
        i, f = F.sigmoid(i + self.peep_i(before)), F.sigmoid(f + self.peep_f(before))
        self.c = c = F.tanh(a) * i + f * before
        self.h = h = F.sigmoid(o + self.peep_o(c)) * F.tanh(c)
        return h

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The sizes."""
        yield "in_size", self.upward.in_size, 0
        yield "out_size", self.state_size, 0

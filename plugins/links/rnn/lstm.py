"""Long short-term memory layers, which keep their state or are given it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Chain, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec, as_initializer
from core.typing import Array
from plugins.links import arguments
from plugins.links.connection.linear import Linear
from plugins.links.rnn.gates import Interleaved
from plugins.links.rnn.stateful import KeepsCells, one_step, refuse_other_batch, zeros


class _LSTM(Chain):
    """The two linear maps of an LSTM layer, and how their parts for the four gates start."""

    @checked
    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        lateral_init: InitializerSpec = None,
        upward_init: InitializerSpec = None,
        bias_init: InitializerSpec = None,
        forget_bias_init: InitializerSpec = None,
    ) -> None:
        in_size, out_size = arguments.sizes(type(self).__name__, in_size, out_size)
        super().__init__()
        self.state_size = out_size
        bias, forget = arguments.bias(bias_init), as_initializer(forget_bias_init, 1)
        with self.init_scope():
            self.upward = Linear(
                in_size,
                4 * out_size,
                initialW=Interleaved(*[arguments.weight(upward_init)] * 4),
                initial_bias=Interleaved(bias, bias, forget, bias),
            )
            self.lateral = Linear(
                out_size,
                4 * out_size,
                nobias=True,
                initialW=Interleaved(*[arguments.weight(lateral_init)] * 4),
            )

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The sizes."""
        yield "in_size", self.upward.in_size, 0
        yield "out_size", self.state_size, 0


class StatelessLSTM(_LSTM):
    r"""A layer of long short-term memory units that is given its state.

    With the rows of the weights assigned in turn to the gates a, i, f and o:

    .. math::
        (a, i, f, o) &= W_{up} x + b + W_{lat} h_{prev} \\
        c &= \tanh(a) \sigma(i) + \sigma(f) c_{prev} \\
        h &= \sigma(o) \tanh(c)

    Args:
        in_size: Elements of each input; None, or left out (`StatelessLSTM(out_size)`), takes it
            from the first input.
        out_size: Units u.
        lateral_init: Initializer of each gate's part of the lateral weight; LeCunNormal by default.
        upward_init: The same of the upward weight.
        bias_init: Initializer of the biases of a, i and o; 0 by default.
        forget_bias_init: Initializer of the biases of f; 1 by default.

    Shapes: c and h (n, u) or None for zeros, x (n, in_size); gives the pair of the new c and h.

    Sources: Gers, Schmidhuber and Cummins 2000, Neural Computation 12(10); the forget bias of 1:
    Jozefowicz, Zaremba and Sutskever, ICML 2015.

    >>> import core.links as L, numpy as np
    >>> cell = L.StatelessLSTM(3, 2)
    >>> c, h = cell(None, None, np.ones((5, 3), "f"))
    >>> c.shape, h.shape
    ((5, 2), (5, 2))
    """

    def forward(self, c: Array | None, h: Array | None, x: Array) -> tuple[Variable, Variable]:
        """Make one step from the state (c, h) by the input x, and return the new state."""
        gates = one_step(self, self.upward, x)
        if h is not None:
            lateral = self.lateral(h)
            refuse_other_batch(self, gates, lateral)
            gates = gates + lateral
        c, h = F.lstm(zeros(gates, self.state_size) if c is None else c, gates)
        return c, h


class LSTM(_LSTM, KeepsCells):
    r"""A layer of long short-term memory units that keeps its state from call to call.

    The formulas and arguments are those of `StatelessLSTM`. The state is in the attributes `c` and
    `h`, None before the first input. A batch may be smaller than the one before it: sequences
    sorted by falling length can be processed together, those that have ended keeping their state.

    Args:
        in_size: Elements of each input; None, or left out (`LSTM(out_size)`), takes it from the
            first input.
        out_size: Units u.
        lateral_init: Initializer of each gate's part of the lateral weight; LeCunNormal by default.
        upward_init: The same of the upward weight.
        bias_init: Initializer of the biases of a, i and o; 0 by default.
        forget_bias_init: Initializer of the biases of f; 1 by default.

    Shapes: x (n, in_size); gives h (n, u).

    Sources: as for `StatelessLSTM`.

    >>> import core.links as L, numpy as np
    >>> layer = L.LSTM(3, 2)
    >>> h = layer(np.ones((5, 3), "f"))
    >>> h = layer(np.ones((4, 3), "f"))
    >>> h.shape, layer.h.shape
    ((4, 2), (5, 2))
    >>> layer.reset_state()
    >>> layer.h is None
    True
    """

    def forward(self, x: Array) -> Variable:
        """Make one step from the kept state by the input x; keep the new state, return its h."""
        gates = one_step(self, self.upward, x)
        rest = None
        if self.h is not None:
            h, rest = self._split(self.h, gates.shape[0])
            gates = gates + self.lateral(h)
        y: Variable
        self.c, y = F.lstm(zeros(gates, self.state_size) if self.c is None else self.c, gates)
        self.h = y if rest is None else F.concat([y, rest], axis=0)
        return y

    @staticmethod
    def _split(h: Variable, n: int) -> tuple[Variable, Variable | None]:
        """The outputs of the first n sequences, and those of the ones that have ended."""
        if h.shape[0] < n:
            raise ValueError(
                f"links.LSTM: expected a batch of at most {h.shape[0]}, that of the kept state, "
                f"got {n}. Call reset_state() before new sequences."
            )
        if h.shape[0] == n:
            return h, None
        return h[:n], h[n:]

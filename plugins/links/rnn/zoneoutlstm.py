"""Long short-term memory that at times keeps its state as it was."""

from __future__ import annotations

from typing import Any

from core import Variable
from core import functions as F
from plugins.links.rnn.lstm import _LSTM
from plugins.links.rnn.stateful import Stateful, zeros


class StatefulZoneoutLSTM(_LSTM, Stateful):
    r"""A layer of long short-term memory units that keeps parts of its state at random.

    In training each element of the new c is that of the c before with probability `c_ratio`, and
    each of the new h that of the h before with probability `h_ratio`; the rest, and all in test
    mode, is as in `LSTM`.

    Args:
        in_size: Elements of each input; None, or left out (`StatefulZoneoutLSTM(out_size)`), takes
            it from the first input.
        out_size: Units u.
        c_ratio: The share of cell states that are kept, in [0, 1].
        h_ratio: The share of outputs that are kept, in [0, 1].
        lateral_init: Initializer of each gate's part of the lateral weight; LeCunNormal by default.
        upward_init: The same of the upward weight.
        bias_init: Initializer of the biases of a, i and o.
        forget_bias_init: Initializer of the biases of f; unlike that of `LSTM` it is 0 by default.

    The state is in the attributes `c` and `h`, None before the first input, which finds zeros.
    Shapes: x (n, in_size); gives h (n, u).

    Source: Krueger et al. 2016 (arXiv:1606.01305), section 3.

    >>> import core.links as L, numpy as np
    >>> layer = L.StatefulZoneoutLSTM(3, 2, c_ratio=1, h_ratio=1)
    >>> layer(np.ones((1, 3), "f"))
    variable([[0., 0.]], dtype=float32)
    """

    states = ("c", "h")
    c: Variable | None = None
    h: Variable | None = None

    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        c_ratio: float = 0.5,
        h_ratio: float = 0.5,
        *,
        lateral_init: Any = None,
        upward_init: Any = None,
        bias_init: Any = 0,
        forget_bias_init: Any = 0,
    ) -> None:
        super().__init__(in_size, out_size, lateral_init, upward_init, bias_init, forget_bias_init)
        self.c_ratio = c_ratio
        self.h_ratio = h_ratio

    def set_state(self, c: Any, h: Any) -> None:
        """Take the cell states `c` and outputs `h`, both (n, u), as the state."""
        self._set_states(c, h)

    def forward(self, x: Any) -> Variable:
        """One step: from the kept state and the input x to the new state, whose h it gives."""
        gates = self.upward(x)
        if self.c is None:
            self.c = zeros(gates, self.state_size)
        if self.h is None:
            self.h = zeros(gates, self.state_size)
        c, h = F.lstm(self.c, gates + self.lateral(self.h))
        self.c = F.zoneout(self.c, c, self.c_ratio)
        self.h = F.zoneout(self.h, h, self.h_ratio)
        return self.h

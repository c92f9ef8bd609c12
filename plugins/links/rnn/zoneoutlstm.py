"""Long short-term memory that randomly keeps parts of its state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Probability
from plugins.links.rnn.lstm import _LSTM
from plugins.links.rnn.stateful import KeepsCells, one_step, refuse_other_batch, zeros


class StatefulZoneoutLSTM(_LSTM, KeepsCells):
    r"""A layer of long short-term memory units that randomly keeps parts of its state.

    With :math:`\hat c` and :math:`\hat h` what the formulas of `StatelessLSTM` give, and masks
    :math:`d_c` and :math:`d_h` that are 1 with probability `c_ratio` and `h_ratio`:

    .. math::
        c &= d_c \odot c_{prev} + (1 - d_c) \odot \hat c \\
        h &= d_h \odot h_{prev} + (1 - d_h) \odot \hat h

    in training; in test mode :math:`c = \hat c` and :math:`h = \hat h`.

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

    @checked
    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        c_ratio: Probability = 0.5,
        h_ratio: Probability = 0.5,
        *,
        lateral_init: InitializerSpec = None,
        upward_init: InitializerSpec = None,
        bias_init: InitializerSpec = 0,
        forget_bias_init: InitializerSpec = 0,
    ) -> None:
        super().__init__(in_size, out_size, lateral_init, upward_init, bias_init, forget_bias_init)
        self.c_ratio = c_ratio
        self.h_ratio = h_ratio

    def forward(self, x: Array) -> Variable:
        """Make one step from the kept state by the input x; keep the new state, return its h."""
        gates = one_step(self, self.upward, x)
        if self.c is None:
            self.c = zeros(gates, self.state_size)
        if self.h is None:
            self.h = zeros(gates, self.state_size)
        refuse_other_batch(self, gates, self.c, self.h)
        c, h = F.lstm(self.c, gates + self.lateral(self.h))
        self.c = F.zoneout(self.c, c, self.c_ratio)
        self.h = F.zoneout(self.h, h, self.h_ratio)
        return self.h

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The sizes, and the shares that are kept."""
        yield from super().printable_specs
        yield "c_ratio", self.c_ratio, 0.5
        yield "h_ratio", self.h_ratio, 0.5

"""Layers of long short-term memory over whole sequences."""

from __future__ import annotations

from typing import Any

from core import Variable
from core import functions as F
from plugins.functions.rnn.n_step import LSTM_CELL
from plugins.links.rnn.n_step import NStep


class _NStepLSTM(NStep):
    """Layers whose units have two states, outputs and cells."""

    cell = LSTM_CELL
    n_weights = 8
    n_cells = 2

    def forward(self, hx: Any, cx: Any, xs: Any) -> tuple[Variable, Variable, Any]:
        """Run the layers.

        Args:
            hx: First outputs (S, n, out_size), S layers in all directions; None for zeros.
            cx: First cell states, alike.
            xs: A list of n sequences (length, in_size), or an array (n, length, in_size).

        Returns:
            The last outputs and cell states, as `hx`, and a list of the outputs of the last layer,
            (length, u) for each sequence, u being out_size for each direction; of an array (n,
            length, u).
        """
        hy, cy, ys = self._run([hx, cx], xs)
        return hy, cy, ys


class NStepLSTM(_NStepLSTM):
    r"""Layers of long short-term memory units that run over sequences of any lengths.

    .. math::
        i &= \sigma(w_0 x_t + w_4 h + b_0 + b_4) \\
        f &= \sigma(w_1 x_t + w_5 h + b_1 + b_5) \\
        o &= \sigma(w_2 x_t + w_6 h + b_2 + b_6) \\
        a &= \tanh(w_3 x_t + w_7 h + b_3 + b_7) \\
        c_t &= f \odot c + i \odot a, \quad h_t = o \odot \tanh(c_t)

    Args:
        n_layers: How many layers.
        in_size: Elements of each input; None takes it from the first input.
        out_size: Units u of each layer.
        dropout: The ratio of dropout between layers, in [0, 1).
        initialW: Initializer of each weight, or a number; LeCunNormal by default.
        initial_bias: The same of each bias; 0 by default.

    Shapes: called with hx and cx (n_layers, n, u), or None for zeros, and a list xs of n sequences
    (length, in_size); gives the last h and c, as hx, and a list of outputs (length, u).
    Where xs is an array (n, length, in_size), the outputs are one as well: (n, length, u).

    Source: Gers, Schmidhuber and Cummins 2000, Neural Computation 12(10).

    >>> import core.links as L, numpy as np
    >>> layers = L.NStepLSTM(2, 3, 4, 0.0)
    >>> hy, cy, ys = layers(None, None, [np.ones((1, 3), "f"), np.ones((5, 3), "f")])
    >>> hy.shape, [y.shape for y in ys]
    ((2, 2, 4), [(1, 4), (5, 4)])
    """

    rnn = staticmethod(F.n_step_lstm)


class NStepBiLSTM(_NStepLSTM):
    """Layers of long short-term memory units in both directions.

    The formulas and arguments are those of `NStepLSTM`. Each layer has units that read the sequence
    from its start and others that read it from its end; their outputs stand side by side.

    Shapes: called with hx and cx (2 n_layers, n, u), or None for zeros, and a list xs of n
    sequences (length, in_size); gives the last h and c, as hx, and a list of outputs (length, 2 u).
    Where xs is an array (n, length, in_size), the outputs are one as well: (n, length, 2 u).

    Source: Schuster and Paliwal 1997, IEEE Transactions on Signal Processing 45(11).

    >>> import core.links as L, numpy as np
    >>> layers = L.NStepBiLSTM(2, 3, 4, 0.0)
    >>> hy, cy, ys = layers(None, None, [np.ones((1, 3), "f"), np.ones((5, 3), "f")])
    >>> hy.shape, [y.shape for y in ys]
    ((4, 2, 4), [(1, 8), (5, 8)])
    """

    use_bi_direction = True
    rnn = staticmethod(F.n_step_bilstm)

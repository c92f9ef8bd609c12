"""Layers of gated recurrent units over whole sequences."""

from __future__ import annotations

from core import functions as F
from plugins.functions.rnn.n_step import GRU_CELL
from plugins.links.rnn.n_step import NStepOfOneState


class NStepGRU(NStepOfOneState):
    r"""Layers of gated recurrent units that run over sequences of any lengths.

    .. math::
        r &= \sigma(w_0 x_t + w_3 h + b_0 + b_3) \\
        z &= \sigma(w_1 x_t + w_4 h + b_1 + b_4) \\
        \bar h &= \tanh(w_2 x_t + b_2 + r \odot (w_5 h + b_5)) \\
        h_t &= (1 - z) \odot \bar h + z \odot h

    Args:
        n_layers: How many layers.
        in_size: Elements of each input; None takes it from the first input.
        out_size: Units u of each layer.
        dropout: The ratio of dropout between layers, in [0, 1).
        initialW: Initializer of each weight, or a number; LeCunNormal by default.
        initial_bias: The same of each bias; 0 by default.

    Shapes: called with hx (n_layers, n, u) or None for zeros, and a list xs of n sequences (length,
    in_size); gives the last states, as hx, and a list of outputs (length, u).
    Where xs is an array (n, length, in_size), the outputs are one as well: (n, length, u).

    Source: Cho et al. 2014 (arXiv:1406.1078), the reset applied after the product.

    >>> import core.links as L, numpy as np
    >>> layers = L.NStepGRU(2, 3, 4, 0.0)
    >>> hy, ys = layers(None, [np.ones((1, 3), "f"), np.ones((5, 3), "f")])
    >>> hy.shape, [y.shape for y in ys]
    ((2, 2, 4), [(1, 4), (5, 4)])
    """

    n_weights = 6
    cell = GRU_CELL
    rnn = staticmethod(F.n_step_gru)


class NStepBiGRU(NStepOfOneState):
    """Layers of gated recurrent units in both directions.

    The formulas and arguments are those of `NStepGRU`. Each layer has units that read the sequence
    from its start and others that read it from its end; their outputs stand side by side.

    Shapes: called with hx (2 n_layers, n, u) or None for zeros, and a list xs of n sequences
    (length, in_size); gives the last states, as hx, and a list of outputs (length, 2 u).
    Where xs is an array (n, length, in_size), the outputs are one as well: (n, length, 2 u).

    Source: Schuster and Paliwal 1997, IEEE Transactions on Signal Processing 45(11).

    >>> import core.links as L, numpy as np
    >>> layers = L.NStepBiGRU(2, 3, 4, 0.0)
    >>> hy, ys = layers(None, [np.ones((1, 3), "f"), np.ones((5, 3), "f")])
    >>> hy.shape, [y.shape for y in ys]
    ((4, 2, 4), [(1, 8), (5, 8)])
    """

    n_weights = 6
    use_bi_direction = True
    cell = GRU_CELL
    rnn = staticmethod(F.n_step_bigru)

"""Layers of simple recurrent units over whole sequences."""

from __future__ import annotations

from functools import partial

from core import functions as F
from plugins.functions.rnn.n_step import SIMPLE_CELLS
from plugins.links.rnn.n_step import NStepOfOneState


class NStepRNNTanh(NStepOfOneState):
    r"""Layers of simple recurrent units with tanh that run over sequences of any lengths.

    .. math:: h_t = \tanh(w_0 x_t + w_1 h_{t-1} + b_0 + b_1)

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

    Source: Elman 1990, "Finding structure in time", Cognitive Science 14(2).

    >>> import core.links as L, numpy as np
    >>> layers = L.NStepRNNTanh(2, 3, 4, 0.0)
    >>> hy, ys = layers(None, [np.ones((1, 3), "f"), np.ones((5, 3), "f")])
    >>> hy.shape, [y.shape for y in ys]
    ((2, 2, 4), [(1, 4), (5, 4)])
    """

    n_weights = 2
    cell = SIMPLE_CELLS["tanh"]
    rnn = staticmethod(partial(F.n_step_rnn, activation="tanh"))


class NStepBiRNNTanh(NStepOfOneState):
    """Layers of simple recurrent units with tanh in both directions.

    The formulas and arguments are those of `NStepRNNTanh`. Each layer has units that read the
    sequence from its start and others that read it from its end; their outputs stand side by side.

    Shapes: called with hx (2 n_layers, n, u) or None for zeros, and a list xs of n sequences
    (length, in_size); gives the last states, as hx, and a list of outputs (length, 2 u).
    Where xs is an array (n, length, in_size), the outputs are one as well: (n, length, 2 u).

    Source: Schuster and Paliwal 1997, IEEE Transactions on Signal Processing 45(11).

    >>> import core.links as L, numpy as np
    >>> layers = L.NStepBiRNNTanh(2, 3, 4, 0.0)
    >>> hy, ys = layers(None, [np.ones((1, 3), "f"), np.ones((5, 3), "f")])
    >>> hy.shape, [y.shape for y in ys]
    ((4, 2, 4), [(1, 8), (5, 8)])
    """

    n_weights = 2
    use_bi_direction = True
    cell = SIMPLE_CELLS["tanh"]
    rnn = staticmethod(partial(F.n_step_birnn, activation="tanh"))


class NStepRNNReLU(NStepOfOneState):
    r"""Layers of simple recurrent units with rectifiers that run over sequences of any lengths.

    .. math:: h_t = \max(0, w_0 x_t + w_1 h_{t-1} + b_0 + b_1)

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

    Source: Le, Jaitly and Hinton 2015 (arXiv:1504.00941).

    >>> import core.links as L, numpy as np
    >>> layers = L.NStepRNNReLU(2, 3, 4, 0.0)
    >>> hy, ys = layers(None, [np.ones((1, 3), "f"), np.ones((5, 3), "f")])
    >>> hy.shape, [y.shape for y in ys]
    ((2, 2, 4), [(1, 4), (5, 4)])
    """

    n_weights = 2
    cell = SIMPLE_CELLS["relu"]
    rnn = staticmethod(partial(F.n_step_rnn, activation="relu"))


class NStepBiRNNReLU(NStepOfOneState):
    """Layers of simple recurrent units with rectifiers in both directions.

    The formulas and arguments are those of `NStepRNNReLU`. Each layer has units that read the
    sequence from its start and others that read it from its end; their outputs stand side by side.

    Shapes: called with hx (2 n_layers, n, u) or None for zeros, and a list xs of n sequences
    (length, in_size); gives the last states, as hx, and a list of outputs (length, 2 u).
    Where xs is an array (n, length, in_size), the outputs are one as well: (n, length, 2 u).

    Source: Schuster and Paliwal 1997, IEEE Transactions on Signal Processing 45(11).

    >>> import core.links as L, numpy as np
    >>> layers = L.NStepBiRNNReLU(2, 3, 4, 0.0)
    >>> hy, ys = layers(None, [np.ones((1, 3), "f"), np.ones((5, 3), "f")])
    >>> hy.shape, [y.shape for y in ys]
    ((4, 2, 4), [(1, 8), (5, 8)])
    """

    n_weights = 2
    use_bi_direction = True
    cell = SIMPLE_CELLS["relu"]
    rnn = staticmethod(partial(F.n_step_birnn, activation="relu"))

"""Stacked layers of long short-term memory over sequences."""

from __future__ import annotations

from collections.abc import Sequence

from core import Variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.rnn.n_step import LSTM_CELL, run


@checked
def n_step_lstm(
    n_layers: int,
    dropout_ratio: float,
    hx: Array,
    cx: Array,
    ws: Sequence[Sequence[Array]],
    bs: Sequence[Sequence[Array]],
    xs: Sequence[Array],
) -> tuple[Variable, Variable, tuple[Variable, ...]]:
    """Run layers of long short-term memory over whole sequences.

    i = σ(W₀ x_t + W₄ h + b₀ + b₄), f = σ(W₁ x_t + W₅ h + b₁ + b₅),
    a = tanh(W₂ x_t + W₆ h + b₂ + b₆), o = σ(W₃ x_t + W₇ h + b₃ + b₇); c_t = f c + i a and
    h_t = o tanh(c_t), with h and c those of the time before. A further layer takes the h_t of the
    one below for x_t. (Chainer's weights are in this order; its documentation had a and o the
    other way round.)

    Args:
        n_layers: How many layers, S.
        dropout_ratio: Of dropout between layers, in [0, 1).
        hx: First outputs, (S, B, N), floating.
        cx: First cell states, alike.
        ws: S lists of eight matrices, W₀ to W₃ (N, size of the input), the others (N, N).
        bs: S lists of eight vectors (N,).
        xs: For each time t the inputs (B_t, I) of the sequences that last until then, the longest
            sequences first: B >= B_1 >= B_2 ...

    Returns:
        The last h and c, both (S, B, N), and a tuple of the h_t (B_t, N) of the last layer. The
        last state of a sequence is that of its own end.

    Raises:
        InvalidType: Sizes, numbers of arrays or dtypes do not fit, or the batches grow.
        ValueError: There are no layers or no time steps, or the ratio is out of range.

    Source: Gers, Schmidhuber and Cummins 2000, "Learning to forget: continual prediction with
    LSTM", Neural Computation 12(10).

    >>> import core.functions as F, numpy as np
    >>> xs = [np.ones((2, 3), "f"), np.ones((1, 3), "f")]  # of lengths 2 and 1
    >>> ws = [[np.ones((4, 3), "f")] * 4 + [np.ones((4, 4), "f")] * 4]
    >>> hx = np.zeros((1, 2, 4), "f")
    >>> hy, cy, ys = F.n_step_lstm(1, 0.0, hx, hx, ws, [[np.zeros(4, "f")] * 8], xs)
    >>> hy.shape, [y.shape for y in ys]
    ((1, 2, 4), [(2, 4), (1, 4)])
    """
    states = (hx, cx)
    return run("n_step_lstm", LSTM_CELL, 1, n_layers, dropout_ratio, states, ws, bs, xs)


@checked
def n_step_bilstm(
    n_layers: int,
    dropout_ratio: float,
    hx: Array,
    cx: Array,
    ws: Sequence[Sequence[Array]],
    bs: Sequence[Sequence[Array]],
    xs: Sequence[Array],
) -> tuple[Variable, Variable, tuple[Variable, ...]]:
    """Run layers of long short-term memory in both directions; see `n_step_lstm`.

    Each layer is run forward and backward in time, and what both give, side by side, is what the
    next one takes.

    Args:
        n_layers: How many layers, S.
        dropout_ratio: Of dropout between layers, in [0, 1).
        hx: First outputs, (2 S, B, N), floating: forward, backward, layer by layer.
        cx: First cell states, alike.
        ws: 2 S lists of eight matrices, in the same order; of layers above the first the four for
            the input are (N, 2 N).
        bs: 2 S lists of eight vectors (N,).
        xs: Inputs by time, (B_t, I), the longest sequences first.

    Returns:
        The last h and c, both (2 S, B, N), and a tuple of the outputs (B_t, 2 N) by time.

    Raises:
        InvalidType: Sizes, numbers of arrays or dtypes do not fit, or the batches grow.
        ValueError: There are no layers or no time steps, or the ratio is out of range.

    >>> import core.functions as F, numpy as np
    >>> ws = [[np.ones((4, 3), "f")] * 4 + [np.ones((4, 4), "f")] * 4] * 2
    >>> hx, xs = np.zeros((2, 2, 4), "f"), [np.ones((2, 3), "f")] * 3
    >>> hy, cy, ys = F.n_step_bilstm(1, 0.0, hx, hx, ws, [[np.zeros(4, "f")] * 8] * 2, xs)
    >>> ys[0].shape
    (2, 8)
    """
    states = (hx, cx)
    return run("n_step_bilstm", LSTM_CELL, 2, n_layers, dropout_ratio, states, ws, bs, xs)

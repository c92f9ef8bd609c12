"""Stacked layers of gated recurrent units over sequences."""

from __future__ import annotations

from collections.abc import Sequence

from core import Variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.rnn.n_step import GRU_CELL, run


@checked
def n_step_gru(
    n_layers: int,
    dropout_ratio: float,
    hx: Array,
    ws: Sequence[Sequence[Array]],
    bs: Sequence[Sequence[Array]],
    xs: Sequence[Array],
) -> tuple[Variable, tuple[Variable, ...]]:
    """Run layers of gated recurrent units over whole sequences.

    r = σ(W₀ x_t + W₃ h + b₀ + b₃), z = σ(W₁ x_t + W₄ h + b₁ + b₄),
    a = tanh(W₂ x_t + b₂ + r (W₅ h + b₅)) and h_t = (1 - z) a + z h, with h that of the time before.
    A further layer takes the h_t of the one below for x_t.

    Args:
        n_layers: How many layers, S.
        dropout_ratio: Of dropout between layers, in [0, 1).
        hx: First states, (S, B, N), floating.
        ws: S lists of six matrices, W₀ to W₂ (N, size of the input), the others (N, N).
        bs: S lists of six vectors (N,).
        xs: For each time t the inputs (B_t, I) of the sequences that last until then, the longest
            sequences first: B >= B_1 >= B_2 ...

    Returns:
        The last states, (S, B, N), and a tuple of the h_t (B_t, N) of the last layer.

    Raises:
        InvalidType: Sizes, numbers of arrays or dtypes do not fit, or the batches grow.
        ValueError: There are no layers or no time steps, or the ratio is out of range.

    Source: Cho et al. 2014 (arXiv:1406.1078), equations 5 to 8, the reset applied after the
    product.

    >>> import core.functions as F, numpy as np
    >>> xs = [np.ones((2, 3), "f"), np.ones((1, 3), "f")]  # of lengths 2 and 1
    >>> ws = [[np.ones((4, 3), "f")] * 3 + [np.ones((4, 4), "f")] * 3]
    >>> hx = np.zeros((1, 2, 4), "f")
    >>> hy, ys = F.n_step_gru(1, 0.0, hx, ws, [[np.zeros(4, "f")] * 6], xs)
    >>> hy.shape, [y.shape for y in ys]
    ((1, 2, 4), [(2, 4), (1, 4)])
    """
    return run("n_step_gru", GRU_CELL, 1, n_layers, dropout_ratio, (hx,), ws, bs, xs)


@checked
def n_step_bigru(
    n_layers: int,
    dropout_ratio: float,
    hx: Array,
    ws: Sequence[Sequence[Array]],
    bs: Sequence[Sequence[Array]],
    xs: Sequence[Array],
) -> tuple[Variable, tuple[Variable, ...]]:
    """Run layers of gated recurrent units in both directions; see `n_step_gru`.

    Args:
        n_layers: How many layers, S.
        dropout_ratio: Of dropout between layers, in [0, 1).
        hx: First states, (2 S, B, N), floating: forward, backward, layer by layer.
        ws: 2 S lists of six matrices, in the same order; of layers above the first the three for
            the input are (N, 2 N).
        bs: 2 S lists of six vectors (N,).
        xs: Inputs by time, (B_t, I), the longest sequences first.

    Returns:
        The last states, (2 S, B, N), and a tuple of the outputs (B_t, 2 N) by time.

    Raises:
        InvalidType: Sizes, numbers of arrays or dtypes do not fit, or the batches grow.
        ValueError: There are no layers or no time steps, or the ratio is out of range.

    >>> import core.functions as F, numpy as np
    >>> ws = [[np.ones((4, 3), "f")] * 3 + [np.ones((4, 4), "f")] * 3] * 2
    >>> hx, xs = np.zeros((2, 2, 4), "f"), [np.ones((2, 3), "f")] * 3
    >>> hy, ys = F.n_step_bigru(1, 0.0, hx, ws, [[np.zeros(4, "f")] * 6] * 2, xs)
    >>> ys[0].shape
    (2, 8)
    """
    return run("n_step_bigru", GRU_CELL, 2, n_layers, dropout_ratio, (hx,), ws, bs, xs)

"""Stacked layers of simple recurrent units over sequences."""

from __future__ import annotations

from collections.abc import Sequence

from core import Variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.rnn.n_step import SIMPLE_CELLS, Cell, run


def _cell(name: str, activation: str) -> Cell:
    if activation not in SIMPLE_CELLS:
        raise ValueError(f"{name}: expected activation 'tanh' or 'relu', got {activation!r}")
    return SIMPLE_CELLS[activation]


@checked
def n_step_rnn(
    n_layers: int,
    dropout_ratio: float,
    hx: Array,
    ws: Sequence[Sequence[Array]],
    bs: Sequence[Sequence[Array]],
    xs: Sequence[Array],
    activation: str = "tanh",
) -> tuple[Variable, tuple[Variable, ...]]:
    """Run layers of simple recurrent units over whole sequences.

    h_t = f(W₀ x_t + W₁ h + b₀ + b₁), with h that of the time before and f the activation. A further
    layer takes the h_t of the one below for x_t.

    Args:
        n_layers: How many layers, S.
        dropout_ratio: Of dropout between layers, in [0, 1).
        hx: First states, (S, B, N), floating.
        ws: S lists of two matrices, W₀ (N, size of the input) and W₁ (N, N).
        bs: S lists of two vectors (N,).
        xs: For each time t the inputs (B_t, I) of the sequences that last until then, the longest
            sequences first: B >= B_1 >= B_2 ...
        activation: 'tanh' or 'relu'.

    Returns:
        The last states, (S, B, N), and a tuple of the h_t (B_t, N) of the last layer.

    Raises:
        InvalidType: Sizes, numbers of arrays or dtypes do not fit, or the batches grow.
        ValueError: There are no layers or no time steps, the ratio is out of range, or there is no
            such activation.

    >>> import core.functions as F, numpy as np
    >>> xs = [np.ones((2, 3), "f"), np.ones((1, 3), "f")]  # of lengths 2 and 1
    >>> ws, bs = [[np.ones((4, 3), "f"), np.ones((4, 4), "f")]], [[np.zeros(4, "f")] * 2]
    >>> hy, ys = F.n_step_rnn(1, 0.0, np.zeros((1, 2, 4), "f"), ws, bs, xs, "relu")
    >>> ys[1]
    variable([[15., 15., 15., 15.]], dtype=float32)
    """
    cell = _cell("n_step_rnn", activation)
    return run("n_step_rnn", cell, 1, n_layers, dropout_ratio, (hx,), ws, bs, xs)


@checked
def n_step_birnn(
    n_layers: int,
    dropout_ratio: float,
    hx: Array,
    ws: Sequence[Sequence[Array]],
    bs: Sequence[Sequence[Array]],
    xs: Sequence[Array],
    activation: str = "tanh",
) -> tuple[Variable, tuple[Variable, ...]]:
    """Run layers of simple recurrent units in both directions; see `n_step_rnn`.

    Args:
        n_layers: How many layers, S.
        dropout_ratio: Of dropout between layers, in [0, 1).
        hx: First states, (2 S, B, N), floating: forward, backward, layer by layer.
        ws: 2 S lists of two matrices, in the same order; of layers above the first the one for the
            input is (N, 2 N).
        bs: 2 S lists of two vectors (N,).
        xs: Inputs by time, (B_t, I), the longest sequences first.
        activation: 'tanh' or 'relu'.

    Returns:
        The last states, (2 S, B, N), and a tuple of the outputs (B_t, 2 N) by time.

    Raises:
        InvalidType: Sizes, numbers of arrays or dtypes do not fit, or the batches grow.
        ValueError: There are no layers or no time steps, the ratio is out of range, or there is no
            such activation.

    >>> import core.functions as F, numpy as np
    >>> ws, bs = [[np.ones((4, 3), "f"), np.ones((4, 4), "f")]] * 2, [[np.zeros(4, "f")] * 2] * 2
    >>> hx, xs = np.zeros((2, 2, 4), "f"), [np.ones((2, 3), "f")] * 3
    >>> hy, ys = F.n_step_birnn(1, 0.0, hx, ws, bs, xs)
    >>> ys[0].shape
    (2, 8)
    """
    cell = _cell("n_step_birnn", activation)
    return run("n_step_birnn", cell, 2, n_layers, dropout_ratio, (hx,), ws, bs, xs)

"""Layers of recurrent units as classes, which take all their arrays in one sequence.

They are composed of operations, not operations themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from core import Variable
from core.errors.removed import removed
from plugins.functions.composed import Composed
from plugins.functions.rnn.n_step import GRU_CELL, LSTM_CELL, SIMPLE_CELLS, Cell, run


class _NStep(Composed):
    """Layers of one kind of unit, in one direction or both.

    Args:
        n_layers: How many layers, S; with both directions there are 2 S.
        states: The ratio of dropout between layers, in [0, 1): what is left of the dropout states
            of cuDNN, for which the name was chosen.
    """

    cell: ClassVar[Cell]
    directions: ClassVar[int] = 1
    carried: ClassVar[int] = 1
    """How many states go from step to step."""

    @removed("train", "use_cudnn")
    def __init__(self, n_layers: int, states: float) -> None:
        self.n_layers = n_layers
        self.states = states

    def apply(self, inputs: Iterable[Any]) -> tuple[Variable, ...]:
        """The last states, then the outputs by time.

        `inputs` are the first states, all weights, all biases, and the inputs by time: what the
        function of the same kind takes, its lists laid end to end.
        """
        name, given = type(self).__name__, list(inputs)
        layers, weights = self.n_layers * self.directions, self.cell.weights
        first, rest = given[: self.carried], given[self.carried :]
        count = layers * weights
        if len(rest) <= 2 * count:
            raise TypeError(
                f"{name}: expected {self.carried} states, {count} weights, {count} biases and at "
                f"least one time step, got {len(given)} inputs"
            )
        parts = [rest[i : i + weights] for i in range(0, 2 * count, weights)]
        ws, bs, xs = parts[:layers], parts[layers:], rest[2 * count :]
        sizes = (self.directions, self.n_layers, self.states)
        *last, ys = run(name, self.cell, *sizes, first, ws, bs, xs)
        return (*last, *ys)


class NStepRNNTanh(_NStep):
    """Layers of simple units with tanh; see `n_step_rnn`."""

    cell = SIMPLE_CELLS["tanh"]


class NStepRNNReLU(_NStep):
    """Layers of simple units with relu; see `n_step_rnn`."""

    cell = SIMPLE_CELLS["relu"]


class NStepGRU(_NStep):
    """Layers of gated recurrent units; see `n_step_gru`."""

    cell = GRU_CELL


class NStepLSTM(_NStep):
    """Layers of long short-term memory; see `n_step_lstm`.

    >>> import core.functions as F, numpy as np
    >>> ws = [np.ones((4, 3), "f")] * 4 + [np.ones((4, 4), "f")] * 4
    >>> hx, x = np.zeros((1, 2, 4), "f"), np.ones((2, 3), "f")
    >>> layer = F.NStepLSTM(n_layers=1, states=0.0)
    >>> hy, cy, *ys = layer.apply([hx, hx, *ws, *[np.zeros(4, "f")] * 8, x, x])
    >>> hy.shape, len(ys)
    ((1, 2, 4), 2)
    """

    cell, carried = LSTM_CELL, 2


class NStepBiRNNTanh(NStepRNNTanh):
    """Layers of simple units with tanh, both ways; see `n_step_birnn`."""

    directions = 2


class NStepBiRNNReLU(NStepRNNReLU):
    """Layers of simple units with relu, both ways; see `n_step_birnn`."""

    directions = 2


class NStepBiGRU(NStepGRU):
    """Layers of gated recurrent units, both ways; see `n_step_bigru`."""

    directions = 2


class NStepBiLSTM(NStepLSTM):
    """Layers of long short-term memory, both ways; see `n_step_bilstm`."""

    directions = 2

"""Minimal gated units, which keep their state or are given it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Chain, Variable, as_variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import Array
from plugins.links import arguments
from plugins.links.connection.linear import Linear
from plugins.links.rnn.stateful import KeepsOutputs, refuse_other_batch, zeros


class _MGU(Chain):
    """The two linear maps of minimal gated units, and a step."""

    @checked
    def __init__(self, in_size: int | None, out_size: int | None = None) -> None:
        in_size, units = arguments.sizes(type(self).__name__, in_size, out_size)
        super().__init__()
        self.state_size = units
        both = None if in_size is None else in_size + units
        with self.init_scope():
            self.W_f = Linear(both, units)
            self.W_h = Linear(both, units)

    def _step(self, h: Any, x: Any) -> Variable:
        """The new state after `h`, of which None is zeros, by the input `x`."""
        h = zeros(x, self.state_size) if h is None else as_variable(h)
        refuse_other_batch(self, as_variable(x), h)
        f = F.sigmoid(self.W_f(F.concat([h, x], axis=1)))
        new = F.tanh(self.W_h(F.concat([f * h, x], axis=1)))
        return F.linear_interpolate(f, new, h)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The number of units."""
        yield "out_size", self.state_size, 0


class StatelessMGU(_MGU):
    r"""A layer of minimal gated units that is given its state.

    .. math::
        f &= \sigma(W_f [h, x] + b_f) \\
        \bar h &= \tanh(W_h [f \odot h, x] + b_h) \\
        h' &= (1 - f) \odot h + f \odot \bar h

    Args:
        n_inputs: Elements of each input; None, or left out (`StatelessMGU(n_units)`), takes it from
            the first input.
        n_units: Units u.

    Shapes: h (n, u), x (n, n_inputs); gives the new h (n, u).

    Source: Zhou et al. 2016 (arXiv:1603.09420), section 3.

    >>> import core.links as L, numpy as np
    >>> cell = L.StatelessMGU(3, 2)
    >>> cell(np.zeros((5, 2), "f"), np.ones((5, 3), "f")).shape
    (5, 2)
    """

    @checked
    def __init__(self, n_inputs: int | None, n_units: int | None = None) -> None:
        super().__init__(n_inputs, n_units)

    def forward(self, h: Array | None, x: Array) -> Variable:
        """Make one step from the state `h`, or zeros if None, and return the new state."""
        return self._step(h, x)


class StatefulMGU(_MGU, KeepsOutputs):
    r"""A layer of minimal gated units that keeps its state from call to call.

    The formulas are those of `StatelessMGU`. The state is in the attribute `h`, None before the
    first input, which finds zeros.

    Args:
        in_size: Elements of each input; None, or left out (`StatefulMGU(out_size)`), takes it from
            the first input.
        out_size: Units u.

    Shapes: x (n, in_size); gives h (n, u).

    Source: as for `StatelessMGU`.

    >>> import core.links as L, numpy as np
    >>> layer = L.StatefulMGU(3, 2)
    >>> layer(np.ones((5, 3), "f")).shape, layer.h.shape
    ((5, 2), (5, 2))
    """

    def forward(self, x: Array) -> Variable:
        """Make one step from the kept state by the input x; return and keep the new state."""
        self.h = h = self._step(self.h, x)
        return h

"""Gated recurrent units, which keep their state or are given it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Chain, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array
from plugins.links import arguments
from plugins.links.connection.linear import Linear
from plugins.links.rnn.stateful import KeepsOutputs, one_step, refuse_other_batch


class _GRU(Chain):
    """The six linear maps of gated recurrent units, and a step."""

    @checked
    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        init: InitializerSpec = None,
        inner_init: InitializerSpec = None,
        bias_init: InitializerSpec = None,
    ) -> None:
        in_size, out_size = arguments.sizes(type(self).__name__, in_size, out_size)
        super().__init__()
        upward: dict[str, Any] = {"initialW": init, "initial_bias": bias_init}
        lateral: dict[str, Any] = {"initialW": inner_init, "initial_bias": bias_init}
        with self.init_scope():
            self.W_r = Linear(in_size, out_size, **upward)
            self.U_r = Linear(out_size, out_size, **lateral)
            self.W_z = Linear(in_size, out_size, **upward)
            self.U_z = Linear(out_size, out_size, **lateral)
            self.W = Linear(in_size, out_size, **upward)
            self.U = Linear(out_size, out_size, **lateral)

    def _step(self, h: Any, x: Any) -> Variable:
        """The new state after `h`, or after none, by the input `x`."""
        r = one_step(self, self.W_r, x)
        z, new = self.W_z(x), self.W(x)  # before `h` is looked at, so that each knows its size
        if h is None:
            return F.sigmoid(z) * F.tanh(new)
        lateral = self.U_r(h)
        refuse_other_batch(self, r, lateral)
        r = F.sigmoid(r + lateral)
        new = F.tanh(new + self.U(r * h))
        return F.linear_interpolate(F.sigmoid(z + self.U_z(h)), new, h)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The sizes."""
        yield "in_size", self.W.in_size, 0
        yield "out_size", self.W.out_size, 0


class StatelessGRU(_GRU):
    r"""A layer of gated recurrent units that is given its state.

    .. math::
        r &= \sigma(W_r x + U_r h + b_r) \\
        z &= \sigma(W_z x + U_z h + b_z) \\
        \bar h &= \tanh(W x + U (r \odot h) + b) \\
        h' &= (1 - z) \odot h + z \odot \bar h

    Args:
        in_size: Elements of each input; None, or left out (`StatelessGRU(out_size)`), takes it from
            the first input.
        out_size: Units u.
        init: Initializer of W_r, W_z and W, a number or an array; LeCunNormal by default.
        inner_init: The same of U_r, U_z and U.
        bias_init: The same of the biases, of which W and U have one each; 0 by default.

    Shapes: h (n, u) or None, x (n, in_size); gives the new h (n, u). None, for the start of a
    sequence, leaves out the terms with the U and their biases, which zeros leave in.

    Source: Cho et al. 2014 (arXiv:1406.1078), equations 5 to 8.

    >>> import core.links as L, numpy as np
    >>> cell = L.StatelessGRU(3, 2)
    >>> h = cell(None, np.ones((5, 3), "f"))
    >>> cell(h, np.ones((5, 3), "f")).shape
    (5, 2)
    """

    def forward(self, h: Array | None, x: Array) -> Variable:
        """Make one step from the state `h` by the input `x`, and return the new state."""
        return self._step(h, x)


class StatefulGRU(_GRU, KeepsOutputs):
    r"""A layer of gated recurrent units that keeps its state from call to call.

    The formulas are those of `StatelessGRU`. The state is in the attribute `h`, None before the
    first input, where the terms with the U and their biases are left out.

    Args:
        in_size: Elements of each input; None, or left out (`StatefulGRU(out_size)`), takes it from
            the first input.
        out_size: Units u.
        init: Initializer of W_r, W_z and W, a number or an array; LeCunNormal by default.
        inner_init: The same of U_r, U_z and U.
        bias_init: The same of the biases.

    Shapes: x (n, in_size); gives h (n, u).

    Source: as for `StatelessGRU`.

    >>> import core.links as L, numpy as np
    >>> layer = L.StatefulGRU(3, 2)
    >>> layer(np.ones((5, 3), "f")).shape
    (5, 2)
    >>> layer.reset_state()
    >>> layer.h is None
    True
    """

    @checked
    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        init: InitializerSpec = None,
        inner_init: InitializerSpec = None,
        bias_init: InitializerSpec = 0,
    ) -> None:
        super().__init__(in_size, out_size, init, inner_init, bias_init)

    def forward(self, x: Array) -> Variable:
        """Make one step from the kept state by the input x; return and keep the new state."""
        self.h = h = self._step(self.h, x)
        return h


class GRU(StatefulGRU):
    r"""A layer of gated recurrent units that keeps its state: another name of `StatefulGRU`.

    Args:
        in_size: Elements of each input; None, or left out (`GRU(out_size)`), takes it from the
            first input.
        out_size: Units u.
        init: Initializer of W_r, W_z and W, a number or an array; LeCunNormal by default.
        inner_init: The same of U_r, U_z and U.
        bias_init: The same of the biases.

    Shapes: x (n, in_size); gives h (n, u).

    Source: as for `StatelessGRU`.

    >>> import core.links as L, numpy as np
    >>> layer = L.GRU(20)
    >>> layer(np.ones((5, 3), "f")).shape
    (5, 20)
    """

    def forward(self, *args: Array) -> Variable:
        """Make one step by the input x; see `StatefulGRU`."""
        if len(args) != 1:
            raise TypeError(
                f"links.GRU: expected the input x alone, got {len(args)} arguments. It keeps its "
                "state; for one that is called with h and x, take links.StatelessGRU."
            )
        return super().forward(*args)

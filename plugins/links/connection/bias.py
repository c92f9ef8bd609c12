"""The layer that adds along some axes."""

from __future__ import annotations

from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import Array


class Bias(Link):
    r"""Add a parameter, or a second input, along some axes.

    .. math:: y_{\vec i \vec a \vec j} = x_{\vec i \vec a \vec j} + b_{\vec a}

    Args:
        axis: The first axis of x that b stands along.
        shape: Shape of b, that of x from `axis` on, as far as it goes. None makes no parameter:
            what is added is then the second input.

    Shapes: x any, floating; b `shape`; y that of x.

    >>> import core.links as L, numpy as np
    >>> layer = L.Bias(axis=1, shape=(3,))
    >>> layer.b.array[...] = [1, 2, 3]
    >>> layer(np.zeros((2, 3), "f"))
    variable([[1., 2., 3.],
              [1., 2., 3.]], dtype=float32)
    >>> L.Bias(axis=0)(np.zeros((1, 3), "f"), np.ones(1, "f"))
    variable([[1., 1., 1.]], dtype=float32)
    """

    b: Parameter | None

    @checked
    def __init__(self, axis: int = 1, shape: tuple[int, ...] | None = None) -> None:
        super().__init__()
        self.axis = axis
        self.b = None
        if shape is not None:
            with self.init_scope():
                self.b = Parameter(0, shape)

    def forward(self, *xs: Array) -> Variable:
        """Apply the layer to x, or to x and what to add to it."""
        x, b = with_factor("Bias", xs, self.b, "shape")
        return F.bias(x, b, self.axis)


def with_factor(link: str, xs: tuple[Any, ...], own: Any, argument: str) -> tuple[Any, Any]:
    """The input, and the link's own parameter or the second input."""
    expected = 2 if own is None else 1
    if len(xs) != expected:
        cure = "" if own is not None else f" Give the link a {argument} to learn the second."
        raise TypeError(f"links.{link}: expected {expected} inputs, got {len(xs)}.{cure}")
    return (xs[0], xs[1]) if own is None else (xs[0], own)

"""The layer of products of two inputs."""

from __future__ import annotations

from typing import Any

from core import Link, Parameter, Variable
from core import functions as F
from core.errors import InvalidSetting
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array
from plugins.links import arguments


class Bilinear(Link):
    r"""A bilinear layer with linear terms.

    .. math:: y_l = \sum_{jk} e^1_j e^2_k W_{jkl} + \sum_j e^1_j V^1_{jl} + \sum_k e^2_k V^2_{kl}
        + b_l

    Args:
        left_size: Elements j of the first input.
        right_size: Elements k of the second input.
        out_size: Elements l of the output.
        nobias: Whether to leave out V1, V2 and b.
        initialW: Initializer of W, a number or an array; LeCunNormal by default.
        initial_bias: Three initializers, of V1, V2 and b; LeCunNormal by default, 0 for b.

    Shapes: e1 (n, ...) and e2 (n, ...) floating, flattened to left_size and right_size; W
    (left_size, right_size, out_size), V1 (left_size, out_size), V2 (right_size, out_size), b
    (out_size,), y (n, out_size).

    Source: Socher, Chen, Manning and Ng 2013, "Reasoning with neural tensor networks for knowledge
    base completion", equation 1.

    >>> import core.links as L, numpy as np
    >>> layer = L.Bilinear(2, 3, 4)
    >>> layer(np.ones((5, 2), "f"), np.ones((5, 3), "f")).shape
    (5, 4)
    """

    V1: Parameter | None
    V2: Parameter | None
    b: Parameter | None

    @checked
    def __init__(
        self,
        left_size: int,
        right_size: int,
        out_size: int,
        nobias: bool = False,
        initialW: InitializerSpec = None,
        initial_bias: tuple[InitializerSpec, InitializerSpec, InitializerSpec] | None = None,
    ) -> None:
        super().__init__()
        self.in_sizes = (left_size, right_size)
        self.out_size = out_size
        self.nobias = nobias
        self.V1 = self.V2 = self.b = None
        V1, V2, b = _three(initial_bias)
        with self.init_scope():
            self.W = Parameter(arguments.weight(initialW), (left_size, right_size, out_size))
            if not nobias:
                self.V1 = Parameter(arguments.weight(V1), (left_size, out_size))
                self.V2 = Parameter(arguments.weight(V2), (right_size, out_size))
                self.b = Parameter(arguments.bias(b), (out_size,))

    def zero_grads(self) -> None:
        """The same as `zerograds`, under its old name."""
        self.zerograds()

    def forward(self, e1: Array, e2: Array) -> Variable:
        """Apply the layer to two inputs (n, ...)."""
        return F.bilinear(e1, e2, self.W, self.V1, self.V2, self.b)


def _three(spec: Any) -> tuple[Any, ...]:
    if spec is None:
        return None, None, None
    if not isinstance(spec, (tuple, list)) or len(spec) != 3:
        raise InvalidSetting(
            "Bilinear: expected initial_bias to be a tuple of three initializers, those of V1, V2 "
            f"and b, got {spec!r:.60}"
        )
    return tuple(spec)

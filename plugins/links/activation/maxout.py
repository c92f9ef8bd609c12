"""The greatest of several linear maps."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from core import Chain, Variable
from core import functions as F
from core.arrays import backend
from core.errors import InvalidSetting
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array
from plugins.links.connection.linear import Linear


class Maxout(Chain):
    r"""A layer that takes the greatest of several affine maps.

    .. math:: y_i = \max_j (W_{ij} \cdot x + b_{ij})

    Args:
        in_size: Elements of each input; None takes it from the first input.
        out_size: Elements i of each output.
        pool_size: Maps j that compete for each of them.
        initialW: Initializer of W, a number, or an array (out_size, pool_size, in_size);
            LeCunNormal by default.
        initial_bias: The same of b, or an array (out_size, pool_size); None leaves b out.

    Its child `linear` holds W as (out_size pool_size, in_size), and b alike. Shapes: x (n, ...)
    floating, flattened to in_size; y (n, out_size).

    Source: Goodfellow et al. 2013 (arXiv:1302.4389).

    >>> import core.links as L, numpy as np
    >>> W = np.array([[[1, 0], [0, 1]]], "f")
    >>> L.Maxout(2, 1, 2, initialW=W)(np.array([[3, 5]], "f"))
    variable([[5.]], dtype=float32)
    """

    @checked
    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        pool_size: int,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = 0,
    ) -> None:
        super().__init__()
        self.pool_size = pool_size
        units, shape = out_size * pool_size, (out_size, pool_size)
        with self.init_scope():
            self.linear = Linear(
                in_size,
                units,
                nobias=initial_bias is None,
                initialW=_merged("initialW", initialW, shape),
                initial_bias=_merged("initial_bias", initial_bias, shape),
            )

    def forward(self, x: Array) -> Variable:
        """Apply the layer to x (n, ...)."""
        return F.maxout(self.linear(x), self.pool_size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """How many maps each output is the largest of."""
        yield "pool_size", self.pool_size, 0


def _merged(name: str, spec: Any, shape: tuple[int, int]) -> Any:
    """An array with the axes of outputs and of maps made one; all else as it is."""
    given = tuple(getattr(spec, "shape", ()))
    if not given:
        return spec
    if given[:2] != shape:
        axes = ", ".join(map(str, shape)) + ", in_size" * (name == "initialW")
        raise InvalidSetting(
            f"Maxout: expected {name} of the shape ({axes}), which begins with out_size and "
            f"pool_size, got {given}"
        )
    return backend.of(spec).xp.reshape(spec, (prod(shape), *given[2:]))

"""A table of vectors for integer ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from core import Link, Parameter, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec, as_initializer
from core.typing import Array
from plugins.initializers.normal import Normal


class EmbedID(Link):
    r"""Learnable vectors for words or other things with integer ids.

    .. math:: y_{\vec i k} = W_{x_{\vec i}\, k}

    Args:
        in_size: How many things there are.
        out_size: Elements of each vector.
        initialW: Initializer of W, a number or an array; Normal(1.0) by default.
        ignore_label: A number whose vector is 0 and never learns, or None.

    Shapes: x any shape, integers in [0, in_size); W (in_size, out_size); y that of x with an axis
    of out_size added, in the dtype of W.

    Source: Bengio, Ducharme, Vincent and Jauvin 2003, "A neural probabilistic language model",
    Journal of Machine Learning Research 3, section 2.

    >>> import core.links as L, numpy as np
    >>> table = L.EmbedID.from_params(np.array([[0, 0], [1, 1], [2, 2]], "f"))
    >>> table(np.array([2, 1]))
    variable([[2., 2.],
              [1., 1.]], dtype=float32)
    """

    ignore_label: int | None = None

    @checked
    def __init__(
        self,
        in_size: int,
        out_size: int,
        initialW: InitializerSpec = None,
        ignore_label: int | None = None,
    ) -> None:
        super().__init__()
        self.ignore_label = ignore_label
        with self.init_scope():
            self.W = Parameter(as_initializer(initialW, Normal(1.0)), (in_size, out_size))

    def forward(self, x: Array) -> Variable:
        """Look up the vectors of the ids `x`."""
        return F.embed_id(x, self.W, ignore_label=self.ignore_label)

    @classmethod
    def from_params(cls, W: Array, ignore_label: int | None = None) -> Self:
        """A table with the given rows (in_size, out_size), copied in the default dtype."""
        return cls(W.shape[0], W.shape[1], initialW=W, ignore_label=ignore_label)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The sizes, and what is ignored."""
        yield "in_size", self.W.shape[0], None
        yield "out_size", self.W.shape[1], None
        yield "ignore_label", self.ignore_label, None

"""Rows of a table by number: the embedding of words and other identifiers."""

from __future__ import annotations

from math import prod
from typing import Any

from core import Domain, FunctionNode, integers, real
from core.typing import AnyArray
from plugins.functions.derived import function_of
from plugins.functions.labels import refuse_outside, widened

NUMBERS = "W has a row for each of these; name the number to leave out as ignore_label."


class EmbedIDFunction(FunctionNode):
    """Look up rows of `W` by number.

    Args:
        x: Integers of any shape, each in [0, v) or equal to `ignore_label`.
        W: The table, (v, k), floating.
        ignore_label: A number whose row is zeros and gets no gradient, or None.

    Returns:
        The shape of `x` with an axis of length k added, in the dtype of `W`.

    Raises:
        InvalidType: `x` is not integral or `W` not a floating matrix.
        OutOfRange: A number has no row; where devices run ahead, under `core.config.debug`.

    >>> import core.functions as F, numpy as np
    >>> W = np.array([[0, 0], [1, 1], [2, 2]], "f")
    >>> F.embed_id(np.array([2, -1]), W, ignore_label=-1)
    variable([[2., 2.],
              [0., 0.]], dtype=float32)
    """

    ignore_label: int | None = None
    domain = Domain("(...),(v,k)->(...,k)", x=integers(0, "v"), W=real(-2, 2), dims={"v": (1, 5)})

    def compute(self, xp, x, W):
        ignored, numbers = self.check_values(xp, x, W)
        rows = xp.take(W, xp.reshape(numbers, (-1,)), axis=0)
        if ignored is not None:
            rows = xp.where(xp.reshape(ignored, (-1, 1)), xp.zeros_like(rows), rows)
        return xp.reshape(rows, (*x.shape, W.shape[1]))

    def check_values(self, xp: Any, x: AnyArray, W: AnyArray) -> tuple[Any, Any]:
        """Which numbers are left out, or None; and all, with 0 for those. Others need a row."""
        ignored, numbers = None, widened(xp, x)
        if self.ignore_label is not None:
            ignored = numbers == self.ignore_label
            numbers = xp.where(ignored, xp.zeros_like(numbers), numbers)
        refuse_outside("EmbedID", self.backend, "x", numbers, W.shape[0], NUMBERS)
        return ignored, numbers

    def gradient_W(self, xp, g, x):
        return EmbedIDGradient(self.input_shape(1)[0], self.ignore_label).evaluate(x, g)


class EmbedIDGradient(FunctionNode):
    """A table of zeros with row g added at number x: the adjoint of looking rows up."""

    rows: int
    ignore_label: int | None = None
    wide = True

    def compute(self, xp, x, g):
        flat = widened(xp, xp.reshape(x, (-1,)))
        g = xp.reshape(g, (prod(x.shape), g.shape[-1]))
        if self.ignore_label is not None:
            ignored = flat == self.ignore_label
            flat = xp.where(ignored, xp.zeros_like(flat), flat)
            g = xp.where(ignored[:, None], xp.zeros_like(g), g)
        table = xp.zeros((self.rows, g.shape[-1]), dtype=g.dtype, device=g.device)
        return self.backend.scatter_add(table, flat, g)

    def gradient_g(self, xp, g, x):
        return EmbedIDFunction(self.ignore_label).evaluate(x, g)


embed_id = function_of(EmbedIDFunction, "embed_id")

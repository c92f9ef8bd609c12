"""Attention by scaled products as one operation, whose matrix of weights nobody has to keep."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, choice, number, real
from core.typing import AnyArray
from plugins.functions.array.broadcast import SumTo


class Attention(FunctionNode):
    """softmax(scale q k^T) v over the last two axes; leading ones broadcast.

    With `is_causal` query i sees keys 0 to i.

    Of the weights only the logarithms of the sums that they were divided by are kept (Dao et al.
    2022, arXiv:2205.14135, section 3.1), so that a kernel may compute them block by block.
    """

    scale: float = 1.0
    is_causal: bool = False

    saved = ("log_total",)
    wide = True
    domain = Domain(
        "(...,n,e),(...,m,e),(...,m,d)->(...,n,d)",
        query=real(-2, 2),
        key=real(-2, 2),
        value=real(-2, 2),
        settings={"scale": number(0.2, 1.5), "is_causal": choice(False, True)},
        dims={"m": (1, 4)},
    )

    def scores(self, xp: Any, query: AnyArray, key: AnyArray) -> AnyArray:
        products = xp.matmul(query * self.scale, xp.matrix_transpose(key))
        if not self.is_causal:
            return products
        queries, keys = (xp.arange(n, device=query.device) for n in products.shape[-2:])
        lowest = xp.asarray(
            -1e38, dtype=products.dtype, device=query.device
        )  # finite: it has differences
        return xp.where(keys[None, :] <= queries[:, None], products, lowest)

    def recompute_log_total(self, xp: Any, query: AnyArray, key: AnyArray) -> AnyArray:
        scores = self.scores(xp, query, key)
        top = xp.max(scores, axis=-1, keepdims=True)
        return top + xp.log(xp.sum(xp.exp(scores - top), axis=-1, keepdims=True))

    def compute(self, xp, query, key, value):
        scores = self.scores(xp, query, key)
        top = xp.max(scores, axis=-1, keepdims=True)
        weights = xp.exp(scores - top)
        total = xp.sum(weights, axis=-1, keepdims=True)
        self.log_total = top + xp.log(total)
        return xp.matmul(weights, value) / total

    def gradient(self, xp, g, query, key, value, log_total):
        weights = xp.exp(self.scores(xp, query, key) - log_total)
        through = xp.matmul(g, xp.matrix_transpose(value))
        through = weights * (through - xp.sum(weights * through, axis=-1, keepdims=True))
        through = through * self.scale
        gradients = (
            xp.matmul(through, key),
            xp.matmul(xp.matrix_transpose(through), query),
            xp.matmul(xp.matrix_transpose(weights), g),
        )
        return tuple([_summed(a, self.input_shape(i)) for i, a in enumerate(gradients)])


def _summed(g: Any, shape: tuple[int, ...]) -> Any:
    return g if g.shape == shape else SumTo(shape).evaluate(g)

"""A layer of a transformer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from core import Chain, Variable, as_variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import Array, Ratio
from plugins.links.attention.multi_head_attention import MultiHeadAttention
from plugins.links.connection.linear import Linear
from plugins.links.normalization.layer_normalization import LayerNormalization


class TransformerBlock(Chain):
    r"""Self-attention and a network of two layers, each normalized before and added to its input.

    .. math::
        u &= x + \mathrm{attention}(\mathrm{norm}_1(x)) \\
        y &= u + W_2\, a(W_1\, \mathrm{norm}_2(u) + b_1) + b_2

    Args:
        size: Elements of inputs and results, a multiple of `n_heads`.
        n_heads: Heads of the attention.
        hidden_size: Elements between W_1 and W_2; None is 4 times `size`.
        causal: Whether the element at place l sees only those at places up to l.
        dropout: The ratio of dropout, of the weights of the attention and of what is added to the
            input, in [0, 1).
        activate: The function a.
        normalization: `normalization(size)` makes each normalization; `links.RMSNormalization`, for
            example.

    Its children are `norm1`, `attention`, `norm2`, `inner` and `outer`.

    Shapes: the batch comes first, then the places. x (n, l, size)
    floating; y that of x.

    Source: Vaswani et al. 2017 (arXiv:1706.03762), section 3; the normalizations first: Xiong et
    al. 2020 (arXiv:2002.04745).

    >>> import core, core.links as L, numpy as np
    >>> layers = core.Sequential(*[L.TransformerBlock(4, n_heads=2, causal=True) for _ in range(3)])
    >>> layers(np.ones((2, 5, 4), "f")).shape
    (2, 5, 4)
    """

    norm1: Any
    norm2: Any

    @checked
    def __init__(
        self,
        size: int,
        n_heads: int,
        hidden_size: int | None = None,
        causal: bool = False,
        dropout: Ratio = 0.0,
        activate: Callable[[Any], Any] = F.gelu,
        normalization: Callable[[int], Any] = LayerNormalization,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.activate = activate
        hidden = 4 * size if hidden_size is None else hidden_size
        with self.init_scope():
            self.norm1 = normalization(size)
            self.attention = MultiHeadAttention(size, n_heads, causal=causal, dropout=dropout)
            self.norm2 = normalization(size)
            self.inner = Linear(size, hidden)
            self.outer = Linear(hidden, size)

    def forward(self, x: Array, mask: Array | None = None) -> Variable:
        """Apply the layer to `x` (n, l, size); `mask` is as for `MultiHeadAttention`."""
        x = as_variable(x)
        x = x + self._dropped(self.attention(self.norm1(x), mask=mask))
        hidden = self.activate(self.inner(self.norm2(x), n_batch_axes=2))
        y: Variable = x + self._dropped(self.outer(hidden, n_batch_axes=2))
        return y

    def _dropped(self, x: Variable) -> Variable:
        return F.dropout(x, self.dropout) if self.dropout else x

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """Sizes, heads, and the settings that differ from their defaults."""
        yield "size", self.attention.size, 0
        yield "n_heads", self.attention.n_heads, 0
        yield "hidden_size", self.inner.out_size, 4 * self.attention.size
        yield "causal", self.attention.causal, False
        yield "dropout", self.dropout, 0.0

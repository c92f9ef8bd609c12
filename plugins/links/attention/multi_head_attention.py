"""Attention of several heads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from core import Chain, Variable, as_array
from core import functions as F
from plugins.links.connection.linear import Linear

# Of a score that is to weigh nothing: finite in all dtypes, so that a row of nothing else is, too.
NEVER = -1e4


class MultiHeadAttention(Chain):
    r"""Attention of several heads: means of values, weighted by how well keys fit queries.

    .. math::
        h_i &= \mathrm{softmax}\left(Q_i K_i^T / \sqrt{d}\right) V_i \\
        y &= W_o [h_1, \dots, h_H] + b_o

    Q, K and V are affine maps of queries, keys and values, of which each head i gets d elements.

    Args:
        size: Elements of queries and results, a multiple of `n_heads`.
        n_heads: The number H of heads.
        key_size: Elements of keys and values; None is `size`.
        causal: Whether the query at place l sees only the keys at places up to l.
        dropout: The ratio of weights that are dropped in training, in [0, 1).
        nobias: Whether to leave all biases out.
        initialW: Initializer of all W, or a number; LeCunNormal by default.
        initial_bias: The same of all b; 0 by default.

    Its children are `query`, `key`, `value` and `output`. Shapes: queries (n, l, size) floating,
    keys and values (n, m, key_size); gives (n, l, size).

    Source: Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.

    >>> import core.links as L, numpy as np
    >>> attention = L.MultiHeadAttention(4, n_heads=2)
    >>> x, memory = np.ones((3, 5, 4), "f"), np.ones((3, 7, 4), "f")
    >>> attention(x).shape, attention(x, memory).shape
    ((3, 5, 4), (3, 5, 4))
    """

    def __init__(
        self,
        size: int,
        n_heads: int,
        key_size: int | None = None,
        causal: bool = False,
        dropout: float = 0.0,
        nobias: bool = False,
        initialW: Any = None,
        initial_bias: Any = None,
    ) -> None:
        if size % n_heads:
            raise ValueError(
                f"links.MultiHeadAttention: expected a size that {n_heads} heads divide, "
                f"got {size}."
            )
        super().__init__()
        self.size = size
        self.n_heads = n_heads
        self.causal = causal
        self.dropout = dropout
        inner = size if key_size is None else key_size
        rest = (size, nobias, initialW, initial_bias)
        with self.init_scope():
            self.query = Linear(size, *rest)
            self.key = Linear(inner, *rest)
            self.value = Linear(inner, *rest)
            self.output = Linear(size, *rest)

    def forward(
        self, queries: Any, keys: Any = None, values: Any = None, mask: Any = None
    ) -> Variable:
        """Attend.

        Args:
            queries: What asks, (n, l, size).
            keys: What is asked, (n, m, key_size); None is the queries: self-attention.
            values: What is answered, (n, m, key_size); None is the keys.
            mask: A boolean array that broadcasts to (n, n_heads, l, m), False where a query shall
                not see a key; None lets it see all. A query that sees none gets the plain mean.
        """
        keys = queries if keys is None else keys
        values = keys if values is None else values
        q, k, v = (
            self._heads(link(x, n_batch_axes=2))
            for link, x in ((self.query, queries), (self.key, keys), (self.value, values))
        )
        scores = F.matmul(q, k, transb=True) / math.sqrt(self.size // self.n_heads)
        weights = F.softmax(self._masked(scores, mask), axis=3)
        if self.dropout:
            weights = F.dropout(weights, self.dropout)
        heads = F.transpose(F.matmul(weights, v), (0, 2, 1, 3))
        y: Variable = self.output(heads.reshape((*heads.shape[:2], self.size)), n_batch_axes=2)
        return y

    def _heads(self, x: Any) -> Variable:
        """(n, l, size) as (n, heads, l, d)."""
        parts = x.reshape((*x.shape[:2], self.n_heads, -1))
        return F.transpose(parts, (0, 2, 1, 3))

    def _masked(self, scores: Variable, mask: Any) -> Variable:
        """The scores, and NEVER where a query shall not see a key."""
        for seen in (None if mask is None else as_array(mask), self._past(scores)):
            if seen is not None:
                xp = scores.xp
                seen = xp.broadcast_to(seen, scores.shape)
                scores = F.where(seen, scores, xp.full_like(scores.array, NEVER))
        return scores

    def _past(self, scores: Variable) -> Any:
        """Which keys are not after which query."""
        if not self.causal:
            return None
        xp = scores.xp
        return xp.tril(xp.ones_like(scores.array)) > 0

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """Size, heads, and the settings that differ from their defaults."""
        yield "size", self.size, 0
        yield "n_heads", self.n_heads, 0
        yield "causal", self.causal, False
        yield "dropout", self.dropout, 0.0

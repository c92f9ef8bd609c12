"""Attention of several heads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Chain, Variable, as_array, backend
from core import functions as F
from core.errors import InvalidType
from core.errors.kinds import checked
from core.errors.removed import removed
from core.link.initializer import InitializerSpec
from core.typing import Array, Ratio
from plugins.links import arguments
from plugins.links.connection.linear import Linear


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

    Its children are `query`, `key`, `value` and `output`.

    Shapes: the batch comes first, then the places. Queries (n, l, size) floating, keys and values
    (n, m, key_size); gives (n, l, size).

    Source: Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.

    >>> import core.links as L, numpy as np
    >>> attention = L.MultiHeadAttention(4, n_heads=2)
    >>> x, memory = np.ones((3, 5, 4), "f"), np.ones((3, 7, 4), "f")
    >>> attention(x).shape, attention(x, memory).shape
    ((3, 5, 4), (3, 5, 4))
    >>> lengths = np.array([7, 2, 4])
    >>> padded = np.arange(7) >= lengths[:, None]
    >>> attention(x, memory, mask=~padded[:, None]).shape  # (n, 1, m): queries see no padding
    (3, 5, 4)
    """

    @checked
    def __init__(
        self,
        size: int,
        n_heads: int,
        key_size: int | None = None,
        causal: bool = False,
        dropout: Ratio = 0.0,
        nobias: bool = False,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
    ) -> None:
        if n_heads < 1 or size % n_heads:
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

    @removed()
    def forward(
        self,
        queries: Array,
        keys: Array | None = None,
        values: Array | None = None,
        mask: Array | None = None,
    ) -> Variable:
        """Attend.

        Args:
            queries: What asks, (n, l, size).
            keys: What is asked, (n, m, key_size); None is the queries: self-attention.
            values: What is answered, (n, m, key_size); None is the keys.
            mask: What each query may see: truth values, False where it shall not see a key, or
                numbers that are added to the scores. (l, m) for all, (n, l, m) for each example,
                or (n, n_heads, l, m) for each head too; an axis of 1 stands for any number. None
                lets all be seen. A query that sees nothing gets the mean of nothing, 0.
        """
        keys = queries if keys is None else keys
        values = keys if values is None else values
        for x in (queries, keys, values):
            arguments.check_rank(self, x, 3)
        q, k, v = (
            self._heads(link(x, n_batch_axes=2))
            for link, x in ((self.query, queries), (self.key, keys), (self.value, values))
        )
        heads = F.scaled_dot_product_attention(
            q, k, v, self._for_heads(mask, q, k), self.dropout, self.causal
        )
        heads = F.transpose(heads, (0, 2, 1, 3))
        y: Variable = self.output(heads.reshape((*heads.shape[:2], self.size)), n_batch_axes=2)
        return y

    def _heads(self, x: Any) -> Variable:
        """(n, l, size) as (n, heads, l, d)."""
        parts = x.reshape((*x.shape[:2], self.n_heads, self.size // self.n_heads))
        return F.transpose(parts, (0, 2, 1, 3))

    def _for_heads(self, mask: Any, q: Variable, k: Variable) -> Any:
        """The mask as it broadcasts to scores (n, heads, l, m)."""
        if mask is None:
            return None
        backend.of(as_array(mask))  # which refuses what is not an array
        scores = (*q.shape[:3], k.shape[2])
        shape = tuple(mask.shape)
        if len(shape) == 3:  # of each example, the same for all heads
            mask = mask[:, None, :, :]
        wide = (1,) * (4 - len(mask.shape)) + tuple(mask.shape)
        fits = len(wide) == 4 and all(a in (1, b) for a, b in zip(wide, scores, strict=True))
        if len(shape) < 2 or not fits:
            of_keys = shape == (scores[0], scores[3])
            raise InvalidType(
                f"mask.shape is (l, m), (n, l, m) or (n, h, l, m) of {scores}",
                str(shape),
                operation="MultiHeadAttention",
                cure="write mask[:, None]: it has one row for each example." if of_keys else "",
            )
        return mask

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """Size, heads, and the settings that differ from their defaults."""
        yield "size", self.size, 0
        yield "n_heads", self.n_heads, 0
        yield "causal", self.causal, False
        yield "dropout", self.dropout, 0.0

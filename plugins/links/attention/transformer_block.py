"""A layer of a transformer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from core import Chain, Variable, as_variable
from core import functions as F
from core.errors.kinds import checked
from core.errors.removed import removed
from core.typing import Array, Ratio
from plugins.links.attention.multi_head_attention import MultiHeadAttention
from plugins.links.connection.linear import Linear
from plugins.links.normalization.layer_normalization import LayerNormalization


class TransformerBlock(Chain):
    r"""Self-attention and a network of two layers, each normalized before and added to its input.

    .. math::
        u &= x + \mathrm{attention}(\mathrm{norm}_1(x)) \\
        y &= u + W_2\, a(W_1\, \mathrm{norm}_2(u) + b_1) + b_2

    With a `memory_size` it is a layer of a decoder: between the two there is an attention to a
    memory, as the results of an encoder, which is normalized and added likewise. With
    `norm_first=False` sums are normalized in place of inputs, as in the first transformers:
    :math:`u = \mathrm{norm}_1(x + \mathrm{attention}(x))`.

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
        norm_first: Whether inputs are normalized, or else sums.
        memory_size: Elements of the memory; None for no memory.

    Its children are `norm1`, `attention`, `norm2`, `inner` and `outer`, and with a memory
    `norm_memory` and `memory_attention`.

    Shapes: the batch comes first, then the places. x (n, l, size)
    floating, memory (n, m, memory_size); y that of x.

    Source: Vaswani et al. 2017 (arXiv:1706.03762), section 3; the normalizations first: Xiong et
    al. 2020 (arXiv:2002.04745).

    >>> import core, core.links as L, numpy as np
    >>> layers = core.Sequential(*[L.TransformerBlock(4, n_heads=2, causal=True) for _ in range(3)])
    >>> layers(np.ones((2, 5, 4), "f")).shape
    (2, 5, 4)
    >>> decoder = L.TransformerBlock(4, n_heads=2, causal=True, memory_size=6)
    >>> decoder(np.ones((2, 5, 4), "f"), memory=np.ones((2, 7, 6), "f")).shape
    (2, 5, 4)
    """

    norm1: Any
    norm2: Any
    norm_memory: Any
    memory_attention: MultiHeadAttention | None

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
        norm_first: bool = True,
        memory_size: int | None = None,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.activate = activate
        self.norm_first = norm_first
        self.memory_attention = None
        hidden = 4 * size if hidden_size is None else hidden_size
        with self.init_scope():
            self.norm1 = normalization(size)
            self.attention = MultiHeadAttention(size, n_heads, causal=causal, dropout=dropout)
            if memory_size is not None:
                self.norm_memory = normalization(size)
                self.memory_attention = MultiHeadAttention(
                    size, n_heads, memory_size, dropout=dropout
                )
            self.norm2 = normalization(size)
            self.inner = Linear(size, hidden)
            self.outer = Linear(hidden, size)

    @removed()
    def forward(
        self,
        x: Array,
        mask: Array | None = None,
        memory: Array | None = None,
        memory_mask: Array | None = None,
    ) -> Variable:
        """Apply the layer.

        Args:
            x: (n, l, size).
            mask: What each place may see of the others, as for `MultiHeadAttention`.
            memory: (n, m, memory_size), where there is a memory.
            memory_mask: What each place may see of the memory.
        """
        attend = self.memory_attention
        if (memory is None) != (attend is None):
            wanted = "no memory" if attend is None else "a memory (n, m, memory_size)"
            got = "none" if memory is None else "one. Make the block with memory_size=..."
            raise TypeError(f"links.TransformerBlock: expected {wanted}, got {got}")
        x = self._added(as_variable(x), self.norm1, lambda h: self.attention(h, mask=mask))
        if attend is not None:
            of_memory = partial(attend, keys=memory, mask=memory_mask)
            x = self._added(x, self.norm_memory, of_memory)
        return self._added(x, self.norm2, self._network)

    def _network(self, x: Variable) -> Variable:
        hidden = self.activate(self.inner(x, n_batch_axes=2))
        y: Variable = self.outer(hidden, n_batch_axes=2)
        return y

    def _added(
        self, x: Variable, norm: Callable[[Any], Any], part: Callable[[Any], Any]
    ) -> Variable:
        """What a part makes of x, added to x."""
        y: Variable
        if self.norm_first:
            y = x + self._dropped(part(norm(x)))
        else:
            y = norm(x + self._dropped(part(x)))
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
        yield "norm_first", self.norm_first, True
        if self.memory_attention is not None:
            yield "memory_size", self.memory_attention.key.in_size, None

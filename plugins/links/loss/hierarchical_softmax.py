"""The softmax over the leaves of a binary tree."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping
from numbers import Real
from typing import Any

from core import Device, Link, Parameter, Variable, as_array, as_variable
from core import functions as F
from core.arrays import backend
from core.errors.kinds import checked
from core.link.initializer import as_initializer
from core.typing import Array, DType
from plugins.functions.labels import refuse_outside
from plugins.functions.refusal import require
from plugins.initializers.uniform import Uniform

Path = list[tuple[int, float]]


class BinaryHierarchicalSoftmax(Link):
    r"""The loss of finding words in a binary tree, from the root down.

    .. math:: -\sum_{n \in \mathrm{path}(t)} \ln \sigma(s_n \, w_n \cdot x)

    The sum is over the inner nodes on the way to the word t; :math:`s_n` is 1 where it turns left
    and -1 where it turns right. It takes as many products as the tree is deep, and the
    probabilities of all words add up to 1.

    Args:
        in_size: Elements k of the inputs.
        tree: A pair of trees, a tree being a pair again or the number of a word. The words are
            numbered from 0 on. `create_huffman_tree` makes one.
        dtype: Dtype of W; None is `core.config.dtype`.

    Shapes: x (n, k) floating, t (n,) integers; W (inner nodes, k), from Uniform(1). Gives no axes:
    the sum.

    Source: Morin and Bengio 2005, "Hierarchical probabilistic neural network language model";
    Mikolov et al. 2013 (arXiv:1301.3781).

    >>> import core.links as L, numpy as np
    >>> loss = L.BinaryHierarchicalSoftmax(3, tree=((0, 1), 2))
    >>> loss(np.ones((2, 3), "f"), np.array([0, 2])).shape, loss.W.shape
    ((), (2, 3))
    """

    @checked
    def __init__(self, in_size: int, tree: Any, dtype: DType = None) -> None:
        super().__init__()
        paths: dict[int, Path] = {}
        count = _walk(tree, [], 0, paths)
        if sorted(paths) != list(range(len(paths))):
            raise ValueError(
                "links.BinaryHierarchicalSoftmax: expected each of the words 0, 1, 2, ... once in "
                f"the tree, got {sorted(paths)[:10]}."
            )
        depth = max([len(path) for path in paths.values()])
        # What is beyond the end of a path has the sign 0, and counts for nothing.
        filled = [paths[word] + [(0, 0.0)] * (depth - len(paths[word])) for word in sorted(paths)]
        self._nodes = self._table([[node for node, _ in path] for path in filled], "int32")
        self._signs = self._table([[sign for _, sign in path] for path in filled], "float32")
        with self.init_scope():
            self.W = Parameter(as_initializer(None, Uniform(1), dtype), (count, in_size))

    def _table(self, rows: list[list[Any]], dtype: str) -> Any:
        return self.device.backend.asarray(rows, dtype, self.device)

    @staticmethod
    def create_huffman_tree(word_counts: Mapping[int, int]) -> Any:
        """Make the tree with the least average depth, from the counts of words.

        Source: Huffman 1952, "A method for the construction of minimum-redundancy codes".

        >>> import core.links as L
        >>> L.BinaryHierarchicalSoftmax.create_huffman_tree({0: 8, 1: 1, 2: 2})
        ((1, 2), 0)
        """
        if not word_counts:
            raise ValueError("create_huffman_tree: expected the counts of words, got none.")
        number = itertools.count()  # decides between equal counts: the older tree goes first
        heap: list[tuple[int, int, Any]]
        heap = [(count, next(number), word) for word, count in word_counts.items()]
        heapq.heapify(heap)
        while len(heap) > 1:
            (n1, _, first), (n2, _, second) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (n1 + n2, next(number), (first, second)))
        return heap[0][2]

    def forward(self, x: Array, t: Array) -> Variable:
        """Compute the loss of inputs `x` (n, k) for the words `t` (n,), summed."""
        x, words = as_variable(x), as_array(t)
        xp, name, count = x.xp, type(self).__name__, self._nodes.shape[0]
        require(name, ("t.shape == x.shape[:1]", tuple(words.shape), tuple(x.shape[:1])))
        refuse_outside(name, x.backend, "t", words, count, "It holds numbers of words.")
        with x.backend.beside(x.array):
            nodes = xp.take(self._nodes, words, axis=0)
            signs = xp.astype(xp.take(self._signs, words, axis=0), x.dtype)
            turned, counted = -signs, abs(signs)
        scores = F.matmul(F.embed_id(nodes, self.W), F.expand_dims(x, 2))[:, :, 0]
        return F.sum(F.softplus(scores * turned) * counted)

    def _move(self, device: Device) -> None:
        super()._move(device)
        self._nodes = backend.to_backend(self._nodes, device)
        self._signs = backend.to_backend(self._signs, device)


def _walk(tree: Any, path: Path, node: int, paths: dict[Any, Path]) -> int:
    """Note the path to each word below; gives the next number of an inner node."""
    if not isinstance(tree, tuple):
        if not isinstance(tree, Real):
            raise ValueError(
                "links.BinaryHierarchicalSoftmax: expected a tree of tuples of two and of numbers "
                f"of words, got {type(tree).__name__} in it."
            )
        if tree in paths or not path:
            raise ValueError(
                "links.BinaryHierarchicalSoftmax: expected a tree of pairs with each word once, "
                f"got {'the word ' + repr(tree) + (' again' if path else ' alone')}."
            )
        paths[tree] = path
        return node
    if len(tree) != 2:
        raise ValueError(
            "links.BinaryHierarchicalSoftmax: expected pairs in the tree, "
            f"got {len(tree)} branches."
        )
    left, right = tree
    following = _walk(left, [*path, (node, 1.0)], node + 1, paths)
    return _walk(right, [*path, (node, -1.0)], following, paths)

"""The softmax over a word and a few others, with vectors of words."""

from __future__ import annotations

from collections.abc import Sequence

from core import Variable
from core import functions as F
from core.errors.kinds import checked
from core.typing import Array, Count
from plugins.links import arguments
from plugins.links.loss.sampled import Sampled


class BlackOut(Sampled):
    r"""The BlackOut loss of words, with others drawn in proportion to their counts.

    .. math:: -\ln p(t) - \sum_j \ln (1 - p(j))

    p is the softmax of the products :math:`w \cdot x` over the right word and the samples j.

    Args:
        in_size: Elements k of the vectors.
        counts: How often each word occurs.
        sample_size: How many words to draw for each example.

    Shapes: x (n, k) floating, t (n,) integers; W (words, k), LeCunNormal. Gives no axes: the mean.

    Source: Ji, Vishwanathan, Satish, Anderson and Dubey 2015 (arXiv:1511.06909), equation 6.

    >>> import core.links as L, numpy as np
    >>> loss = L.BlackOut(3, counts=[5, 2, 1], sample_size=4)
    >>> loss(np.ones((2, 3), "f"), np.array([0, 2])).shape
    ()
    """

    @checked
    def __init__(self, in_size: int, counts: Sequence[float], sample_size: Count) -> None:
        weights = [float(count) for count in counts]
        super().__init__(in_size, weights, sample_size, arguments.weight(None))

    def forward(self, x: Array, t: Array) -> Variable:
        """Compute the mean loss of vectors `x` (n, k) for the words `t` (n,)."""
        samples = self.sampler.sample((x.shape[0], self.sample_size))
        return F.black_out(x, t, self.W, samples)

"""Distinguishing words from randomly drawn words, with the vectors of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

from core import Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import as_initializer
from core.typing import Array, BackendArray, Count, DType
from plugins.links.loss.sampled import Sampled


class NegativeSampling(Sampled):
    r"""The loss of distinguishing a word from randomly drawn words.

    .. math:: -\ln \sigma(w_t \cdot x) - \sum_j \ln \sigma(-w_j \cdot x)

    Args:
        in_size: Elements k of the vectors.
        counts: How often each word occurs.
        sample_size: How many words to draw for each example.
        power: Words are drawn in proportion to this power of the counts.
        dtype: Dtype of W; None is `core.config.dtype`.

    Shapes: x (n, k) floating, t (n,) integers, -1 for what counts for nothing; W (words, k), which
    starts as zeros. Gives no axes, or (n,) with `reduce='no'`.

    Source: Mikolov, Sutskever, Chen, Corrado and Dean 2013 (arXiv:1310.4546), equation 4.

    >>> import core.links as L, numpy as np
    >>> loss = L.NegativeSampling(3, counts=[5, 2, 1], sample_size=4)
    >>> y = loss(np.ones((2, 3), "f"), np.array([0, 2]))
    >>> round(y.item(), 4)  # ln 2 for each of 2 (1 + 4) words
    6.9315
    """

    @checked
    def __init__(
        self,
        in_size: int,
        counts: Sequence[float],
        sample_size: Count,
        power: float = 0.75,
        dtype: DType = None,
    ) -> None:
        if any(count < 0 for count in counts):
            raise ValueError(
                f"links.NegativeSampling: expected counts of 0 or more, got {min(counts)}."
            )
        weights = [float(count) ** power for count in counts]
        super().__init__(in_size, weights, sample_size, as_initializer(0, dtype=dtype))

    @overload
    def forward(
        self, x: Array, t: Array, reduce: str = ..., *, return_samples: Literal[False] = ...
    ) -> Variable: ...
    @overload
    def forward(
        self, x: Array, t: Array, reduce: str = ..., *, return_samples: Literal[True]
    ) -> tuple[Variable, BackendArray]: ...
    @overload
    def forward(
        self, x: Array, t: Array, reduce: str = ..., *, return_samples: bool
    ) -> Variable | tuple[Variable, BackendArray]: ...
    def forward(
        self, x: Array, t: Array, reduce: str = "sum", *, return_samples: bool = False
    ) -> Variable | tuple[Variable, BackendArray]:
        """Compute the loss of vectors `x` for the words `t`.

        Args:
            x: Vectors, (n, k).
            t: The right words, (n,).
            reduce: 'sum', or 'no' for the loss of each example.
            return_samples: Also return the words that were compared, (n, 1 + sample_size): `t`, and
                those that were drawn.
        """
        return F.negative_sampling(
            x,
            t,
            self.W,
            self.sampler.sample,
            self.sample_size,
            reduce,
            return_samples=return_samples,
        )

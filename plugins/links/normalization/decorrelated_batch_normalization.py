"""Whitening by the batch, with running statistics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core import Link, Variable, config
from core import functions as F
from core.errors.kinds import checked, truth
from core.link.initializer import Constant, generate_array
from core.typing import Array, Count, DType, Positive, Probability
from plugins.links import arguments


class DecorrelatedBatchNormalization(Link):
    r"""Whiten groups of channels: mean 0, variance 1 and no correlation over the batch.

    .. math:: y = P (x - \mu), \quad P = (\Sigma + \epsilon 1)^{-1/2}

    In training (`config.train`) the mean and covariance are those of the batch, and running
    averages of mean and P are kept. Otherwise the running averages are used.

    Args:
        size: How many channels there are.
        groups: Into how many groups of neighbouring channels they are divided.
        decay: The share of the running averages that is kept.
        eps: Added to the variances.
        dtype: Dtype of the averages; None is `core.config.dtype`, with float32 for `core.mixed16`.

    Shapes: x (n, size, ...) floating; avg_mean (groups, k) and avg_projection (groups, k, k) with k
    = size / groups, which start as zeros and as unit matrices; y that of x. No parameters.

    Source: Huang, Yang, Lang and Deng 2018 (arXiv:1804.08450).

    >>> import core.links as L, numpy as np
    >>> layer = L.DecorrelatedBatchNormalization(2, groups=1, eps=1e-9)
    >>> y = layer(np.array([[3, 1], [1, 3], [-3, -1], [-1, -3]], "f")).array
    >>> np.allclose(y.T @ y / 4, np.eye(2), atol=1e-5)
    True
    """

    @checked
    def __init__(
        self,
        size: Count,
        groups: Count = 16,
        decay: Probability = 0.9,
        eps: Positive = 2e-5,
        dtype: DType = None,
    ) -> None:
        super().__init__()
        if size % groups:
            raise ValueError(
                "links.DecorrelatedBatchNormalization: expected channels that "
                f"{groups} groups divide, got {size}."
            )
        self.groups = groups
        self.decay = decay
        self.eps = eps
        k = size // groups
        zero = Constant(0, arguments.statistics_dtype(dtype))
        self.avg_mean = generate_array(zero, (groups, k), device=self.device)
        identity = Constant(self.device.xp.eye(k), zero.dtype)
        self.avg_projection = generate_array(identity, (groups, k, k), device=self.device)
        self.N = 0
        for name in ("avg_mean", "avg_projection", "N"):
            self.register_persistent(name)

    def start_finetuning(self) -> None:
        """Restart the statistics: calls with `finetune=True` then give the plain mean."""
        self.N = 0

    def forward(self, x: Array, finetune: bool = False) -> Variable:
        """Whiten `x`; with `finetune` all such calls have the same weight in the averages."""
        if finetune is not False:
            finetune = truth(type(self).__name__, "finetune", finetune)
        if arguments.is_narrower(x, self.avg_mean):
            return F.cast(self.forward(F.cast(x, self.avg_mean.dtype), finetune), x.dtype)
        if not config.train:
            return F.fixed_decorrelated_batch_normalization(
                x, self.avg_mean, self.avg_projection, self.groups
            )
        if finetune and not config.in_recomputing:
            self.N += 1
        with arguments.running(self, "avg_mean", "avg_projection") as (mean, projection):
            return F.decorrelated_batch_normalization(
                x,
                groups=self.groups,
                eps=self.eps,
                running_mean=mean,
                running_projection=projection,
                decay=1 - 1 / self.N if finetune else self.decay,
            )

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The settings that differ from their defaults."""
        yield "groups", self.groups, 16
        yield "decay", self.decay, 0.9
        yield "eps", self.eps, 2e-5

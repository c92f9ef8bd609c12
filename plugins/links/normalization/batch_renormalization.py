"""Batch normalization that uses its running statistics in training too, with parameters."""

from __future__ import annotations

from typing import Annotated, Any

from core import Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import DType, NotNegative, Positive, Probability
from plugins.links import arguments
from plugins.links.normalization.batch_normalization import BatchNormalization


class BatchRenormalization(BatchNormalization):
    r"""Normalize by the batch, corrected towards the running statistics within bounds.

    .. math:: y = \gamma \left(\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} r + d\right) + \beta

    with :math:`r = \sqrt{\sigma^2 + \epsilon} / \sqrt{\bar\sigma^2 + \epsilon}` clipped to [1 /
    rmax, rmax] and :math:`d = (\mu - \bar\mu) / \sqrt{\bar\sigma^2 + \epsilon}` clipped to [-dmax,
    dmax]. Gradients take both for constants. In test mode it is `BatchNormalization`.

    Args:
        size: Shape of the statistics, for one axis an integer; None takes it from the first input.
        rmax: Bound of the correction of the scale, at least 1.
        dmax: Bound of the correction of the mean, at least 0.
        decay: The share of the running averages that is kept.
        eps: Added to the variance.
        dtype: Dtype of parameters and averages; None is `core.config.dtype`.
        use_gamma: Whether to scale; else gamma is 1.
        use_beta: Whether to shift; else beta is 0.
        initial_gamma: Initializer of gamma; 1 by default.
        initial_beta: Initializer of beta; 0 by default.
        initial_avg_mean: Initializer of the average mean; 0 by default.
        initial_avg_var: Initializer of the average variance; 1 by default.
        freeze_running_statistics: Whether the averages stay as they are, in training too.

    The settings are attributes by their names.

    Shapes: x (n, c, ...) floating; gamma, beta, avg_mean and avg_var (c,); y that of x.

    Source: Ioffe 2017 (arXiv:1702.03275), algorithm 1.

    >>> import core.links as L, numpy as np
    >>> layer = L.BatchRenormalization(1, rmax=4, dmax=8, initial_avg_mean=1, initial_avg_var=4)
    >>> layer(np.array([[1], [3]], "f")).array.round(3)
    array([[0.],
           [1.]], dtype=float32)
    """

    @checked
    def __init__(
        self,
        size: int | tuple[int, ...] | None = None,
        rmax: Annotated[float, "[1, inf)"] = 1,
        dmax: NotNegative = 0,
        decay: Probability = 0.9,
        eps: Positive = 2e-5,
        dtype: DType = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerSpec = None,
        initial_beta: InitializerSpec = None,
        initial_avg_mean: InitializerSpec = None,
        initial_avg_var: InitializerSpec = None,
        *,
        freeze_running_statistics: bool = False,
    ) -> None:
        super().__init__(
            size,
            decay,
            eps,
            dtype,
            use_gamma,
            use_beta,
            initial_gamma,
            initial_beta,
            None,
            initial_avg_mean,
            initial_avg_var,
        )
        self.rmax = rmax
        self.dmax = dmax
        self.freeze_running_statistics = freeze_running_statistics

    def _normalized(self, x: Any, gamma: Any, beta: Any, decay: float) -> Variable:
        with arguments.running(self, "avg_mean", "avg_var") as (mean, var):
            return F.batch_renormalization(
                x,
                gamma,
                beta,
                self.rmax,
                self.dmax,
                self.eps,
                mean,
                var,
                decay,
                update_statistics=not self.freeze_running_statistics,
            )

"""Batch normalization with its parameters and running statistics."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from core import Link, Parameter, Variable, config
from core import functions as F
from core.errors import place
from core.errors.kinds import checked, truth
from core.errors.removed import removed
from core.link.initializer import InitializerSpec, as_initializer, generate_array
from core.link.parameter import sizing
from core.typing import Array, Axis, DType, Positive, Probability
from plugins.links import arguments

_SINGLE = (
    "links.BatchNormalization: each statistic is taken over one element, so the result is beta "
    "whatever the input. For an evaluation set `with core.using_config('train', False):`; if it is "
    "the last batch of an epoch, leave it out or make it larger."
)


class BatchNormalization(Link):
    r"""Normalize each channel by its mean and variance, then scale and shift it.

    .. math:: y = \gamma \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta

    In training (`config.train`) the statistics are those of the batch, and running averages of them
    are kept: :math:`\bar\mu \leftarrow d \bar\mu + (1 - d) \mu`, the variance as an unbiased
    estimate. Otherwise the running averages are used.

    Args:
        size: Shape of the statistics, for one axis an integer; None takes it from the first input.
        decay: The share d of the running averages that is kept.
        eps: Added to the variance.
        dtype: Dtype of parameters and averages; None is `core.config.dtype`, with float32 for
            `core.mixed16`. Inputs of 16 bits are normalized in float32 where that is float32.
        use_gamma: Whether to scale; else gamma is 1.
        use_beta: Whether to shift; else beta is 0.
        initial_gamma: Initializer of gamma; 1 by default.
        initial_beta: Initializer of beta; 0 by default.
        axis: The axes that statistics are taken over; None takes all but axis 1.
        initial_avg_mean: Initializer of the average mean; 0 by default.
        initial_avg_var: Initializer of the average variance; 1 by default.

    Shapes: x (n, c, ...) floating; gamma, beta, avg_mean and avg_var (c,), or in general the shape
    of x without the reduced axes; y that of x.

    Source: Ioffe and Szegedy 2015 (arXiv:1502.03167), algorithms 1 and 2.

    >>> import core, core.links as L, numpy as np
    >>> layer = L.BatchNormalization(1, eps=1e-8)
    >>> layer(np.array([[1], [3]], "f"))
    variable([[-1.],
              [ 1.]], dtype=float32)
    >>> layer.avg_mean.round(3), layer.avg_var.round(3)
    (array([0.2], dtype=float32), array([1.1], dtype=float32))
    """

    gamma: Parameter | None
    beta: Parameter | None
    avg_mean: Any
    avg_var: Any

    @checked
    def __init__(
        self,
        size: int | tuple[int, ...] | None = None,
        decay: Probability = 0.9,
        eps: Positive = 2e-5,
        dtype: DType = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerSpec = None,
        initial_beta: InitializerSpec = None,
        axis: Axis = None,
        initial_avg_mean: InitializerSpec = None,
        initial_avg_var: InitializerSpec = None,
    ) -> None:
        super().__init__()
        dtype = arguments.statistics_dtype(dtype)  # of now, also where sizes come later
        self.decay = decay
        self.eps = eps
        self.axis = (axis,) if isinstance(axis, int) else axis
        self.gamma = self.beta = None
        self._initial = {
            "avg_mean": as_initializer(initial_avg_mean, 0, dtype),
            "avg_var": as_initializer(initial_avg_var, 1, dtype),
        }
        self.avg_mean = self.avg_var = None
        self.N = 0
        for name in ("avg_mean", "avg_var", "N"):
            self.register_persistent(name)
        with self.init_scope():
            if use_gamma:
                self.gamma = Parameter(as_initializer(initial_gamma, 1, dtype))
            if use_beta:
                self.beta = Parameter(as_initializer(initial_beta, 0, dtype))
        if size is not None:
            self._initialize_params((size,) if isinstance(size, int) else tuple(size))

    def _initialize_params(self, shape: tuple[int, ...]) -> None:
        with sizing:
            for parameter in self.params():
                parameter.initialize(shape)
            for name, initializer in self._initial.items():
                if getattr(self, name) is None:
                    setattr(self, name, generate_array(initializer, shape, device=self.device))

    def _statistics_shape(self, x: Any) -> tuple[int, ...]:
        ndim = len(x.shape)
        reduced = (0, *range(2, ndim)) if self.axis is None else {a % ndim for a in self.axis}
        return tuple(n for i, n in enumerate(x.shape) if i not in reduced)

    def start_finetuning(self) -> None:
        """Restart the statistics: calls with `finetune=True` then give the plain mean."""
        self.N = 0

    @removed()
    def forward(self, x: Array, finetune: bool = False) -> Variable:
        """Normalize `x`; with `finetune` all such calls have the same weight in the averages."""
        if finetune is not False:
            finetune = truth(type(self).__name__, "finetune", finetune)
        if self.avg_var is None:
            if self.axis is None:
                arguments.check_rank(self, x, 2, more=True)
            self._initialize_params(self._statistics_shape(x))
        if arguments.is_narrower(x, self.avg_mean):
            return F.cast(self.forward(F.cast(x, self.avg_mean.dtype), finetune), x.dtype)
        gamma = self._constant(1) if self.gamma is None else self.gamma
        beta = self._constant(0) if self.beta is None else self.beta
        if not config.train:
            return F.fixed_batch_normalization(
                x, gamma, beta, self.avg_mean, self.avg_var, self.eps, axis=self.axis
            )
        count = self.N + finetune
        y = self._normalized(x, gamma, beta, 1 - 1 / count if finetune else self.decay)
        self.N = self.N if config.in_recomputing else count
        return y

    def _normalized(self, x: Any, gamma: Any, beta: Any, decay: float) -> Variable:
        """Normalize by the batch, and keep `decay` of the running averages."""
        if prod(x.shape) == prod(self.avg_mean.shape) > 0 and x.ndim > self.avg_mean.ndim:
            place.warn(_SINGLE)
        with arguments.running(self, "avg_mean", "avg_var") as (mean, var):
            return F.batch_normalization(
                x,
                gamma,
                beta,
                eps=self.eps,
                running_mean=mean,
                running_var=var,
                decay=decay,
                axis=self.axis,
            )

    def _constant(self, value: float) -> Any:
        """What stands for a parameter that is left out."""
        xp = self.device.xp
        return xp.full_like(self.avg_mean, value)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The size, and the settings that differ from their defaults."""
        yield "size", arguments.shown_size(self.avg_mean), None
        yield "decay", self.decay, 0.9
        yield "eps", self.eps, 2e-5
        yield "use_gamma", self.gamma is not None, True
        yield "use_beta", self.beta is not None, True
        yield "axis", self.axis, None

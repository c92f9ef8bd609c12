"""What `core.optimizer_hooks` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.optimizers.hooks.exponential_moving_average import (
    ExponentialMovingAverage as ExponentialMovingAverage,
)
from plugins.optimizers.hooks.gradient_clipping import GradientClipping as GradientClipping
from plugins.optimizers.hooks.gradient_hard_clipping import (
    GradientHardClipping as GradientHardClipping,
)
from plugins.optimizers.hooks.gradient_lars import GradientLARS as GradientLARS
from plugins.optimizers.hooks.gradient_noise import GradientNoise as GradientNoise
from plugins.optimizers.hooks.gradient_noise import (
    exponential_decay_noise as exponential_decay_noise,
)
from plugins.optimizers.hooks.gradient_value_clipping import (
    GradientValueClipping as GradientValueClipping,
)
from plugins.optimizers.hooks.lasso import Lasso as Lasso
from plugins.optimizers.hooks.weight_decay import WeightDecay as WeightDecay

def of(distribution: str) -> Offer: ...

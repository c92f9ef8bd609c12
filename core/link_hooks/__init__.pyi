"""What `core.link_hooks` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.link_hooks.spectral_normalization import SpectralNormalization as SpectralNormalization
from plugins.link_hooks.timer import TimerHook as TimerHook
from plugins.link_hooks.weight_normalization import WeightNormalization as WeightNormalization
from plugins.link_hooks.weight_standardization import WeightStandardization as WeightStandardization

def of(distribution: str) -> Offer: ...

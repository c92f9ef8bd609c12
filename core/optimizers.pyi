"""What `core.optimizers` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.optimizers.adam import AdaBound as AdaBound
from plugins.optimizers.adam import Adam as Adam
from plugins.optimizers.adam import AdamW as AdamW
from plugins.optimizers.adam import AMSBound as AMSBound
from plugins.optimizers.adam import AMSGrad as AMSGrad
from plugins.optimizers.momentum_sgd import MomentumSGD as MomentumSGD
from plugins.optimizers.sgd import SGD as SGD

def of(distribution: str) -> Offer: ...

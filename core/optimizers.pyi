"""What `core.optimizers` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.optimizers.adadelta import AdaDelta as AdaDelta
from plugins.optimizers.adagrad import AdaGrad as AdaGrad
from plugins.optimizers.adam import AdaBound as AdaBound
from plugins.optimizers.adam import Adam as Adam
from plugins.optimizers.adam import AdamW as AdamW
from plugins.optimizers.adam import AMSBound as AMSBound
from plugins.optimizers.adam import AMSGrad as AMSGrad
from plugins.optimizers.corrected_momentum_sgd import CorrectedMomentumSGD as CorrectedMomentumSGD
from plugins.optimizers.lamb import LAMB as LAMB
from plugins.optimizers.lbfgs import LBFGS as LBFGS
from plugins.optimizers.lion import Lion as Lion
from plugins.optimizers.momentum_sgd import MomentumSGD as MomentumSGD
from plugins.optimizers.msvag import MSVAG as MSVAG
from plugins.optimizers.nesterov_ag import NesterovAG as NesterovAG
from plugins.optimizers.radam import RAdam as RAdam
from plugins.optimizers.rmsprop import RMSprop as RMSprop
from plugins.optimizers.rmsprop_graves import RMSpropGraves as RMSpropGraves
from plugins.optimizers.sgd import SGD as SGD
from plugins.optimizers.smorms3 import SMORMS3 as SMORMS3

def of(distribution: str) -> Offer: ...

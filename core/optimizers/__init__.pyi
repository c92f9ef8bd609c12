"""What `core.optimizers` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.optimizers.adadelta import AdaDelta as _AdaDelta
from plugins.optimizers.adafactor import Adafactor as _Adafactor
from plugins.optimizers.adagrad import AdaGrad as _AdaGrad
from plugins.optimizers.adam import AdaBound as _AdaBound
from plugins.optimizers.adam import Adam as _Adam
from plugins.optimizers.adam import AdamW as _AdamW
from plugins.optimizers.adam import AMSBound as _AMSBound
from plugins.optimizers.adam import AMSGrad as _AMSGrad
from plugins.optimizers.adamax import AdaMax as _AdaMax
from plugins.optimizers.corrected_momentum_sgd import CorrectedMomentumSGD as _CorrectedMomentumSGD
from plugins.optimizers.lamb import LAMB as _LAMB
from plugins.optimizers.lbfgs import LBFGS as _LBFGS
from plugins.optimizers.lion import Lion as _Lion
from plugins.optimizers.momentum_sgd import MomentumSGD as _MomentumSGD
from plugins.optimizers.msvag import MSVAG as _MSVAG
from plugins.optimizers.muon import Muon as _Muon
from plugins.optimizers.nadam import NAdam as _NAdam
from plugins.optimizers.nesterov_ag import CorrectedNesterovAG as _CorrectedNesterovAG
from plugins.optimizers.nesterov_ag import NesterovAG as _NesterovAG
from plugins.optimizers.radam import RAdam as _RAdam
from plugins.optimizers.rmsprop import RMSprop as _RMSprop
from plugins.optimizers.rmsprop_graves import RMSpropGraves as _RMSpropGraves
from plugins.optimizers.sgd import SGD as _SGD
from plugins.optimizers.smorms3 import SMORMS3 as _SMORMS3

class AdaDelta(_AdaDelta):
    rho: float
    eps: float
    def __init__(self, rho: float = 0.95, eps: float = 1e-06) -> None: ...

class Adafactor(_Adafactor):
    lr: float
    decay_rate: float
    eps1: float
    eps2: float
    threshold: float
    weight_decay_rate: float
    relative_step: bool
    scale_parameter: bool
    def __init__(
        self,
        lr: float = 0.01,
        decay_rate: float = 0.8,
        eps1: float = 1e-30,
        eps2: float = 0.001,
        threshold: float = 1.0,
        weight_decay_rate: float = 0.0,
        relative_step: bool = True,
        scale_parameter: bool = True,
    ) -> None: ...

class AdaGrad(_AdaGrad):
    lr: float
    eps: float
    def __init__(self, lr: float = 0.001, eps: float = 1e-08) -> None: ...

class AdaMax(_AdaMax):
    alpha: float
    beta1: float
    beta2: float
    eps: float
    eta: float
    weight_decay_rate: float
    def __init__(
        self,
        alpha: float = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-08,
        eta: float = 1.0,
        weight_decay_rate: float = 0.0,
    ) -> None: ...

class Adam(_Adam):
    alpha: float
    beta1: float
    beta2: float
    eps: float
    eta: float
    weight_decay_rate: float
    amsgrad: bool
    adabound: bool
    final_lr: float
    gamma: float
    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-08,
        eta: float = 1.0,
        weight_decay_rate: float = 0.0,
        amsgrad: bool = False,
        adabound: bool = False,
        final_lr: float = 0.1,
        gamma: float = 0.001,
    ) -> None: ...

class AdamW(_AdamW):
    alpha: float
    beta1: float
    beta2: float
    eps: float
    eta: float
    weight_decay_rate: float
    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-08,
        eta: float = 1.0,
        weight_decay_rate: float = 0.0,
    ) -> None: ...

class AMSGrad(_AMSGrad):
    alpha: float
    beta1: float
    beta2: float
    eps: float
    eta: float
    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-08,
        eta: float = 1.0,
    ) -> None: ...

class AdaBound(_AdaBound):
    alpha: float
    beta1: float
    beta2: float
    final_lr: float
    gamma: float
    eps: float
    eta: float
    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        final_lr: float = 0.1,
        gamma: float = 0.001,
        eps: float = 1e-08,
        eta: float = 1.0,
    ) -> None: ...

class AMSBound(_AMSBound):
    alpha: float
    beta1: float
    beta2: float
    final_lr: float
    gamma: float
    eps: float
    eta: float
    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        final_lr: float = 0.1,
        gamma: float = 0.001,
        eps: float = 1e-08,
        eta: float = 1.0,
    ) -> None: ...

class CorrectedMomentumSGD(_CorrectedMomentumSGD):
    lr: float
    momentum: float
    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None: ...

class LAMB(_LAMB):
    alpha: float
    beta1: float
    beta2: float
    eps: float
    weight_decay_rate: float
    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-06,
        weight_decay_rate: float = 0.0,
    ) -> None: ...

class LBFGS(_LBFGS):
    lr: float
    history_size: int
    c1: float
    c2: float
    max_eval: int
    def __init__(
        self,
        lr: float = 1.0,
        history_size: int = 10,
        c1: float = 0.0001,
        c2: float = 0.9,
        max_eval: int = 25,
    ) -> None: ...

class Lion(_Lion):
    lr: float
    beta1: float
    beta2: float
    weight_decay_rate: float
    def __init__(
        self,
        lr: float = 0.0001,
        beta1: float = 0.9,
        beta2: float = 0.99,
        weight_decay_rate: float = 0.0,
    ) -> None: ...

class MomentumSGD(_MomentumSGD):
    lr: float
    momentum: float
    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None: ...

class MSVAG(_MSVAG):
    lr: float
    beta: float
    eta: float
    weight_decay_rate: float
    def __init__(
        self,
        lr: float = 0.1,
        beta: float = 0.9,
        eta: float = 1.0,
        weight_decay_rate: float = 0.0,
    ) -> None: ...

class Muon(_Muon):
    lr: float
    momentum: float
    nesterov: bool
    ns_steps: int
    weight_decay_rate: float
    orthogonal: bool
    beta1: float
    beta2: float
    eps: float
    def __init__(
        self,
        lr: float = 0.001,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_steps: int = 5,
        weight_decay_rate: float = 0.0,
        orthogonal: bool = True,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-08,
    ) -> None: ...

class NAdam(_NAdam):
    alpha: float
    beta1: float
    beta2: float
    eps: float
    eta: float
    weight_decay_rate: float
    momentum_decay: float
    def __init__(
        self,
        alpha: float = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-08,
        eta: float = 1.0,
        weight_decay_rate: float = 0.0,
        momentum_decay: float = 0.004,
    ) -> None: ...

class CorrectedNesterovAG(_CorrectedNesterovAG):
    lr: float
    momentum: float
    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None: ...

class NesterovAG(_NesterovAG):
    lr: float
    momentum: float
    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None: ...

class RAdam(_RAdam):
    alpha: float
    beta1: float
    beta2: float
    eps: float
    eta: float
    weight_decay_rate: float
    def __init__(
        self,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-08,
        eta: float = 1.0,
        weight_decay_rate: float = 0.0,
    ) -> None: ...

class RMSprop(_RMSprop):
    lr: float
    alpha: float
    eps: float
    eps_inside_sqrt: bool
    def __init__(
        self,
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-08,
        eps_inside_sqrt: bool = False,
    ) -> None: ...

class RMSpropGraves(_RMSpropGraves):
    lr: float
    alpha: float
    momentum: float
    eps: float
    def __init__(
        self,
        lr: float = 0.0001,
        alpha: float = 0.95,
        momentum: float = 0.9,
        eps: float = 0.0001,
    ) -> None: ...

class SGD(_SGD):
    lr: float
    def __init__(self, lr: float = 0.01) -> None: ...

class SMORMS3(_SMORMS3):
    lr: float
    eps: float
    def __init__(self, lr: float = 0.001, eps: float = 1e-16) -> None: ...

def of(distribution: str) -> Offer: ...

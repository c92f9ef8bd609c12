"""The bundled optimizers, their update rules, and the hooks of both."""

from core import hookimpl
from core.registry import lazily
from plugins.optimizers import hooks

provides = {
    "adadelta": "AdaDelta",
    "adafactor": "Adafactor",
    "adagrad": "AdaGrad",
    "adamax": "AdaMax",
    "adam": "Adam AdamW AMSGrad AdaBound AMSBound",
    "corrected_momentum_sgd": "CorrectedMomentumSGD",
    "lamb": "LAMB",
    "lbfgs": "LBFGS",
    "lion": "Lion",
    "momentum_sgd": "MomentumSGD",
    "msvag": "MSVAG",
    "muon": "Muon",
    "nadam": "NAdam",
    "nesterov_ag": "CorrectedNesterovAG NesterovAG",
    "radam": "RAdam",
    "rmsprop": "RMSprop",
    "rmsprop_graves": "RMSpropGraves",
    "sgd": "SGD",
    "smorms3": "SMORMS3",
}


@hookimpl
def register_optimizers() -> dict[str, str]:
    """Name -> where it is."""
    return lazily(__name__, provides)


@hookimpl
def register_optimizer_hooks() -> dict[str, str]:
    """Name -> where it is."""
    return lazily(hooks.__name__, hooks.provides)

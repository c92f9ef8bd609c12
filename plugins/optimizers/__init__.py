"""The bundled optimizers, their update rules, and the hooks of both."""

from core import hookimpl
from core.registry import lazily

provides = {
    "sgd": "SGD",
    "momentum_sgd": "MomentumSGD",
    "adam": "Adam AdamW AMSGrad AdaBound AMSBound",
}
hooks = {
    "weight_decay": "WeightDecay",
    "lasso": "Lasso",
    "gradient_clipping": "GradientClipping",
    "gradient_hard_clipping": "GradientHardClipping",
    "gradient_noise": "GradientNoise exponential_decay_noise",
    "gradient_lars": "GradientLARS",
}


@hookimpl
def register_optimizers() -> dict[str, str]:
    """Name -> where it is."""
    return lazily(__name__, provides)


@hookimpl
def register_optimizer_hooks() -> dict[str, str]:
    """Name -> where it is."""
    return lazily(f"{__name__}.hooks", hooks)

"""Write how PyTorch's and Optax's optimizers move parameters, where they mean the same as ours.

Run it with the Python of an environment that has the library (and NumPy):

    python tests/oracles/record_optimizer_peers.py torch tests/data/oracle/optimizers_torch.json
    python tests/oracles/record_optimizer_peers.py optax tests/data/oracle/optimizers_optax.json

Gradients, starting points and the form of the cases are those of record_optimizers.py. Libraries
add eps to Adam's root after the correction of its bias; a tiny eps makes the two forms the same.
"""

import json
import sys
from operator import attrgetter

import numpy as np
from record_optimizers import START, STEPS, gradients

TINY = 1e-40
MOMENTS = {"alpha": 0.1, "beta1": 0.5, "beta2": 0.8, "eps": TINY}
ONE_STEP = {"max_iter": 1, "tolerance_grad": 0, "tolerance_change": 0}
# case -> (ours, our arguments, theirs, their arguments, our hooks)
TORCH = {
    "SGD": ("SGD", {"lr": 0.3}, "SGD", {"lr": 0.3}),
    "momentum": (
        "MomentumSGD",
        {"lr": 0.1, "momentum": 0.5},
        "SGD",
        {"lr": 0.1, "momentum": 0.5},
    ),
    "momentum, rate changed": (
        "CorrectedMomentumSGD",
        {"lr": 0.1, "momentum": 0.5},
        "SGD",
        {"lr": 0.1, "momentum": 0.5},
    ),
    "Nesterov, rate changed": (
        "CorrectedNesterovAG",
        {"lr": 0.1, "momentum": 0.5},
        "SGD",
        {"lr": 0.1, "momentum": 0.5, "nesterov": True},
    ),
    "weight decay": (
        "SGD",
        {"lr": 0.1},
        "SGD",
        {"lr": 0.1, "weight_decay": 0.2},
        [["WeightDecay", [0.2], "optimizer"]],
    ),
    "Adam": ("Adam", MOMENTS, "Adam", {"lr": 0.1, "betas": (0.5, 0.8), "eps": TINY}),
    "AMSGrad": (
        "AMSGrad",
        MOMENTS,
        "Adam",
        {"lr": 0.1, "betas": (0.5, 0.8), "eps": TINY, "amsgrad": True},
    ),
    "AdamW": (
        "AdamW",
        {**MOMENTS, "weight_decay_rate": 0.1 * 0.2},
        "AdamW",
        {"lr": 0.1, "betas": (0.5, 0.8), "eps": TINY, "weight_decay": 0.2},
    ),
    "Adafactor": (
        "Adafactor",
        {"lr": 0.3},
        "Adafactor",
        {"lr": 0.3, "eps": (TINY, 1e-3)},
    ),
    "Adafactor, all settings": (
        "Adafactor",
        {
            "lr": 0.4,
            "decay_rate": 0.5,
            "eps2": 1.0,
            "threshold": 1.5,
            "weight_decay_rate": 0.2,
        },
        "Adafactor",
        {"lr": 0.4, "beta2_decay": -0.5, "eps": (TINY, 1.0), "d": 1.5, "weight_decay": 0.2},
    ),
    "AdaMax": (
        "AdaMax",
        {**MOMENTS, "eps": 1e-2},
        "Adamax",
        {"lr": 0.1, "betas": (0.5, 0.8), "eps": 1e-2},
    ),
    "NAdam": (
        "NAdam",
        {**MOMENTS, "eps": 1e-2},
        "NAdam",
        {"lr": 0.1, "betas": (0.5, 0.8), "eps": 1e-2},
    ),
    "NAdam, decay": (
        "NAdam",
        {**MOMENTS, "momentum_decay": 0.5, "weight_decay_rate": 0.1 * 0.2},
        "NAdam",
        {
            "lr": 0.1,
            "betas": (0.5, 0.8),
            "eps": TINY,
            "weight_decay": 0.2,
            "momentum_decay": 0.5,
            "decoupled_weight_decay": True,
        },
    ),
    "AdaGrad": ("AdaGrad", {"lr": 0.3, "eps": 1e-2}, "Adagrad", {"lr": 0.3, "eps": 1e-2}),
    "LBFGS": ("LBFGS", {"lr": 0.3}, "LBFGS", {"lr": 0.3, **ONE_STEP}),
    "LBFGS, short memory": (
        "LBFGS",
        {"lr": 0.1, "history_size": 2},
        "LBFGS",
        {"lr": 0.1, "history_size": 2, **ONE_STEP},
    ),
    "RAdam": ("RAdam", MOMENTS, "RAdam", {"lr": 0.1, "betas": (0.5, 0.8), "eps": TINY}),
    "RAdam, decay": (
        "RAdam",
        {**MOMENTS, "eps": 1e-2, "weight_decay_rate": 0.1 * 0.2},
        "RAdam",
        {
            "lr": 0.1,
            "betas": (0.5, 0.8),
            "eps": 1e-2,
            "weight_decay": 0.2,
            "decoupled_weight_decay": True,
        },
    ),
    "AdaDelta": (
        "AdaDelta",
        {"rho": 0.5, "eps": 1e-2},
        "Adadelta",
        {"lr": 1.0, "rho": 0.5, "eps": 1e-2},
    ),
    "RMSprop": (
        "RMSprop",
        {"lr": 0.1, "alpha": 0.5, "eps": 1e-2},
        "RMSprop",
        {"lr": 0.1, "alpha": 0.5, "eps": 1e-2},
    ),
}
OPTAX = {
    "SGD": ("SGD", {"lr": 0.3}, [("sgd", [0.3], {})]),
    "momentum": ("MomentumSGD", {"lr": 0.1}, [("sgd", [0.1, 0.9], {})]),
    "Adam": ("Adam", MOMENTS, [("adam", [0.1, 0.5, 0.8, TINY], {})]),
    "AdaDelta": (
        "AdaDelta",
        {"rho": 0.5, "eps": 1e-2},
        [("adadelta", [1.0, 0.5, 1e-2], {})],
    ),
    "RMSprop": (
        "RMSprop",
        {"lr": 0.1, "alpha": 0.5, "eps": 1e-2, "eps_inside_sqrt": True},
        [("rmsprop", [0.1, 0.5, 1e-2], {})],
    ),
    "RMSprop with eps outside": (
        "RMSprop",
        {"lr": 0.1, "alpha": 0.5, "eps": 1e-2},
        [("rmsprop", [0.1, 0.5, 1e-2], {"eps_in_sqrt": False})],
    ),
    "clipping by the norm": (
        "SGD",
        {"lr": 0.1},
        [("clip_by_global_norm", [0.7], {}), ("sgd", [0.1], {})],
        [["GradientClipping", [0.7], "optimizer"]],
    ),
    "clipping by value": (
        "SGD",
        {"lr": 0.1},
        [("clip", [0.4], {}), ("sgd", [0.1], {})],
        [["GradientHardClipping", [-0.4, 0.4], "optimizer"]],
    ),
    "clipping by one value": (
        "SGD",
        {"lr": 0.1},
        [("clip", [0.4], {}), ("sgd", [0.1], {})],
        [["GradientValueClipping", [0.4], "optimizer"]],
    ),
    "RAdam": ("RAdam", MOMENTS, [("radam", [0.1, 0.5, 0.8, TINY], {})]),
    "Lion": (
        "Lion",
        {"lr": 0.1, "beta1": 0.5, "beta2": 0.8},
        [("lion", [0.1, 0.5, 0.8], {"weight_decay": 0.0})],
    ),
    "Lion, decay": (
        "Lion",
        {"lr": 0.1, "weight_decay_rate": 0.2},
        [("lion", [0.1, 0.9, 0.99], {"weight_decay": 0.2})],
    ),
    "LAMB": (
        "LAMB",
        {**MOMENTS, "eps": 1e-2},
        [("lamb", [0.1, 0.5, 0.8, 1e-2], {"weight_decay": 0.0})],
    ),
    "LAMB, decay": (
        "LAMB",
        {"alpha": 0.1, "weight_decay_rate": 0.2},
        [("lamb", [0.1, 0.9, 0.999, 1e-6], {"weight_decay": 0.2})],
    ),
    "Muon": (
        "Muon",
        {
            "lr": 0.1,
            "momentum": 0.5,
            "nesterov": False,
            "weight_decay_rate": 0.2,
            "beta1": 0.5,
            "beta2": 0.8,
            "eps": TINY,
        },
        [
            (
                "contrib.muon",
                [0.1],
                {
                    "beta": 0.5,
                    "nesterov": False,
                    "weight_decay": 0.2,
                    "adam_weight_decay": 0.2,
                    "adam_b1": 0.5,
                    "adam_b2": 0.8,
                    "eps": TINY,
                    "consistent_rms": 0.2,
                },
            )
        ],
    ),
    "weight decay": (
        "MomentumSGD",
        {"lr": 0.1},
        [("add_decayed_weights", [0.2], {}), ("sgd", [0.1, 0.9], {})],
        [["WeightDecay", [0.2], "optimizer"]],
    ),
}


def told(ours, arguments, hooks, changes, path):
    """A case as the test reads it."""
    case = {"optimizer": ours, "arguments": arguments, "hooks": hooks, "changes": changes}
    return {**case, "path": path}


def torch_cases():
    """Each case under PyTorch."""
    import torch

    torch.set_default_dtype(torch.float64)  # that of numbers in a state
    for name, (ours, arguments, theirs, settings, *hooks) in TORCH.items():
        params = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in START]
        optimizer = getattr(torch.optim, theirs)(params, **settings)
        changes = {"4": {"lr": 0.3}} if "rate changed" in name else {}
        path = []
        for step, given in enumerate(gradients()):
            optimizer.param_groups[0].update(changes.get(str(step), {}))
            for param, g in zip(params, given, strict=True):
                param.grad = torch.tensor(g, dtype=torch.float64)
            optimizer.step(lambda: 0.0)
            path.append([param.tolist() for param in params])
        yield name, told(ours, arguments, *hooks or [[]], changes, path)


def optax_cases():
    """Each case under Optax."""
    import jax
    import optax
    import optax.contrib

    jax.config.update("jax_enable_x64", True)
    for name, (ours, arguments, chain, *hooks) in OPTAX.items():
        steps = [attrgetter(theirs)(optax)(*given, **options) for theirs, given, options in chain]
        optimizer = optax.chain(*steps)
        params = [np.array(x) for x in START]
        state = optimizer.init(params)
        path = []
        for given in gradients()[:STEPS]:
            changes, state = optimizer.update([np.array(g) for g in given], state, params)
            params = optax.apply_updates(params, changes)
            path.append([np.asarray(param).tolist() for param in params])
        yield name, told(ours, arguments, *hooks or [[]], {}, path)


def main(library, path):
    """Record all cases of a library."""
    cases = {"torch": torch_cases, "optax": optax_cases}[library]()
    lines = [json.dumps(name) + ": " + json.dumps(case) for name, case in cases]
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Write the learning rates of PyTorch's and Optax's schedules, where they mean the same as ours.

Run it with the Python of an environment that has both libraries, or first with that of one and
then with that of the other:

    python tests/oracles/record_schedules.py tests/data/oracle/schedules.json
"""

import json
import sys
from contextlib import suppress
from pathlib import Path

STEPS = 12
TORCH = {
    "to 0": ("CosineAnnealingLR", {"T_max": 12}, {"max_count": 12}),
    "to more": (
        "CosineAnnealingLR",
        {"T_max": 15, "eta_min": 0.2},
        {"max_count": 15, "target": 0.2},
    ),
    "restarts": (
        "CosineAnnealingWarmRestarts",
        {"T_0": 4, "eta_min": 0.1},
        {"max_count": 4, "target": 0.1, "restart": 1},
    ),
    "longer and longer": (
        "CosineAnnealingWarmRestarts",
        {"T_0": 2, "T_mult": 2},
        {"max_count": 2, "restart": 2},
    ),
}
OPTAX = {
    "from 0": ([0.0, 0.8, 4, 10], {"max_count": 6}, {"warmup_start": 0.0, "warmup_iter": 4}),
    "from and to more": (
        [0.2, 0.8, 3, 9, 0.1],
        {"max_count": 6, "target": 0.1},
        {"warmup_start": 0.2, "warmup_iter": 3},
    ),
}


def torch_cases():
    """The rate of each step under PyTorch."""
    import torch

    for name, (theirs, given, ours) in TORCH.items():
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.8)
        schedule = getattr(torch.optim.lr_scheduler, theirs)(optimizer, **given)
        values = []
        for _ in range(STEPS):
            values.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            schedule.step()
        yield name, {"arguments": {"init": 0.8, **ours}, "values": values}


def optax_cases():
    """The same under Optax."""
    import optax

    for name, (given, cosine, warmup) in OPTAX.items():
        schedule = optax.warmup_cosine_decay_schedule(*given)
        values = [float(schedule(t)) for t in range(STEPS)]
        yield name, {"cosine": cosine, "warmup": {**warmup, "init": 0.8}, "values": values}


def main(path):
    """Record what this environment has, and keep the rest."""
    found = json.loads(Path(path).read_text()) if Path(path).exists() else {}
    for peer, cases in (("torch", torch_cases()), ("optax", optax_cases())):
        with suppress(ImportError):
            found[peer] = dict(cases)
    Path(path).write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

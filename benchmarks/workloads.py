"""What is measured: one row of the table each. The models stand in `benchmarks/models`.

Imported by workers in the environments of all frameworks: the standard library only.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Workload:
    """One row: a model, what is done with it, and what the project allows itself."""

    name: str
    title: str
    mode: str
    """What a step is: see `benchmarks.kits`."""

    model: str
    """A module of `benchmarks.models`."""

    batch: int = 1
    sizes: tuple[int, ...] = ()
    """Numbers that the model is made from, where it has several forms."""

    optimizer: str = "sgd"
    rate: float = 0.01
    best: str = ""
    """PyTorch's best honest setting, where it differs from its defaults."""

    goals: dict[str, float] = field(default_factory=dict)
    """Highest ratio to a contestant."""


FUSED_SGD = "fused SGD"
FUSED_ADAM = "fused Adam"
LAST = "channels_last"
CONVOLUTIONAL = f"{FUSED_SGD}, {LAST}"

WORKLOADS = {
    w.name: w
    for w in [
        Workload(
            "mlp-sgd",
            "MLP 784-100-100-10, batch 100, SGD",
            "train",
            "mlp",
            batch=100,
            sizes=(784, 100, 100, 10),
            best=FUSED_SGD,
            goals={"torch": 0.45},
        ),
        Workload(
            "mlp-adam",
            "MLP 784-1000-1000-10, batch 100, Adam",
            "train",
            "mlp",
            batch=100,
            sizes=(784, 1000, 1000, 10),
            optimizer="adam",
            rate=1e-4,
            best=FUSED_ADAM,
            goals={"torch": 0.55, "torch-best": 1.0},
        ),
        Workload(
            "lenet",
            "LeNet, 1x28x28, batch 100, SGD",
            "train",
            "lenet",
            rate=1e-3,
            batch=100,
            best=CONVOLUTIONAL,
            goals={"torch": 0.7, "torch-best": 0.95},
        ),
        Workload(
            "vgg",
            "VGG-like, 3x32x32, batch 64, SGD",
            "train",
            "vgg",
            rate=1e-3,
            batch=64,
            best=CONVOLUTIONAL,
            goals={"torch": 0.75, "torch-best": 0.95},
        ),
        Workload(
            "adam",
            "Adam over 10M parameters in 40 arrays",
            "update",
            "arrays",
            optimizer="adam",
            rate=1e-4,
            sizes=(40, 500, 500),
            best=FUSED_ADAM,
            goals={"torch": 0.33, "torch-best": 0.95},
        ),
    ]
}

"""What is measured: one row of the table each. The models stand in `benchmarks/models`.

Imported by workers in the environments of all frameworks: the standard library only.
"""

from dataclasses import dataclass, field
from typing import Any


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

    form: str = ""
    """Which of several forms of the mode."""

    accumulate: bool = False
    """Whether gradients are added to those of the step before."""

    processes: int = 0
    """How many others make batches."""

    numbers: str = "float32"
    """What is computed with: float32, tf32 in its products, or bfloat16 everywhere."""


FUSED_SGD = "fused SGD"
FUSED_ADAM = "fused Adam"
CONVOLUTIONAL = f"{FUSED_SGD}, channels_last"
INFERENCE = "inference_mode"
DEEP = (1000,) * 51


def chain(form: str, what: str, goal: float) -> Workload:
    title = f"100 small operations, {what}"
    return Workload(f"chain-{form}", title, "chain", "chain", form=form, goals={"torch": goal})


def memory(name: str, title: str, model: str, goal: float, **settings: Any) -> Workload:
    title = f"Peak memory, {title}"
    return Workload(f"memory-{name}", title, "memory", model, goals={"torch": goal}, **settings)


ALL = [
    chain("backward", "forward and backward", 0.42),
    chain("without", "without gradients", 0.55),
    chain("recording", "gradients that record their graph", 0.6),
    chain("captured", "gradients that are returned", 0.42),
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
        batch=100,
        rate=1e-3,
        best=CONVOLUTIONAL,
        goals={"torch": 0.7, "torch-best": 0.95},
    ),
    Workload(
        "vgg",
        "VGG-like, 3x32x32, batch 64, SGD",
        "train",
        "vgg",
        batch=64,
        rate=1e-3,
        best=CONVOLUTIONAL,
        goals={"torch": 0.75, "torch-best": 0.95},
    ),
    Workload(
        "lstm",
        "LSTM language model, 2 x 650, 20 x 35 of 10,000 words, SGD",
        "train",
        "lstm",
        batch=20,
        sizes=(10_000, 650, 35),
        best=FUSED_SGD,
        goals={"torch": 1.0},
    ),
    Workload(
        "lstm-steps",
        "LSTM language model, step by step",
        "train",
        "lstm_steps",
        batch=20,
        sizes=(10_000, 650, 35),
        best=FUSED_SGD,
        goals={"torch": 0.55},
    ),
    Workload(
        "wgan-gp",
        "WGAN-GP critic 784-512-512-1, batch 64, Adam",
        "train",
        "wgan_gp",
        batch=64,
        sizes=(784, 512, 512, 1),
        optimizer="adam",
        rate=1e-4,
        best=FUSED_ADAM,
        goals={"torch": 0.7},
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
    Workload(
        "resnet18",
        "ResNet-18, 3x64x64, batch 16, momentum SGD",
        "train",
        "resnet",
        batch=16,
        sizes=(18, 1000, 64),
        optimizer="momentum",
        rate=1e-3,
        best=CONVOLUTIONAL,
        goals={"torch": 0.95, "torch-best": 0.95},
    ),
    Workload(
        "transformer",
        "Transformer, 4 blocks of 128, 32 x 64 of 256 words, Adam",
        "train",
        "transformer",
        batch=32,
        sizes=(256, 128, 4, 64),
        optimizer="adam",
        rate=1e-4,
        best=FUSED_ADAM,
        goals={"torch": 0.95, "torch-best": 0.95},
    ),
    Workload(
        "loading",
        "Batches of 32 images of 224x224, 2 processes",
        "load",
        "pictures",
        batch=32,
        processes=2,
        goals={"torch": 0.95},
    ),
    Workload(
        "mlp-inference",
        "MLP 784-1000-1000-10, inference, batch 1",
        "infer",
        "mlp",
        sizes=(784, 1000, 1000, 10),
        best=INFERENCE,
        goals={"torch": 0.6},
    ),
    Workload(
        "lenet-inference",
        "LeNet, inference, batch 1",
        "infer",
        "lenet",
        best=f"{INFERENCE}, channels_last",
        goals={"torch": 0.6},
    ),
    Workload(
        "resnet18-inference",
        "ResNet-18, 3x224x224, inference, batch 1",
        "infer",
        "resnet",
        sizes=(18, 1000, 224),
        best=f"{INFERENCE}, channels_last",
        goals={"torch": 0.95, "torch-best": 0.95},
    ),
    memory("mlp", "50 x 1000 MLP, batch 1000", "mlp", 1.95, batch=1000, sizes=DEEP),
    memory(
        "mlp-freed", "50 x 1000 MLP, free_graph", "mlp", 1.0, batch=1000, sizes=DEEP, form="freed"
    ),
    memory(
        "mlp-accumulated",
        "50 x 1000 MLP, gradients accumulated",
        "mlp",
        1.0,
        batch=1000,
        sizes=DEEP,
        accumulate=True,
    ),
    memory(
        "mlp-accumulated-freed",
        "50 x 1000 MLP, accumulated, free_graph",
        "mlp",
        1.0,
        batch=1000,
        sizes=DEEP,
        form="freed",
        accumulate=True,
    ),
    memory("lenet", "LeNet, batch 100", "lenet", 1.0, batch=100),
    memory("vgg", "VGG-like, batch 64", "vgg", 1.0, batch=64),
]
WORKLOADS = {w.name: w for w in ALL}

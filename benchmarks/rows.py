"""The table of devices: workloads of the host, some larger and in several kinds of numbers."""

from collections.abc import Iterable
from dataclasses import replace

from benchmarks.contestants import EAGER
from benchmarks.workloads import WORKLOADS, Workload

NUMBERS = {"float32": "", "tf32": "TF32", "bfloat16": "bfloat16"}

GOALS = {"torch-compiled": 1.0, f"{EAGER}/torch": 1.0, "held/torch": 1.0}
"""The highest shares of PyTorch's time and memory that the project allows itself."""

SMALL = {"torch": 0.5, **GOALS}
"""The same where steps are small: captured ones take at most half of PyTorch's eager time."""


def in_all_numbers(w: Workload) -> list[Workload]:
    """The workload in each kind of numbers."""
    return [
        replace(w, name=f"{w.name}-{numbers}", title=f"{w.title}, {text}", numbers=numbers)
        if text
        else w
        for numbers, text in NUMBERS.items()
    ]


def _rows() -> Iterable[Workload]:
    of = WORKLOADS
    resnet = replace(
        of["resnet18"],
        name="resnet50",
        title="ResNet-50, 3x224x224, batch 64, momentum SGD",
        batch=64,
        sizes=(50, 1000, 224),
        goals=GOALS,
    )
    adam = replace(
        of["adam"],
        name="adam-100m",
        title="Adam over 100M parameters in 40 arrays",
        sizes=(40, 2500, 1000),
        goals=GOALS,
    )
    yield replace(of["chain-captured"], goals=SMALL)
    yield from in_all_numbers(replace(of["mlp-adam"], goals=SMALL))
    yield from in_all_numbers(replace(of["lenet"], goals=SMALL))
    yield from in_all_numbers(resnet)
    yield from [replace(of[name], goals=GOALS) for name in ("lstm", "transformer")]
    yield adam


ROWS = {w.name: w for w in _rows()}

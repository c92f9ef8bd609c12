"""What each framework needs to run a workload: one module for each, chosen by name in a worker.

A kit is a class `Kit(threads, setting, device)`, and an `OnHost`, with a method
for each mode of a workload it can run, which takes the workload and its model's module and
gives a `Prepared`:

- `train`: loss, gradients and the optimizer's step on one batch;
- `infer`: outputs in test mode, without gradients;
- `update`: the optimizer's step alone, of parameters whose gradients are there;
- `load`: a batch of examples, made by other processes;
- `chain`: operations without a model;
- `memory`: loss and gradients, of which the memory is measured.

`written(module)` is what a model's module has for the framework, `versions()` says what runs. NumPy
is imported everywhere, the framework only in its own kit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Prepared:
    """A workload ready to run."""

    step: Callable[[], Any]
    """Run once."""

    value: Callable[[Any], float]
    """Turn what a step gave into the number that has to be the same in every framework."""

    finish: Callable[[Any], object] = lambda result: None
    """Wait until a step that runs in the background is done."""


class Missing(Exception):
    """A framework cannot compute there; the message says what it lacks, and how to get it."""


class OnHost:
    """What holds for arrays in the memory of the process, whose steps are done when they return."""

    def __init__(self, threads: int, setting: str, device: str = ""):
        if device:
            raise Missing(f"{device!r}: only plugrad and PyTorch are measured on devices")

    def compute_in(self, numbers: str) -> None:
        """Compute in those numbers from here on: see `Workload.numbers`."""
        if numbers != "float32":
            raise Missing(f"only plugrad and PyTorch are measured in {numbers}")

    def synchronize(self) -> None:
        """Wait for what the device has been asked."""

    def held(self) -> int:
        """Bytes that have been held for arrays at most, in the unit of all kits of a run."""
        return resident("VmHWM")


def resident(what: str) -> int:
    """Bytes of memory in use (VmRSS), or the most since that began anew (VmHWM); on Linux."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what + ":"):
            return 1024 * int(line.split()[1])
    raise LookupError(f"/proc/self/status has no {what}")

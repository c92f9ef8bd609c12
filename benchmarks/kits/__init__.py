"""What each framework needs to run a workload: one module for each, chosen by name in a worker.

A kit is a class `Kit(threads, setting)` with a method for each mode of a workload it can run, which
takes the workload and its model's module and gives a `Prepared`:

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

"""What Variables, links and optimizers had in version 1."""

from __future__ import annotations

from plugrad_chainer import version_1
from plugrad_chainer.version1 import (
    optimizers,
    own_optimizers,
    parametric,
    trainers,
    volatile,
)


def switch() -> None:
    """Give it to them."""
    volatile.switch()
    optimizers.switch()
    own_optimizers.switch()
    parametric.switch()
    trainers.switch()
    if version_1():
        volatile.switch_length()
        trainers.switch_arrays()

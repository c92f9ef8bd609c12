"""ChainerMN on plugrad: what `core.communicators` has, under ChainerMN's names."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

if find_spec("core.communicators") is None:
    raise ImportError(
        "chainermn: this plugrad has no core.communicators, which it stands on. Train on one "
        "process, with chainer.training.updaters.MultiprocessParallelUpdater on several devices, "
        "or install a plugrad that has them.",
        name="chainermn",
    )


def __getattr__(name: str) -> Any:
    """A name of `core.communicators`."""
    if name.startswith("__"):
        raise AttributeError(f"module 'chainermn' has no attribute {name!r}")
    return getattr(import_module("core.communicators"), name)

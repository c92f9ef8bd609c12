"""ChainerMN on plugrad: what its communicators have, under ChainerMN's names and paths."""

from __future__ import annotations

import sys
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

communicators = sys.modules[f"{__name__}.communicators"] = import_module("core.communicators")
for _name in (
    "datasets",
    "evaluators",
    "extensions",
    "functions",
    "global_except_hook",
    "iterators",
    "links",
):
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = getattr(communicators, _name)
optimizers = sys.modules[f"{__name__}.optimizers"] = communicators


def __getattr__(name: str) -> Any:
    """A name that ChainerMN has at its top."""
    if not name.startswith("_"):
        try:
            return getattr(communicators, name)
        except AttributeError:
            pass
    raise AttributeError(f"module 'chainermn' has no attribute {name!r}: plugrad has none of it.")

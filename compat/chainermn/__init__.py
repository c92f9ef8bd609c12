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

_HOMES = {
    "communicators": "core.communicators",
    "datasets": "core.datasets",
    "extensions": "core.training.extensions",
    "functions": "core.functions",
    "iterators": "core.iterators",
    "links": "core.links",
    "optimizers": "core.optimizers",
}

for _name, _home in _HOMES.items():
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = import_module(_home)


def __getattr__(name: str) -> Any:
    """A name of one of the modules."""
    if not name.startswith("_"):
        for home in _HOMES.values():
            try:
                return getattr(import_module(home), name)
            except AttributeError:
                continue
    raise AttributeError(f"module 'chainermn' has no attribute {name!r}: plugrad has none of it.")

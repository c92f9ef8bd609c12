"""Chainer's environment variables: settings, and where datasets are kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import core
from core.dataset import set_dataset_root


def _flag(text: str) -> bool:
    return text not in ("", "0")


_SETTINGS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "CHAINER_DEBUG": ("debug", _flag),
    "CHAINER_DTYPE": ("dtype", str),
    "CHAINER_KEEP_GRAPH_ON_REPORT": ("keep_graph_on_report", _flag),
    "CHAINER_TYPE_CHECK": ("type_check", _flag),
    "CHAINER_WARN_NONDETERMINISTIC": ("warn_nondeterministic", _flag),
}


def switch() -> None:
    """Set what the variables say."""
    for variable, (name, read) in _SETTINGS.items():
        if os.environ.get(variable):
            value = read(os.environ[variable])
            setattr(core.global_config, name, core.mixed16 if value == "mixed16" else value)
    root = os.environ.get("CHAINER_DATASET_ROOT")
    if root:
        set_dataset_root(root)

"""Programs add entries of any name to the configuration, and read those that Chainer had."""

from __future__ import annotations

from functools import wraps
from typing import Any

from core import global_config
from core.errors import UnknownName
from core.registry import configuration
from core.registry.entry_kinds import check

_OF_NO_EFFECT = {
    "compute_mode": None,
    "lazy_grad_sum": False,
    "schedule_func": None,
    "use_ideep": "never",
    "use_static_graph": True,
}


def switch() -> None:
    """Take entries whose names are like those of the framework, and give Chainer's defaults."""
    accept = configuration._accept

    @wraps(accept)
    def _accept(name: str, value: Any) -> None:
        try:
            accept(name, value)
        except UnknownName:
            check(name, value)

    configuration._accept = _accept
    for name, value in _OF_NO_EFFECT.items():
        setattr(global_config, name, value)

"""Datasets, which Chainer downloads where they are missing."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

from core import datasets

_made: dict[str, Any] = {}


def __getattr__(name: str) -> Any:
    """A function that gets a dataset, and downloads it if it is not there."""
    if name not in _made:
        function = getattr(datasets, name)
        if not name.startswith("get_") or "download" not in inspect.signature(function).parameters:
            return function
        _made[name] = _downloading(function)
    return _made[name]


def _downloading(function: Any) -> Any:
    @wraps(function)
    def downloading(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{"download": True, **kwargs})

    return downloading

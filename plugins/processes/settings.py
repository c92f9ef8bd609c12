"""Settings of `core.config`, which worker processes take over from who asks them for something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.registry.configuration import current_state, global_config


def settings() -> dict[str, Any]:
    """Those that hold here, but for objects of the user's: numbers, text and dtypes.

    The number of threads is the workers' own.
    """
    found = current_state().settings().items()
    return {name: value for name, value in found if name != "num_threads" and _is_plain(value)}


def _is_plain(value: Any) -> bool:
    if isinstance(value, type):
        return issubclass(value, np.generic)
    return value is None or isinstance(value, bool | int | float | str | np.dtype)


def take(given: Mapping[str, Any]) -> None:
    """Have in this process the settings of another one."""
    for name, value in given.items():
        if getattr(global_config, name, None) is not value:
            setattr(global_config, name, value)

"""Arguments that functions once had, and what to write today."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import core.removed

F = TypeVar("F", bound=Callable[..., Any])

_MODE = "Use `with core.using_config('train', False):`."
_NO_CUDNN = "Leave it out: no backend uses cuDNN."
CURES = {"train": _MODE, "test": _MODE, "use_cudnn": _NO_CUDNN, "deterministic": _NO_CUDNN}


def removed(*had: str, **cures: str) -> Callable[[F], F]:
    """Let a function refuse the arguments of old; see `core.removed.removed`."""
    return core.removed.removed(*had, cures={**CURES, **cures})

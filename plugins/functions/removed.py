"""Arguments that functions once had, and what to write today."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from core.errors import removed as _removed

F = TypeVar("F", bound=Callable[..., Any])

_MODE = "Use `with core.using_config('train', False):`."
_NO_CUDNN = "Leave it out: no backend uses cuDNN."
CURES = {"train": _MODE, "test": _MODE, "use_cudnn": _NO_CUDNN, "deterministic": _NO_CUDNN}


def removed(*had: str, **cures: str) -> Callable[[F], F]:
    """Make a function refuse arguments that it once had; see `core.errors.removed`."""
    return _removed.removed(*had, cures={**CURES, **cures})

"""Arguments that functions once had, and what to write today."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.errors import refuse_removed

CURES = {
    "train": "Use `with core.using_config('train', False):`.",
    "test": "Use `with core.using_config('train', False):`.",
    "use_cudnn": "Set core.config.use_cudnn.",
    "deterministic": "Set core.config.cudnn_deterministic.",
}


def refuse(function: Callable[..., object], given: Mapping[str, object]) -> None:
    """Raise for the keywords `given`, which `function` does not take, saying the cure."""
    name = getattr(function, "__name__", "the function")
    refuse_removed(name, given, CURES, function)

"""Arguments that links have in common: initializers with their defaults, and those of old."""

from __future__ import annotations

from typing import Any

from core.errors import refuse_removed
from core.initializer import as_initializer
from plugins.initializers.normal import LeCunNormal

REMOVED = {
    "wscale": "Give initialW, as initialW=core.initializers.HeNormal(scale).",
    "bias": "Give initial_bias.",
    "use_cudnn": "Set core.config.use_cudnn.",
    "deterministic": "Set core.config.cudnn_deterministic.",
}


def refuse(link: str, given: dict[str, Any]) -> None:
    """Raise for keywords that `link` does not take, with the cure for those of old."""
    refuse_removed(f"links.{link}", given, REMOVED)


def weight(spec: Any, dtype: Any = None) -> Any:
    """The initializer of a weight: LeCunNormal unless said otherwise."""
    return as_initializer(spec, LeCunNormal(), dtype)


def bias(spec: Any, dtype: Any = None) -> Any:
    """The initializer of a bias: 0 unless said otherwise."""
    return as_initializer(spec, 0, dtype)

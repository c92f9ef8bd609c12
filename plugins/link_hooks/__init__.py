"""Hooks around links that come with the framework."""

from __future__ import annotations

from core import hookimpl

provides = {
    "timer": "TimerHook",
    "spectral_normalization": "SpectralNormalization",
    "weight_normalization": "WeightNormalization",
    "weight_standardization": "WeightStandardization",
}


@hookimpl
def register_link_hooks() -> dict[str, str]:
    """The hooks, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, provides)

"""Bridges to other libraries; nothing of these is imported unasked."""

from __future__ import annotations

from core import hookimpl
from plugins.interop.einops_backend import register_einops as register_einops

provides = {
    "einops_backend": "register_einops",
    "torch_bridge": "as_torch",
}


@hookimpl
def register_bridges() -> dict[str, str]:
    """The bridges, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, provides)

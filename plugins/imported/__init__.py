"""Models of other programs as links."""

from __future__ import annotations

from core import hookimpl


@hookimpl
def register_links() -> dict[str, str]:
    """The links, loaded when asked for."""
    return {"ONNXModel": f"{__name__}.onnx_model:ONNXModel"}

"""Models of other programs as links."""

from __future__ import annotations

from core import hookimpl


@hookimpl
def register_links() -> dict[str, str]:
    """The links, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, {"caffe": "CaffeFunction", "onnx_model": "ONNXModel"})

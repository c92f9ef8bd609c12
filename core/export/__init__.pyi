"""What `core.export` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.export.onnx_file import onnx as onnx

def of(distribution: str) -> Offer: ...

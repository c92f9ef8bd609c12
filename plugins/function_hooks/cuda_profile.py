"""Name functions in the profiler of the GPU."""

from __future__ import annotations

from importlib import import_module

from core import FunctionHook, FunctionNode
from core.arrays import backend
from core.typing import AnyArray


class CUDAProfileHook(FunctionHook):
    """Mark every forward and backward as a range of its name in NVIDIA's profilers.

    Raises `BackendUnavailable`, with the reason, where there is no GPU to be used.
    """

    name = "CUDAProfileHook"

    def __init__(self) -> None:
        self._nvtx = import_module(f"{backend.get('cuda').library}.cuda.nvtx")

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[AnyArray, ...]) -> None:
        """Open the range."""
        self._nvtx.RangePush(f"{function.label}.forward")

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[AnyArray, ...]) -> None:
        """Close the range."""
        self._nvtx.RangePop()

    def backward_preprocess(
        self, function: FunctionNode, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...]
    ) -> None:
        """Open the range."""
        self._nvtx.RangePush(f"{function.label}.backward")

    def backward_postprocess(
        self, function: FunctionNode, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...]
    ) -> None:
        """Close the range."""
        self._nvtx.RangePop()

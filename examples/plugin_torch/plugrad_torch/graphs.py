"""CUDA graphs of PyTorch: what a call has asked of a GPU, launched again as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Graphs:
    """Records CUDA graphs on the current device, each with memory of its own."""

    def record(self, call: Callable[[], None]) -> Callable[[], None]:
        """The launch of what `call()` asks for.

        It is made once before, in a stream aside: libraries take then what they need for streams.
        """
        graph = torch.cuda.CUDAGraph()
        before, aside = torch.cuda.current_stream(), torch.cuda.Stream()
        aside.wait_stream(before)
        with torch.cuda.stream(aside):
            call()
        before.wait_stream(aside)
        with torch.cuda.graph(graph):
            call()
        return graph.replay

    def address(self, array: Any) -> Any:
        """Where the elements lie, and how."""
        return array.data_ptr(), array.stride()

"""The hook of functions `Thing`."""

from typing import Any

import core


class Thing(core.FunctionHook):
    """Count the calls of each function while it is entered."""

    name = "Thing"

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}

    def forward_postprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        """After a call."""
        name = type(function).__name__
        self.calls[name] = self.calls.get(name, 0) + 1

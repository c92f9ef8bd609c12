"""The hook of links `Thing`."""

from typing import Any

import core


class Thing(core.LinkHook):
    """Keep the classes of the links that are called, in their order."""

    name = "Thing"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def forward_preprocess(self, args: Any) -> None:
        """Before a link is called."""
        self.seen.append(type(args.link).__name__)

"""Libraries that only some files need, imported when such a file is met."""

from __future__ import annotations

from typing import Any

from plugins import extras


def need(module: str, extra: str, who: str) -> Any:
    """The module called `module`; ImportError, naming the extra and npz files, where it lacks."""
    instead = ", or use save_npz and load_npz, which need nothing"
    return extras.need(module, extra, who, instead)

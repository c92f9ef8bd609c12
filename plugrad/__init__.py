"""plugrad by the name of its distribution: `plugrad.Variable` is `core.Variable`, and so on.

Python imports the first `core`, `backends` and `plugins` that it finds, which may be a file or a
folder of the user's. Here, under a name that nobody else takes, that is found out and said.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core import *  # noqa: F403

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PACKAGES = ("core", "backends", "plugins")


def in_the_way() -> list[str]:
    """A sentence for each file that Python imports in place of one of plugrad's own packages."""
    found = {name: _file(name) for name in PACKAGES}
    return [
        f"{file or 'something without a file'} is in the way of plugrad's own package {name!r} in "
        f"{ROOT}: rename or move it, or start Python where its folder is not searched."
        for name, file in found.items()
        if not file or not os.path.realpath(file).startswith(os.path.join(ROOT, name, ""))
    ]


def _file(package: str) -> str:
    from importlib.util import find_spec

    if package in sys.modules:
        return getattr(sys.modules[package], "__file__", None) or ""
    spec = find_spec(package)
    return (spec and spec.origin) or ""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What `core` has, once it is sure that it is ours."""
        if name.startswith("__"):
            raise AttributeError(f"module 'plugrad' has no attribute {name!r}")
        for sentence in in_the_way():
            raise ImportError(sentence, name="plugrad")
        import core

        return getattr(core, name)


def __dir__() -> list[str]:
    import core

    return dir(core)

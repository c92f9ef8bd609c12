"""What `import chainer` does: it refuses to stand beside a real Chainer, and makes the modules."""

from __future__ import annotations

import sys
from importlib import metadata

from plugrad_chainer import behaviour, finder, version


def install(name: str) -> None:
    """Make the module `name`, which is being imported, the root of Chainer's modules."""
    refuse_another_chainer()
    module = sys.modules[name]
    module.__class__ = finder.Module
    module.__dict__["__version__"] = version()
    finder.install()
    behaviour.switch()


def refuse_another_chainer() -> None:
    """Raise ImportError where Chainer itself is installed."""
    for theirs in ("chainer", "chainerx", "chainermn"):
        try:
            there = metadata.version(theirs)
        except metadata.PackageNotFoundError:
            continue
        raise ImportError(
            f"plugrad-chainer provides the import name 'chainer', and {theirs} {there} is "
            f"installed as well. Uninstall one of the two: `pip uninstall {theirs}` to run "
            "programs on plugrad, `pip uninstall plugrad-chainer` to run them on Chainer.",
            name="chainer",
        )

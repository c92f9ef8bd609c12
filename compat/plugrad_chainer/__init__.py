"""The import name `chainer` on plugrad: which names there are, where they stand, what differs."""

from __future__ import annotations

import os

__all__ = ["version", "version_1"]


def version() -> str:
    """The version of Chainer that programs are told of: `CHAINER_COMPAT=1` makes it 1.24.0."""
    return "1.24.0" if version_1() else "7.8.1"


def version_1() -> bool:
    """Whether version 1 decides where it contradicts later ones (`CHAINER_COMPAT=1`)."""
    return os.environ.get("CHAINER_COMPAT", "") == "1"

"""What PyInstaller has to know of plugrad, which looks for its parts when a program runs.

PyInstaller finds `folders` by plugrad's entry point `hook-dirs`, and in them the hook of `core`.
"""

from __future__ import annotations

from pathlib import Path


def folders() -> list[str]:
    """The folders in which hooks for PyInstaller lie.

    >>> [Path(folder).name for folder in folders()]
    ['frozen']
    """
    return [str(Path(__file__).parent)]

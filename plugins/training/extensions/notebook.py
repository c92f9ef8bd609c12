"""Output of notebooks that changes while the cell runs."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def in_notebook() -> bool:
    """Whether this is a notebook's kernel, which shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Output:
    """A place below the cell, for HTML that is shown once and replaced afterwards."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._handle: Any = None

    def show(self, html: str) -> None:
        """Replace what is shown; raises ModuleNotFoundError where IPython is not installed."""
        try:
            ipython: Any = import_module("IPython.display")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"{self._who}: expected IPython, which every notebook has, found none. On a "
                f"terminal use {self._who.removesuffix('Notebook')}.",
                name="IPython",
            ) from error
        if self._handle is None:
            self._handle = ipython.display(ipython.HTML(html), display_id=True)
        else:
            self._handle.update(ipython.HTML(html))

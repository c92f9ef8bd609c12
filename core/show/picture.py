"""Graphs drawn by Graphviz, whose Python package is imported only when needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def picture(dot: str, format: str) -> bytes:
    """Draw a text in the DOT language by Graphviz, in one of its formats.

    Raises ImportError where the extra is not installed, RuntimeError where the program is missing,
    and ValueError for a format that Graphviz does not know.
    """
    graphviz = _package()
    if format not in graphviz.FORMATS:
        raise ValueError(
            f"ComputationalGraph.render: Graphviz knows no format {format!r}. Take svg, png, pdf, "
            "or give the file such an ending."
        )
    try:
        content: bytes = graphviz.Source(dot).pipe(format=format)
    except graphviz.ExecutableNotFound as error:
        raise RuntimeError(
            "ComputationalGraph.render: the program `dot` of Graphviz was not found on the PATH. "
            "Install Graphviz (apt install graphviz, brew install graphviz, or "
            "https://graphviz.org/download), or take dump('mermaid'), which needs nothing."
        ) from error
    return content


def _package() -> Any:
    try:
        return import_module("graphviz")
    except ImportError as error:
        raise ImportError(
            "ComputationalGraph.render: the package graphviz is not installed. "
            "Run `pip install 'plugrad[graph]'`, or take dump('mermaid'), which needs nothing."
        ) from error

"""Common parts of extensions that draw; Matplotlib is loaded when needed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.errors import nearest

COLOURS = ("#2F6DB5", "#DD7A26", "#2E9461", "#B5447F", "#7458BE", "#8A6D3B", "#4C5A67")
INK, GRID = "#2B3440", "#E3E7EC"
MOST_MARKERS = 60
"""Of more points than these single ones are not marked."""


def has_matplotlib() -> bool:
    """Whether Matplotlib is installed."""
    return find_spec("matplotlib") is not None


def require_matplotlib(who: str, available: bool, filename: str) -> None:
    """Raise ModuleNotFoundError in the name of `who`, if Matplotlib is not `available`, and
    ValueError if it cannot write files like `filename`.
    """
    if not available:
        raise ModuleNotFoundError(
            f"{who}: expected Matplotlib to be installed, found none. Install it with "
            "`pip install 'plugrad[plot]'`, or leave the extension out where "
            f"{who}.available() is False.",
            name="matplotlib",
        )
    known = empty_figure().canvas.get_supported_filetypes()
    if _ending(filename) not in known:
        raise ValueError(
            f"{who}: expected a filename that ends in one of {', '.join(map(repr, known))}, got "
            f"{filename!r}.{nearest(_ending(filename), known)}"
        )


def empty_figure(size: tuple[float, float] | None = None) -> Any:
    """A figure on the Agg canvas, which needs no screen and leaves pyplot's state alone."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or (6.4, 4.0), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def dress(axes: Any, grid: bool) -> None:
    """Give the axes the look of all pictures."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#AAB3BD")
    axes.tick_params(colors=INK, labelsize=9, length=3)
    axes.set_axisbelow(True)
    if grid:
        axes.grid(color=GRID, linewidth=0.8)


def picture_of(figure: Any, path: Path) -> Callable[[Path], Any]:
    """What draws the figure into a file, in the format that the ending of `path` says."""
    form = _ending(path)
    return lambda file: figure.savefig(file, format=form, dpi=150)


def _ending(path: str | Path) -> str:
    return Path(path).suffix[1:].lower() or "png"

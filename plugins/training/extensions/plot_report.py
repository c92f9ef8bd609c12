"""Curves of what was observed, as an image."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle, product
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import nearest
from core.errors.kinds import checked
from core.errors.removed import removed
from core.link.serializer import AbstractSerializer
from core.training import Extension, TriggerSpec
from core.training.reporter import DictSummary
from plugins.training.extensions.observed import Observed
from plugins.training.extensions.picture import (
    COLOURS,
    INK,
    MOST_MARKERS,
    dress,
    empty_figure,
    has_matplotlib,
    picture_of,
    require_matplotlib,
)
from plugins.training.extensions.report_file import ReportFile

if TYPE_CHECKING:
    from core.training import Loop

_STYLES = ("-", "--", ":", "-.")  # where there are more curves than colours
_LETTERS, _SAMPLE = 80, 7  # the width of a legend, and of a line in it


class PlotReport(Extension):
    """Plot the means of the values `y_keys` over the iterations (or epochs), in an image file.

    Whenever `trigger` fires, the means since the last time become a point of each curve, and the
    file `filename` in the trainer's directory (its ending says the format) is replaced. `x_key` is
    'iteration' or 'epoch', of which points within one have the part that is over. `marker` is
    Matplotlib's, for single points; `grid` shows lines behind the curves. Where these are more than
    seven, others are dashed, and all are named below. Of several ranks that train together the
    means are taken over all, and the first one draws.
    `postprocess(figure, axes, summary)` may change the picture before it is saved.
    Needs Matplotlib: `pip install 'plugrad[plot]'`.

    >>> from core.training import extensions
    >>> keys = ["main/loss", "validation/main/loss"]
    >>> curves = extensions.PlotReport(keys, "epoch", filename="loss.png")
    """

    ranks = "together"

    @checked
    @removed(renamed={"file_name": "filename"})
    def __init__(
        self,
        y_keys: str | Sequence[str],
        x_key: str = "iteration",
        trigger: TriggerSpec = (1, "epoch"),
        postprocess: Callable[[Any, Any, DictSummary], Any] | None = None,
        filename: str = "plot.png",
        marker: str | None = "x",
        grid: bool = True,
    ) -> None:
        if x_key not in ("iteration", "epoch"):
            raise ValueError(
                f"PlotReport: expected x_key 'iteration' or 'epoch', got {x_key!r}."
                + nearest(str(x_key), ("iteration", "epoch"))
            )
        self._y_keys = [y_keys] if isinstance(y_keys, str) else list(y_keys)
        self._x_key = x_key
        self._observed = Observed("PlotReport", self._y_keys, trigger)
        self._postprocess = postprocess
        self._filename = filename
        self._marker = marker
        self._grid = grid
        self._file = ReportFile("PlotReport")
        self._points: dict[str, list[tuple[float, float]]] = {key: [] for key in self._y_keys}

    def files_in_the_way(self, trainer: Loop) -> Iterable[tuple[Path, str | None]]:
        """What stands where the file goes."""
        return self._file.standing(trainer.out, self._filename)

    @staticmethod
    def available() -> bool:
        """Whether Matplotlib is installed."""
        return has_matplotlib()

    def initialize(self, trainer: Loop) -> None:
        """Check before training that Matplotlib is there."""
        self._observed.begin(trainer, self.communicator)
        require_matplotlib("PlotReport", self.available(), self._filename)

    def collect(self) -> None:
        """Let the first rank have what was observed on all since the last point."""
        self._observed.collect()

    def __call__(self, trainer: Loop) -> None:
        """Take the observation into account; when it is time, add points and draw."""
        summary = self._observed(trainer)
        if summary is None:
            return
        for key, mean in summary.compute_mean().items():
            self._points[key].append((self._place(trainer.updater), float(mean)))
        if any(self._points.values()) and self.leads:
            self._draw(Path(trainer.out) / self._filename, summary)

    def _place(self, updater: Any) -> float:
        """Where a point is drawn: within an epoch at the part of it that is over."""
        within = self._x_key == "epoch" and not getattr(updater, "is_new_epoch", True)
        return float(updater.epoch_detail) if within else getattr(updater, self._x_key)

    def _draw(self, path: Path, summary: DictSummary) -> None:
        shown = [(key, points) for key, points in self._points.items() if points]
        columns, rows = _below([key for key, _ in shown])
        figure = empty_figure((6.4, 4.0 + 0.2 * rows))
        axes = figure.add_subplot()
        dress(axes, self._grid)
        looks = cycle(product(_STYLES, COLOURS))
        for (key, points), (style, colour) in zip(shown, looks, strict=False):
            x, y = zip(*points, strict=True)
            finite = [value if math.isfinite(value) else math.nan for value in y]
            marker = self._marker if len(x) <= MOST_MARKERS else None
            look = {"color": colour, "ls": style, "lw": 1.8, "marker": marker, "markersize": 4.5}
            axes.plot(x, finite, label=key, **look)
        _label(axes, self._x_key, [key for key, _ in shown])
        box = {"facecolor": "white", "edgecolor": "none", "framealpha": 0.8}
        place = {"loc": "outside lower left", "ncols": columns} if rows else {}
        (figure if rows else axes).legend(labelcolor=INK, fontsize=9, **box, **place)
        if self._postprocess is not None:
            self._postprocess(figure, axes, summary)
        self._file.write(path, picture_of(figure, path))

    def finalize(self) -> None:
        """See that the file shows all points."""
        self._file.finish()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the curves, and what was observed since the last point."""
        self._observed.serialize(serializer)
        loaded = json.loads(serializer("points", json.dumps(self._points)))
        for key in self._y_keys:
            self._points[key] = [(x, y) for x, y in loaded.get(key, [])]


def _label(axes: Any, x_key: str, keys: list[str]) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel(x_key, color=INK)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    endings = {key.rpartition("/")[2] for key in keys}
    if len(endings) == 1:  # main/loss and validation/main/loss: both are losses
        axes.set_ylabel(endings.pop(), color=INK)


def _below(keys: list[str]) -> tuple[int, int]:
    """How many columns and rows a legend below the axes has, for more curves than colours."""
    columns = max(1, _LETTERS // (_SAMPLE + max(map(len, keys))))
    return columns, ceil(len(keys) / columns) if len(keys) > len(COLOURS) else 0

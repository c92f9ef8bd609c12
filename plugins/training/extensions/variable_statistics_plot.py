"""Curves of how the values of variables and their gradients are distributed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import Link, Variable
from core.arrays import backend
from core.errors.kinds import checked
from core.errors.removed import removed
from core.link.serializer import AbstractSerializer, Deserializer
from core.training import Extension, TriggerSpec, get_trigger
from plugins.training.extensions.distribution import flat, percentiles
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

_PERCENTILES = (0, 0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87, 100)


class VariableStatisticsPlot(Extension):
    """Plot over the iterations how the values of `targets` are distributed, all taken together.

    `targets` are Variables, links (all their parameters) or several of either. At every call the
    mean, the standard deviation and the percentiles `percentile_sigmas` of the values and of the
    gradients are taken, and the file `filename` in the trainer's directory is replaced whenever
    `trigger` fires. By default the percentiles are the extremes and those at -3 ... 3 standard
    deviations of a normal distribution; False or () draws none.

    At most `max_sample_size` points are kept: when there are more, every second one is let go, and
    from then on every second call passed over. `figsize` is in inches, `marker` and `grid` are as
    in `PlotReport`. Needs Matplotlib: `pip install 'plugrad[plot]'`.

    Raises ValueError where there would be nothing to plot.
    """

    ranks = "first"

    @checked
    @removed(renamed={"file_name": "filename"})
    def __init__(
        self,
        targets: Any,
        max_sample_size: int = 1000,
        report_data: bool = True,
        report_grad: bool = True,
        plot_mean: bool = True,
        plot_std: bool = True,
        percentile_sigmas: float | Sequence[float] | bool | None = _PERCENTILES,
        trigger: TriggerSpec = (1, "epoch"),
        filename: str = "statistics.png",
        figsize: tuple[float, float] | None = None,
        marker: str | None = None,
        grid: bool = True,
    ) -> None:
        self._variables = list(_unpacked(targets))
        self._what = [k for k, on in (("data", report_data), ("grad", report_grad)) if on]
        self._percentages = _as_percentages(percentile_sigmas)
        rows = {"mean": plot_mean, "std": plot_std, "percentile": bool(self._percentages)}
        self._rows = [name for name, on in rows.items() if on]
        self._check(max_sample_size)
        self._most = max_sample_size
        self._trigger = get_trigger(trigger)
        self._filename = filename
        self._figsize = figsize
        self._marker = marker
        self._grid = grid
        self._file = ReportFile("VariableStatisticsPlot")
        self._calls = 0
        self._every = 1
        self._at = -1
        self._is_resumed = False
        self._samples: list[tuple[int, list[list[float]]]] = []

    def files_in_the_way(self, trainer: Loop) -> Iterable[tuple[Path, str | None]]:
        """What stands where the file goes."""
        return self._file.standing(trainer.out, self._filename)

    def _check(self, max_sample_size: int) -> None:
        if not self._variables:
            raise ValueError(
                "VariableStatisticsPlot: expected at least one Variable, or a link that has "
                "parameters, got none."
            )
        if not (self._what and self._rows):
            raise ValueError(
                "VariableStatisticsPlot: expected something to plot: report_data or report_grad, "
                "and plot_mean, plot_std or percentile_sigmas."
            )
        if max_sample_size < 2:
            raise ValueError(
                "VariableStatisticsPlot: expected a max_sample_size of at least 2, got "
                f"{max_sample_size!r}."
            )

    @staticmethod
    def available() -> bool:
        """Whether Matplotlib is installed."""
        return has_matplotlib()

    def initialize(self, trainer: Loop) -> None:
        """Check before training that Matplotlib is there."""
        require_matplotlib("VariableStatisticsPlot", self.available(), self._filename)

    def __call__(self, trainer: Loop) -> None:
        """Take the statistics; when it is time, draw."""
        is_resumed, self._is_resumed = self._is_resumed, False
        if is_resumed and self._at == trainer.updater.iteration:  # of which they have been taken
            return
        self._at = trainer.updater.iteration
        if self._calls % self._every == 0:
            if len(self._samples) == self._most:
                self._samples = self._samples[::2]
                self._every *= 2
            if self._calls % self._every == 0:
                taken = [self._statistics(what) for what in self._what]
                self._samples.append((trainer.updater.iteration, taken))
        self._calls += 1
        if self._trigger(trainer):
            self._draw(Path(trainer.out) / self._filename)

    def _statistics(self, what: str) -> list[float]:
        """Mean, standard deviation and percentiles; NaN where no variable has values."""
        arrays = [getattr(variable, what) for variable in self._variables]
        rows = [flat(array) for array in arrays if array is not None and 0 not in array.shape]
        if not rows:
            return [math.nan] * (2 + len(self._percentages))
        xp = backend.of(*rows).xp
        x = xp.concat(rows)
        found = xp.stack([xp.mean(x), xp.std(x)])
        if self._percentages:
            found = xp.concat([found, percentiles(x, self._percentages)])
        values: list[float] = backend.to_host(found).tolist()
        return values

    # -- the picture ---------------------------------------------------------------------------

    def _draw(self, path: Path) -> None:
        height, width = len(self._rows), len(self._what)
        figure = empty_figure(self._figsize or (1.4 + 4.2 * width, 0.6 + 2.4 * height))
        grid = figure.subplots(height, width, squeeze=False, sharex=True)
        iterations = [iteration for iteration, _ in self._samples]
        for column, what in enumerate(self._what):
            taken = [_drawable(values[column]) for _, values in self._samples]
            series = [list(values) for values in zip(*taken, strict=True)]
            for row, name in enumerate(self._rows):
                axes = grid[row][column]
                dress(axes, self._grid)
                self._draw_series(axes, name, iterations, series)
                if column == 0:
                    axes.set_ylabel(name, color=INK)
            grid[0][column].set_title(what, color=INK, fontsize=11)
            _label_iterations(grid[-1][column])
        if "percentile" in self._rows:
            handles, labels = grid[-1][0].get_legend_handles_labels()
            figure.legend(
                handles,
                labels,
                loc="outside right lower",
                frameon=False,
                labelcolor=INK,
                fontsize=8,
            )
        figure.align_ylabels()
        self._file.write(path, picture_of(figure, path))

    def finalize(self) -> None:
        """See that the file shows all points."""
        self._file.finish()

    def _draw_series(self, axes: Any, name: str, x: list[int], series: list[list[float]]) -> None:
        marker = self._marker if len(x) <= MOST_MARKERS else None
        style = {"marker": marker, "markersize": 4.5}
        if name != "percentile":
            axes.plot(x, series[name == "std"], color=COLOURS[0], lw=1.4, **style)
            return
        for percentage, y in sorted(zip(self._percentages, series[2:], strict=True), reverse=True):
            middle = 1 - abs(percentage - 50) / 50  # 1 for the median, 0 for the extremes
            colour = COLOURS[0] if percentage >= 50 else COLOURS[1]
            axes.plot(
                x, y, color=INK if percentage == 50 else colour, lw=0.8 + middle,
                alpha=0.4 + 0.6 * middle, label=f"{percentage:g} %", **style,
            )  # fmt: skip

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the points taken so far."""
        if hasattr(self._trigger, "serialize"):
            self._trigger.serialize(serializer["trigger"])
        state = [self._calls, self._every, self._samples]
        self._calls, self._every, samples = json.loads(serializer("state", json.dumps(state)))
        self._samples = [(iteration, values) for iteration, values in samples]
        self._at = int(serializer.optional_value("at", self._at))
        self._is_resumed = isinstance(serializer, Deserializer)


def _unpacked(targets: Any) -> Iterator[Any]:
    if isinstance(targets, Variable):
        yield targets
    elif isinstance(targets, Link):
        yield from targets.params()
    elif isinstance(targets, Iterable) and not isinstance(targets, str):
        for target in targets:
            yield from _unpacked(target)
    else:
        raise TypeError(
            "VariableStatisticsPlot: expected Variables, links, or several of them, got "
            f"{type(targets).__name__}."
        )


def _as_percentages(given: Any) -> tuple[float, ...]:
    if given is None or given is False:
        return ()
    if given is True:
        return _PERCENTILES
    found = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(0 <= percentage <= 100 for percentage in found):
        raise ValueError(
            f"VariableStatisticsPlot: expected percentile_sigmas from 0 to 100, got {given!r}."
        )
    return found


def _drawable(values: list[float]) -> list[float]:
    return [value if math.isfinite(value) else math.nan for value in values]


def _label_iterations(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel("iteration", color=INK)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))

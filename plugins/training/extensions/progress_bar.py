"""A progress bar on the terminal, or in a notebook."""

from __future__ import annotations

import io
import shutil
import time
from typing import TYPE_CHECKING, Any, TextIO

from core.errors.kinds import checked
from core.training import Extension
from plugins.training.extensions.notebook import Output, in_notebook
from plugins.training.extensions.terminal import Terminal

if TYPE_CHECKING:
    from core.training import Loop

_LOOK = (
    "{{percentage:3.0f}}%|{{bar:{0}}}| {1} {{n:.{2}f}}/{{total:g}} "
    "[{{elapsed}}<{{remaining}}{{postfix}}]"
)


class ProgressBar(Extension):
    """Show how much of the training is done, the time it took and will take, and its speed.

    `training_length` is a pair such as (20, 'epoch'); by default the trainer's stop trigger says
    it. The bar, `bar_length` characters long, or less on a narrow terminal, is drawn on `out` (by
    default the standard output, in a notebook below the cell) every `update_interval` iterations
    and several times a second; a file gets a line now and then. A terminal that goes away does not
    end the training.
    """

    ranks = "first"

    @checked
    def __init__(
        self,
        training_length: tuple[float, str] | None = None,
        update_interval: int = 100,
        bar_length: int = 50,
        out: TextIO | None = None,
    ) -> None:
        self._training_length = training_length
        self._update_interval = update_interval
        self._bar_length = bar_length
        self._screen = Terminal(type(self).__name__, out)
        self._in_notebook = out is None and in_notebook()
        self._output = Output(type(self).__name__)
        self._bar: Any = None
        self._unit = "iteration"

    def initialize(self, trainer: Loop) -> None:
        """Check before training that its length is known."""
        self._length(trainer)

    def __call__(self, trainer: Loop) -> None:
        """Move the bar, if it is time."""
        if self._bar is None:
            self._screen.do(lambda: self._start(trainer))
        if self._bar is None:
            return
        updater = trainer.updater
        self._bar.n = min(
            updater.epoch_detail if self._unit == "epoch" else updater.iteration, self._bar.total
        )
        self._iteration = updater.iteration
        now = time.perf_counter()
        due = updater.iteration - self._drawn_iteration >= self._update_interval
        if now - self._drawn_at >= (self._shortest if due else self._longest):
            self._draw(now)

    def _start(self, trainer: Loop) -> None:
        from tqdm import tqdm  # type: ignore[import-untyped]

        total, self._unit = self._length(trainer)
        size = shutil.get_terminal_size()  # unlike tqdm, knows what to do with a size of 0 by 0
        self._drawn = self._screen.is_terminal and not self._in_notebook
        quick = self._drawn or self._in_notebook
        self._shortest, self._longest = (0.1, 0.5) if quick else (5.0, 5.0)
        self._first_iteration = self._drawn_iteration = trainer.updater.iteration - 1
        self._began = self._drawn_at = time.perf_counter()
        done = trainer.updater.epoch_detail if self._unit == "epoch" else self._first_iteration
        self._bar = tqdm(
            total=total,
            initial=min(done, total),  # tqdm has no bar for what is past its end
            bar_format=self._look(self._bar_length),
            file=self._screen.out if self._drawn else io.StringIO(),
            ascii=not (self._in_notebook or self._screen.shows("█")),
            ncols=size.columns if self._drawn else None,
            nrows=size.lines,
        )

    def _length(self, trainer: Loop) -> tuple[float, str]:
        length = self._training_length
        if length is None and hasattr(trainer.stop_trigger, "get_training_length"):
            length = trainer.stop_trigger.get_training_length()
        if length is None:
            raise ValueError(
                "ProgressBar: expected to know how long training lasts, but the stop trigger does "
                "not say it. Pass training_length=(20, 'epoch') or similar."
            )
        return length

    def _draw(self, now: float) -> None:
        rate = (self._iteration - self._first_iteration) / max(now - self._began, 1e-9)
        self._bar.set_postfix_str(f"{rate:.1f} iterations/s", refresh=False)
        self._fit()
        if self._in_notebook:
            self._output.show(f'<pre style="white-space:pre-wrap">{self._bar}</pre>')
        elif self._drawn:
            self._screen.do(self._bar.refresh)
        else:  # nothing can be drawn over there: a line each time
            self._screen.do(lambda: print(self._bar, file=self._screen.out, flush=True))
        self._drawn_at, self._drawn_iteration = now, self._iteration

    def _fit(self) -> None:
        """Shorten the bar where the line is wider than the terminal."""
        width = self._screen.width
        self._bar.ncols, self._bar.bar_format = None, self._look(self._bar_length)
        over = len(str(self._bar)) - width
        if self._drawn and over > 0:
            self._bar.ncols, self._bar.bar_format = (
                width,
                self._look(max(1, self._bar_length - over)),
            )

    def _look(self, length: int) -> str:
        return _LOOK.format(length, self._unit, 2 if self._unit == "epoch" else 0)

    def finalize(self) -> None:
        """Draw the bar a last time, and leave it where it stands."""
        if self._bar is not None:
            self._draw(time.perf_counter())
            self._screen.do(self._bar.close)
            self._bar = None


class ProgressBarNotebook(ProgressBar):
    """A `ProgressBar` that is shown as HTML if IPython can display it."""

    @checked
    def __init__(
        self,
        training_length: tuple[float, str] | None = None,
        update_interval: int = 100,
        bar_length: int = 50,
    ) -> None:
        super().__init__(training_length, update_interval, bar_length)
        self._in_notebook = True

"""Triggers that several extensions share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def once_an_iteration(ask: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Let a trigger that remembers what it has seen give one answer in each iteration of a run.

    Else the second extension that has the same one would be told that nothing is new.
    """

    @functools.wraps(ask)
    def answer(self: Any, trainer: Any) -> bool:
        run = getattr(trainer, "run_id", None)
        now = None if run is None else (run, trainer.updater.iteration)
        last: tuple[Any, bool] = vars(self).get("_last_answer", (None, False))
        if now is None or last[0] != now:
            last = self._last_answer = now, ask(self, trainer)
        return last[1]

    return answer

"""Triggers that several extensions share."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

from core.link.serializer import AbstractSerializer, Deserializer

_NONE: tuple[Any, int | None, Any] = (None, None, None)  # run, iteration, and what was answered


def once_an_iteration(ask: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a trigger that remembers what it has seen give one answer in each iteration of a run.

    Else the second extension that has the same one would be told that nothing is new.
    """

    @functools.wraps(ask)
    def answer(self: Any, trainer: Any) -> Any:
        run = getattr(trainer, "run_id", None)
        if run is None:
            return ask(self, trainer)
        now = trainer.updater.iteration
        of, at, found = vars(self).get("_last_answer", _NONE)
        if at != now or of not in (None, run):  # None: it was loaded, by the run that asks
            found = ask(self, trainer)
            self._last_answer = run, now, found
        return found

    return answer


def serialize_answer(trigger: Any, serializer: AbstractSerializer) -> None:
    """Save or load the last answer.

    A run that resumes asks its stop trigger about the iteration that was saved, in which an
    extension that shares it may have asked already.
    """
    last = json.dumps(vars(trigger).get("_last_answer", _NONE)[1:])
    text = serializer.optional_value("answer", last)
    if isinstance(serializer, Deserializer):
        trigger._last_answer = None, *json.loads(text)


def forget_answer(trigger: Any) -> None:
    """Let the trigger be asked anew, for it is to count otherwise from now on."""
    trigger._last_answer = _NONE

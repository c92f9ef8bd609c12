"""Generators of random numbers that a step draws from itself: a replay would draw nothing."""

from __future__ import annotations

import pickle
import random
from typing import Any

from core.arrays.backend import host
from core.errors import TraceError


class Generators:
    """NumPy's and Python's that a step reaches, as they were before it was recorded."""

    def __init__(self, found: list[tuple[str, Any]], names_modules: bool) -> None:
        self._found = found
        if names_modules:
            shared = host().xp.random.get_state.__self__
            self._found += [("numpy.random", shared), ("random", random.getstate.__self__)]  # type: ignore[attr-defined]
        self._states = [state_of(x) for _, x in self._found]

    def refuse_draws(self) -> None:
        """Raise TraceError where one has gone on: what was drawn may have decided what is done."""
        for (label, x), before in zip(self._found, self._states, strict=True):
            if _bits(state_of(x)) != _bits(before):
                raise TraceError(
                    f"capture: the step draws from {label} itself, and a replay would not. Draw by "
                    "operations or core.backend.current().random, or outside of the step, and give "
                    "what is drawn as an argument."
                )

    def restore(self) -> None:
        """Let the same numbers follow as before the recording."""
        for (_, x), before in zip(self._found, self._states, strict=True):
            if isinstance(x, random.Random):
                x.setstate(before)
            elif hasattr(x, "set_state"):
                x.set_state(before)
            else:
                getattr(x, "bit_generator", x).state = before


def state_of(x: Any) -> Any:
    """What a generator goes on from; None for what is none."""
    of_numpy = host().xp.random
    if isinstance(x, random.Random) and not isinstance(x, random.SystemRandom):
        return x.getstate()
    if isinstance(x, of_numpy.RandomState):
        return x.get_state(legacy=False)
    if isinstance(x, (of_numpy.Generator, of_numpy.BitGenerator)):
        return getattr(x, "bit_generator", x).state
    return None


def _bits(state: Any) -> bytes:
    return pickle.dumps(state)

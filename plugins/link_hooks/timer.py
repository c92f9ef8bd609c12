"""How long links take."""

from __future__ import annotations

from time import perf_counter

from core import Link, LinkHook
from core.link.hook import ForwardArgs
from plugins.function_hooks.times import Times


class TimerHook(Times, LinkHook):
    """Measure the time of every call of a link.

    The link's device is waited for before and after, so figures are whole and a forward pass is
    slower. In `call_history` are pairs of a link's class and seconds; a link that is called inside
    another counts for both.

    >>> import core, numpy as np
    >>> import core.links as L
    >>> model = core.Sequential(L.Linear(3, 4), L.Linear(4, 2))
    >>> with TimerHook() as timer:
    ...     y = model(np.ones((1, 3), "f"))
    >>> timer.summary()["Linear"]["occurrence"]
    2
    """

    name = "TimerHook"
    head = "LinkName"

    def __init__(self) -> None:
        self.call_history: list[tuple[str, float]] = []
        self._running: list[float] = []

    def _kind(self, called: str) -> str:
        return called

    def forward_preprocess(self, args: ForwardArgs) -> None:
        """Start the clock."""
        self._running.append(_now(args.link))

    def forward_postprocess(self, args: ForwardArgs) -> None:
        """Stop it, and keep the difference."""
        before = self._running.pop()
        self.call_history.append((type(args.link).__name__, _now(args.link) - before))

    def forward_interrupted(self, args: ForwardArgs) -> None:
        """Forget the call."""
        self._running.pop()


def _now(link: Link) -> float:
    link.device.backend.synchronize(link.device)
    return perf_counter()

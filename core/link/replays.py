"""What links had when a function was computed, for when it is computed again for its gradients.

Running statistics and the like move with each call. A gradient that depends on them is that of the
call, so the call made again must meet what the first one met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["Met", "met"]

_under_way: ContextVar[Callable[[Callable[[], Any]], Any] | None] = ContextVar(
    "_under_way", default=None
)


class Met:
    """What is asked for by `met` in a first call, to be had in the same order in others.

    A call that asks for more than the first one did gets what it computes itself.
    """

    def __init__(self) -> None:
        self._values: list[Any] = []

    def first(self) -> AbstractContextManager[None]:
        """A context for the first call; within one made again it meets what that one does."""

        def keep(compute: Callable[[], Any]) -> Any:
            value = compute() if around is None else around(compute)
            self._values.append(value)
            return value

        around = _under_way.get()
        return _asked(keep)

    def again(self) -> AbstractContextManager[None]:
        """A context for a call that is made again."""
        values = iter([(value,) for value in self._values])
        return _asked(lambda compute: (next(values, None) or (compute(),))[0])


@contextmanager
def _asked(answer: Callable[[Callable[[], Any]], Any]) -> Iterator[None]:
    token = _under_way.set(answer)
    try:
        yield
    finally:
        _under_way.reset(token)


def met(compute: Callable[[], Any]) -> Any:
    """What `compute` gives in a call that may be made again, and gave where it is; else None."""
    answer = _under_way.get()
    return None if answer is None else answer(compute)

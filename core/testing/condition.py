"""Tests that may fail now and then, for what they measure is random."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from unittest import SkipTest

Test = Callable[..., Any]


def repeat_with_success_at_least(times: int, min_success: int) -> Callable[[Test], Test]:
    """Let a test pass that succeeds so often of so many times, else raise its first error.

    >>> outcomes = iter([False, True, True])
    >>> @repeat_with_success_at_least(3, 2)
    ... def test():
    ...     assert next(outcomes)
    >>> test()
    """
    if not 0 < min_success <= times:
        raise ValueError(f"expected 0 < min_success <= times, got {min_success} and {times}")

    def decorate(test: Test) -> Test:
        @wraps(test)
        def repeated(*args: Any, **kwargs: Any) -> None:
            errors: list[Exception] = []
            for done in range(times):
                try:
                    test(*args, **kwargs)
                except SkipTest:
                    raise
                except Exception as error:
                    errors.append(error)
                if done + 1 - len(errors) == min_success:
                    return
                if len(errors) > times - min_success:
                    errors[0].add_note(f"{len(errors)} of {done + 1} times")
                    raise errors[0]

        return repeated

    return decorate


def repeat(times: int) -> Callable[[Test], Test]:
    """Let a test pass that succeeds every one of so many times."""
    return repeat_with_success_at_least(times, times)


def retry(times: int) -> Callable[[Test], Test]:
    """Let a test pass that succeeds at least once of so many times."""
    return repeat_with_success_at_least(times, 1)

"""What proofs ask for; `assert` would ask for nothing under `python -O`."""

from __future__ import annotations


def demand(condition: object, what: object) -> None:
    """Raise AssertionError, which says `what` was asked for, unless the condition holds."""
    if not condition:
        raise AssertionError(what)

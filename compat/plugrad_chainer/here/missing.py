"""Links and functions that tell why they are gone."""

from __future__ import annotations

from typing import Any

from core.errors.synonyms import GONE


class TheanoFunction:
    """Theano's functions, gone with Theano, whose last version does not run on today's NumPy."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise ImportError(f"TheanoFunction: {GONE['links']['TheanoFunction']}")


def theano_function(*args: Any, **kwargs: Any) -> Any:
    """Refused, as `TheanoFunction` is."""
    return TheanoFunction(*args, **kwargs)

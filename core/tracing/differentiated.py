"""Whose derivatives are being taken where a function is called, and what depends on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from core.graph.variable import Variable

_around: ContextVar[tuple[list[Variable], ...]] = ContextVar("_around", default=())
"""The inputs of the functions that are being called here, whose derivatives are taken."""


def is_nested() -> bool:
    """Whether a function whose derivatives are being taken is being called."""
    return bool(_around.get())


def what_is_around() -> list[Variable]:
    """The inputs of the functions that are being called here, whose derivatives are taken."""
    return [x for inputs in _around.get() for x in inputs]


@contextmanager
def taken_by(inputs: list[Variable]) -> Iterator[None]:
    """A context in which derivatives of what is computed are taken by these, too."""
    before = _around.set((*_around.get(), inputs))
    try:
        yield
    finally:
        _around.reset(before)


def depends_on(around: list[Variable], x: Any) -> bool:
    """Whether it may depend on these inputs of functions whose derivatives are being taken."""
    if not around or not isinstance(x, Variable) or not x.requires_grad:
        return False
    return x.creator_node is not None or any(x._source is each._source for each in around)

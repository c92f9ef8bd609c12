"""What debug mode adds: from which operation, link and line a NaN or a changed array came."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from core.arrays.backend import BACKENDS
from core.errors import GraphError
from core.errors.place import path_of, users_line

if TYPE_CHECKING:
    from core.graph.graph_node import GraphNode

links: ContextVar[tuple[Any, ...]] = ContextVar("core.graph.debug.links", default=())
"""The links whose call is under way in this context, the outermost first."""


def link_path() -> str:
    """The path of the innermost link that is being called, as `/encoder/l1`."""
    called = links.get()
    return path_of(called) if called else ""


def describe(f: GraphNode) -> str:
    """The operation, with link and line if the call was made in debug mode."""
    path, line = f._place or ("", "")
    return f.label + (f" in link {path}" if path else "") + (f", called at {line}" if line else "")


def has_nan(array: Any) -> bool:
    """Whether a floating array holds a NaN; waits for the device."""
    if array is None or not array.shape:  # a library's scalar is no array of a backend
        return array is not None and bool(array != array)
    backend = BACKENDS[type(array)]
    if backend.kind(array.dtype) not in "fcV" or 0 in array.shape:
        return False
    return bool(backend.xp.any(array != array))


def refuse_nan(f: GraphNode, arrays: Iterable[Any], when: str) -> None:
    """Raise where an array that `f` made in its `when` (forward or backward) holds a NaN."""
    for array in arrays:
        if has_nan(array):
            raise GraphError(f"NaN is detected on {when} computation of {describe(f)}")


def remember_call(f: GraphNode) -> None:
    """Note where `f` is being called, and inside which link."""
    import traceback

    f.stack = traceback.extract_stack()[:-3]
    places = [(frame.filename, frame.lineno or 0) for frame in f.stack]
    f._place = (link_path(), users_line(places))


def versions(f: GraphNode) -> tuple[tuple[Any, int], ...]:
    """The versions of the parameters whose arrays `f` retained."""
    found = []
    for source in f._sources:
        variable = None if source.is_function else source.get_variable_or_none()
        version = getattr(variable, "version", None)  # which parameters have
        if version is not None and source.data is not None:
            found.append((source, version))
    return tuple(found)


def refuse_changed(f: GraphNode) -> None:
    """Raise where a parameter's array was changed in place between forward and backward."""
    for node, version in f._versions:
        parameter = node.get_variable_or_none()
        if parameter is not None and parameter.version != version:
            raise GraphError(
                f"the array of parameter {parameter.name or '(unnamed)'} was changed in place "
                f"after {describe(f)} used it, so its gradient would be of other values. "
                "Run backward before the update, or compute the forward pass again."
            )

"""What debug mode adds: from which operation, link and line a NaN or a changed array came."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from core.backend import BACKENDS
from core.errors import GraphError
from core.parameter import Parameter

if TYPE_CHECKING:
    from core.function_node import FunctionNode

_ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_OURS = ("<", *(os.path.join(_ROOT, room, "") for room in ("core", "plugins", "backends")))

links: ContextVar[tuple[Any, ...]] = ContextVar("core.debug.links", default=())
"""The links whose call is under way in this context, the outermost first."""


def link_path() -> str:
    """The path of the innermost link that is being called, as `/encoder/l1`."""
    called = links.get()
    return path_of(called) if called else ""


def path_of(called: tuple[Any, ...]) -> str:
    """The path of the last of links that are called inside one another.

    It is looked up in the outermost one: links in between, as a ChainList whose children are called
    one by one, need not be called themselves.
    """
    found = paths_in(called[0]).get(id(called[-1]))
    return found or "/" + "/".join(link.name for link in called if link.name)


def paths_in(root: Any) -> dict[int, str]:
    """The paths of `root`, which a parent may have named, and of all links below, by their ids."""
    start = f"/{root.name}" if root.name else ""
    below = {id(link): start + path for path, link in root.namedlinks(skipself=True)}
    return {**below, id(root): start or "/"}


def users_stack(stack: Any) -> str:
    """The innermost line of a recorded stack that is neither the framework's nor a plugin's."""
    for frame in reversed(stack):
        if not frame.filename.startswith(_OURS):
            return f"{frame.filename}:{frame.lineno}: {frame.line}"
    return f"{stack[-1].filename}:{stack[-1].lineno}: {stack[-1].line}" if stack else ""


def describe(f: FunctionNode) -> str:
    """The operation, with link and line if the call was made in debug mode."""
    path, line = f._place or ("", "")
    return f.label + (f" in link {path}" if path else "") + (f", called at {line}" if line else "")


def has_nan(array: Any) -> bool:
    """Whether a floating array holds a NaN; waits for the device."""
    if array is None:
        return False
    backend = BACKENDS[type(array)]
    if backend.kind(array.dtype) not in "fc" or not array.size:
        return False
    return bool(backend.xp.any(backend.xp.isnan(array)))


def refuse_nan(f: FunctionNode, arrays: Iterable[Any], when: str) -> None:
    """Raise where an array that `f` made in its `when` (forward or backward) holds a NaN."""
    for array in arrays:
        if has_nan(array):
            raise GraphError(f"NaN is detected on {when} computation of {describe(f)}")


def versions(f: FunctionNode) -> tuple[tuple[Any, int], ...]:
    """The versions of the parameters whose arrays `f` retained."""
    found = []
    for edge in f._edges:
        variable = None if edge.is_function else edge.get_variable_or_none()
        if isinstance(variable, Parameter) and edge.data is not None:
            found.append((edge, variable.version))
    return tuple(found)


def refuse_changed(f: FunctionNode) -> None:
    """Raise where a parameter's array was changed in place between forward and backward."""
    for node, version in f._versions:
        parameter = node.get_variable_or_none()
        if parameter is not None and parameter.version != version:
            raise GraphError(
                f"the array of parameter {parameter.name or '(unnamed)'} was changed in place "
                f"after {describe(f)} used it, so its gradient would be of other values. "
                "Run backward before the update, or compute the forward pass again."
            )

"""Copies: what stands for parts of a link in its copy, and which links can be copied from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.arrays.backend import of as backend_of
from core.errors import nearest
from core.graph.fitting import is_array

if TYPE_CHECKING:
    from core.link.link import Link


def match(what: str, link: Link, own: dict[str, Any], others: dict[str, Any]) -> None:
    """Raise where those of `link` have nothing under a path, or something in another shape."""
    for path, mine in own.items():
        if path not in others:
            raise ValueError(
                f"{what}: the {type(link).__name__} given has no {path}; both links must have the "
                f"same form.{nearest(path, others)}"
            )
        mine, other = (getattr(x, "array", x) for x in (mine, others[path]))
        if is_array(mine) and is_array(other) and tuple(mine.shape) != tuple(other.shape):
            raise ValueError(
                f"{what}: expected {path} in the shape {tuple(mine.shape)}, got "
                f"{tuple(other.shape)}; both links must have the same form."
            )


def check_writable(what: str, own: dict[str, Any]) -> None:
    """Raise where a path has an array that nothing can be copied into."""
    for path, mine in own.items():
        array = getattr(mine, "array", mine)
        if is_array(array) and backend_of(array).mutable and not backend_of(array).writable(array):
            raise ValueError(
                f"{what}: expected arrays that can be changed, got a read-only one, or one that "
                f"shows an element several times, as {path}. Set a copy of it. Nothing has been "
                "copied."
            )


def copied(value: Any, made: dict[int, Any]) -> Any:
    """What an attribute of a copy holds: of what has been copied as well, by identity, the copy."""
    if id(value) in made:
        return made[id(value)]
    if type(value) not in (list, tuple, dict):
        return value
    made[id(value)] = value  # where it contains itself
    parts = list(value.values()) if isinstance(value, dict) else value
    found = [copied(part, made) for part in parts]
    if any(new is not old for new, old in zip(found, parts, strict=True)):
        keyed = isinstance(value, dict)
        made[id(value)] = dict(zip(value, found, strict=True)) if keyed else type(value)(found)
    return made[id(value)]

"""Where an error comes from: the link that was being called, and the line of the user's program.

Nothing is recorded while all goes well: both are read off the frames that an error has passed.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, FrameType, TracebackType

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_OURS = tuple(os.path.join(_ROOT, room, "") for room in ("core", "plugins", "backends"))
_STDLIB = os.path.dirname(os.__file__) + os.sep
_STARRED = 0x04  # of the flags of a function: it takes *args
_INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))


def _no_spec(value: object) -> Any:
    return None


spec_of: Callable[[object], Any] = _no_spec
"""The spec of an array or a Variable, None for anything else; core.graph.fitting gives it."""


def of(error: BaseException) -> tuple[str, str]:
    """The path and class of the link, as `/encoder/l1 (Linear)`, and the user's line, or ''."""
    if error.__traceback__ is None:
        return "", ""
    frames = list(frames_of(error.__traceback__))
    called = links_of([frame for frame, _ in frames])
    link = f"{path_of(called)} ({type(called[-1]).__name__})" if called else ""
    return link, users_line([(frame.f_code.co_filename, line) for frame, line in frames])


def sentence(error: BaseException) -> str:
    """The place as a sentence; empty where no link was being called."""
    return said(*of(error))


def said(link: str, line: str) -> str:
    """What `of` gives, as a sentence."""
    return f"In link {link}" + (f", at {line}" if line else "") if link else ""


def arguments(error: BaseException, function: str) -> dict[str, Any]:
    """The specs of the arrays given to the innermost function, or link, of that name, by name."""
    for frame, _ in reversed(list(frames_of(error.__traceback__))):
        code, values = frame.f_code, frame.f_locals
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & _STARRED)
        names = code.co_varnames[:count]
        owner = type(values.get(names[0])).__name__ if names else ""
        if function.casefold() in (code.co_name, owner.casefold()):
            return {k: spec for name in names for k, spec in _specs(name, values.get(name))}
    return {}


def _specs(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from _specs(f"{name}[{i}]", part)
    elif (spec := spec_of(value)) is not None:
        yield name, spec


def frames_of(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    """All frames from the outermost to that which raised, with the line each one is at."""
    above = []
    frame = traceback.tb_frame.f_back if traceback else None
    while frame is not None:
        above.append((frame, frame.f_lineno))
        frame = frame.f_back
    yield from reversed(above)
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def links_of(frames: Sequence[FrameType]) -> tuple[Any, ...]:
    """The links whose methods are running, the outermost first.

    Other frames are not read: CPython before 3.13 keeps what a frame held when it was read.
    """
    methods = [frame for frame in frames if _has_self(frame.f_code)]
    owners = [frame.f_locals.get("self") for frame in methods]
    return tuple([owner for owner in owners if hasattr(type(owner), "namedlinks")])


def _has_self(code: CodeType) -> bool:
    return "self" in code.co_varnames or "self" in code.co_freevars


def path_of(called: Sequence[Any]) -> str:
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


def is_users(filename: str) -> bool:
    """Whether a file is neither the framework's nor of a library."""
    return not (is_ours(filename) or _is_library(filename))


def users_line(places: Sequence[tuple[str, int]]) -> str:
    """The innermost line that is neither the framework's nor of a library, if there is one.

    `places` are files and numbers of lines, the outermost first.
    """
    import linecache

    theirs = [place for place in places if not is_ours(place[0])]
    own = [place for place in theirs if not _is_library(place[0])]
    for filename, number in (own or theirs or list(places))[-1:]:
        return f"{filename}:{number}: {linecache.getline(filename, number).strip()}"
    return ""


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's program that led here, through whatever calls of ours."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_between(frame.f_code.co_filename):
        level += not _is_import(frame.f_code.co_filename)
        frame = frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _is_between(filename: str) -> bool:
    """Whether a frame is ours, or one of the standard library through which ours are called."""
    if filename.startswith((_STDLIB, "<frozen ")):
        return not any(folder in filename for folder in _INSTALLED) or is_ours(filename)
    return is_ours(filename)


def _is_import(filename: str) -> bool:
    return "importlib" in filename and "_bootstrap" in filename  # frames that `warnings` skips


@lru_cache(maxsize=4096)
def is_ours(filename: str) -> bool:
    """Whether a file is the framework's, or a text that it has written."""
    # Texts are called "<call of Add with 2 inputs>" by core.ops, "<program f 3>" by core.programs.
    if filename.startswith("<"):
        return filename.startswith("<program ") or filename.endswith(" inputs>")
    return filename.startswith(_OURS)


@lru_cache(maxsize=4096)
def _is_library(filename: str) -> bool:
    return filename.startswith((_STDLIB, "<frozen ")) or any(
        folder in filename for folder in _INSTALLED
    )

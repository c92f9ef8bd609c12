"""The place of an error that leaves a link, among its notes."""

from __future__ import annotations

import sys

from core.errors import place
from core.errors.arguments import arguments
from core.errors.exceptions import BackendError
from core.errors.suggestions import refuse_unknown


class Note(str):
    """The place, among the notes of an error."""

    __slots__ = ()


def note(error: BaseException) -> None:
    """Add to an error that leaves a link where it comes from, once, unless its text says so."""
    tells = isinstance(error, BackendError) or bool(getattr(error, "operation", ""))
    if tells or any(isinstance(known, Note) for known in getattr(error, "__notes__", ())):
        return
    link, line = place.of(error)
    if not line or line not in str(error):  # as debug mode tells of a NaN
        error.add_note(Note(place.said(link, line) + _meant(error)))


def _meant(error: BaseException) -> str:
    """What to write for a keyword that a function, or the `forward` of the link, does not take.

    Python refuses it before any code of ours runs, where a call is to cost nothing more.
    """
    function, _, rest = str(error).partition("() got an unexpected keyword argument '")
    called = place.links_of([frame for frame, _ in place.frames_of(error.__traceback__)])
    if not rest or type(error) is not TypeError or not called:
        return ""
    forward = type(called[-1]).forward
    bundled = getattr(sys.modules.get("core.functions"), "__dict__", {})
    callee = forward if function == forward.__qualname__ else bundled.get(function)
    if callee is None:
        return ""
    known = [taken.name for taken in arguments(callee)]
    try:
        refuse_unknown(function, [rest.partition("'")[0]], known[callee is forward :])
    except TypeError as answer:
        return f". {answer}"
    return ""

"""The calls that are under way in a thread while they are measured."""

from __future__ import annotations

from typing import Any

from core import Device
from core.errors.place import path_of, paths_in


class Frame:
    """A call that is under way."""

    __slots__ = ("device", "in_use", "inside", "start", "subject", "total")

    def __init__(self, subject: Any, device: Device | None, in_use: int | None) -> None:
        self.subject, self.device, self.in_use = subject, device, in_use
        self.start = self.inside = self.total = 0


class Thread:
    """What is under way in one thread: functions and links in one stack, links by path too."""

    def __init__(self, row: int, name: str) -> None:
        self.row, self.name = row, name
        self.running: list[Frame] = []
        self.path = ""  # of the innermost link that is being called
        self._links: list[tuple[Any, str]] = []  # with the path of the one around
        self._known: dict[int, str] = {}  # paths in the outermost

    def enter(self, link: Any) -> None:
        """A link is called inside those that are being called."""
        if not self._links:
            self._known = paths_in(link)
        self._links.append((link, self.path))
        found = self._known.get(id(link))
        self.path = found or path_of(tuple(inner for inner, _ in self._links))

    def leave(self) -> None:
        """The innermost call of a link is over."""
        _, self.path = self._links.pop()

    def finished(self, subject: Any) -> Frame | None:
        """Take the frame of `subject` off; those above it were interrupted by an exception."""
        if not any(frame.subject is subject for frame in self.running):
            return None
        while self.running[-1].subject is not subject:
            self.running.pop()
        return self.running.pop()

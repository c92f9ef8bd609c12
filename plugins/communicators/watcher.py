"""The process that watches the ranks of a machine: `python watcher.py PATH COUNT`.

Each rank holds a connection to it, and takes leave at the end of its program. The one whose
connection breaks before that was killed, or has crashed: it is told, with the time, and the others
are asked to end the job; those that do not are ended. Launchers end ranks as well, and name
processes at best.

Launchers may also fail to end a job that a rank has asked them to end: whoever is left a few
seconds later is ended here, that rank as well.

Where a job does not come to its end, files remain of the memory that its ranks have shared by
MPICH; these are removed.

It imports the standard library alone, and has a session of its own, so that what ends the ranks
does not end it.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress

LEAVING, ENDING = b".", b"!"
"""What a rank says last: at the end of its program, and where it ends the job, having told why."""

_MPICH = "/dev/shm/mpich_shm_"
"""How the names of its files begin."""

_COMING, _GOING, _NEWS = 60.0, 5.0, 0.1
"""Seconds for all ranks to come, for the others to go once the job is to end, and to hear of one
that was lost before another rank has told an error and is about to end the job."""

_LATER = {"runs": ("runs", float("inf")), "ends": ("is over", _GOING)}
"""What a job goes on to when its time is up: those that have not come by then do not."""


class Watch:
    """The ranks of a job, as it runs, then "ends", and once it "is over" and nothing is news."""

    def __init__(self, server: socket.socket, count: int) -> None:
        self._coming = count
        self._said: dict[socket.socket, bytes] = {}  # process, name, and what came last
        self._shared: set[str] = set()
        self._job, self._until = "runs", time.monotonic() + _COMING
        self._selector = selectors.DefaultSelector()
        self._selector.register(server, selectors.EVENT_READ, self._accept)

    def watch(self) -> None:
        """Return when all ranks have left, or the job was to end and those left have been ended."""
        while self._said or self._coming:
            left = max(0.0, self._until - time.monotonic())
            ready = self._selector.select(None if left == float("inf") else left)
            if not ready and self._job == "is over":
                break
            if not ready:
                self._turn(*_LATER[self._job])
            news = [key.data(key.fileobj) for key, _ in ready]
            lost = [words for words in news if words is not None]
            if lost and self._job != "is over":
                self._turn("is over", _GOING)
                _tell(lost, [*self._said])
                self._shared = self._shared.union(*map(_shared_by, self._said.values()))
        if self._job != "runs":
            self._end()

    def _turn(self, job: str, seconds: float) -> None:
        """Go on to another state, which lasts so long; nobody is waited for any more."""
        self._job, self._coming, self._until = job, 0, time.monotonic() + seconds

    def _accept(self, server: socket.socket) -> None:
        connection, _ = server.accept()
        self._said[connection] = b""
        self._selector.register(connection, selectors.EVENT_READ, self._hear)
        self._coming -= 1
        if not self._coming:
            self._until = float("inf")

    def _hear(self, connection: socket.socket) -> bytes | None:
        """Take note of what a rank says; gives all that it has said where it is lost."""
        news = b""
        with suppress(OSError):
            news = connection.recv(1000)
        self._said[connection] += news
        if news.endswith(ENDING) and self._job == "runs":  # perhaps since another rank is lost
            self._turn("ends", _NEWS)
        elif news and not news.endswith((LEAVING, ENDING)):
            self._shared |= _shared_by(news)
        if news and not news.endswith(LEAVING):
            return None
        self._selector.unregister(connection)
        words = self._said.pop(connection)
        return None if words.endswith((LEAVING, ENDING)) else words

    def _end(self) -> None:
        """End the ranks that are left, and remove what the job leaves behind."""
        for words in self._said.values():
            with suppress(OSError, ValueError):
                os.kill(int(words.split()[0]), signal.SIGKILL)
        for path in self._shared:
            with suppress(OSError):
                os.unlink(path)  # who still has it in memory keeps that


def _shared_by(words: bytes) -> set[str]:
    """The files by which MPICH lets a rank share memory, which it removes at the end of a job."""
    try:
        with open(f"/proc/{int(words.split()[0])}/maps") as file:
            return {line.split()[5] for line in file if f" {_MPICH}" in line}
    except (OSError, ValueError, IndexError):  # it is gone, or this is not Linux
        return set()


def _tell(lost: list[bytes], others: list[socket.socket]) -> None:
    """Say who is lost, and ask the others to end."""
    names = " and ".join([words.decode(errors="replace").partition(" ")[2] for words in lost])
    now = time.time()
    clock = time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now % 1 * 1000):03}"
    with suppress(OSError):  # of a launcher that was killed nobody hears any more
        print(
            f"CommunicatorError: {names} ended at {clock} without a word: killed, as for want of "
            "memory, or crashed. This ends all ranks; of several that are told, the first has gone "
            "by itself.",
            file=sys.stderr,
            flush=True,
        )
    for connection in others:
        with suppress(OSError):
            connection.sendall(ENDING)


if __name__ == "__main__":
    with socket.socket(socket.AF_UNIX) as _server:
        _server.bind(sys.argv[1])
        _server.listen(1024)
        print(flush=True)  # they may come
        with suppress(KeyboardInterrupt):
            Watch(_server, int(sys.argv[2])).watch()

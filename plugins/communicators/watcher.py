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


def watch(server: socket.socket, count: int) -> None:
    """Return when all ranks have left, or the job was to end and those left have been ended."""
    selector = selectors.DefaultSelector()
    selector.register(server, selectors.EVENT_READ)
    said: dict[socket.socket, bytes] = {}  # process, name, and what came last
    until = time.monotonic() + _COMING
    job = "runs"  # then it "ends", and once it "is over" nothing is news
    shared: set[str] = set()
    while said or count:
        left = None if until == float("inf") else max(0.0, until - time.monotonic())
        ready = selector.select(left)
        if not ready and job == "is over":
            break
        if not ready and job == "ends":
            job, until = "is over", time.monotonic() + _GOING
            continue
        if not ready:  # those that have not come by now do not
            count, until = 0, float("inf")
        lost = []
        for key, _ in ready:
            if key.fileobj is server:
                connection, _ = server.accept()
                said[connection] = b""
                selector.register(connection, selectors.EVENT_READ)
                count -= 1
                until = until if count else float("inf")
                continue
            connection = next(each for each in said if each is key.fileobj)
            with suppress(OSError):
                said[connection] += (news := connection.recv(1000))
                if news.endswith(ENDING) and job == "runs":  # perhaps since another rank is lost
                    job, count, until = "ends", 0, time.monotonic() + _NEWS
                elif news and not news.endswith((LEAVING, ENDING)):
                    shared |= _shared_by(news)
                if news and not news.endswith(LEAVING):
                    continue
            selector.unregister(connection)
            words = said.pop(connection)
            if not words.endswith((LEAVING, ENDING)):
                lost.append(words)
        if lost and job != "is over":
            job, count, until = "is over", 0, time.monotonic() + _GOING
            _tell(lost, [*said])
            shared = shared.union(*map(_shared_by, said.values()))
    if job != "runs":
        for words in said.values():
            with suppress(OSError, ValueError):
                os.kill(int(words.split()[0]), signal.SIGKILL)
        for path in shared:
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
            watch(_server, int(sys.argv[2]))

"""Ranks that are killed are told, by the process that watches those of a machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import Any

from plugins.communicators import watcher
from plugins.communicators.at_end import at_end

_connection: socket.socket | None = None


def be_watched(name: str, within: Any) -> None:
    """Let this rank be watched from now on; `within` has the ranks of this machine.

    The first of them starts the watcher. Where that is not to be had, as on systems without
    sockets of files, launchers alone tell who was killed.
    """
    global _connection
    if _connection is not None or not hasattr(socket, "AF_UNIX"):
        return
    first = within.Get_rank() == 0
    path = within.bcast(_start(within.Get_size()) if first else None)
    if path is not None:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            connection.sendall(f"{os.getpid()} {name} (process {os.getpid()})".encode())
        except OSError:
            connection.close()
        else:
            _connection = connection
            os.register_at_fork(after_in_child=connection.close)
            at_end(leave)
            threading.Thread(target=_listen, args=(connection,), daemon=True).start()
    within.Barrier()
    if first and path is not None:
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)  # all have come


def _start(count: int) -> str | None:
    """Start the watcher; where it is found."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "ranks")
    command = [sys.executable, "-I", "-S", watcher.__file__, path, str(count)]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
        )
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    at_end(lambda: _forget(process))
    return path if process.stdout is not None and process.stdout.readline() else None


def _forget(process: subprocess.Popen[bytes]) -> None:
    """Take note of its end, which is that of the ranks of this machine."""
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=1)


def _listen(connection: socket.socket) -> None:
    """End the job when the watcher asks for it, having told why."""
    with suppress(OSError):
        if connection.recv(1) != watcher.ENDING:
            return
        time.sleep(0.5)  # in which launchers pass on what was told
        mpi = sys.modules["mpi4py.MPI"]
        if mpi.Query_thread() == mpi.THREAD_MULTIPLE and not mpi.Is_finalized():
            mpi.COMM_WORLD.Abort(1)
        os._exit(1)


def leave(word: bytes = watcher.LEAVING) -> None:
    """Say that this rank ends by itself, or ends the job, having told why."""
    if _connection is not None:
        with suppress(OSError):
            _connection.sendall(word)
            if word == watcher.LEAVING:
                _connection.shutdown(socket.SHUT_RDWR)

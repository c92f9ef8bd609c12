"""How a rank waits for others: never without a limit, and not where they wait for it in turn."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from core.errors import CommunicatorError, TraceError
from core.training import Communicator, Pending
from plugins.communicators.at_end import at_end, not_at_end

TAGS = 1 << 14
"""Numbers of the tags of messages; the standard has twice as many."""

WAITING = TAGS
"""The tag of the notes of those that wait."""

under_way: dict[Pending, None] = {}
"""Sums that this process has a part in. Whoever waits, for whatever, lets them go on: other ranks
may be waiting for them, and this one for these."""

_NOTE = 256  # bytes of the notes: a number, then what is called
_DIGITS = 16  # of what stands for the rest of a longer text
_MORE = " ..."  # before these
_SENDS = -1  # in the place of the messages received, where a rank waits until it is received from
_GIVES_UP = -2  # in the same place, where it takes no part in the sums that others wait for
_AWAKE = 0.001  # seconds for which waiting takes all of a core, or all that others leave of it
_PATIENCE = 1.0  # seconds for which it takes what nobody else wants


def _text(note: Any) -> str:
    """What a note says beside its numbers."""
    return str(note[16:].tobytes().rstrip(b"\0").decode(errors="replace"))


def _give_way() -> None:
    """Let another process have the core, if one wants it: without the pause of a sleep."""
    os.sched_yield() if hasattr(os, "sched_yield") else time.sleep(0)


class Waiting(Communicator):
    """The part of a communicator of MPI by which it waits, and says what all are about to do."""

    _mpi: Any
    _comm: Any
    _notes: Any
    """Where ranks tell whom they wait for: a communicator of mpi4py without other messages."""

    def __init__(self, rank: int, size: int, time_limit: float, **config: Any) -> None:
        super().__init__(rank, size, **config)
        if not time_limit > 0:
            raise CommunicatorError(
                f"create_communicator: expected a time_limit of more than 0, got {time_limit}."
            )
        self.time_limit = float(time_limit)
        self._sent, self._received = [0] * size, [0] * size  # objects, by peers
        self._waiting: dict[int, Any] = {}  # what peers have told that wait for this rank
        self._told: list[Any] = []  # what this one has told, as long as it is under way
        self._calls = 0  # of all ranks, which each has told the others of
        self._given_up: dict[int, Any] = {}  # what ranks have told that take no part in sums
        self._crowded = False  # whether ranks share cores
        self._on_their_way: list[Any] = []  # requests of what was sent, with what they read

    def _end(self) -> None:
        """At the end of the program: where others still wait, the job ends with an error."""

    def _abort(self) -> None:
        """End all ranks at once, having told why."""

    def _wait(
        self,
        what: str,
        *requests: Any,
        on: Sequence[int] | None = None,
        asked: str = "Did all call it",
    ) -> None:
        """Wait until all requests are met; raise after the time limit.

        `on` are the ranks that have to do something for that: by default all, which call the same.
        """
        everybody = range(self.size) if on is None else on
        self._until(what, lambda: bool(self._mpi.Request.Testall(list(requests))), everybody, asked)

    def _until(
        self,
        what: str,
        met: Callable[[], bool],
        on: Sequence[int] = (),
        asked: str = "Did all call it",
        sends: bool = False,
    ) -> None:
        began, is_told = time.monotonic(), False
        while not met():
            for each in [*under_way]:
                each.test()
            waited = time.monotonic() - began
            if waited > _PATIENCE and on:
                if len(on) == 1 < self.size and not is_told:
                    is_told = True
                    self._tell_waiting(on[0], sends)
                self._refuse_standstill(what, on)
            elif waited > _PATIENCE:
                self._refuse_given_up(what)
            if waited > self.time_limit:
                not_at_end(self._end)
                at_end(self._abort)  # which would wait for ever
                raise CommunicatorError(
                    f"{what}: {self.where} has waited {waited:.0f} seconds for another rank, "
                    f"which is the time limit. {asked}? A longer limit is set by "
                    "create_communicator(..., time_limit=seconds)."
                )
            if waited > _AWAKE:
                time.sleep(1e-6 if waited < _PATIENCE else 0.0005)
            elif self._crowded:
                _give_way()

    @staticmethod
    def _refuse_recording(what: str) -> None:
        """Refuse to exchange what replays would not; before another rank waits for it."""
        tape = sys.modules.get("core.tracing.tape")  # there where anything is recorded
        if tape is not None and tape.under_way():
            raise TraceError(
                f"{what}: what ranks exchange cannot be recorded. Leave it out of captured steps "
                "and traces; optimizers of several ranks exchange gradients when steps are "
                "replayed."
            )

    def _tell_waiting(self, rank: int, sends: bool) -> None:
        """Let a rank know that this one waits for its next message, and after how many.

        Or, if this one `sends`, that it waits until that rank receives.
        """
        received = _SENDS if sends else self._received[rank]
        self._send_note(rank, received, self._sent[rank], self.doing)

    def _send_note(self, rank: int, one: int, other: int, text: str) -> None:
        note = np.zeros(_NOTE, np.uint8)
        note[:16] = np.array([one, other]).view(np.uint8)
        told = text.encode()[: _NOTE - 16]
        note[16 : 16 + len(told)] = np.frombuffer(told, np.uint8)
        self._told = [each for each in self._told if not each[0].Test()]
        self._told.append((self._notes.Isend(note, rank, WAITING), note))

    def give_up(self, why: str) -> None:
        """Tell the other ranks that this one takes no part in sums they may be waiting for."""
        for rank in set(range(self.size)) - {self.rank}:
            self._send_note(rank, _GIVES_UP, self._calls, why)

    def _hear_waiting(self) -> None:
        status, comm = self._mpi.Status(), self._notes
        while comm.Iprobe(self._mpi.ANY_SOURCE, WAITING, status):
            note, rank = np.empty(_NOTE, np.uint8), status.Get_source()
            comm.Recv(note, rank, WAITING)
            gives_up = note[:8].view(np.int64)[0] == _GIVES_UP
            (self._given_up if gives_up else self._waiting)[rank] = note

    def _refuse_given_up(self, what: str) -> None:
        """Raise where a rank has given up what this one waits for: since the last call of all."""
        self._hear_waiting()
        for rank, note in self._given_up.items():
            if note[8:16].view(np.int64)[0] == self._calls:
                raise CommunicatorError(
                    f"{what}: {self.where} waits for rank {rank}, which takes no part: "
                    f"{_text(note)}"
                )

    def _refuse_standstill(self, what: str, on: Sequence[int]) -> None:
        """Raise where this rank waits for one that waits for a message which it has not sent.

        Both have received all that was sent, so neither will ever go on. Or it waits until this
        one receives what it has sent, which this one does not, for it waits for something else.
        """
        self._hear_waiting()
        for rank, note in self._waiting.items():
            received, sent = note[:16].view(np.int64).tolist()
            is_all = len(on) > 1 or sent == self._received[rank]
            if received == _SENDS:
                is_standstill = sent > self._received[rank]
                told = "until this one receives what it has sent"
            else:
                is_standstill = received == self._sent[rank] and is_all
                told = "for a message that this one has not sent"
            if rank in on and is_standstill:
                doing = _text(note)
                raise CommunicatorError(
                    f"{what}: {self.where} waits for rank {rank}, which waits {told}"
                    f"{doing and ', '}{doing}."
                )

    def tell(self, what: str, number: int = 0) -> list[int]:
        """Tell all ranks what this one is about to do, with a number; the numbers of all.

        Raises CommunicatorError on every rank where one is about to do something else.
        """
        self._refuse_recording(what)
        mine = np.zeros(_NOTE, np.uint8)
        mine[:8] = np.frombuffer(np.int64(number).tobytes(), np.uint8)
        text = _noted(what.encode(), _NOTE - 8)
        mine[8 : 8 + len(text)] = np.frombuffer(text, np.uint8)
        notes = np.empty((self.size, _NOTE), np.uint8)
        self._wait(what, self._comm.Iallgather(mine, notes))
        self._calls += 1
        calls = [note[8:].tobytes().rstrip(b"\0").decode(errors="replace") for note in notes]
        for rank, call in enumerate(calls):
            if call != calls[0]:
                heads = {each[:-_DIGITS] for each in calls}
                if len(heads) == 1 and heads.pop().endswith(_MORE):
                    super().tell(what)  # whose messages have room for all
                raise CommunicatorError(
                    f"{self.where}: expected the same on all ranks, but rank 0 is at {calls[0]!r} "
                    f"and rank {rank} at {call!r}. All ranks call the same, in the same order and "
                    "as often."
                )
        return [int(note[:8].view(np.int64)[0]) for note in notes]

    def compare(self, what: str, mine: Any) -> None:
        """Raise CommunicatorError on every rank where the ranks give different values."""
        digest = blake2b(repr(mine).encode(), digest_size=8).digest()
        found = self.tell(what, int.from_bytes(digest, "little", signed=True))
        if len({*found}) > 1:
            super().compare(what, mine)


def _noted(text: bytes, room: int) -> bytes:
    """A text of at most so many bytes; in the place of what is beyond stands a digest of all."""
    if len(text) <= room:
        return text
    digest = blake2b(text, digest_size=_DIGITS // 2).hexdigest()
    return text[: room - _DIGITS - len(_MORE)] + f"{_MORE}{digest}".encode()

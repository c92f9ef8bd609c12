"""A communicator whose messages are files in a folder that all processes see."""

import os
import pickle
import time
from itertools import count
from pathlib import Path
from typing import Any, Self

from core.errors import CommunicatorError
from core.training import Communicator


class ThingCommunicator(Communicator):
    """Rank `rank` of `size` processes that share an empty `folder`."""

    def __init__(
        self,
        mpi_comm: Any = None,
        *,
        folder: str,
        rank: int,
        size: int,
        time_limit: float = 60,
        **config: Any,
    ) -> None:
        super().__init__(rank, size, **config)
        self.intra_rank, self.intra_size = rank, size  # one machine, unless you know better
        self.folder, self.time_limit, self.given = Path(folder), time_limit, config
        self._parts = count()
        self._numbers: dict[Any, count[int]] = {}  # of messages of one way

    def _next(self, source: int, dest: int, tag: int) -> Path:
        number = next(self._numbers.setdefault((source, dest, tag), count()))
        return self.folder / f"{source}-{dest}-{tag}-{number}"

    def send_obj(self, obj: Any, dest: int, tag: int = 0) -> None:
        """Leave a file, which appears complete."""
        path = self._next(self.rank, self._peer("send", dest), tag)
        path.with_suffix(".new").write_bytes(pickle.dumps(obj, protocol=5))
        os.replace(path.with_suffix(".new"), path)

    def recv_obj(self, source: int, tag: int = 0) -> Any:
        """Wait for the file, and take it away."""
        path = self._next(self._peer("recv", source), self.rank, tag)
        until = time.monotonic() + self.time_limit
        while not path.exists():
            if time.monotonic() > until:
                raise CommunicatorError(f"recv: rank {source} has sent nothing; is it there?")
            time.sleep(0.001)
        obj = pickle.loads(path.read_bytes())
        path.unlink()
        return obj

    def split(self, color: int | None, key: int) -> Self | None:
        """A folder below this one for the ranks of each color."""
        everywhere = self.allgather_obj((color, key, self.rank))
        folder = self.folder / f"part{next(self._parts)}-{color}"
        if color is None:
            return None
        members = [rank for c, _, rank in sorted(e for e in everywhere if e[0] == color)]
        folder.mkdir(exist_ok=True)
        rank, size = members.index(self.rank), len(members)
        return type(self)(folder=str(folder), rank=rank, size=size, **self.given)

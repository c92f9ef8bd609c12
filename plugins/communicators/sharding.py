"""The state of an optimizer, divided among the ranks: each keeps that of some of the parameters.

Parameters are given to ranks whole, so that rules and hooks which look at a parameter as a whole
(its norm, say) compute what they do on one rank, to the bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.arrays import backend
from core.link import Parameter
from core.optimizer import UpdateRule
from core.training import UNDER_WAY, Communicator, Pending


class Shards:
    """Who owns which parameters of an optimizer: the owner alone has state and masters of it."""

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm
        self.owners: dict[str, int] = {}  # by the paths of parameters
        self.are_whole = True  # what has been loaded, or not been made yet, is everybody's
        self._loads = [0] * comm.size
        self._parameters: dict[str, Parameter] = {}

    def assign(self, parameters: Mapping[str, Parameter]) -> None:
        """Give those that are new to the ranks that have least, the largest first."""
        self._parameters = {path: parameters[path] for path in sorted(parameters)}
        new = [path for path in self._parameters if path not in self.owners]
        for path in sorted(new, key=lambda path: -parameters[path].size):
            self.owners[path] = self._loads.index(min(self._loads))
            self._loads[self.owners[path]] += parameters[path].size

    def by_id(self) -> dict[int, int]:
        """The owners by the `id` of the parameters."""
        return {id(p): self.owners[path] for path, p in self._parameters.items()}

    def keep_own(self) -> None:
        """Let go of the state of what others own."""
        for path, parameter in self._parameters.items():
            if self.owners[path] != self.comm.rank:
                parameter.update_rule.hold(None)
        self.are_whole = False

    def spread(self) -> None:
        """Give all ranks the parameters as their owners have them, some buffers at a time."""
        under_way: deque[tuple[Pending, Any, list[tuple[Parameter, int, int]]]] = deque()
        for kind, members in self._groups():
            if len(under_way) == UNDER_WAY:
                self._take(*under_way.popleft())
            under_way.append(self._begin(kind, members))
        while under_way:
            self._take(*under_way.popleft())

    def _groups(self) -> Iterator[tuple[Any, list[tuple[int, Parameter]]]]:
        """Owners and parameters of one dtype and place, which fit into a buffer."""
        most = self.comm.get_config("bucket_bytes")
        filling: dict[Any, list[tuple[int, Parameter]]] = {}
        for path, parameter in self._parameters.items():
            name = parameter.backend.dtype_name(parameter.array.dtype)
            kind = name, self.comm.place_of_buffers(parameter.device)
            members = filling.setdefault(kind, [])
            size = parameter.size + sum([p.size for _, p in members])
            if members and size * backend.host().dtype(name).itemsize > most:
                yield kind, members
                members = filling[kind] = []
            members.append((self.owners[path], parameter))
        yield from filling.items()

    def _begin(self, kind: Any, members: list[tuple[int, Parameter]]) -> Any:
        name, place = kind
        places, bounds, end = [], [0], 0
        for rank in range(self.comm.size):
            for owner, parameter in members:
                if owner == rank:
                    places.append((parameter, owner, end))
                    end += parameter.size
            bounds.append(end)
        buffer = place.xp.empty(end, dtype=place.backend.dtype(name))
        for parameter, owner, start in places:
            if owner == self.comm.rank:
                part = buffer[start : start + parameter.size].reshape(parameter.shape)
                part[...] = place.send(parameter.array)
        return self.comm.iallgather(buffer, bounds), buffer, places

    def _take(
        self, pending: Pending, buffer: Any, places: Iterable[tuple[Parameter, int, int]]
    ) -> None:
        pending.wait()
        for parameter, owner, start in places:
            if owner != self.comm.rank:
                part = buffer[start : start + parameter.size].reshape(parameter.shape)
                backend.copyto(parameter, part)
                parameter.version += 1

    def save(self, path: str, rule: UpdateRule, serializer: Any) -> None:
        """Save the state of one rule, which its owner sends to all."""
        owner = self.owners.get(path)
        if owner is None or self.are_whole:
            rule.serialize(serializer)
            return
        mine = self.comm.rank == owner
        held = self.comm.bcast_obj(rule.held() if mine else None, owner)
        if not mine:
            rule.hold(held)
        try:
            rule.serialize(serializer)
        finally:
            if not mine:
                rule.hold(None)

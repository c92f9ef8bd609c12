"""A copy of a model in a worker process: what it is given, does, and remembers."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import core
from core import Link
from core.arrays import backend
from core.arrays.random_streams import stream
from core.errors import UpdateError
from core.link.recurrent_state import serialize_carried
from core.link.serializer import AbstractSerializer
from core.registry.threads import num_threads, set_threads
from plugins.processes.generators import seed_shared
from plugins.processes.settings import settings, take
from plugins.processes.worker import WorkerError
from plugins.serializers.dictionary import values_of
from plugins.serializers.npz import NpzDeserializer, load_npz, save_npz
from plugins.training.calling import loss_of
from plugins.training.updaters.meanwhile import Changes

_ALIGNED = 64  # arrays begin at multiples of it, as allocators have it


class Board:
    """Shared memory: a row of parameters, and a row of gradients for every worker.

    It has a place for each parameter of `model` that is initialized. `allocate(bytes)` gives the
    memory, which goes to the workers with the board.
    """

    def __init__(self, model: Link, n_workers: int, allocate: Callable[[int], Any]) -> None:
        self._places: dict[str, tuple[int, tuple[int, ...], Any]] = {}
        self._row = 0
        for path, parameter in model.namedparams(include_uninit=False):
            array = backend.to_host(parameter.array)
            self._places[path] = (self._row, array.shape, array.dtype)
            self._row += array.nbytes + -array.nbytes % _ALIGNED
        self._memory = allocate(max(self._row * (1 + n_workers), 1))

    def row(self, number: int) -> Iterator[tuple[str, Any]]:
        """Path and array of everything in a row: 0 has the parameters, i what worker i computed."""
        xp = backend.get("numpy").xp
        memory = xp.frombuffer(self._memory, dtype="uint8")
        for path, (start, shape, dtype) in self._places.items():
            start += number * self._row
            size = dtype.itemsize
            for length in shape:
                size *= length
            yield path, memory[start : start + size].view(dtype).reshape(shape)

    def put_parameters(self, model: Link) -> None:
        """Show the workers what the parameters are. Raises UpdateError where they do not fit in."""
        parameters = dict(model.namedparams())
        for path, place in self.row(0):
            shape = parameters[path].shape if path in parameters else None
            if shape != place.shape:
                raise UpdateError(
                    f"MultiprocessParallelUpdater: expected the parameter {path} of shape "
                    f"{place.shape}, with which its processes have started, got "
                    f"{'none' if shape is None else shape}. Call finalize(), after which the next "
                    "update starts others."
                )
            place[...] = backend.to_host(parameters[path].array)

    def take_parameters(self, model: Link) -> None:
        """Give a model the parameters that are shown."""
        parameters = dict(model.namedparams())
        for path, shown in self.row(0):
            parameter = parameters[path]
            parameter.initialize(shown.shape)
            array = backend.to_backend(shown, parameter.device)
            parameter.array = parameter.backend.copyto(parameter.array, array)
            parameter.version += 1

    def put_gradients(self, model: Link, number: int) -> list[str]:
        """Show the gradients of a model; gives the paths of those that there are."""
        found = {p: v.grad for p, v in model.namedparams() if v.grad is not None}
        for path, place in self.row(number):
            if path in found:
                place[...] = backend.to_host(found[path])
        self.check(model)
        return list(found)

    def check(self, model: Link) -> None:
        """Refuse gradients of parameters that have no place; raises WorkerError."""
        for path, parameter in model.namedparams(include_uninit=False):
            if path not in self._places and parameter.grad is not None:
                raise WorkerError(
                    f"MultiprocessParallelUpdater: the parameter {path} was initialized after the "
                    "first update, in each process by itself. Give the link its input size."
                )


class Replica:
    """What a worker process has: a copy of the model, an iterator of its own, and the board."""

    unsendable = "MultiprocessParallelUpdater: what the process answers cannot be pickled."

    def __init__(
        self,
        number: int,
        model: Link,
        iterator: Any,
        converter: Callable[..., Any],
        device: Any,
        board: Board,
        n_processes: int,
    ) -> None:
        self.number = number
        self._model = model
        self._iterator = iterator
        self._converter = converter
        self._device = device
        self._board = board
        self._threads = max(1, num_threads() // n_processes)
        self._settings = settings()
        self._place = str(backend.current_device())
        self._seed = _seed_of(number)

    def prepare(self) -> None:
        """Make the settings of the main process those of this one."""
        set_threads(self._threads)
        take(self._settings)
        core.use(self._place)
        if self._seed is not None:
            seed_shared([self._seed])  # also those that datasets draw from
            core.seed(self._seed)
        if self._device is not None:
            self._model.to_device(self._device)

    def step(self, loss_scale: float | None, changes: Changes, given: dict[str, Any]) -> list[str]:
        """Compute the gradients of one batch with the parameters on the board, and settings."""
        take(given)
        changes.make(self._model)
        self._board.take_parameters(self._model)
        differentiate(self._model, self._converter(self._iterator.next(), self._device), loss_scale)
        return self._board.put_gradients(self._model, self.number)

    def state(self) -> bytes:
        """What the coming steps depend on, except for the parameters."""
        file = io.BytesIO()
        save_npz(file, self)
        return file.getvalue()

    def load(self, state: bytes) -> None:
        """Go back to where `state` was taken."""
        load_npz(io.BytesIO(state), self)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the iterator, what the model keeps, and the random numbers."""
        self._iterator.serialize(serializer["iterator"])
        self._serialize_rest_of_model(serializer["model"])
        serialize_carried(self._model, serializer.optional("carried"))
        state = json.loads(serializer("random_state", json.dumps(backend.random_state())))
        if isinstance(serializer, NpzDeserializer):
            backend.set_random_state(state)

    def _serialize_rest_of_model(self, serializer: AbstractSerializer) -> None:
        whole, parameters = values_of("state", self._model), dict(self._model.namedparams())
        rest = {k: v for k, v in whole.items() if f"/{k}" not in parameters}
        loaded = {key: serializer(key, value) for key, value in rest.items()}
        if isinstance(serializer, NpzDeserializer):
            NpzDeserializer(loaded, strict=False).load(self._model)

    def leave(self) -> bytes:
        """The state with which the process ends, after the iterator has released what it holds."""
        state = self.state()
        self._iterator.finalize()
        return state


def differentiate(model: Link, arrays: Any, loss_scale: float | None) -> None:
    """Give the parameters of a model the gradients of its loss on a batch."""
    model.cleargrads()
    loss = loss_of("MultiprocessParallelUpdater", model, arrays)
    for link in model.links():
        link.release_graph()
    loss.backward(loss_scale=loss_scale, free_graph=not core.config.keep_graph_on_report)


def _seed_of(number: int) -> int | None:
    """A seed for the process of that number, which follows from where the main process stands."""
    installed = stream()
    if installed is None:
        return None
    text = f"{installed.seed} {installed.draws} {number}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")

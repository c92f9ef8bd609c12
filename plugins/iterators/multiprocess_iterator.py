"""Batches loaded ahead by worker processes."""

from __future__ import annotations

from concurrent import futures
from typing import Any

from core.arrays.random_streams import stream
from core.errors import place
from core.errors.kinds import checked
from core.link.serializer import AbstractSerializer, Deserializer
from core.registry.threads import num_threads
from plugins.iterators.loader import Loader
from plugins.iterators.position import Position, Sampler
from plugins.iterators.prefetch_iterator import PrefetchIterator
from plugins.processes import mapped_files, workers
from plugins.processes.ipc import encode, write
from plugins.processes.settings import settings
from plugins.processes.workers import Answer, Words, Workers

_Piece = tuple[Workers, Answer]
_WORD = (1 << 64) - 1
_WORDS = Words(
    "MultiprocessIterator",
    held="a dataset",
    instead="MultithreadIterator",
    during="before its examples were loaded",
    memory="give fewer n_processes, a smaller n_prefetch, or a dataset that holds less",
    after="The batch has not been handed out; the next call starts new workers.",
)


class TimeoutWarning(RuntimeWarning):
    """Examples have not arrived for as long as `dataset_timeout` says."""


class MultiprocessIterator(PrefetchIterator):
    """Hands out what SerialIterator would; worker processes load `n_prefetch` batches meanwhile.

    It pays where a dataset computes in Python. Each of the `n_processes` workers (if None, as many
    as `config.num_threads` says, else one for each processor) computes in one thread, and has a
    copy of the dataset, made when the first batch is asked for, and anew where its length changes.
    Arrays in it share memory until a worker writes to them, and those of
    `numpy.load(path, mmap_mode="r")` stay in their file. The dataset and its examples must be
    picklable.
    Workers are started afresh (forkserver, or spawn): a script needs
    `if __name__ == "__main__":` around what it does.

    `shared_mem` limits the shared memory that an example may take on its way back, in bytes; larger
    ones go through files. After `dataset_timeout` seconds without examples (None: never) there is a
    `MultiprocessIterator.TimeoutWarning`. Workers are replaced when each has had `maxtasksperchild`
    tasks, on average. After `core.seed`, random numbers that a dataset draws depend on the seed,
    the example, its place in the passes and the number of resets alone: as to them, too, a resumed
    run is the same. Generators that it keeps are seeded anew in the workers, each by itself.

    Errors of the dataset are raised when its batch is asked for, with a note that names the index.
    A worker that dies is a `MultiprocessIterator.WorkerDied`, which says what to do. `finalize`,
    leaving a `with` block, or losing the iterator ends the workers.
    Raises ValueError as SerialIterator does, and for numbers below 1 (`n_prefetch`: 0), TypeError
    for a dataset that cannot be pickled.

    >>> with MultiprocessIterator(range(6), 4, shuffle=False, n_processes=1) as iterator:
    ...     iterator.next(), iterator.next(), iterator.epoch
    ([0, 1, 2, 3], [4, 5, 0, 1], 1)
    """

    TimeoutWarning = TimeoutWarning
    WorkerDied = workers.WorkerDied

    @checked
    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_processes: int | None = None,
        n_prefetch: int = 1,
        shared_mem: int | None = None,
        order_sampler: Sampler | None = None,
        dataset_timeout: float | None = 30.0,
        maxtasksperchild: int | None = None,
    ) -> None:
        self.n_processes = num_threads() if n_processes is None else n_processes
        self.shared_mem = shared_mem
        self.dataset_timeout = dataset_timeout
        self.maxtasksperchild = maxtasksperchild
        _check("n_processes", self.n_processes, 1)
        _check("n_prefetch", n_prefetch, 0)
        _check("shared_mem", shared_mem, 0)
        _check("maxtasksperchild", maxtasksperchild, 1)
        if dataset_timeout is not None and not dataset_timeout > 0:
            raise ValueError(
                "MultiprocessIterator: expected dataset_timeout to be more than 0 seconds, or None "
                f"to wait without a warning, got {dataset_timeout}."
            )
        self._workers: Workers | None = None
        self._loads: Any = None  # the dataset that they have copies of, and its length then
        self._tasks = 0
        self.resets = -1  # the first order is not one
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler, n_prefetch)

    def reset(self) -> None:
        """Start again at the beginning, with a new order where there is a sampler.

        `resets` counts it: passes that begin anew have other random numbers.
        """
        super().reset()
        self.resets += 1

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the position, the order of the running pass, and the number of resets."""
        super().serialize(serializer)
        if isinstance(serializer, Deserializer):
            before, self.resets = self.resets, int(serializer.optional_value("resets", 0))
            if self.resets != before:
                self._forget()
        elif self.resets:
            serializer.optional_value("resets", self.resets)

    def _load(self, after: Position, indices: list[int]) -> list[Any]:
        """As without processes; other ones load the batch where these were asked to end."""
        try:
            return super()._load(after, indices)
        except workers.WorkersTerminated:
            self._forget()
            return super()._load(after, indices)

    def _submit(self, indices: list[int], start: Position, offset: int) -> list[_Piece]:
        share = -(-len(indices) // self.n_processes)
        pieces: list[_Piece] = []
        for first in range(0, len(indices), share):
            asked = self._ready_workers()
            part, key = indices[first : first + share], self._key(start, offset + first)
            shared = None if self.shared_mem is None else self.shared_mem * len(part)
            pieces.append((asked, asked.ask(0, "load", part, key, settings(), shared=shared)))
            self._tasks += 1
        return pieces

    def _key(self, start: Position, offset: int) -> tuple[int, ...] | None:
        """What seeds an example, beside its index: the seed, the batch, and the place in it; None
        without a seed.
        """
        installed = stream()
        if installed is None:
            return None
        return installed.seed & _WORD, self.resets, start.epoch, start.used, offset

    def _ready_workers(self) -> Workers:
        """The running workers, or new ones where there are none, or tired ones."""
        running = self._workers
        if running is not None and (self._loads[0] is not self.dataset or self._grown()):
            running.close()
        most = self.maxtasksperchild
        if running is not None and most is not None and self._tasks >= most * self.n_processes:
            running.retire()
            running = None
        if running is None or not running.close.alive:
            running, self._tasks = _workers(self.dataset, self.n_processes), 0
            self._loads = self.dataset, len(self.dataset)
        self._workers = running
        return running

    def _grown(self) -> bool:
        return bool(self._loads[1] != len(self.dataset))

    def _collect(self, pieces: list[_Piece]) -> list[Any]:
        batch: list[Any] = []
        for asked, answer in pieces:
            self._wait(answer)
            batch += asked.hear(answer)
        return batch

    def _wait(self, answer: Answer) -> None:
        """Wait for examples; warn whenever `dataset_timeout` seconds have passed."""
        while not futures.wait([answer], self.dataset_timeout).done:
            place.warn(
                f"MultiprocessIterator: no examples for {self.dataset_timeout} seconds. The "
                "dataset is slow or waits for something: look at it with SerialIterator, or give "
                "dataset_timeout.",
                TimeoutWarning,
            )

    def _cancel(self, pieces: list[_Piece]) -> None:
        for asked, answer in pieces:
            asked.discard(answer)

    def finalize(self) -> None:
        """End the workers, and remove what they share."""
        super().finalize()
        if self._workers is not None:
            self._workers.close()
            self._workers = self._loads = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy has the position, and workers of its own."""
        return {**super().__getstate__(), "_workers": None, "_loads": None}


def _workers(dataset: Any, n_processes: int) -> Workers:
    """New processes, each with its own copy of the dataset as it is now."""
    try:
        content = encode(dataset, mapped_files.dumps)
    except Exception as error:
        raise _WORDS.unpicklable(error) from error
    loader = Loader()
    made = Workers(_WORDS, [(n_processes, loader)])
    try:
        loader.path = made.folders[-1] / "dataset"
        write(loader.path, content)
    except BaseException as error:
        if isinstance(error, OSError):
            error.add_note(
                f"MultiprocessIterator: no room for the dataset in {made.folders[-1].parent}, from "
                "where workers load it. Name another folder by the variable TMPDIR."
            )
        made.close()
        raise
    return made


def _check(name: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise ValueError(f"MultiprocessIterator: expected {name} of {least} or more, got {value}.")

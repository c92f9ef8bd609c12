"""Batches loaded ahead by threads."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from core.errors.kinds import checked
from core.registry.configuration import current_state, take_over
from plugins.iterators.position import Position, Sampler
from plugins.iterators.positioned import located
from plugins.iterators.prefetch_iterator import PrefetchIterator


class MultithreadIterator(PrefetchIterator):
    """Hands out what SerialIterator would; `n_threads` threads load the next batch meanwhile.

    It pays where a dataset waits for files or a network, or lets other threads run while it
    decodes, as NumPy, image libraries and zlib do. The dataset must bear several threads; one that
    draws random numbers draws them in an order that differs from run to run.
    An error of the dataset is raised when its batch is asked for, with a note that names the index.
    `finalize`, leaving a `with` block, or the end of the program ends the threads, after the
    examples they are at.
    Raises ValueError as SerialIterator does, and for `n_threads` below 1.

    >>> with MultithreadIterator("abc", 2, shuffle=False, n_threads=2) as iterator:
    ...     iterator.next(), iterator.next(), iterator.epoch
    (['a', 'b'], ['c', 'a'], 1)
    """

    @checked
    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_threads: int = 1,
        order_sampler: Sampler | None = None,
    ) -> None:
        if n_threads < 1:
            raise ValueError(f"MultithreadIterator: expected n_threads of 1 or more: {n_threads}.")
        self.n_threads = n_threads
        self._pool: ThreadPoolExecutor | None = None
        super().__init__(dataset, batch_size, repeat, shuffle, order_sampler, n_prefetch=1)

    def _submit(
        self, indices: list[int], start: Position, offset: int
    ) -> list[tuple[int, Future[Any]]]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_threads, "MultithreadIterator")
            _open.add(self._pool)
            self._end = weakref.finalize(self, self._pool.shutdown, wait=False, cancel_futures=True)
        pool, dataset, own = self._pool, self.dataset, current_state().own
        return [(index, pool.submit(_load, own, dataset, index)) for index in indices]

    def _collect(self, pieces: list[tuple[int, Future[Any]]]) -> list[Any]:
        return [_example(index, future) for index, future in pieces]

    def _cancel(self, pieces: list[tuple[int, Future[Any]]]) -> None:
        for _, future in pieces:
            future.cancel()

    def finalize(self) -> None:
        """End the threads: nothing touches the dataset afterwards."""
        super().finalize()
        if self._pool is not None:
            self._end.detach()
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy has the position, and threads of its own."""
        state = {**super().__getstate__(), "_pool": None}
        state.pop("_end", None)
        return state


_open: weakref.WeakSet[ThreadPoolExecutor] = weakref.WeakSet()


def _cancel_all() -> None:
    for pool in list(_open):
        pool.shutdown(wait=False, cancel_futures=True)


# When a program ends, executors finish all they were asked for, and only then `atexit` has its
# turn. What runs before them has come after them.
getattr(threading, "_register_atexit", atexit.register)(_cancel_all)


def _load(own: Mapping[str, Any], dataset: Any, index: int) -> Any:
    take_over(own)
    return dataset[index]


def _example(index: int, future: Future[Any]) -> Any:
    try:
        return future.result()
    except Exception as error:
        where = f"MultithreadIterator: raised by dataset[{index}]."
        raise located(error, where)  # noqa: B904 - it is the error itself, or has it as cause

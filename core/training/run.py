"""The extensions of a trainer around your own loop."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self

from core.errors import place
from core.training.loop import Loop
from core.training.trigger import TriggerSpec


class Run(Loop):
    """The features of a trainer (extensions, logs, snapshots, exact resume), in your own loop.

        run = training.Run(iterator, optimizer, (20, "epoch"), out="result")
        run.extend(extensions.LogReport())
        run.extend(extensions.snapshot(autoload=True))
        with run:
            for batch in run:
                loss = model(*concat_examples(batch))
                model.cleargrads()
                loss.backward()
                optimizer.update()

    `iterator` gives the batches and counts the epochs; `optimizer` is one that is set up, or a dict
    of several, whose targets report under their names. Without data, `iterator` is None, the loop
    goes over None, and triggers count iterations. `stop_trigger`, `out`, `extend` and the
    extensions are those of `Trainer`; for them the run is the trainer.

    Entering the block initializes the extensions (and loads the snapshot, if any); whenever the
    loop asks for the next batch, those are called whose triggers fire. Leaving the block, also by
    `break` or an exception, finalizes them: as in `Trainer.run`, which says what signals do.
    A snapshot of a run can be loaded into a trainer with the same iterator, optimizer and
    extensions, and the other way round.

    >>> import core.links as L, numpy as np, tempfile
    >>> from core import iterators, optimizers, training
    >>> model = L.Linear(1, 1, initialW=0.0)
    >>> data = iterators.SerialIterator(np.ones((4, 1), "f"), batch_size=2)
    >>> optimizer = optimizers.SGD(0.5).setup(model)
    >>> run = training.Run(data, optimizer, (1, "epoch"), out=tempfile.mkdtemp())
    >>> with run:
    ...     for batch in run:
    ...         optimizer.update(lambda x: ((model(x) - x) ** 2)[0, 0], np.stack(batch))
    >>> run.updater.iteration, run.updater.epoch
    (2, 1)
    """

    def __init__(
        self,
        iterator: Any,
        optimizer: Any,
        stop_trigger: TriggerSpec = None,
        out: str | os.PathLike[str] = "result",
        extensions: Iterable[Any] | None = None,
    ) -> None:
        from core.training import updaters

        self._steps = updaters.StandardUpdater({} if iterator is None else iterator, optimizer)
        super().__init__(self._steps, stop_trigger, out, extensions)
        self._block: AbstractContextManager[None] | None = None
        self._loop: Generator[Any, None, None] | None = None
        self._begun_at: tuple[int, list[Any]] = 0, []

    def __enter__(self) -> Self:
        block = self._session(show_loop_exception_msg=False)
        block.__enter__()
        self._block = block
        self._begun_at = self._steps.iteration, self._updates()
        return self

    def __iter__(self) -> Generator[Any, None, None]:
        """Iterate over the batches; asking for the next one ends the iteration."""
        if self._block is None:
            raise RuntimeError(
                "Run: expected the loop inside of a block `with run:`, which begins and ends the "
                "training."
            )
        self._stop()
        self._loop = self._batches()
        return self._loop

    def _batches(self) -> Generator[Any, None, None]:
        iterator = self._steps.get_all_iterators().get("main")
        for _ in self._turns():
            try:
                batch = None if iterator is None else iterator.next()
            except StopIteration:
                return
            yield batch
            self._steps.count()

    def _stop(self) -> None:
        """End the iteration under way, so that nothing is observed any longer."""
        if self._loop is not None:
            self._loop.close()

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> bool | None:
        block, self._block = self._block, None
        self._stop()
        if block is not None and kind is None:
            self._tell_of_no_update()
        return None if block is None else block.__exit__(kind, exc, tb)

    def _updates(self) -> list[Any]:
        """How many updates each optimizer has made."""
        return [getattr(each, "t", None) for each in self._steps.get_all_optimizers().values()]

    def _tell_of_no_update(self) -> None:
        """Warn of a loop that computes gradients, of which no optimizer makes a step."""
        iteration, updates = self._begun_at
        steps = self._steps.iteration - iteration
        optimizers = self._steps.get_all_optimizers().values()
        if steps > 1 and updates == self._updates() and any(map(_has_gradients, optimizers)):
            place.warn(
                f"Run: gradients were computed, but no optimizer has made an update in {steps} "
                "iterations: nothing was trained. After loss.backward(), call optimizer.update()."
            )


def _has_gradients(optimizer: Any) -> bool:
    params = getattr(optimizer.target, "params", list)
    return any(getattr(param, "grad", None) is not None for param in params())

"""Batches made one after the other, in the thread that asks for them."""

from __future__ import annotations

from typing import Any

from plugins.iterators.positioned import PositionedIterator, located


class SerialIterator(PositionedIterator):
    """Hands out a dataset in batches of `batch_size` examples, for ever or, without `repeat`, once.

    With `shuffle` (the default where no `order_sampler` is given) each pass has an order of its
    own. `order_sampler(current_order, position)` gives the order of the next pass instead.
    A batch at the end of a pass is filled up from the next one, or is shorter without `repeat`.
    Serialization is exact: a resumed iterator hands out what the saved one would have.
    An error of the dataset gets a note that names the index; the batch is not lost.
    Raises ValueError for an empty dataset, a batch size below 1, `shuffle` with an `order_sampler`.

    >>> iterator = SerialIterator([1, 2, 3], 2, shuffle=False)
    >>> iterator.next(), iterator.next(), iterator.epoch, iterator.is_new_epoch
    ([1, 2], [3, 1], 1, True)
    """

    def __next__(self) -> list[Any]:
        """The next batch: a list of examples."""
        position, indices = self._step()
        batch = self._examples(indices)
        self._position = position  # after the dataset, which may raise: a batch is never skipped
        return batch

    def _examples(self, indices: list[int]) -> list[Any]:
        batch: list[Any] = []
        try:
            for index in indices:
                batch.append(self.dataset[index])
        except Exception as error:
            where = f"{type(self).__name__}: raised by dataset[{indices[len(batch)]}]."
            raise located(error, where)  # noqa: B904 - it is the error itself, or has it as cause
        return batch

"""The iterator `Thing`."""

from typing import Any

from core.dataset import Iterator


class Thing(Iterator):
    """Batches in the order of the dataset, over and over.

    Args:
        dataset: Anything with a length and an index.
        batch_size: Examples in a batch; the last one of a pass may have fewer.
    """

    def __init__(self, dataset: Any, batch_size: int) -> None:
        self.dataset = dataset
        self.batch_size = batch_size
        self.epoch = 0
        self.is_new_epoch = False
        self._position = 0
        self._previous = -1.0

    def __next__(self) -> list[Any]:
        """The next batch."""
        self._previous = self.epoch_detail
        end = min(self._position + self.batch_size, len(self.dataset))
        batch = [self.dataset[i] for i in range(self._position, end)]
        self.is_new_epoch = end == len(self.dataset)
        self.epoch += self.is_new_epoch
        self._position = 0 if self.is_new_epoch else end
        return batch

    @property
    def epoch_detail(self) -> float:
        """Passes so far, with the fraction of the present one."""
        return self.epoch + self._position / len(self.dataset)

    @property
    def previous_epoch_detail(self) -> float | None:
        """The same before the last batch."""
        return None if self._previous < 0 else self._previous

    def serialize(self, serializer: Any) -> None:
        """Save or load the position."""
        self.epoch = int(serializer("epoch", self.epoch))
        self.is_new_epoch = bool(serializer("is_new_epoch", self.is_new_epoch))
        self._position = int(serializer("position", self._position))
        self._previous = float(serializer("previous", self._previous))

"""The base of iterators, which return a dataset batch by batch."""

from __future__ import annotations

from typing import Any

from core.dataset.dataset_mixin import named
from core.errors.set_by_init import NeedsInit
from core.link.serializer import AbstractSerializer


class Iterator(NeedsInit):
    """Base of iterators: return lists of examples, for ever or in one pass, and know the position.

    A subclass defines `__next__` or `next`; each does what the other does.

    Updaters also read `epoch` (passes completed), `epoch_detail` (the same with its fraction),
    `previous_epoch_detail` and `is_new_epoch` (whether the last batch completed a pass); with an
    iterator that has none of them triggers count iterations alone.
    """

    def __repr__(self) -> str:
        try:
            of, epoch = named(self.dataset), self.epoch_detail  # type: ignore[attr-defined]
            size = self.batch_size  # type: ignore[attr-defined]
        except Exception:  # one that is not made yet, or of another kind
            return object.__repr__(self)
        return f"<{type(self).__name__}: batches of {size} from {of}, epoch {epoch:.2f}>"

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> list[Any]:
        """Return the next batch, a list of examples. Raises StopIteration after the last one."""
        if type(self).next is Iterator.next:
            raise NotImplementedError(f"{type(self).__name__}: expected __next__ to be defined.")
        return self.next()

    def next(self) -> list[Any]:
        """The same as `next(iterator)`."""
        return self.__next__()

    def finalize(self) -> None:
        """Release resources such as threads and processes; may be called repeatedly."""

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the position; an iterator that can be resumed exactly overrides this."""

    def __enter__(self) -> Iterator:
        return self

    def __exit__(self, *exc: object) -> None:
        self.finalize()

"""A dataset seen through a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.dataset import DatasetMixin
from core.dataset.indexing import by_position
from core.errors.arguments import signature_of
from core.errors.set_by_init import set_by_init


class TransformDataset(DatasetMixin):
    """The examples of `dataset`, each passed through `transform` when it is asked for.

    >>> TransformDataset([1, 2, 3], lambda x: x * 10)[1]
    20
    """

    _dataset: Any = set_by_init()

    def __init__(self, dataset: Any, transform: Callable[[Any], Any]) -> None:
        self._dataset = by_position("TransformDataset", dataset)
        if not callable(transform):
            raise TypeError(
                f"TransformDataset: expected a function of an example, got {transform!r:.60}."
            )
        self._transform = transform

    def __len__(self) -> int:
        return len(self._dataset)

    def get_example(self, i: int) -> Any:
        """The transformed example at position `i`."""
        example = self._dataset[i]
        try:
            return self._transform(example)
        except TypeError as error:
            if not _takes_one(self._transform):
                error.add_note(
                    "TransformDataset calls the function with one argument, the whole example: "
                    "`def transform(example)` begins with `x, t = example`, where it is a pair."
                )
            raise


def _takes_one(function: Callable[..., Any]) -> bool:
    try:
        signature_of(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # one of C, of which nothing is known
        pass
    return True

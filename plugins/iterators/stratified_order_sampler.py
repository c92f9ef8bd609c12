"""Orders in which each class is spread evenly."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugins.iterators.order_samplers import RandomOrderSampler
from plugins.iterators.per_example import check_length, per_example


class StratifiedOrderSampler(RandomOrderSampler):
    r"""Permutations in which each batch has about the same share of each class.

    The n examples of a class, in random order, come in equal distances, the first at a random time
    within the first of them: the k-th at :math:`(k + u) / n` of the pass. Of b examples in a row a
    class of which a share p of the dataset is has then :math:`p b`, up to
    :math:`1 + p\, c` more or less, where there are c classes.

    Args:
        labels: The class of each example of the dataset: integers, or names.
        random_state: A `numpy.random.RandomState` or Generator; by default the random numbers of
            the whole framework. Snapshots contain the state of either.

    Raises InvalidSetting for labels that have not one axis; ValueError, when an iterator takes it,
    for a dataset of another length.

    Source: systematic sampling in strata, Cochran 1977, "Sampling Techniques", section 8.6.

    >>> import numpy as np
    >>> from core.iterators import SerialIterator, StratifiedOrderSampler
    >>> labels = np.repeat([0, 1], 50)
    >>> batches = SerialIterator(labels, 10, order_sampler=StratifiedOrderSampler(labels))
    >>> [int(sum(batches.next())) for _ in range(10)] == [5] * 10
    True
    """

    def __init__(self, labels: Any, random_state: Any = None) -> None:
        super().__init__(random_state)
        found = per_example("StratifiedOrderSampler", "labels", labels)
        self._classes = np.unique(found, return_inverse=True)[1].reshape(-1)
        self._sizes = np.bincount(self._classes)

    def __call__(self, current_order: Any, current_position: int) -> Any:
        """A permutation of the dataset."""
        total = len(self._classes)
        check_length("StratifiedOrderSampler", "labels", total, current_order)
        drawn = self.permutation(total)
        by_class = drawn[np.argsort(self._classes[drawn], kind="stable")]
        sizes = np.repeat(self._sizes, self._sizes)
        place = np.arange(total) - np.repeat(np.cumsum(self._sizes) - self._sizes, self._sizes)
        begin = np.repeat(self.uniform(len(self._sizes)), self._sizes)
        return by_class[np.argsort((place + begin) / sizes, kind="stable")]

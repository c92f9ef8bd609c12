"""What tests of iterators look at."""

import numpy as np

import core
from core.serializers import DictionarySerializer


def place(iterator):
    return (
        iterator.epoch,
        iterator.current_position,
        iterator.is_new_epoch,
        iterator.epoch_detail,
        iterator.previous_epoch_detail,
    )


def saved(iterator):
    serializer = DictionarySerializer()
    serializer.save(iterator)
    return {name: np.copy(value) for name, value in serializer.target.items()}


def batches(iterator, count):
    """What comes, where the iterator says it is, and random numbers that others draw between."""
    random = core.backend.get("numpy").random
    return [
        (next(iterator, None), place(iterator), random.uniform().tobytes()) for _ in range(count)
    ]

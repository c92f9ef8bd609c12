"""Random generators in processes, each of which would draw the same numbers, or any.

What a dataset keeps, as `self.rng = numpy.random.default_rng(0)`, is copied with it. A process that
gets such a copy seeds it anew, before it draws. Those that a program has anyway are new in each.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

import core

KINDS = (np.random.Generator, np.random.RandomState, random.Random)

_received: list[Any] = []  # in this process


def reduced(generator: Any) -> Any:
    """How a generator is pickled, so that `seed` knows it where it arrives."""
    return _unpickled, (pickle.dumps(generator),)


def _unpickled(content: bytes) -> Any:
    generator = pickle.loads(content)
    _received.append(generator)
    return generator


def seed(key: Sequence[int] | None) -> None:
    """Let the generators that have arrived here draw what follows from the key, each its own; from
    None what nobody else draws.
    """
    for number, generator in enumerate(_received):
        sequence = np.random.SeedSequence(key, spawn_key=(number,))
        if isinstance(generator, np.random.Generator):
            kind: Any = type(generator.bit_generator)
            generator.bit_generator.state = kind(sequence).state
        elif isinstance(generator, np.random.RandomState):
            generator.seed(sequence.generate_state(4))
        else:
            generator.seed(sequence.generate_state(4).tobytes())


def seed_shared(key: Sequence[int] | None) -> None:
    """Let the generators that all of a program draws from draw what follows from the key.

    From None follows what nobody else draws.
    """
    words = np.random.SeedSequence(key).generate_state(4)
    np.random.seed(words)
    random.seed(words.tobytes())
    core.seed(int(words[0]) << 32 | int(words[1]))

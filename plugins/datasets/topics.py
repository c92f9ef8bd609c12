"""Real English that every Python has: the topics of its reference, as `help()` shows them.

The text is that of `pydoc_data.topics` in the standard library, under Python's own licence. Its
writers change it: it differs between versions of Python, minor ones included, so results compare
only within one version: 465,000 characters in Python 3.11, 510,000 in 3.13.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DatasetMissing

_WORD = re.compile(r"\n|\w+|[^\w\s]")
_PARTS = ((0, 90), (90, 95), (95, 100))  # percent of each topic


def _topics(who: str) -> list[str]:
    try:
        from pydoc_data.topics import topics
    except ImportError as error:
        raise DatasetMissing(
            f"{who}: this Python lacks pydoc_data.topics ({error}), which is part of the standard "
            "library. Install that in full, or use another text."
        ) from error
    return [topics[name] for name in sorted(topics)]


def _characters(who: str) -> list[Sequence[str]]:
    return [text + "\n" for text in _topics(who)]


def _words(who: str) -> list[Sequence[str]]:
    """The words of each topic; <eos> ends a line, <unk> stands for what occurs only once."""
    found = [_WORD.findall(text + "\n") for text in _topics(who)]
    counts = Counter(word for words in found for word in words)
    known = {word: word if count > 1 else "<unk>" for word, count in counts.items()}
    known["\n"] = "<eos>"
    return [[known[word] for word in words] for words in found]


def _vocabulary(texts: Iterable[Sequence[str]]) -> dict[str, int]:
    tokens = dict.fromkeys(token for text in texts for token in text)
    return {token: number for number, token in enumerate(tokens)}


def _numbers(
    who: str, read: Callable[[str], list[Sequence[str]]]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    texts = read(who)
    vocabulary = _vocabulary(texts)
    coded = [np.array([vocabulary[token] for token in text], np.int32) for text in texts]
    train, valid, test = (
        np.concatenate([t[len(t) * start // 100 : len(t) * stop // 100] for t in coded])
        for start, stop in _PARTS
    )
    return train, valid, test


def get_topics_characters() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Python's help topics as numbers of characters, about 465,000: (train, valid, test).

    Each is an int32 array of one axis; the numbers are those of
    `get_topics_characters_vocabulary`. Of each topic, the first 90 % are for training, the next 5 %
    for validation and the last 5 % for testing. **The text depends on the version of Python**, to
    its last digit: name it with your results. Raises DatasetMissing for a Python without
    `pydoc_data`.

    Source: the Python language reference, PSF licence; the `pydoc_data.topics` of this Python.

    >>> train, valid, test = get_topics_characters()
    >>> names = {number: name for name, number in get_topics_characters_vocabulary().items()}
    >>> "".join(names[number] for number in train[:22].tolist())
    'The "assert" statement'
    """
    return _numbers("get_topics_characters", _characters)


def get_topics_characters_vocabulary() -> dict[str, int]:
    """The number of each character in `get_topics_characters`, 0 for the first one."""
    return _vocabulary(_characters("get_topics_characters_vocabulary"))


def get_topics_words() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Python's help topics as numbers of words, about 125,000: (train, valid, test).

    Words are runs of letters, digits and underscores, and single signs; <eos> ends a line, <unk>
    stands for each word that occurs once in all. Everything else is as in `get_topics_characters`;
    the numbers are those of `get_topics_words_vocabulary`.

    >>> train, valid, test = get_topics_words()
    >>> names = {number: name for name, number in get_topics_words_vocabulary().items()}
    >>> [names[number] for number in train[:6].tolist()]
    ['The', '"', 'assert', '"', 'statement', '<eos>']
    """
    return _numbers("get_topics_words", _words)


def get_topics_words_vocabulary() -> dict[str, int]:
    """The number of each word in `get_topics_words`, 0 for the first one."""
    return _vocabulary(_words("get_topics_words_vocabulary"))

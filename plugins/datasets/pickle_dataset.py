"""Examples of any kind in one file, as pickles one after the other."""

from __future__ import annotations

import os
import pickle
from functools import partial
from typing import Any

from core.dataset import DatasetMixin
from core.errors import DatasetDamaged
from core.errors.kinds import checked
from core.errors.set_by_init import NeedsInit
from plugins.datasets.per_process import PerProcess
from plugins.datasets.there import there
from plugins.formats import PICKLE, instead
from plugins.serializers.open_files import check_open

_OF_BYTES = (EOFError, OverflowError, UnicodeDecodeError, pickle.UnpicklingError)
"""What bytes that are others raise, and no class that is lacking."""


class PickleDataset(DatasetMixin):
    """The objects that PickleDatasetWriter wrote, from `reader`, a binary file that can seek.

    **A pickle is a program**: whoever wrote it can make this process do anything when it is read.
    Read such files only from people whose programs you would run.

    Making the dataset reads it all once, to find where objects begin. For worker processes use
    `open_pickle_dataset`, whose files each process opens for itself. The dataset is a context
    manager, which closes the file. Raises DatasetDamaged for a file that breaks off.
    """

    def __init__(self, reader: Any) -> None:
        if not isinstance(reader, PerProcess):
            check_open("PickleDataset", reader, "reading", "open_pickle_dataset")
            reader = PerProcess(_Given(reader))
        self._file = reader
        with self._file.use() as file:
            self._places = _starts(file)

    def __len__(self) -> int:
        return len(self._places)

    def get_example(self, i: int) -> Any:
        """The object at position `i`."""
        with self._file.use() as file:
            file.seek(self._places[i])
            return pickle.load(file)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> PickleDataset:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class _Given:
    """Gives an open file; one that cannot be pickled cannot be sent to processes."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __call__(self) -> Any:
        return self._file

    def __getstate__(self) -> dict[str, Any]:
        try:
            pickle.dumps(self._file)
        except TypeError as error:
            raise TypeError(
                f"PickleDataset: an open file cannot be sent to another process ({error}). "
                "Use open_pickle_dataset(path)."
            ) from error
        return self.__dict__


def _starts(file: Any) -> list[int]:
    starts: list[int] = []
    place = file.seek(0)
    end = file.seek(0, os.SEEK_END)
    file.seek(0)
    while place < end:
        try:
            pickle.load(file)
        except _OF_BYTES as error:
            raise DatasetDamaged(
                f"PickleDataset: the file is damaged in object {len(starts)}, which begins at byte "
                f"{place} of {end}: {error}.{instead(file, PICKLE)} "
                "It may not have been closed when it was written."
            ) from error
        except Exception as error:  # of the classes that it names, or of bytes that are others
            error.add_note(
                f"PickleDataset: raised by object {len(starts)} of {getattr(file, 'name', file)}, "
                f"which begins at byte {place} of {end}. Either the file is damaged, or this "
                "program lacks what it was written with."
            )
            raise
        starts.append(place)
        place = file.tell()
    return starts


@checked
def open_pickle_dataset(path: str | os.PathLike[str]) -> PickleDataset:
    """The dataset in the file `path`, which `open_pickle_dataset_writer` wrote.

    Read only files that you trust: see PickleDataset, whose errors these are, beside DatasetMissing
    where there is no file.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "examples.pkl")
    ...     with open_pickle_dataset_writer(path) as writer:
    ...         writer.write({"x": 1})
    ...         writer.write("two")
    ...     with open_pickle_dataset(path) as dataset:
    ...         dataset[:]
    [{'x': 1}, 'two']
    """
    return PickleDataset(PerProcess(partial(there, "open_pickle_dataset", open, path, "rb")))


class PickleDatasetWriter(NeedsInit):
    """Writes objects to `writer`, a binary file, each as a pickle of its own.

    `protocol` is that of `pickle`. A context manager, which closes the file.
    """

    @checked
    def __init__(self, writer: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
        check_open("PickleDatasetWriter", writer, "writing", "open_pickle_dataset_writer")
        self._file = writer
        self._protocol = protocol

    def write(self, x: Any) -> None:
        """Append one example; of one that cannot be pickled, nothing is written."""
        self._file.write(pickle.dumps(x, self._protocol))

    def flush(self) -> None:
        """See to it that what has been written is in the file."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> PickleDatasetWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@checked
def open_pickle_dataset_writer(
    path: str | os.PathLike[str], protocol: int = pickle.HIGHEST_PROTOCOL
) -> PickleDatasetWriter:
    """A writer to the file `path`, which begins empty; see `open_pickle_dataset`."""
    return PickleDatasetWriter(open(path, "wb"), protocol)

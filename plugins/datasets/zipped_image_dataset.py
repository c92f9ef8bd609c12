"""Images in zip archives, which need not be unpacked."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from core.dataset import DatasetMixin
from core.errors import DatasetDamaged, DatasetMissing
from core.errors.kinds import checked
from core.typing import DType
from plugins.datasets.concatenated_dataset import ConcatenatedDataset
from plugins.datasets.image_files import float_dtype, label_array, listed_pairs, read_image
from plugins.datasets.per_process import PerProcess
from plugins.datasets.there import there
from plugins.formats import ZIP, instead

_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
"""What zipfile raises for what is damaged, has a password, or is packed as it does not know."""


class _Archive:
    """A zip archive of images, opened by each process for itself."""

    def __init__(self, path: Any, dtype: DType, who: str) -> None:
        self._path = os.fspath(path)
        self._dtype = float_dtype(dtype)
        self._who = who
        self._file = PerProcess(partial(_open, self._path, who))

    def names(self) -> list[str]:
        """The files in the archive, in its order."""
        with self._file.use() as archive:
            return [name for name in archive.namelist() if not name.endswith("/")]

    def image(self, name: str) -> np.ndarray[Any, Any]:
        """One image; decoding is done while other threads read."""
        where = f"{name} in {self._path}"
        with self._file.use() as archive:
            try:
                content = archive.read(name)
            except KeyError:
                raise DatasetMissing(f"{self._who}: there is no {where}.") from None
            except _UNREADABLE as error:
                raise DatasetDamaged(
                    f"{self._who}: {where} is damaged, or cannot be unpacked here: {error}."
                ) from error
        return read_image(io.BytesIO(content), where, self._dtype, self._who)


def _open(path: str, who: str) -> zipfile.ZipFile:
    try:
        opened: zipfile.ZipFile = there(who, zipfile.ZipFile, path)
        return opened
    except zipfile.BadZipFile as error:
        raise DatasetDamaged(
            f"{who}: {path} is not a whole zip archive: {error}.{instead(path, ZIP)}"
        ) from error


class ZippedImageDataset(DatasetMixin):
    """The images in a zip archive, in its order; every file in it has to be an image.

    Images are as in ImageDataset: (channels, height, width), in `dtype`. Each process and each
    pickled copy opens the archive for itself. Needs Pillow (extra `image`). Raises DatasetMissing
    where there is no archive, DatasetDamaged for one that is broken, and for a file in it that is
    not an image.

    >>> import os, tempfile, zipfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "images.zip")
    ...     with zipfile.ZipFile(path, "w") as archive, archive.open("a.png", "w") as file:
    ...         Image.new("L", (4, 3)).save(file, "png")
    ...     ZippedImageDataset(path)[0].shape
    (1, 3, 4)
    """

    @checked
    def __init__(self, zipfilename: str | os.PathLike[str], dtype: DType = None) -> None:
        self._archive = _Archive(zipfilename, dtype, "ZippedImageDataset")
        self._names = self._archive.names()

    def __len__(self) -> int:
        return len(self._names)

    def get_example(self, i: int) -> np.ndarray[Any, Any]:
        """The image at position `i`."""
        return self._archive.image(self._names[i])


class MultiZippedImageDataset(ConcatenatedDataset):
    """The images of several zip archives, one after the other, each as in ZippedImageDataset."""

    @checked
    def __init__(self, zipfilenames: Sequence[str | os.PathLike[str]], dtype: DType = None) -> None:
        super().__init__(*[ZippedImageDataset(name, dtype) for name in zipfilenames])


class LabeledZippedImageDataset(DatasetMixin):
    """The pairs (image, label) of images in a zip archive.

    `labelfilename` is a text file with the name of an image in the archive, a space and an integer
    in each line, or a list of such pairs. Images and labels are as in LabeledImageDataset, errors
    as in ZippedImageDataset.
    """

    @checked
    def __init__(
        self,
        zipfilename: str | os.PathLike[str],
        labelfilename: Any,
        dtype: DType = None,
        label_dtype: DType = np.int32,
    ) -> None:
        self._archive = _Archive(zipfilename, dtype, "LabeledZippedImageDataset")
        self._pairs = listed_pairs(labelfilename, "LabeledZippedImageDataset")
        self._label_dtype = label_dtype

    def __len__(self) -> int:
        return len(self._pairs)

    def get_example(self, i: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The image and the label at position `i`."""
        name, label = self._pairs[i]
        return self._archive.image(name), label_array(
            label, self._label_dtype, "LabeledZippedImageDataset"
        )

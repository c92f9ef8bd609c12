"""Images as arrays, and the lists of files that name them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from core.arrays import backend
from core.errors import DatasetDamaged
from core.registry.configuration import config
from core.typing import DType
from plugins.datasets.text_files import decoding
from plugins.datasets.there import there
from plugins.extras import need
from plugins.formats import JPEG, PNG, instead

_LIST = " The name of a file stands for the list in it; images themselves are given as [path, ...]."


def float_dtype(dtype: DType) -> Any:
    """The dtype of images: `dtype`, or that of `core.config.dtype` for None."""
    return np.dtype(backend.get("numpy").dtype(config.dtype if dtype is None else dtype))


def read_image(file: Any, name: str, dtype: DType, who: str) -> np.ndarray[Any, Any]:
    """The image in `file` (a path or a binary file), of shape (channels, height, width).

    Values are those of the file: 0 to 255 for 8 bits a channel. Grey images have one channel.
    `name` and `who` are for the errors: DatasetDamaged if it is not an image, or is broken.
    """
    library = need("PIL.Image", "image", who)
    try:
        with library.open(file) as image:
            found = np.asarray(image)
    except FileNotFoundError:
        raise
    except (OSError, SyntaxError, ValueError, library.DecompressionBombError) as error:
        raise DatasetDamaged(
            f"{who}: {name} cannot be read as an image: {error}.{instead(file, PNG, JPEG)}"
        ) from error
    got, cure = f"{found.dtype} in {name}", "Give a dtype that has its values"
    array = _same(found, np.dtype(dtype), f"{who}: expected images", got, cure)
    if array.ndim == 2:
        return array[None]
    return array.transpose(2, 0, 1)


def listed(paths: Any, who: str) -> list[Any]:
    """The names in a list of paths, or in a text file of one path a line."""
    return list(paths) if not _is_path(paths) else [line for _, line in _lines(paths, who)]


def listed_pairs(pairs: Any, who: str) -> list[tuple[Any, Any]]:
    """The pairs (path, label) in a list, or in a text file of a path and a label a line."""
    if _is_path(pairs):
        return list(_read_pairs(pairs, who))
    try:
        found = [(path, label) for path, label in pairs]
    except (TypeError, ValueError) as error:
        error.add_note(f"{who}: expected pairs (path, label), or the name of a file of them.")
        raise
    for path, _ in found:
        if not _is_path(path):
            raise TypeError(f"{who}: expected pairs (path, label), got {path!r:.60} as a path.")
    return found


def label_array(label: Any, dtype: DType, who: str) -> np.ndarray[Any, Any]:
    """A label as an array of no dimensions, which is the same number."""
    cure = "Give label_dtype, such as label_dtype='float32'"
    return _same(np.asarray(label), np.dtype(dtype), f"{who}: expected labels", repr(label), cure)


def _same(given: Any, dtype: Any, expected: str, got: str, cure: str) -> np.ndarray[Any, Any]:
    """The numbers in a dtype; raises ValueError where it has not these integers, or ends before."""
    with np.errstate(invalid="ignore", over="ignore"):  # of what is refused
        array: np.ndarray[Any, Any] = given.astype(dtype)
    lost: Any = False
    if given.dtype.kind in "iuf" and dtype.kind in "iu":
        lost = array != given
    elif given.dtype.kind in "iuf" and dtype.kind == "f" and given.itemsize >= dtype.itemsize:
        lost = np.isinf(array) & np.isfinite(given)
    if np.any(lost):
        raise ValueError(f"{expected} that {dtype} can hold, got {got}. {cure}.")
    return array


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def _lines(path: Any, who: str) -> list[tuple[int, str]]:
    if os.path.isdir(path):
        raise IsADirectoryError(
            f"{who}: expected a list of paths, or the name of a text file of them, got the folder "
            f"{os.fspath(path)!r}. sorted(pathlib.Path(folder).glob('*.png')) are the images in it."
        )
    with decoding(who, path, also=_LIST):
        text = there(who, Path.read_text, Path(path), encoding="utf-8-sig")  # editors mark it so
        lines = text.splitlines()
    return [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]


def _read_pairs(path: Any, who: str) -> Iterator[tuple[str, int]]:
    for number, line in _lines(path, who):
        try:
            name, label = line.rsplit(None, 1)
            yield name, int(label)
        except ValueError:
            raise DatasetDamaged(
                f"{who}: expected a path, a space and an integer label in line {number} of {path}, "
                f"got {line!r}."
            ) from None

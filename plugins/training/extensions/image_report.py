"""Observed arrays as images, in files."""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core import Variable
from core.arrays import backend
from core.errors.kinds import checked
from core.training import Extension
from core.typing import AnyArray
from plugins.training.extensions.report_file import ReportFile
from plugins.training.extensions.slips import warn_of_slips

if TYPE_CHECKING:
    from core.training import Loop

_UNSAFE = re.compile(r"[^\w.-]+|^\.+")


class ImageReport(Extension):
    """Write images as PNG files into a folder in the trainer's, once an epoch by default.

    They are observed arrays, or what functions of the trainer give; of shape (h, w), (1, h, w) or
    (3, h, w), or a batch of those, whose images are put side by side. Integers are values from 0 to
    255; of other numbers `limits` are black and white, by default the least and the greatest of
    each time. What is not finite is black. The file of `main/samples` after iteration 300 is
    `images/main_samples/300.png`; `plugrad watch` shows the files, with a slider over the
    iterations.

    Args:
        images: Names in the observation, one or several; or a dict from names to functions of the
            trainer, which are called when the files are due.
        limits: The values of black and white, or None.
        directory: The folder.
        columns: How many images of a batch stand in a row; None for about as many as rows.

    In `trainer.extend(..., trigger=(10, "epoch"))` another time can be chosen.

    >>> from types import SimpleNamespace
    >>> import os, tempfile
    >>> write = ImageReport({"noise": lambda trainer: np.random.rand(4, 1, 8, 8)})
    >>> trainer = SimpleNamespace(
    ...     out=tempfile.mkdtemp(), updater=SimpleNamespace(iteration=3), observation={}
    ... )
    >>> write(trainer)
    >>> os.listdir(os.path.join(trainer.out, "images", "noise"))
    ['3.png']
    """

    trigger = (1, "epoch")
    ranks = "first"

    @checked
    def __init__(
        self,
        images: str | Iterable[str] | Mapping[str, Callable[[Any], AnyArray | Variable]],
        limits: tuple[float, float] | None = None,
        directory: str = "images",
        columns: int | None = None,
    ) -> None:
        if limits is not None and not limits[0] < limits[1]:
            raise ValueError(f"ImageReport: expected limits (black, white), got {limits!r}.")
        if columns is not None and columns < 1:
            raise ValueError(f"ImageReport: expected at least 1 column, got {columns!r}.")
        names = [images] if isinstance(images, str) else images
        self._sources = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names)
        folders = {_UNSAFE.sub("_", name) for name in self._sources}
        if len(folders) < len(self._sources):
            raise ValueError(
                f"ImageReport: expected names of different folders, got {list(self._sources)!r}; "
                "what is no letter, digit, '.', '-' or '_' becomes '_'."
            )
        self._limits = limits
        self._directory = directory
        self._columns = columns
        self._file = ReportFile("ImageReport")

    def files_in_the_way(self, trainer: Loop) -> Iterable[tuple[Path, str | None]]:
        """What stands where the files go."""
        for name in self._sources:
            folder = self._folder(trainer, name)
            yield from ((path, None) for path in sorted(folder.glob("*.png")))

    def _folder(self, trainer: Loop, name: str) -> Path:
        return Path(trainer.out) / self._directory / (_UNSAFE.sub("_", name) or "_")

    def __call__(self, trainer: Loop) -> None:
        """Write a file for each name that has been observed."""
        observed = trainer.observation
        warn_of_slips("ImageReport", [n for n, f in self._sources.items() if not f], observed)
        for name, source in self._sources.items():
            if source is None and name not in observed:
                continue
            given = observed[name] if source is None else source(trainer)
            content = png(self._pixels(name, given))
            path = self._folder(trainer, name) / f"{trainer.updater.iteration}.png"
            self._file.write(path, partial(Path.write_bytes, data=content))

    def _pixels(self, name: str, given: Any) -> Any:
        array = given.array if isinstance(given, Variable) else given
        array = np.asarray(backend.to_host(array))
        shape = array.shape
        if array.ndim == 2 or (array.ndim == 3 and shape[0] not in (1, 3)):
            array = np.expand_dims(array, -3)
        if array.ndim == 3:
            array = array[None]
        if array.ndim != 4 or array.shape[1] not in (1, 3) or not array.size:
            raise ValueError(
                f"ImageReport: expected {name!r} as (h, w), (1, h, w) or (3, h, w), or a batch of "
                f"those; got shape {shape}."
            )
        return side_by_side(_bytes(array, self._limits), self._columns)

    def finalize(self) -> None:
        """See that all files are there."""
        self._file.finish()


def _bytes(array: Any, limits: tuple[float, float] | None) -> Any:
    """Values from 0 to 255."""
    if array.dtype.kind in "iu":
        return np.clip(array, 0, 255).astype(np.uint8)
    values = array.astype(np.float64)
    finite = np.isfinite(values)
    low, high = limits or (
        np.min(values, initial=math.inf, where=finite),
        np.max(values, initial=-math.inf, where=finite),
    )
    # Of halves the difference is finite wherever the values are.
    span = high / 2 - low / 2
    scaled = np.where(finite, values / 2 - low / 2, 0) / (span if 0 < span < math.inf else 1)
    return np.rint(np.clip(scaled, 0, 1) * 255).astype(np.uint8)


def side_by_side(images: Any, columns: int | None = None) -> Any:
    """A batch (n, c, h, w) as one image (rows, columns, c), with a line between neighbours.

    >>> side_by_side(np.zeros((5, 3, 8, 8), np.uint8)).shape
    (17, 26, 3)
    """
    n, c, h, w = images.shape
    columns = min(n, columns or math.ceil(math.sqrt(n)))
    rows = math.ceil(n / columns)
    sheet = np.full((rows * (h + 1) - 1, columns * (w + 1) - 1, c), 128, np.uint8)
    for i, image in enumerate(images):
        y, x = i // columns * (h + 1), i % columns * (w + 1)
        sheet[y : y + h, x : x + w] = np.moveaxis(image, 0, -1)
    return sheet


def png(pixels: Any) -> bytes:
    r"""Pixels (h, w, 1 or 3) of uint8 as a PNG file (ISO/IEC 15948).

    >>> png(np.zeros((2, 2, 1), np.uint8))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    height, width, channels = pixels.shape
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    # Each row begins with the number of its filter: none.
    rows = b"".join([b"\0" + row.tobytes() for row in pixels])
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )

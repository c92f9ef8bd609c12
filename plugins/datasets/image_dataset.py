"""Images in files of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.dataset import DatasetMixin
from core.errors import DatasetMissing
from core.errors.kinds import checked
from core.typing import DType
from plugins.datasets.image_files import float_dtype, label_array, listed, listed_pairs, read_image


def _read(root: Any, path: Any, dtype: DType, who: str) -> np.ndarray[Any, Any]:
    whole = os.path.join(root, path)
    try:
        return read_image(whole, whole, dtype, who)
    except FileNotFoundError:
        raise DatasetMissing(
            f"{who}: there is no file {whole}. Paths are taken from root={os.fspath(root)!r}."
        ) from None


class ImageDataset(DatasetMixin):
    """The images in the files `paths`, of shape (channels, height, width), read when asked for.

    `paths` is a list of paths, or the name of a text file with a path in each line; they are taken
    from the folder `root`. Values are those of the file, 0 to 255 for the usual formats, in `dtype`
    (None: that of `core.config.dtype`), which has to hold them. Grey images have one channel; RGBA
    has four; of images with a palette, as GIFs, the one channel has places in the palette.
    Needs Pillow (extra `image`). Raises DatasetMissing for a file that is not there, DatasetDamaged
    for one that is not an image.

    >>> import os, tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("RGB", (4, 3), "white").save(os.path.join(folder, "a.png"))
    ...     image = ImageDataset(["a.png"], root=folder)[0]
    >>> image.shape, image.dtype, image.max()
    ((3, 3, 4), dtype('float32'), np.float32(255.0))
    """

    @checked
    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        root: str | os.PathLike[str] = ".",
        dtype: DType = None,
    ) -> None:
        self._paths = listed(paths, "ImageDataset")
        self._root = root
        self._dtype = float_dtype(dtype)

    def __len__(self) -> int:
        return len(self._paths)

    def get_example(self, i: int) -> np.ndarray[Any, Any]:
        """The image at position `i`."""
        return _read(self._root, self._paths[i], self._dtype, "ImageDataset")


class LabeledImageDataset(DatasetMixin):
    """The pairs (image, label) of image files, read when asked for.

    `pairs` is a list of (path, label), or the name of a text file with a path, a space and an
    integer in each line. Images are as in ImageDataset; a label is an array of no dimensions, in
    `label_dtype`, which has to hold it. Errors are those of ImageDataset.
    """

    @checked
    def __init__(
        self,
        pairs: Any,
        root: str | os.PathLike[str] = ".",
        dtype: DType = None,
        label_dtype: DType = np.int32,
    ) -> None:
        self._pairs = listed_pairs(pairs, "LabeledImageDataset")
        self._root = root
        self._dtype = float_dtype(dtype)
        self._label_dtype = label_dtype

    def __len__(self) -> int:
        return len(self._pairs)

    def get_example(self, i: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The image and the label at position `i`."""
        path, label = self._pairs[i]
        image = _read(self._root, path, self._dtype, "LabeledImageDataset")
        return image, label_array(label, self._label_dtype, "LabeledImageDataset")

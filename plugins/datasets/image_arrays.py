"""From bytes of images and labels to what `get_mnist` and similar functions return."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DatasetDamaged
from core.typing import DType
from plugins.datasets.image_files import float_dtype
from plugins.datasets.tuple_dataset import TupleDataset


def checked(
    path: str, images: NDArray[Any], labels: NDArray[Any], shape: tuple[int, ...], classes: int
) -> None:
    """Raise DatasetDamaged unless there is a label for each image, and all are as said."""
    wrong = None
    if images.dtype != np.uint8 or images.shape[1:] != shape:
        wrong = f"images of uint8{list(shape)}, got {images.dtype}{list(images.shape[1:])}"
    elif len(images) == 0 or labels.shape != (len(images),):
        wrong = f"a label for each of {len(images)} images, got {list(labels.shape)}"
    elif int(labels.min()) < 0 or int(labels.max()) >= classes:
        wrong = f"labels from 0 to {classes - 1}, got {labels.min()} to {labels.max()}"
    if wrong is not None:
        raise DatasetDamaged(f"{path}: expected {wrong}.")


def prepared(
    images: NDArray[Any],
    labels: NDArray[Any],
    withlabel: bool,
    scale: float,
    dtype: DType,
    label_dtype: DType = np.int32,
) -> Any:
    """Images from 0 to `scale`; with labels, a TupleDataset of both."""
    found = images.astype(float_dtype(dtype))
    found *= scale / 255.0
    return TupleDataset(found, labels.astype(label_dtype)) if withlabel else found

"""Handwritten digits that come with the framework: 1,797 images of 8x8 pixels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from core.errors.kinds import checked
from plugins.datasets.tuple_dataset import TupleDataset

_FILE = Path(__file__).parent / "data" / "digits.npz"
_BRIGHTEST = 16
_FORMS = {1: (-1, 64), 2: (-1, 8, 8), 3: (-1, 1, 8, 8)}


@checked
def get_digits(withlabel: bool = True, ndim: int = 1, scale: float = 1.0) -> tuple[Any, Any]:
    """The bundled handwritten digits, as (training set of 1,437, test set of 360).

    Images are float32 from 0 to `scale`, of shape (64,), (8, 8) or (1, 8, 8) for `ndim` 1, 2 or 3;
    labels are int32 from 0 to 9. With labels, each set is a TupleDataset of (image, label), else
    an array of images. The split is fixed: of the images sorted by label, and by their place in the
    file within a label, every fifth one is for testing, so that both sets have all digits alike.

    Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine
    Learning Repository, 1998, doi:10.24432/C50P49, CC BY 4.0; see data/digits.txt.

    >>> train, test = get_digits(ndim=3)
    >>> len(train), len(test), train[0][0].shape
    (1437, 360, (1, 8, 8))
    """
    if ndim not in _FORMS:
        raise ValueError(f"get_digits: expected ndim 1, 2 or 3, got {ndim!r}.")
    with np.load(_FILE, allow_pickle=False) as file:
        images, labels = file["images"], file["labels"].astype(np.int32)
    images = images.reshape(_FORMS[ndim]).astype(np.float32) * np.float32(scale / _BRIGHTEST)
    by_label = np.argsort(labels, kind="stable")
    test = np.sort(by_label[::5])
    train = np.setdiff1d(by_label, test)
    if not withlabel:
        return images[train], images[test]
    return TupleDataset(images[train], labels[train]), TupleDataset(images[test], labels[test])

"""The Street View House Numbers: digits of 32x32 pixels, cut from photographs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DatasetDamaged
from core.errors.kinds import checked
from core.typing import DType
from plugins.datasets import image_arrays
from plugins.datasets.found_files import Published, arrays_of, kept_by_chainer, look, obtain
from plugins.extras import need
from plugins.formats import MATLAB, instead

_FOLDER = "svhn"
_URL = "http://ufldl.stanford.edu/housenumbers/"
_DIGESTS = {
    "train": "e26dedcc434d2e4c54c9b2d4a06d8373",
    "test": "eb5a983be6a315427106f1b164d9cef3",
    "extra": "a93ce644f1a588dc4d68dda5feec44a7",
}


def _read(part: str, download: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Images (n, 3, 32, 32) and labels (n,) from 0 to 9, as bytes."""
    name = f"{part}_32x32.mat"
    file = Published(name, _URL + name, f"md5:{_DIGESTS[part]}")
    path = look(_FOLDER, file) or kept_by_chainer(_FOLDER, f"{part}.npz")
    if path is None:
        path = obtain("get_svhn", _FOLDER, file, download)
    x, y = arrays_of(path, ("x", "y")) if path.endswith(".npz") else _matlab(path)
    if x.ndim != 4 or y.ndim != 2:
        raise DatasetDamaged(f"{path}: expected 4 and 2 axes, got {x.ndim} and {y.ndim}.")
    images, labels = x.transpose(3, 2, 0, 1), np.where(y[:, 0] == 10, 0, y[:, 0])
    image_arrays.checked(path, images, labels, (3, 32, 32), 10)
    return images, labels


def _matlab(path: str) -> tuple[NDArray[Any], NDArray[Any]]:
    load = need("scipy.io", "matlab", "get_svhn").loadmat
    try:
        found = load(path, variable_names=("X", "y"))
        return found["X"], found["y"]
    except FileNotFoundError:
        raise
    except Exception as error:  # of a broken file, SciPy raises whatever it stumbles over
        raise DatasetDamaged(
            f"{path} is damaged: {type(error).__name__}: {error}.{instead(path, MATLAB)}"
        ) from error


@checked
def get_svhn(
    withlabel: bool = True,
    scale: float = 1.0,
    dtype: DType = None,
    label_dtype: DType = np.int32,
    add_extra: bool = False,
    *,
    download: bool = False,
) -> tuple[Any, ...]:
    """SVHN, digits of house numbers, from files that you have: (training set, test set).

    With `add_extra` a third set follows, of easier digits. Images are of `dtype` (None: that of
    `core.config.dtype`), from 0 to `scale`, of shape (3, 32, 32); labels are of `label_dtype`, 0 to
    9. With labels, each set is a TupleDataset of (image, label), otherwise an array; 73,257, 26,032
    and 531,131 of them.

    The folder `svhn` in `core.dataset.get_dataset_root()` holds train_32x32.mat, test_32x32.mat and
    extra_32x32.mat, which SciPy reads (extra `matlab`); what Chainer kept in `pfnet/chainer/svhn`
    will do. With `download`, what is missing is downloaded and compared with its MD5. Errors and
    warnings are those of `get_mnist`.

    Source: Y. Netzer and others, Reading digits in natural images with unsupervised feature
    learning, 2011.
    """
    parts = ("train", "test", "extra") if add_extra else ("train", "test")
    return tuple(
        image_arrays.prepared(*_read(part, download), withlabel, scale, dtype, label_dtype)
        for part in parts
    )

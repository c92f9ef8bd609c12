"""MNIST and the datasets that have its form: 28x28 pixels, ten classes, files in IDX format."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.errors.kinds import checked
from core.typing import DType
from plugins.datasets import image_arrays
from plugins.datasets.found_files import Published, arrays_of, kept_by_chainer, look, obtain
from plugins.datasets.idx import read_idx

_PREFIXES = {"train": "train", "test": "t10k"}


class _Family(NamedTuple):
    """A dataset of this form: its folder, where it is published, MD5 of images and labels."""

    who: str
    folder: str
    url: str
    digests: dict[str, tuple[str, str]]

    def files(self, part: str) -> tuple[Published, Published]:
        """The files of images and of labels of one part."""
        names = (f"{_PREFIXES[part]}-images-idx3-ubyte", f"{_PREFIXES[part]}-labels-idx1-ubyte")
        images, labels = (
            Published(f"{name}.gz", f"{self.url}{name}.gz", f"md5:{digest}", (name,))
            for name, digest in zip(names, self.digests[part], strict=True)
        )
        return images, labels

    def read(self, part: str, download: bool) -> tuple[Any, Any]:
        """Images (n, 28, 28) and labels (n,) of one part, as bytes."""
        images, labels = self.files(part)
        theirs = kept_by_chainer(self.folder, f"{part}.npz")
        if theirs is not None and not (look(self.folder, images) and look(self.folder, labels)):
            path, (x, y) = theirs, arrays_of(theirs, ("x", "y"))
            x = x.reshape(-1, 28, 28)
        else:
            path = obtain(self.who, self.folder, images, download)
            x = read_idx(path, 3)
            y = read_idx(obtain(self.who, self.folder, labels, download), 1)
        image_arrays.checked(path, x, y, (28, 28), 10)
        return x, y


_MNIST = _Family(
    "get_mnist",
    "mnist",
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    {
        "train": ("f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432"),
        "test": ("9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"),
    },
)
_FASHION = _Family(
    "get_fashion_mnist",
    "fashion-mnist",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    {
        "train": ("8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe"),
        "test": ("bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"),
    },
)
_KUZUSHIJI = _Family(
    "get_kuzushiji_mnist",
    "kuzushiji_mnist",
    "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
    {
        "train": ("bdb82020997e1d708af4cf47b453dcf7", "e144d726b3acfaa3e44228e80efcd344"),
        "test": ("5c965bf0a639b31b8f53240b1b52f4d7", "7320c461ea6c1c855c0b718fb2a4b134"),
    },
)


class _Form(NamedTuple):
    """How images and labels are wanted."""

    withlabel: bool
    ndim: int
    scale: float
    dtype: Any
    label_dtype: Any
    rgb_format: bool

    def shape(self, who: str) -> tuple[int, ...]:
        """The shape of the images, -1 for their number."""
        shapes = {1: (-1, 784), 2: (-1, 28, 28), 3: (-1, 1, 28, 28)}
        if self.ndim not in shapes:
            raise ValueError(f"{who}: expected ndim 1, 2 or 3, got {self.ndim!r}.")
        return shapes[self.ndim]


def _get(family: _Family, form: _Form, download: bool) -> tuple[Any, Any]:
    shape = form.shape(family.who)
    parts = []
    for part in ("train", "test"):
        images, labels = family.read(part, download)
        images = images.reshape(shape)
        if form.rgb_format and form.ndim == 3:
            images = np.broadcast_to(images, (len(images), 3, 28, 28))
        parts.append(
            image_arrays.prepared(
                images, labels, form.withlabel, form.scale, form.dtype, form.label_dtype
            )
        )
    return parts[0], parts[1]


@checked
def get_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DType = None,
    label_dtype: DType = np.int32,
    rgb_format: bool = False,
    *,
    download: bool = False,
) -> tuple[Any, Any]:
    """MNIST, handwritten digits, from files that you have: (training set, test set).

    Images are of `dtype` (None: that of `core.config.dtype`), from 0 to `scale`, of shape (784,),
    (28, 28) or (1, 28, 28) for `ndim` 1, 2 or 3; with `rgb_format` the last is (3, 28, 28). Labels
    are of `label_dtype`, 0 to 9. With labels, each set is a TupleDataset of (image, label),
    otherwise an array of images; 60,000 and 10,000 of them in the published files.

    The folder `mnist` in `core.dataset.get_dataset_root()` holds the four files under the names
    that they have everywhere (train-images-idx3-ubyte.gz, ...), compressed or not; what Chainer
    kept in `pfnet/chainer/mnist` will do. With `download`, what is missing is downloaded and
    compared with its MD5. Raises DatasetMissing where a file is absent, DatasetDamaged where one is
    broken; UnofficialFileWarning says that a compressed file is not the published one.

    Source: Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database of handwritten digits.
    """
    return _get(_MNIST, _Form(withlabel, ndim, scale, dtype, label_dtype, rgb_format), download)


@checked
def get_fashion_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DType = None,
    label_dtype: DType = np.int32,
    rgb_format: bool = False,
    *,
    download: bool = False,
) -> tuple[Any, Any]:
    """Fashion-MNIST, pictures of clothes, from files in the folder `fashion-mnist`: see get_mnist.

    Arguments, results, file names and errors are those of `get_mnist`.
    Source: H. Xiao, K. Rasul, R. Vollgraf, arXiv:1708.07747.
    """
    return _get(_FASHION, _Form(withlabel, ndim, scale, dtype, label_dtype, rgb_format), download)


def get_fashion_mnist_labels() -> list[str]:
    """The names of Fashion-MNIST's ten classes, in the order of their labels.

    >>> get_fashion_mnist_labels()[:3]
    ['T-shirt/top', 'Trouser', 'Pullover']
    """
    names = "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot"
    return names.split(",")


@checked
def get_kuzushiji_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DType = None,
    label_dtype: DType = np.int32,
    rgb_format: bool = False,
    *,
    download: bool = False,
) -> tuple[Any, Any]:
    """Kuzushiji-MNIST, cursive Japanese characters, from the folder `kuzushiji_mnist`.

    Arguments, results, file names and errors are those of `get_mnist`.
    Source: T. Clanuwat and others, Deep learning for classical Japanese literature,
    arXiv:1812.01718; the dataset by ROIS-CODH, CC BY-SA 4.0.
    """
    return _get(_KUZUSHIJI, _Form(withlabel, ndim, scale, dtype, label_dtype, rgb_format), download)


def get_kuzushiji_mnist_labels() -> list[tuple[str, str]]:
    """Kuzushiji-MNIST's ten classes in the order of their labels, each as (reading, character).

    >>> get_kuzushiji_mnist_labels()[0]
    ('o', 'お')
    """
    readings = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")
    return list(zip(readings, "おきすつなはまやれを", strict=True))

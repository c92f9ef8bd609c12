"""Weights of published networks, from files that the user has; nothing is downloaded."""

from __future__ import annotations

import os
from pathlib import Path

from core import Link, serializers
from core.dataset import get_dataset_root

LOADERS = {
    ".npz": "load_npz",
    ".h5": "load_hdf5",
    ".hdf5": "load_hdf5",
    ".safetensors": "load_safetensors",
}
NO_CAFFE = (
    "files of Caffe are not read here. Convert the .caffemodel with Chainer's "
    "convert_caffemodel_to_npz, and give the npz file as pretrained_model."
)


def models_folder() -> Path:
    """Where 'auto' looks for weights, as Chainer does: pfnet/chainer/models of the dataset root."""
    return Path(get_dataset_root(), "pfnet", "chainer", "models")


def find(link: str, given: str | os.PathLike[str] | None, auto: str) -> Path | None:
    """The file `given`, or where that is 'auto' the one called `auto` in the usual folder.

    Gives None for None. Raises, in the name of `link`, where there is no such file.
    """
    if given is None:
        return None
    path = models_folder() / auto if given == "auto" else Path(given)
    if path.suffix == ".caffemodel":
        raise NotImplementedError(f"links.{link}: {NO_CAFFE}")
    if path.suffix not in LOADERS:
        raise ValueError(
            f"links.{link}: expected pretrained_model to be None, 'auto' or a file that ends in "
            f"{', '.join(LOADERS)}, got {str(given)!r}."
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"links.{link}: expected the trained weights in {path}, where there is no file. Put "
            "them there (an npz file that Chainer wrote will do), give the path of another file "
            "as pretrained_model, or pretrained_model=None for random initial values."
        )
    return path


def load(model: Link, path: Path | None) -> None:
    """Load the weights of `model` from a file, if there is one."""
    if path is not None:
        getattr(serializers, LOADERS[path.suffix])(path, model)

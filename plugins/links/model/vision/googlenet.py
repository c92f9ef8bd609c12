"""GoogLeNet: nine modules of parallel convolutions, and two auxiliary classifiers."""

from __future__ import annotations

from typing import Any, ClassVar

from core import functions as F
from core.errors.kinds import checked
from core.typing import AnyArray
from plugins.links.connection.convolution import Convolution2D
from plugins.links.connection.inception import Inception
from plugins.links.connection.linear import Linear
from plugins.links.model.vision import images, weights
from plugins.links.model.vision.model import Layer, Table, VisionModel, Weights

MEAN = (104.0, 117.0, 123.0)
CONVOLUTIONS = {  # in_channels, out_channels, ksize, stride, pad
    "conv1": (3, 64, 7, 2, 3),
    "conv2_reduce": (64, 64, 1, 1, 0),
    "conv2": (64, 192, 3, 1, 1),
    "loss1_conv": (512, 128, 1, 1, 0),
    "loss2_conv": (528, 128, 1, 1, 0),
}
INCEPTIONS = {  # in_channels, out1, proj3, out3, proj5, out5, proj_pool
    "inc3a": (192, 64, 96, 128, 16, 32, 32),
    "inc3b": (256, 128, 128, 192, 32, 96, 64),
    "inc4a": (480, 192, 96, 208, 16, 48, 64),
    "inc4b": (512, 160, 112, 224, 24, 64, 64),
    "inc4c": (512, 128, 128, 256, 24, 64, 64),
    "inc4d": (512, 112, 144, 288, 32, 64, 64),
    "inc4e": (528, 256, 160, 320, 32, 128, 128),
    "inc5a": (832, 256, 160, 320, 32, 128, 128),
    "inc5b": (832, 384, 192, 384, 48, 128, 128),
}
FULLY_CONNECTED = {
    "loss1_fc1": (2048, 1024),
    "loss1_fc2": (1024, 1000),
    "loss2_fc1": (2048, 1024),
    "loss2_fc2": (1024, 1000),
    "loss3_fc": (1024, 1000),
}


def prepare(image: Any, size: images.Size = (224, 224)) -> AnyArray:
    """Prepare an image for GoogLeNet: (3, h, w), blue, green and red, each minus its mean.

    Args:
        image: An image of PIL; or an array (h, w), (h, w, channels), (1, h, w) or (3, h, w) of red,
            green and blue from 0 to 255, fractions cut off.
        size: Width and height to bring it to (which needs Pillow); None leaves it as it is.

    The result is a NumPy array of `core.config.dtype`.

    >>> import numpy as np
    >>> prepare(np.full((1, 1), 200), size=None).ravel()
    array([96., 83., 77.], dtype=float32)
    """
    return images.prepared(image, size, MEAN)


def _halved(x: Any) -> Any:
    return F.max_pooling_2d(x, 3, stride=2)


def _normalized(x: Any) -> Any:
    return F.local_response_normalization(x, n=5, k=1, alpha=1e-4 / 5)


def _averaged(x: Any) -> Any:
    return F.average_pooling_2d(x, 7, stride=1)


def _thinned(x: Any) -> Any:
    return F.average_pooling_2d(x, 5, stride=3)


def _dropped(x: Any) -> Any:
    return F.dropout(x, ratio=0.4)


def _modules(level: int, letters: str) -> Table:
    return {f"inception_{level}{letter}": (f"inc{level}{letter}",) for letter in letters}


def _classifier(name: str) -> tuple[str | Layer, ...]:
    return (_thinned, f"{name}_conv", F.relu, f"{name}_fc1", F.relu, f"{name}_fc2")


TABLE: Table = {
    "conv1": ("conv1", F.relu),
    "pool1": (_halved, _normalized),
    "conv2_reduce": ("conv2_reduce", F.relu),
    "conv2": ("conv2", F.relu, _normalized),
    "pool2": (_halved,),
    **_modules(3, "ab"),
    "pool3": (_halved,),
    **_modules(4, "abcde"),
    "pool4": (_halved,),
    **_modules(5, "ab"),
    "pool5": (_averaged,),
    "loss3_fc": (_dropped, "loss3_fc"),
    "prob": (F.softmax,),
    "loss1_fc2": _classifier("loss1"),
    "loss2_fc2": _classifier("loss2"),
}


class GoogLeNet(VisionModel):
    """GoogLeNet, which distinguishes 1000 kinds of things in images.

    Args:
        pretrained_model: A file with trained weights (.npz as Chainer's, .h5, .safetensors);
            'auto' looks for `bvlc_googlenet.npz` in the folder for models; None leaves random
            values, LeCunNormal for W and 0 for b.

    Its layers (`available_layers`) are `conv1`, `pool1`, `conv2_reduce`, `conv2`, `pool2`,
    `inception_3a` ... `inception_5b`, `pool5`, `loss3_fc`, `prob`, and those of the classifiers on
    the way, `loss1_fc2` and `loss2_fc2`. Shapes: x (n, 3, 224, 224) of prepared images, prob
    (n, 1000); up to inception_5b images of any size do.

    Source: Szegedy et al. 2015 (arXiv:1409.4842), table 1.

    >>> import core.links as L
    >>> L.GoogLeNet("weights.caffemodel")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: links.GoogLeNet: files of Caffe are not read here. ...
    """

    features = "pool5"
    prepare: ClassVar[Layer] = staticmethod(prepare)
    branches: ClassVar[dict[str, str]] = {"loss1_fc2": "inception_4a", "loss2_fc2": "inception_4d"}

    @checked
    def __init__(self, pretrained_model: Weights = "auto") -> None:
        path = weights.find("GoogLeNet", pretrained_model, "bvlc_googlenet.npz")
        super().__init__()
        self._table = TABLE
        initial = None if path is None else 0
        for name, window in CONVOLUTIONS.items():
            self.add_link(name, Convolution2D(*window, initialW=initial))
        for name, channels in INCEPTIONS.items():
            self.add_link(name, Inception(*channels, conv_init=initial))
        for name, sizes in FULLY_CONNECTED.items():
            self.add_link(name, Linear(*sizes, initialW=initial))
        weights.load(self, path)

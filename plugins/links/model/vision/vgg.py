"""VGG's networks: many convolutions of size 3, five times halved."""

from __future__ import annotations

from typing import Any, ClassVar

from core import functions as F
from core import initializers
from core.errors.kinds import checked
from core.typing import AnyArray
from plugins.links.connection.convolution import Convolution2D
from plugins.links.connection.linear import Linear
from plugins.links.model.vision import images, weights
from plugins.links.model.vision.model import Layer, Table, VisionModel, Weights

MEAN = (103.939, 116.779, 123.68)
CHANNELS = (64, 128, 256, 512, 512)
CONVOLUTIONS = {16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
"""How many there are before each halving, by the number of layers with weights."""
FULLY_CONNECTED = {"fc6": (512 * 7 * 7, 4096), "fc7": (4096, 4096), "fc8": (4096, 1000)}


def prepare(image: Any, size: images.Size = (224, 224)) -> AnyArray:
    """Prepare an image for VGG's networks: (3, h, w), BGR, each channel minus its mean.

    Args:
        image: An image of PIL; or an array (h, w), (h, w, channels), (1, h, w) or (3, h, w) of red,
            green and blue from 0 to 255, fractions cut off.
        size: Width and height to bring it to (which needs Pillow); None leaves it as it is.

    The result is a NumPy array of `core.config.dtype`.

    >>> import numpy as np
    >>> prepare(np.full((1, 1), 200), size=None).round(2).ravel()
    array([96.06, 83.22, 76.32], dtype=float32)
    """
    return images.prepared(image, size, MEAN)


def _halved(x: Any) -> Any:
    return F.max_pooling_2d(x, 2, stride=2)


def _table(n_layers: int) -> Table:
    """The layers of the network with `n_layers` layers that have weights."""
    table: Table = {}
    for block, n in enumerate(CONVOLUTIONS[n_layers], 1):
        names = [f"conv{block}_{i}" for i in range(1, n + 1)]
        table |= {name: (name, F.relu) for name in names}
        table[f"pool{block}"] = (_halved,)
    table |= {name: (name, F.relu, F.dropout) for name in ("fc6", "fc7")}
    return {**table, "fc8": ("fc8",), "prob": (F.softmax,)}


class VGGLayers(VisionModel):
    """VGG's network of 16 or 19 layers, which distinguishes 1000 kinds of things in images.

    Args:
        pretrained_model: A file with trained weights (.npz as Chainer's, .h5, .safetensors);
            'auto' looks for `VGG_ILSVRC_16_layers.npz` (or 19) in the folder for models; None
            leaves random values, N(0, 0.01²) for W and 0 for b.
        n_layers: 16 or 19.

    Its layers (`available_layers`) are `conv1_1`, `conv1_2`, `pool1` ... `pool5`, `fc6`, `fc7`,
    `fc8` and `prob`; outputs of convolutions and of fc6 and fc7 are rectified. Shapes: x
    (n, 3, 224, 224) of prepared images, prob (n, 1000); up to pool5 images of any size do.

    Source: Simonyan and Zisserman 2015 (arXiv:1409.1556), configurations D and E.

    >>> import core.links as L
    >>> L.VGGLayers("weights.caffemodel")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: links.VGGLayers: files of Caffe are not read here. ...
    """

    features = "fc7"
    prepare: ClassVar[Layer] = staticmethod(prepare)

    @checked
    def __init__(self, pretrained_model: Weights = "auto", n_layers: int = 16) -> None:
        if n_layers not in CONVOLUTIONS:
            raise ValueError(f"links.VGGLayers: expected n_layers of 16 or 19, got {n_layers!r}.")
        path = weights.find("VGGLayers", pretrained_model, f"VGG_ILSVRC_{n_layers}_layers.npz")
        super().__init__()
        self.n_layers = n_layers
        self._table = _table(n_layers)
        initial = initializers.Normal(0.01) if path is None else 0
        in_channels = 3
        for block, (n, channels) in enumerate(
            zip(CONVOLUTIONS[n_layers], CHANNELS, strict=True), 1
        ):
            for i in range(1, n + 1):
                layer = Convolution2D(in_channels, channels, 3, pad=1, initialW=initial)
                self.add_link(f"conv{block}_{i}", layer)
                in_channels = channels
        for name, sizes in FULLY_CONNECTED.items():
            self.add_link(name, Linear(*sizes, initialW=initial))
        weights.load(self, path)


class VGG16Layers(VGGLayers):
    """VGG's network of 16 layers: `VGGLayers` with n_layers = 16.

    >>> import core.links as L
    >>> issubclass(L.VGG16Layers, L.VGGLayers)
    True
    """

    @checked
    def __init__(self, pretrained_model: Weights = "auto") -> None:
        super().__init__(pretrained_model, 16)


class VGG19Layers(VGGLayers):
    """VGG's network of 19 layers: `VGGLayers` with n_layers = 19.

    >>> import core.links as L
    >>> issubclass(L.VGG19Layers, L.VGGLayers)
    True
    """

    @checked
    def __init__(self, pretrained_model: Weights = "auto") -> None:
        super().__init__(pretrained_model, 19)

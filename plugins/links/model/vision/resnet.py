"""Residual networks: each block adds a correction to its input."""

from __future__ import annotations

from typing import Any, ClassVar

from core import Chain, Variable, initializers
from core import functions as F
from core.errors.kinds import checked
from core.errors.removed import removed
from core.link.initializer import InitializerSpec
from core.typing import AnyArray, Array, Count
from plugins.links.connection.convolution import Convolution2D
from plugins.links.connection.linear import Linear
from plugins.links.model.vision import images, weights
from plugins.links.model.vision.model import Layer, Table, VisionModel, Weights
from plugins.links.normalization.batch_normalization import BatchNormalization

MEAN = (103.063, 115.903, 123.152)
BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
"""How many blocks there are at each of four sizes, by the number of layers with weights."""


def prepare(image: Any, size: images.Size = (224, 224)) -> AnyArray:
    """Prepare an image for residual networks: (3, h, w), BGR, each channel minus its mean.

    Args:
        image: An image of PIL; or an array (h, w), (h, w, channels), (1, h, w) or (3, h, w) of red,
            green and blue from 0 to 255, fractions cut off.
        size: Width and height to bring it to (which needs Pillow); None leaves it as it is.

    The result is a NumPy array of `core.config.dtype`.

    >>> import numpy as np
    >>> prepare(np.full((1, 1), 200), size=None).round(2).ravel()
    array([96.94, 84.1 , 76.85], dtype=float32)
    """
    return images.prepared(image, size, MEAN)


class _Bottleneck(Chain):
    """Convolutions of size 1, 3 and 1, `conv1` to `conv3`, each normalized by `bn1` to `bn3`."""

    @checked
    def __init__(
        self,
        in_channels: int,
        mid_channels: int,
        out_channels: int,
        strides: tuple[int, int] = (1, 1),
        initialW: InitializerSpec = None,
    ) -> None:
        super().__init__()
        self._initialW = initialW
        self._add(1, in_channels, mid_channels, 1, strides[0])
        self._add(2, mid_channels, mid_channels, 3, strides[1], 1)
        self._add(3, mid_channels, out_channels, 1)

    def _add(self, i: int, n: int, m: int, ksize: int, stride: int = 1, pad: int = 0) -> None:
        layer = Convolution2D(n, m, ksize, stride, pad, nobias=True, initialW=self._initialW)
        self.add_link(f"conv{i}", layer)
        self.add_link(f"bn{i}", BatchNormalization(m))

    def _convolved(self, i: int, x: Any) -> Any:
        return self[f"bn{i}"](self[f"conv{i}"](x))

    def _shortcut(self, x: Any) -> Any:
        """What the output of the convolutions is added to."""
        return x

    def forward(self, x: Array) -> Variable:
        """Apply the block to images (n, in_channels, h, w)."""
        y = F.relu(self._convolved(1, x))
        y = F.relu(self._convolved(2, y))
        return F.relu(self._convolved(3, y) + self._shortcut(x))


class BottleneckA(_Bottleneck):
    """A residual block that changes the channels, and the size of the images by `stride`.

    Args:
        in_channels: Channels of the input.
        mid_channels: Channels of the convolution of size 3.
        out_channels: Channels of the output.
        stride: By how much the images shrink.
        initialW: Initializer of all W, or a number; LeCunNormal by default.
        downsample_fb: Whether the convolution of size 3 shrinks them (as Facebook's networks), not
            that before it.

    Its children are `conv1` to `conv4` without biases and `bn1` to `bn4`; the fourth are those
    of the shortcut. Shapes: x (n, in_channels, h, w), y (n, out_channels, h / stride, w /
    stride), rounded up.

    Source: He et al. 2016 (arXiv:1512.03385), figure 5.

    >>> import core.links as L, numpy as np
    >>> L.BottleneckA(2, 3, 4)(np.ones((1, 2, 6, 6), "f")).shape
    (1, 4, 3, 3)
    """

    @checked
    def __init__(
        self,
        in_channels: int,
        mid_channels: int,
        out_channels: int,
        stride: Count = 2,
        initialW: InitializerSpec = None,
        downsample_fb: bool = False,
    ) -> None:
        strides = (1, stride) if downsample_fb else (stride, 1)
        super().__init__(in_channels, mid_channels, out_channels, strides, initialW)
        self._add(4, in_channels, out_channels, 1, stride)

    def _shortcut(self, x: Any) -> Any:
        return self._convolved(4, x)


class BottleneckB(_Bottleneck):
    """A residual block that keeps channels and size.

    Args:
        in_channels: Channels of input and output.
        mid_channels: Channels of the convolution of size 3.
        initialW: Initializer of all W, or a number; LeCunNormal by default.

    Its children are `conv1` to `conv3` without biases and `bn1` to `bn3`. Shapes: x and y
    (n, in_channels, h, w).

    Source: He et al. 2016 (arXiv:1512.03385), figure 5.

    >>> import core.links as L, numpy as np
    >>> L.BottleneckB(4, 3)(np.ones((1, 4, 6, 6), "f")).shape
    (1, 4, 6, 6)
    """

    @checked
    def __init__(
        self, in_channels: int, mid_channels: int, initialW: InitializerSpec = None
    ) -> None:
        super().__init__(in_channels, mid_channels, in_channels, initialW=initialW)


class BuildingBlock(Chain):
    """A `BottleneckA`, called `a`, followed by several `BottleneckB`, called `b1`, `b2` ...

    Args:
        n_layers: How many blocks there are in all; the keyword `n_layer` is the same.
        in_channels: Channels of the input.
        mid_channels: Channels of the convolutions of size 3.
        out_channels: Channels of the output.
        stride: By how much the first block shrinks images.
        initialW: Initializer of all W, or a number; LeCunNormal by default.
        downsample_fb: Which convolution shrinks them; see `BottleneckA`.

    Shapes: x (n, in_channels, h, w), y (n, out_channels, h / stride, w / stride), rounded up.

    >>> import core.links as L, numpy as np
    >>> block = L.BuildingBlock(3, 2, 3, 4, stride=2)
    >>> block(np.ones((1, 2, 6, 6), "f")).shape, [link.name for link in block.children()]
    ((1, 4, 3, 3), ['a', 'b1', 'b2'])
    """

    @checked
    @removed(renamed={"n_layer": "n_layers"})
    def __init__(
        self,
        n_layers: Count | None = None,
        in_channels: int | None = None,
        mid_channels: int | None = None,
        out_channels: int | None = None,
        stride: Count | None = None,
        initialW: InitializerSpec = None,
        downsample_fb: bool = False,
    ) -> None:
        sizes = (in_channels, mid_channels, out_channels, stride)
        if (
            n_layers is None
            or in_channels is None
            or mid_channels is None
            or out_channels is None
            or stride is None
        ):
            raise TypeError(
                "links.BuildingBlock: expected n_layers, in_channels, mid_channels, out_channels "
                f"and stride, got {n_layers}, {', '.join(map(str, sizes))}."
            )
        super().__init__()
        first = BottleneckA(
            in_channels, mid_channels, out_channels, stride, initialW, downsample_fb
        )
        self.add_link("a", first)
        for i in range(1, n_layers):
            self.add_link(f"b{i}", BottleneckB(out_channels, mid_channels, initialW))

    def forward(self, x: Array) -> Variable:
        """Apply the blocks to images (n, in_channels, h, w)."""
        y: Any = x
        for block in self.children():
            y = block(y)
        return y  # type: ignore[no-any-return]  # a Variable, as a block gives it


def _halved(x: Any) -> Any:
    return F.max_pooling_2d(x, 3, stride=2)


def _averaged(x: Any) -> Any:
    return F.average(x, axis=(2, 3))


TABLE: Table = {
    "conv1": ("conv1", "bn1", F.relu),
    "pool1": (_halved,),
    **{name: (name,) for name in ("res2", "res3", "res4", "res5")},
    "pool5": (_averaged,),
    "fc6": ("fc6",),
    "prob": (F.softmax,),
}


class ResNetLayers(VisionModel):
    """A residual network of 50, 101 or 152 layers, which distinguishes 1000 kinds of things.

    Args:
        pretrained_model: A file with trained weights (.npz as Chainer's, .h5, .safetensors);
            'auto' looks for `ResNet-50-model.npz` (or 101, 152) in the folder for models; None
            leaves random values, HeNormal for W of convolutions and LeCunNormal for that of fc6.
        n_layers: 50, 101 or 152.
        downsample_fb: Which convolution shrinks images; see `BottleneckA`. False is for the
            weights of the paper's authors.

    Its layers (`available_layers`) are `conv1`, `pool1`, `res2` ... `res5`, `pool5`, `fc6` and
    `prob`. Shapes: x (n, 3, h, w) of prepared images, h and w commonly 224; pool5 (n, 2048), prob
    (n, 1000).

    Source: He et al. 2016 (arXiv:1512.03385), table 1.

    >>> import core.links as L
    >>> L.ResNetLayers("weights.caffemodel", 50)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: links.ResNetLayers: files of Caffe are not read here. ...
    """

    features = "pool5"
    prepare: ClassVar[Layer] = staticmethod(prepare)

    @checked
    def __init__(
        self, pretrained_model: Weights, n_layers: int, downsample_fb: bool = False
    ) -> None:
        if n_layers not in BLOCKS:
            raise ValueError(
                f"links.ResNetLayers: expected n_layers of 50, 101 or 152, got {n_layers!r}."
            )
        path = weights.find("ResNetLayers", pretrained_model, f"ResNet-{n_layers}-model.npz")
        super().__init__()
        self._table = TABLE
        initialW = initializers.HeNormal() if path is None else 0
        self.add_link("conv1", Convolution2D(3, 64, 7, 2, 3, initialW=initialW))
        self.add_link("bn1", BatchNormalization(64))
        in_channels = 64
        for i, n in enumerate(BLOCKS[n_layers]):
            sizes = (in_channels, 64 * 2**i, 256 * 2**i, 1 if i == 0 else 2)
            self.add_link(f"res{i + 2}", BuildingBlock(n, *sizes, initialW, downsample_fb))
            in_channels = 256 * 2**i
        self.add_link("fc6", Linear(2048, 1000, initialW=None if path is None else 0))
        weights.load(self, path)

    @classmethod
    def convert_caffemodel_to_npz(
        cls,
        path_caffemodel: str,
        path_npz: str,
        n_layers: int = 50,
    ) -> None:
        """Refused: Caffe's files are not read here."""
        super().convert_caffemodel_to_npz(path_caffemodel, path_npz)


class ResNet50Layers(ResNetLayers):
    """A residual network of 50 layers: `ResNetLayers` with n_layers = 50.

    >>> import core.links as L
    >>> issubclass(L.ResNet50Layers, L.ResNetLayers)
    True
    """

    @checked
    def __init__(self, pretrained_model: Weights = "auto", downsample_fb: bool = False) -> None:
        super().__init__(pretrained_model, 50, downsample_fb)


class ResNet101Layers(ResNetLayers):
    """A residual network of 101 layers: `ResNetLayers` with n_layers = 101.

    >>> import core.links as L
    >>> issubclass(L.ResNet101Layers, L.ResNetLayers)
    True
    """

    @checked
    def __init__(self, pretrained_model: Weights = "auto", downsample_fb: bool = False) -> None:
        super().__init__(pretrained_model, 101, downsample_fb)


class ResNet152Layers(ResNetLayers):
    """A residual network of 152 layers: `ResNetLayers` with n_layers = 152.

    >>> import core.links as L
    >>> issubclass(L.ResNet152Layers, L.ResNetLayers)
    True
    """

    @checked
    def __init__(self, pretrained_model: Weights = "auto", downsample_fb: bool = False) -> None:
        super().__init__(pretrained_model, 152, downsample_fb)

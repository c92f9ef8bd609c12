"""Models of Caffe's as links: its layers in the words of ONNX's operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from core import Variable, as_variable
from core.errors import CheckpointDamaged, CheckpointError
from core.errors.kinds import checked
from core.typing import Array
from plugins.imported.caffe_message import Message, array_of
from plugins.imported.message import Graph, Node
from plugins.imported.onnx_model import GraphModel, named_arrays
from plugins.serializers.entries import File, contents

OPSET = 20

# The fields of V1LayerParameter, and of LayerParameter, that have settings of layers; and the
# numbers by which the former calls its types.
_PARAMETERS = {
    "Concat": (9, 104),
    "Convolution": (10, 106),
    "Deconvolution": (10, 106),
    "Dropout": (12, 108),
    "Eltwise": (24, 110),
    "ELU": (0, 140),
    "Flatten": (0, 135),
    "InnerProduct": (17, 117),
    "LRN": (18, 118),
    "Pooling": (19, 121),
    "BatchNorm": (0, 139),
    "ReLU": (30, 123),
    "Reshape": (0, 133),
    "Scale": (0, 142),
    "Slice": (31, 126),
    "Softmax": (39, 125),
}
_OLD_TYPES = {
    1: "Accuracy",
    3: "Concat",
    4: "Convolution",
    5: "Data",
    6: "Dropout",
    7: "EuclideanLoss",
    8: "Flatten",
    9: "HDF5Data",
    12: "ImageData",
    13: "InfogainLoss",
    14: "InnerProduct",
    15: "LRN",
    16: "MultinomialLogisticLoss",
    17: "Pooling",
    18: "ReLU",
    19: "Sigmoid",
    20: "Softmax",
    21: "SoftmaxWithLoss",
    22: "Split",
    23: "TanH",
    24: "WindowData",
    25: "Eltwise",
    27: "SigmoidCrossEntropyLoss",
    28: "HingeLoss",
    29: "MemoryData",
    32: "DummyData",
    33: "Slice",
    36: "Silence",
    37: "ContrastiveLoss",
    39: "Deconvolution",
}
_SOURCES = {"Data", "ImageData", "HDF5Data", "MemoryData", "WindowData", "Input", "DummyData"}
_MEASURES = {"Accuracy", "SoftmaxWithLoss", "Silence"}
"""Layers for training alone, beside all others whose names end in Loss."""


class CaffeFunction(GraphModel):
    """A model of Caffe's, a `.caffemodel` file, as a link.

    Args:
        model_path: A path, or a file open for reading bytes.

    It is called by names of blobs, `model(inputs={"data": x}, outputs=["fc8"])`, and gives a tuple.
    Known are the layers Convolution, Deconvolution, InnerProduct, Pooling, LRN, BatchNorm, Scale,
    ReLU, ELU, Sigmoid, TanH, Softmax, Dropout, Concat, Slice, Split, Eltwise, Flatten and Reshape,
    of both versions of the format; layers for training alone are left out. Parameters are called
    after the layers, as `conv1_W` and `conv1_b`.

    Attributes:
        blobs: The names that can be asked for.

    Raises:
        CheckpointDamaged: The file is no model of Caffe's.
        CheckpointError: It has layers that are not known, by name.
    """

    def __init__(self, model_path: File) -> None:
        data, label = contents("CaffeFunction", model_path)
        try:
            graph, self._latest = _Translation(Message(data)).graph()
        except CheckpointDamaged as error:
            raise CheckpointDamaged(f"{label}: {error} Use another copy.") from None
        except CheckpointError as error:
            raise CheckpointError(f"{label}: {error}") from None
        super().__init__(graph)
        self.blobs = tuple(self._latest)

    @checked
    def forward(
        self, inputs: Mapping[str, Array], outputs: Sequence[str], disable: Iterable[str] = ()
    ) -> tuple[Variable, ...]:
        """Run the layers.

        Args:
            inputs: Arrays by the names of blobs.
            outputs: Names of the blobs that are wanted.
            disable: Names of layers to leave out: their first input is passed on.

        Returns:
            The blobs, in this order.

        Raises:
            ValueError: A name is unknown.
        """
        unknown = [name for name in outputs if name not in self._latest]
        if unknown:
            raise ValueError(
                f"CaffeFunction: expected names of blobs ({', '.join(self.blobs)}), got "
                f"{', '.join(map(repr, unknown))}."
            )
        given = {name: as_variable(x) for name, x in named_arrays("CaffeFunction", inputs).items()}
        return tuple(self._run(given, [self._latest[name] for name in outputs], [*disable]))


class _Translation:
    def __init__(self, net: Message) -> None:
        self._net = net
        self._nodes: list[Node] = []
        self._arrays: dict[str, Any] = {}
        self._latest: dict[str, str] = {}
        self._inputs: list[str] = []
        self._unknown: dict[str, None] = {}

    def graph(self) -> tuple[Graph, dict[str, str]]:
        old, new = self._net.messages(2), self._net.messages(100)
        if not old and not new:
            raise CheckpointDamaged("it is no model of Caffe's: there are no layers in it.")
        for name in self._net.texts(3):
            self._input(name)
        for layer in old:
            kind = layer.integer(5, 0)
            self._layer(layer, _OLD_TYPES.get(kind, f"type {kind}"), (4, 2, 3, 6, 32, 33), 0)
        for layer in new:
            self._layer(layer, layer.text(2), (1, 3, 4, 7, 8, 9), 1)
        if self._unknown:
            raise CheckpointError(
                f"the model has layers that are not known here: {', '.join(self._unknown)}."
            )
        graph = Graph(tuple(self._inputs), (), self._arrays, tuple(self._nodes))
        return graph, self._latest

    def _input(self, name: str) -> str:
        self._inputs.append(name)
        self._latest[name] = name
        return name

    def _layer(self, layer: Message, kind: str, places: tuple[int, ...], version: int) -> None:
        name = layer.text(places[0])
        phases = [rule.integer(1, 1) for rule in layer.messages(places[4])]
        excluded = [rule.integer(1, 0) for rule in layer.messages(places[5])]
        trained = kind in _MEASURES or kind.endswith("Loss")
        if trained or 1 in excluded or (phases and 1 not in phases):
            return
        tops = layer.texts(places[2])
        if kind in _SOURCES:
            for top in tops:
                if top not in self._latest:
                    self._input(top)
            return
        translate = _LAYERS.get(kind)
        if translate is None:
            self._unknown[kind] = None
            return
        bottoms = [self._latest.get(b) or self._input(b) for b in layer.texts(places[1])]
        number = _PARAMETERS.get(kind, (0, 0))[version]
        settings = layer.message(number) if number else Message(b"")
        blobs = [array_of(blob) for blob in layer.messages(places[3])]
        results = [f"{top}:{len(self._nodes)}" for top in tops]
        try:
            translate(_Layer(self, name, settings, blobs, bottoms, results))
        except CheckpointError:
            raise
        except (IndexError, ValueError):  # of what is counted or shaped otherwise than it should be
            raise CheckpointDamaged(
                f"layer {name}: expected what a {kind} has, got {len(bottoms)} inputs, "
                f"{len(results)} outputs and arrays of {[b.shape for b in blobs]}."
            ) from None
        self._latest.update(zip(tops, results, strict=True))

    def add(self, layer: str, op: str, inputs: Any, outputs: Any, **settings: Any) -> None:
        """Add an operator, that belongs to a layer."""
        node = Node(op, layer, OPSET, settings, tuple(inputs), tuple(outputs))
        self._nodes.append(node)

    def array(self, name: str, array: Any) -> str:
        """Keep an array under a name."""
        self._arrays[name] = array
        return name


class _Layer:
    """What the translation of a layer is given."""

    def __init__(
        self, net: _Translation, name: str, settings: Message, blobs: Any, bottoms: Any, tops: Any
    ) -> None:
        self._net, self.name, self.settings, self.blobs = net, name, settings, blobs
        self.bottoms, self.tops = bottoms, tops

    def add(self, op: str, *inputs: str, outputs: Any = None, **settings: Any) -> None:
        """Add an operator of the layer's inputs, or of others."""
        self._net.add(self.name, op, inputs or self.bottoms, outputs or self.tops, **settings)

    def array(self, suffix: str, array: Any) -> str:
        """An array of the layer's own."""
        return self._net.array(f"{self.name}_{suffix}", array)

    def weights(self, W: Any) -> list[str]:
        """The layer's own W, and b where it has one."""
        biases = [self.array("b", b.reshape(-1)) for b in self.blobs[1:2]]
        return [self.array("W", W), *biases]

    def sizes(self, both: int, height: int, width: int, default: int) -> list[int]:
        """Settings for height and width, given together or apart."""
        m = self.settings
        if height in m or width in m:
            return [m.integer(height, default), m.integer(width, default)]
        found = m.integers(both) or [default]
        return (found * 2)[:2]


def _plain(op: str, **settings: Any) -> Callable[[_Layer], None]:
    return lambda layer: layer.add(op, **settings)


def _convolution(op: str) -> Callable[[_Layer], None]:
    def translate(layer: _Layer) -> None:
        m = layer.settings
        pads = layer.sizes(3, 9, 10, 0)
        layer.add(
            op,
            layer.bottoms[0],
            *layer.weights(layer.blobs[0]),
            strides=layer.sizes(6, 13, 14, 1),
            pads=pads * 2,
            dilations=((m.integers(18) or [1]) * 2)[:2],
            group=m.integer(5, 1),
        )

    return translate


def _inner_product(layer: _Layer) -> None:
    if layer.settings.integer(5, 1) != 1 or layer.settings.integer(6, 0):
        raise CheckpointError(f"layer {layer.name}: InnerProduct of another axis, or transposed.")
    W = layer.blobs[0]
    W = W.reshape(W.shape[-2:])
    flat = f"{layer.tops[0]}.flat"
    layer.add("Flatten", layer.bottoms[0], outputs=[flat])
    layer.add("Gemm", flat, *layer.weights(W), transB=1)


def _pooling(layer: _Layer) -> None:
    m = layer.settings
    kind = m.integer(1, 0)
    if kind > 1:
        raise CheckpointError(f"layer {layer.name}: stochastic pooling.")
    if m.integer(12, 0):
        layer.add("GlobalAveragePool" if kind else "GlobalMaxPool")
        return
    layer.add(
        "AveragePool" if kind else "MaxPool",
        kernel_shape=layer.sizes(2, 5, 6, 1),
        strides=layer.sizes(3, 7, 8, 1),
        pads=layer.sizes(4, 9, 10, 0) * 2,
        ceil_mode=1 - m.integer(13, 0),
        count_include_pad=1,
    )


def _lrn(layer: _Layer) -> None:
    m = layer.settings
    if m.integer(4, 0):
        raise CheckpointError(f"layer {layer.name}: LRN within channels.")
    more = {"alpha": m.number(2, 1.0), "beta": m.number(3, 0.75), "bias": m.number(5, 1.0)}
    layer.add("LRN", size=m.integer(1, 5), **more)


def _batch_norm(layer: _Layer) -> None:
    mean, var, factor = [blob.reshape(-1) for blob in layer.blobs[:3]]
    scale = 0.0 if factor[0] == 0 else 1 / factor[0]
    ones = np.ones_like(mean)
    names = [
        layer.array("gamma", ones),
        layer.array("beta", ones * 0),
        layer.array("mean", mean * scale),
        layer.array("var", var * scale),
    ]
    layer.add(
        "BatchNormalization", layer.bottoms[0], *names, epsilon=layer.settings.number(3, 1e-5)
    )


def _scale(layer: _Layer) -> None:
    m = layer.settings
    if not layer.blobs or m.integer(1, 1) != 1 or m.integer(2, 1) != 1:
        raise CheckpointError(f"layer {layer.name}: Scale of two inputs, or of other axes.")
    turned, scaled, moved = (f"{layer.tops[0]}.{name}" for name in ("turned", "scaled", "moved"))
    # with the axes backwards channels are the last but one, however many there are
    layer.add("Transpose", layer.bottoms[0], outputs=[turned])
    layer.add("Mul", turned, layer.array("W", layer.blobs[0].reshape(-1, 1)), outputs=[scaled])
    if len(layer.blobs) > 1:
        b = layer.array("b", layer.blobs[1].reshape(-1, 1))
        layer.add("Add", scaled, b, outputs=[moved])
    layer.add("Transpose", moved if len(layer.blobs) > 1 else scaled)


def _relu(layer: _Layer) -> None:
    slope = layer.settings.number(1, 0.0)
    if slope:
        layer.add("LeakyRelu", alpha=slope)
    else:
        layer.add("Relu")


def _eltwise(layer: _Layer) -> None:
    kind, weights = layer.settings.integer(1, 1), layer.settings.floats(2)
    if kind != 1 or not len(weights):
        ops = ("Mul", "Sum", "Max")
        inputs = list(layer.bottoms)
        while ops[kind] == "Mul" and len(inputs) > 2:
            made = f"{layer.tops[0]}.{len(inputs)}"
            layer.add("Mul", *inputs[:2], outputs=[made])
            inputs[:2] = [made]
        layer.add(ops[kind], *inputs)
        return
    scaled = []
    for i, (bottom, weight) in enumerate(zip(layer.bottoms, weights, strict=True)):
        scaled.append(f"{layer.tops[0]}.{i}")
        factor = layer.array(f"coeff{i}", np.asarray(weight, "f"))
        layer.add("Mul", bottom, factor, outputs=[scaled[-1]])
    layer.add("Sum", *scaled)


def _concat(layer: _Layer) -> None:
    m = layer.settings
    layer.add("Concat", axis=m.integer(2, m.integer(1, 1)))


def _slice(layer: _Layer) -> None:
    m = layer.settings
    points = m.integers(2)
    axis = m.integer(3, m.integer(1, 1))
    if points:
        ends = [0, *points, 1 << 62]
        for top, start, end in zip(layer.tops, ends, ends[1:], strict=False):
            layer.add("Slice", outputs=[top], starts=[start], ends=[end], axes=[axis])
    else:
        layer.add("Split", axis=axis, num_outputs=len(layer.tops))


def _flatten(layer: _Layer) -> None:
    if layer.settings.integer(1, 1) != 1 or 2 in layer.settings:
        raise CheckpointError(f"layer {layer.name}: Flatten of some axes alone.")
    layer.add("Flatten")


def _reshape(layer: _Layer) -> None:
    if 2 in layer.settings or 3 in layer.settings:
        raise CheckpointError(f"layer {layer.name}: Reshape of some axes alone.")
    shape = np.asarray(layer.settings.message(1).integers(1), "int64")
    layer.add("Reshape", layer.bottoms[0], layer.array("shape", shape))


def _dropout(layer: _Layer) -> None:
    ratio = layer.array("ratio", np.asarray(layer.settings.number(1, 0.5), "f"))
    layer.add("Dropout", layer.bottoms[0], ratio, layer.array("training", np.asarray(True)))


def _split(layer: _Layer) -> None:
    for top in layer.tops:
        layer.add("Identity", outputs=[top])


_LAYERS: dict[str, Callable[[_Layer], None]] = {
    "BatchNorm": _batch_norm,
    "Concat": _concat,
    "Convolution": _convolution("Conv"),
    "Deconvolution": _convolution("ConvTranspose"),
    "Dropout": _dropout,
    "ELU": lambda layer: layer.add("Elu", alpha=layer.settings.number(1, 1.0)),
    "Eltwise": _eltwise,
    "Flatten": _flatten,
    "InnerProduct": _inner_product,
    "LRN": _lrn,
    "Pooling": _pooling,
    "ReLU": _relu,
    "Reshape": _reshape,
    "Scale": _scale,
    "Sigmoid": _plain("Sigmoid"),
    "Slice": _slice,
    "Softmax": lambda layer: layer.add("Softmax", axis=layer.settings.integer(2, 1)),
    "Split": _split,
    "TanH": _plain("Tanh"),
}

"""Models whose inputs have more open axes than that of the batch, for other sizes of these."""

import numpy as np
import onnx
import pytest
from onnx_runs import compare, exported

import core
import core.functions as F
import core.links as L
from core.errors import ExportError

RNG = np.random.default_rng(0)
LENGTH = {"x0": {1: "length"}}
IMAGE = {"x0": {2: "height", 3: "width"}}


def check(model, base, others, dynamic_axes, batch="batch", **settings):
    """The file made with arrays of one size gives what the model does with those of others."""
    draw = lambda shape: RNG.normal(size=shape).astype("f")  # noqa: E731
    with core.using_config("train", False), core.no_backprop_mode():
        inputs = tuple(map(draw, base))
        model(*inputs)
        settings |= {"batch": batch, "dynamic_axes": dynamic_axes}
        message = exported(model, inputs, **settings)
        for shapes in others:
            inputs = tuple(map(draw, shapes))
            compare(message, inputs, [core.as_array(model(*inputs))])
    return message


def dims(message):
    shapes = [x.type.tensor_type.shape.dim for x in (*message.graph.input, *message.graph.output)]
    return [[d.dim_param or d.dim_value for d in shape] for shape in shapes]


@pytest.mark.parametrize("opset", [20, 23])
def test_attention_over_any_length(opset):
    block = L.TransformerBlock(8, 2, causal=True)
    message = check(block, [(2, 4, 8)], [[(1, 1, 8)], [(3, 9, 8)]], LENGTH, opset=opset)
    assert dims(message) == [["batch", "length", 8]] * 2


def test_two_lengths():
    block = L.TransformerBlock(8, 2, memory_size=6)
    message = check(
        lambda x, memory: block(x, None, memory),
        [(2, 4, 8), (2, 5, 6)],
        [[(1, 3, 8), (1, 3, 6)], [(3, 2, 8), (3, 7, 6)]],
        LENGTH | {"x1": {-2: "other"}},
    )
    assert dims(message)[1:] == [["batch", "other", 6], ["batch", "length", 8]]


def counted(x):
    """Shares of the length, multiples of it, and what is cut by it."""
    mean = F.mean(x, axis=(0, 1)) + F.sum(x, axis=1) / (x.shape[1] - 1)
    mean += x.var(axis=1, ddof=1)
    pairs = F.sum(F.reshape(F.matmul(x, x, transb=True), (len(x), -1)), axis=1, keepdims=True)
    return (
        mean * x.shape[1] + pairs + F.sum(x[:, 1:] * x[:, :-1], axis=1) + F.sum(x[:, ::3], axis=1)
    )


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), (1, 2)])
def test_statistics_over_open_axes(name, axis):
    for ddof in (0, 1):
        model = lambda x: getattr(x, name)(axis=axis, ddof=ddof, keepdims=True) + x  # noqa: B023, E731
        check(model, [(2, 5, 3)], [[(2, 3, 3)], [(4, 8, 3)]], LENGTH)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_products_along_open_axes(axis):
    model = lambda x: F.cumprod(x, axis)  # noqa: E731
    check(model, [(2, 5, 3)], [[(1, 3, 3)], [(4, 8, 3)]], LENGTH)


def test_numbers_that_follow_a_length():
    check(counted, [(2, 5, 3)], [[(1, 3, 3)], [(4, 8, 3)], [(2, 13, 3)]], LENGTH)
    check(counted, [(2, 5, 3)], [[(2, 3, 3)], [(2, 8, 3)]], LENGTH, batch=None)


def test_arrays_that_are_made_as_long_as_an_axis():
    places = L.EmbedID(16, 3)
    eye = lambda x, k: x.__array_namespace__().eye(x.shape[1], 4, k=k, dtype=x.dtype)  # noqa: E731
    halves = lambda x: x.__array_namespace__().arange(x.shape[1], dtype="float16")  # noqa: E731
    for model in (
        lambda x: x + F.cast(halves(x), x.dtype)[:, None],
        lambda x: x + places(places.xp.arange(x.shape[1])),
        lambda x: x + places.W[: x.shape[1]],
        lambda x: F.matmul(x, eye(x, 1) - eye(x, -2), transa=True),
    ):
        check(model, [(2, 5, 3)], [[(1, 1, 3)], [(3, 7, 3)]], LENGTH)


@pytest.mark.parametrize(
    "name", ["NStepLSTM", "NStepBiLSTM", "NStepGRU", "NStepBiGRU", "NStepBiRNNTanh", "NStepRNNReLU"]
)
def test_sequences_of_any_length(name):
    layers = getattr(L, name)(2, 3, 4, 0.0)
    (kind,) = [each for each in ("LSTM", "GRU", "RNN") if each in name]
    none = [None] * (2 if kind == "LSTM" else 1)
    model = lambda x: F.stack(layers(*none, list(F.separate(x, axis=0)))[-1])  # noqa: E731
    others = [[(2, n, 3)] for n in (1, 4, 9)]
    message = check(model, [(2, 5, 3)], others, LENGTH, batch=None)
    assert [n.op_type for n in message.graph.node].count(kind) == len(layers)


@pytest.mark.parametrize("name", ["NStepLSTM", "NStepBiGRU", "NStepRNNTanh"])
def test_any_number_of_sequences_of_any_length(name):
    layers = getattr(L, name)(2, 3, 4, 0.0)
    none = [None] * layers.n_cells
    others = [[(1, 5, 3)], [(3, 1, 3)], [(4, 9, 3)]]
    message = check(lambda x: layers(*none, x)[-1], [(2, 5, 3)], others, LENGTH)
    assert dims(message) == [["batch", "length", 3], ["batch", "length", 4 * len(layers) // 2]]


class Pyramid(core.Chain):
    """Halves an image, doubles it again, and puts both beside each other."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.down = L.Convolution2D(2, 3, 3, pad=1)
            self.low = L.Convolution2D(3, 3, 3, pad=1)
            self.up = L.Deconvolution2D(3, 3, 2, stride=2)

    def forward(self, x):
        high = F.relu(self.down(x))
        return F.concat([high, self.up(self.low(F.max_pooling_2d(high, 2)))])


def test_images_of_any_size():
    model = core.Sequential(
        L.Convolution2D(2, 4, 5, stride=2, pad=1),
        lambda x: F.max_pooling_2d(x, 3, stride=2, pad=1),
        L.BatchNormalization(4),
        lambda x: F.average_pooling_2d(x, 2, stride=2),
        lambda x: F.resize_images(x, (2 * x.shape[2], x.shape[3] + 3)),
        lambda x: F.transpose(F.reshape(x, (*x.shape[:2], -1)), (0, 2, 1)),
    )
    sizes = [[(1, 2, 41, 26)], [(3, 2, 30, 55)], [(1, 2, 35, 38)]]
    message = check(model, [(2, 2, 36, 24)], sizes, IMAGE)
    assert [n.op_type for n in message.graph.node][:5] == [
        *["Conv", "MaxPool", "BatchNormalization", "AveragePool", "Shape"],
    ]
    message = check(Pyramid(), [(2, 2, 8, 12)], [[(1, 2, 4, 6)], [(3, 2, 22, 10)]], IMAGE)
    assert dims(message) == [["batch", 2, "height", "width"], ["batch", 6, "height", "width"]]


def test_sizes_that_are_even_in_the_first_traces():
    """Every second of those may be taken for half of them; it is not where the size is odd."""
    halved = lambda x: F.resize_images(x[:, :, ::2], (2 * -(-x.shape[2] // 2), 4))  # noqa: E731
    model = lambda x: halved(F.max_pooling_2d(x, 1, stride=3, cover_all=False))  # noqa: E731
    for size in (37, 40, 46):
        check(model, [(1, 1, size, 4)], [[(1, 1, n, 4)] for n in (25, 28, 31)], {"x0": {2: "n"}})


def test_settings_that_follow_the_batch():
    """An operator has its settings in the file, so that the formula is written."""
    for model in (
        lambda x: F.leaky_relu(x, slope=1 / len(x)),
        lambda x: F.elu(x, alpha=float(len(x))),
        lambda x: F.scaled_dot_product_attention(x, x, x, scale=1 / len(x)),
    ):
        check(model, [(2, 2, 5, 3)], [[(n, 2, 5, 3)] for n in (1, 7)], None, opset=23)


def test_pooling_of_whole_images():
    for pool, kind in ((F.average_pooling_2d, "AveragePool"), (F.max_pooling_2d, "MaxPool")):
        model = lambda x, pool=pool: pool(x, x.shape[2:])  # noqa: E731
        message = check(model, [(2, 3, 5, 5)], [[(1, 3, 8, 6)], [(3, 3, 5, 9)]], IMAGE)
        assert [n.op_type for n in message.graph.node] == [f"Global{kind}", "Identity"]


def test_inputs_that_are_none_are_refused():
    for inputs in (None, (None,)):
        with pytest.raises(ExportError, match="expected an array, or a tuple of them, as inputs"):
            exported(F.relu, inputs)


def test_what_cannot_be_open_is_refused():
    x = np.zeros((2, 4, 3), "f")
    for model, said in (
        (
            lambda x: x + np.arange(x.shape[1], dtype="f")[:, None],
            r"as by numpy\.arange.*makes follows it",
        ),
        (lambda x: F.sum(F.stack([F.exp(x[:, i]) for i in range(x.shape[1])])), "other things"),
        (lambda x: F.sum(x) * x.shape[1] ** 0.3, r"got 1\.5\d*, "),
        (lambda x: F.unpooling_2d(x[:, None], 2, cover_all=False), "windows lie along an axis"),
    ):
        with pytest.raises(ExportError, match=f"{said}.*dynamic_axes|{said}"):
            exported(model, x, dynamic_axes=LENGTH)
    for axes, said in (
        ({"y": {1: "n"}}, "expected inputs in dynamic_axes, of x0, got 'y'"),
        ({"x0": [1]}, r"as {'x0': {1: 'length'}}, got {'x0': \[1\]}"),
        ({"x0": {"1": "n"}}, "expected names of axes by inputs and numbers"),
        ("x0", "expected names of axes by inputs and numbers.*, got 'x0'"),
        ({"x0": {1: 5}}, "each with a name, got 1: 5"),
        ({"x0": {3: "n"}}, "which has 3, each with a name, got 3: 'n'"),
        ({"x0": {1: ""}}, "each with a name, got 1: ''"),
        ({"x0": {1: "n", 2: "n"}}, "axes of one size for the name 'n', got 4, and 3 of axis 2"),
    ):
        with pytest.raises(ExportError, match=said):
            exported(F.relu, x, dynamic_axes=axes)
    message = exported(F.relu, x, dynamic_axes={"x0": {0: "n"}})
    onnx.checker.check_model(message)
    assert dims(message) == [["n", 4, 3]] * 2

"""Models of Caffe's, written here field by field as its format says, beside the same layers."""

import struct

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.errors import CheckpointDamaged, CheckpointError

RNG = np.random.default_rng(0)


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    """An integer, a float, text, a message, an array of floats, or a list of fields."""
    if isinstance(value, list):
        return b"".join([field(number, each) for each in value])
    if isinstance(value, bool | int):
        return varint(number << 3) + varint(int(value))
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    data = data.astype("<f4").tobytes() if isinstance(data, np.ndarray) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(fields):
    return b"".join([field(number, value) for number, value in fields.items()])


def blob(array, old=False):
    if old:
        shape = (1,) * (4 - array.ndim) + array.shape
        return message({1: shape[0], 2: shape[1], 3: shape[2], 4: shape[3], 5: array.ravel()})
    return message({7: message({1: list(array.shape)}), 5: array.ravel()})


PARAMETERS = {"Concat": 104, "Convolution": 106, "Eltwise": 110, "InnerProduct": 117, "LRN": 118,
              "Pooling": 121, "ReLU": 123, "BatchNorm": 139, "Scale": 142, "Slice": 126,
              "Softmax": 125, "Dropout": 108, "Deconvolution": 106, "ELU": 140, "Flatten": 135,
              "Reshape": 133}  # fmt: skip


def layer(kind, name, bottoms, tops, settings=None, blobs=(), phase=None):
    fields = {1: name, 2: kind, 3: list(bottoms), 4: list(tops), 7: [blob(b) for b in blobs]}
    if settings:
        fields[PARAMETERS[kind]] = message(settings)
    if phase is not None:
        fields[8] = message({1: phase})
    return message(fields)


def saved(tmp_path, layers, number=100, **more):
    path = tmp_path / "net.caffemodel"
    path.write_bytes(message({1: "net", **more.get("fields", {}), number: layers}))
    return path


def f(*shape):
    return RNG.normal(size=shape).astype("f")


def test_a_network_of_many_layers(tmp_path):
    conv, bias, gamma, beta = f(4, 1, 3, 3), f(4), f(4), f(4)
    mean, var, fc, fcb, up = f(4), abs(f(4)), f(5, 8 * 4 * 4), f(5), f(8, 3, 2, 2)
    stats = [2 * mean, 2 * var, np.full(1, 2.0)]
    path = saved(tmp_path, [
        layer("Data", "data", [], ["data", "label"], phase=0),
        layer("Input", "in", [], ["data"]),
        layer("Convolution", "conv", ["data"], ["conv"], {4: 3, 3: 1, 6: 1, 5: 2}, [conv, bias]),
        layer("BatchNorm", "bn", ["conv"], ["conv"], {3: 1e-3}, stats),
        layer("Scale", "scale", ["conv"], ["conv"], {5: True}, [gamma, beta]),
        layer("ReLU", "relu", ["conv"], ["conv"]),
        layer("Pooling", "pool", ["conv"], ["pool"], {2: 3, 3: 2}),
        layer("LRN", "norm", ["pool"], ["norm"], {1: 3, 2: 0.1, 3: 0.5}),
        layer("Split", "split", ["norm"], ["a", "b"]),
        layer("Eltwise", "sum", ["a", "b"], ["s"], {2: np.array([1.0, -0.5])}),
        layer("Concat", "cat", ["s", "b"], ["cat"]),
        layer("Deconvolution", "up", ["cat"], ["up"], {4: 2, 6: 2}, [up]),
        layer("Dropout", "drop", ["cat"], ["cat"], {1: 0.5}),
        layer("InnerProduct", "fc", ["cat"], ["fc"], {1: 5}, [fc, fcb]),
        layer("Slice", "slice", ["fc"], ["left", "right"], {2: [2]}),
        layer("Softmax", "prob", ["fc"], ["prob"]),
        layer("SoftmaxWithLoss", "loss", ["fc", "label"], ["loss"]),
    ])  # fmt: skip
    model = L.CaffeFunction(path)
    x = f(2, 2, 8, 8)
    h = F.relu(
        F.fixed_batch_normalization(
            F.convolution_2d(x, conv, bias, pad=1, groups=2), gamma, beta, mean, var, eps=1e-3
        )
    )
    pool = F.max_pooling_2d(h, 3, 2)
    norm = F.local_response_normalization(pool, 3, 1, 0.1 / 3, 0.5)
    cat = F.concat([norm * 0.5, norm], axis=1)
    expected = {
        "conv": h, "pool": pool, "cat": cat, "up": F.deconvolution_2d(cat, up, stride=2),
        "fc": F.linear(cat, fc, fcb), "prob": F.softmax(F.linear(cat, fc, fcb)),
    }  # fmt: skip
    expected["right"] = expected["fc"][:, 2:]
    with core.using_config("train", False):
        found = model(inputs={"data": x}, outputs=list(expected))
        for one, other in zip(found, expected.values(), strict=True):
            np.testing.assert_allclose(one.array, other.array, rtol=1e-4, atol=1e-5)
        (plain,) = model({"data": x}, ["pool"], disable={"relu"})
        assert (plain.array < 0).any() and not (found[1].array < 0).any()
    (y,) = model({"data": x}, ["prob"])
    F.sum(y * y).backward()
    assert model.conv_W.grad is not None and model.fc_b.grad.any()
    with pytest.raises(ValueError, match=r"names of blobs \(data, .*got 'loss'"):
        model({"data": x}, ["loss"])


def test_the_old_format(tmp_path):
    W, b = f(3, 4), f(3)
    fields = {
        2: "data",
        3: "fc",
        4: "fc",
        5: 14,
        6: [blob(W, True), blob(b, True)],
        17: message({1: 3}),
    }
    relu = {2: "fc", 3: "fc", 4: "relu", 5: 18, 30: message({1: 0.1})}
    path = saved(tmp_path, [message(fields), message(relu)], 2, fields={3: "data"})
    model = L.CaffeFunction(path)
    x = f(2, 4)
    (y,) = model(inputs={"data": x}, outputs=["fc"])
    np.testing.assert_allclose(y.array, F.leaky_relu(F.linear(x, W, b), 0.1).array, rtol=1e-5)
    assert {path for path, _ in model.namedparams()} == {"/fc_W", "/fc_b"}


X, Y, Z = f(2, 4, 3, 5), f(2, 4, 3, 5), f(2, 4, 3, 5)
ALONE = {
    "ELU": ({1: 0.5}, lambda x, y, z: F.elu(x, 0.5)),
    "Flatten": (None, lambda x, y, z: F.reshape(x, (2, 60))),
    "Reshape": ({1: message({1: [0, 2, -1]})}, lambda x, y, z: F.reshape(x, (2, 2, 30))),
    "Sigmoid": (None, lambda x, y, z: F.sigmoid(x)),
    "TanH": (None, lambda x, y, z: F.tanh(x)),
    "ReLU": ({1: 0.1}, lambda x, y, z: F.leaky_relu(x, 0.1)),
    "Softmax": ({2: 2}, lambda x, y, z: F.softmax(x, axis=2)),
    "Eltwise": ({1: 0}, lambda x, y, z: x * y * z),
    "Eltwise, the largest": ({1: 2}, lambda x, y, z: F.maximum(F.maximum(x, y), z)),
    "Eltwise, the sum": (None, lambda x, y, z: x + y + z),
    # no window begins in the padding behind
    "Pooling": ({2: 2, 3: 2, 4: 1}, lambda x, y, z: F.max_pooling_2d(x, 2, 2, 1)[:, :, :2, :3]),
    "Pooling, of all": ({1: 1, 12: True}, lambda x, y, z: F.mean(x, (2, 3), keepdims=True)),
    "Pooling, the largest of all": ({12: True}, lambda x, y, z: F.max(x, (2, 3), keepdims=True)),
    "Pooling, of another height": (
        {5: 1, 6: 2, 7: 1, 8: 2},
        lambda x, y, z: F.max_pooling_2d(x, (1, 2), (1, 2)),
    ),
    "Concat": ({2: 2}, lambda x, y, z: F.concat([x, y, z], axis=2)),
    "LRN": ({1: 5, 2: 0.2}, lambda x, y, z: F.local_response_normalization(x, 5, 1, 0.2 / 5)),
}  # fmt: skip
"""Layer -> its settings, and what it makes of one to three inputs."""


@pytest.mark.parametrize("name", ALONE)
def test_each_layer(name, tmp_path):
    settings, expected = ALONE[name]
    kind = name.partition(",")[0]
    bottoms = ["x", "y", "z"] if kind in ("Eltwise", "Concat") else ["x"]
    path = saved(tmp_path, [layer(kind, "it", bottoms, ["top"], settings)])
    (y,) = L.CaffeFunction(path)(dict(zip(bottoms, (X, Y, Z), strict=False)), ["top"])
    other = core.as_variable(expected(*map(core.as_variable, (X, Y, Z))))
    np.testing.assert_allclose(y.array, other.array, rtol=1e-5, atol=1e-6)


def test_slices_of_equal_size(tmp_path):
    path = saved(tmp_path, [layer("Slice", "it", ["x"], ["a", "b"], {3: 1})])
    a, b = L.CaffeFunction(path)({"x": X}, ["a", "b"])
    np.testing.assert_array_equal(np.concatenate([a.array, b.array], axis=1), X)
    assert a.shape == b.shape


@pytest.mark.parametrize(("points", "axis"), [([1], 1), ([1, 3], 2), ([2, 3], 3)])
def test_slices_between_points_are_all_there(points, axis, tmp_path):
    x = RNG.normal(size=(2, 3, 4, 5)).astype("f")
    tops = ["a", "b", "c"][: len(points) + 1]
    path = saved(tmp_path, [layer("Slice", "it", ["x"], tops, {2: points, 3: axis})])
    found = L.CaffeFunction(path)({"x": x}, tops)
    for part, expected in zip(found, np.split(x, points, axis), strict=True):
        np.testing.assert_array_equal(part.array, expected)


def test_errors_say_where(tmp_path):
    path = saved(tmp_path, [layer("Softmax", "it", ["x"], ["top"], {2: 9})])
    with pytest.raises(core.errors.InvalidType) as refused:
        L.CaffeFunction(path)({"x": X}, ["top"])
    assert refused.value.__notes__ == ["This is in Softmax of the model, which gives ('top:0',)."]


def test_average_pooling_counts_as_caffe_does(tmp_path):
    """A window counts the padding, but not what lies beyond it."""
    path = saved(tmp_path, [layer("Pooling", "p", ["x"], ["y"], {1: 1, 2: 3, 3: 2, 4: 1})])
    (y,) = L.CaffeFunction(path)({"x": np.ones((1, 1, 4, 4), "f")}, ["y"])
    row = np.array([2, 3, 1]) / np.array([3, 3, 2])
    np.testing.assert_allclose(y.array[0, 0], row[:, None] * row, rtol=1e-6)


def test_vectors_are_scaled_by_channel(tmp_path):
    W, b, x = f(4), f(4), f(2, 4)
    for blobs, expected in (([W, b], x * W + b), ([W], x * W)):
        path = saved(tmp_path, [layer("Scale", "s", ["x"], ["y"], {5: len(blobs) > 1}, blobs)])
        (y,) = L.CaffeFunction(path)({"x": x}, ["y"])
        np.testing.assert_allclose(y.array, expected, rtol=1e-6)


def test_layers_for_training_alone_are_left_out(tmp_path):
    excluded = layer("ReLU", "r", ["fc"], ["fc"]) + field(9, message({1: 1}))
    path = saved(tmp_path, [
        layer("InnerProduct", "fc", ["x"], ["fc"], {1: 3}, [f(3, 4)]),
        excluded,
        layer("EuclideanLoss", "loss", ["fc", "label"], ["loss"]),
    ])  # fmt: skip
    (y,) = L.CaffeFunction(path)({"x": f(20, 4)}, ["fc"])
    assert (y.array < 0).any()


@pytest.mark.parametrize("kind, settings", [
    ("Flatten", {1: 2}), ("Flatten", {1: 1, 2: 2}), ("Reshape", {1: message({1: [-1]}), 2: 1}),
    ("Scale", {2: -1}),
])  # fmt: skip
def test_axes_that_are_not_known_are_refused(tmp_path, kind, settings):
    blobs = [f(4)] if kind == "Scale" else []
    with pytest.raises(CheckpointError, match=f"layer it: {kind} of .*axes"):
        L.CaffeFunction(saved(tmp_path, [layer(kind, "it", ["x"], ["y"], settings, blobs)]))


def test_what_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="not known here: Python, SPP"):
        L.CaffeFunction(saved(tmp_path, [layer("Python", "a", [], []), layer("SPP", "b", [], [])]))
    whole = saved(tmp_path, [layer("InnerProduct", "fc", ["x"], ["y"], {1: 3}, [f(3, 4)])])
    data = whole.read_bytes()
    for damaged in (b"", b"\x07", data[:-5], data[:40] + data[41:], b"\xff" * 30):
        whole.write_bytes(damaged)
        with pytest.raises(CheckpointDamaged, match="caffemodel"):
            L.CaffeFunction(whole)
    lying = message({7: message({1: [1 << 40]}), 5: np.zeros(2)})
    fields = {1: "fc", 2: "InnerProduct", 3: "x", 4: "y", 7: lying}
    with pytest.raises(CheckpointDamaged, match="expected 1099511627776 numbers"):
        L.CaffeFunction(saved(tmp_path, [message(fields)]))


@pytest.mark.parametrize(
    "it",
    [
        layer("Convolution", "it", ["x"], ["y"], {1: 2, 4: 3}),
        layer("InnerProduct", "it", ["x"], ["y"], {1: 3}),
        layer("InnerProduct", "it", ["x"], [], {1: 3}, [np.ones((3, 4), "f")]),
        layer("BatchNorm", "it", ["x"], ["y"], blobs=[np.ones(2, "f")]),
        layer("Eltwise", "it", ["x"], ["y"], {1: 9}),
    ],
)
def test_layers_that_lack_their_arrays_are_told_by_name(it, tmp_path):
    """A model that was written before it was trained has none."""
    with pytest.raises(CheckpointDamaged, match="caffemodel: layer it: expected what a .* has"):
        L.CaffeFunction(saved(tmp_path, [it]))


def test_names_of_blobs_come_in_a_list_and_inputs_by_name(tmp_path):
    model = L.CaffeFunction(saved(tmp_path, [layer("ReLU", "it", ["x"], ["y"])]))
    with pytest.raises(TypeError, match="expected outputs to be a tuple of strings, got str 'y'"):
        model(inputs={"x": np.ones((2, 3), "f")}, outputs="y")
    with pytest.raises(TypeError, match="CaffeFunction: expected inputs by name, as a dict"):
        model(inputs=[np.ones((2, 3), "f")], outputs=["y"])

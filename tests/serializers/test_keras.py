"""Weights of Keras's models, in files laid out as Keras writes them, beside plain formulas."""

import io
import json
import zipfile

import h5py
import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.errors import CheckpointDamaged, CheckpointError
from core.serializers import load_keras
from plugins.serializers.keras_settings import settings_of

RNG = np.random.default_rng(0)


def draw(*shape):
    return RNG.normal(size=shape).astype("f")


def laid_out(**layers):
    """The weights of Keras 3: paths with two underscores between parts, and their arrays."""
    file = io.BytesIO()
    with h5py.File(file, "w") as written:
        written["optimizer/vars/0"] = np.zeros(3)
        for path, arrays in layers.items():
            own = path.replace("__", "/")
            for i, array in enumerate(arrays):
                written[f"{own}/vars/{i}"] = array
            layer = own.removesuffix("/cell")
            written.require_group(f"{layer}/vars").attrs["name"] = layer.rpartition("/")[2]
    file.seek(0)
    return file


def zipped(file, **settings):
    """An archive, in which the settings of layers lie beside the weights."""
    layers = [{"class_name": "A", "config": {"name": name, **s}} for name, s in settings.items()]
    config = {"class_name": "Sequential", "config": {"name": "model", "layers": layers}}
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("config.json", json.dumps(config))
        written.writestr("model.weights.h5", file.getvalue())
    archive.seek(0)
    return archive


def old(called=None, /, **layers):
    """A file of Keras 2, which lists its layers, and what their arrays are called."""
    file = io.BytesIO()
    with h5py.File(file, "w") as written:
        group = written.create_group("model_weights")
        group.attrs["layer_names"] = [name.encode() for name in layers]
        for layer, arrays in layers.items():
            own = group.create_group(layer)
            names = called or [f"{layer}/{chr(122 - i)}:0" for i in range(len(arrays))]
            own.attrs["weight_names"] = [name.encode() for name in names]
            for name, array in zip(names, arrays, strict=True):
                own[name] = array
    file.seek(0)
    return file


def near(y, expected):
    np.testing.assert_allclose(core.as_array(y), expected, rtol=1e-4, atol=1e-5)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def dense(x, kernel, bias):
    return x @ kernel + bias


def conv(x, kernel, bias):
    """Of images with channels last, without padding."""
    k, n = len(kernel), x.shape[1] - len(kernel) + 1
    parts = [x[:, i : i + n, j : j + n] @ kernel[i, j] for i in range(k) for j in range(k)]
    return sum(parts) + bias


@pytest.mark.parametrize("write", [laid_out, lambda **x: zipped(laid_out(**x)), old])
def test_a_network_for_images(write):
    kernels, dots = (draw(3, 3, 2, 4), draw(4)), (draw(36, 5), draw(5))
    norm, last = (draw(4), draw(4), draw(4), draw(4) ** 2), (draw(5, 3), draw(3))
    prefix = "" if write is old else "layers__"
    layers = {"conv2d": kernels, "batch_normalization": norm, "dense": dots, "dense_1": last}
    file = write(**{prefix + name: arrays for name, arrays in layers.items()})
    model = core.Sequential(
        *[L.Convolution2D(2, 4, 3), L.BatchNormalization(4, eps=1e-3), F.relu],
        *[L.Linear(None, 5), F.relu, L.Linear(5, 3)],
    )
    with pytest.raises(CheckpointError, match=r"2: it takes 36 numbers.*maps of 4 channels"):
        load_keras(file, model)
    file.seek(0)
    table = load_keras(file, model, flattened={"2": (3, 3, 4)})
    assert [row.tensors for row in table] == [(name,) for name in layers]
    x = draw(2, 5, 5, 2)
    h = conv(x, *kernels)
    h = (h - norm[2]) / np.sqrt(norm[3] + 1e-3) * norm[0] + norm[1]
    h = dense(np.maximum(h, 0).reshape(2, -1), *dots)
    with core.using_config("train", False):
        near(model(x.transpose(0, 3, 1, 2)), dense(np.maximum(h, 0), *last))


def lstm(x, kernel, recurrent, bias):
    h = c = np.zeros((len(x), len(recurrent)))
    for t in range(x.shape[1]):
        i, f, g, o = np.split(x[:, t] @ kernel + h @ recurrent + bias, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return h


def gru(x, kernel, recurrent, bias):
    h = np.zeros((len(x), len(recurrent)))
    for t in range(x.shape[1]):
        zx, rx, hx = np.split(x[:, t] @ kernel + bias[0], 3, axis=1)
        zh, rh, hh = np.split(h @ recurrent + bias[1], 3, axis=1)
        z, r = sigmoid(zx + zh), sigmoid(rx + rh)
        h = z * h + (1 - z) * np.tanh(hx + r * hh)
    return h


def rnn(x, kernel, recurrent, bias):
    h = np.zeros((len(x), len(recurrent)))
    for t in range(x.shape[1]):
        h = np.tanh(x[:, t] @ kernel + h @ recurrent + bias)
    return h


@pytest.mark.parametrize(
    "name, formula, make, gates, rows",
    [
        ("lstm", lstm, lambda: L.NStepLSTM(1, 3, 4, 0.0), 4, ()),
        ("gru", gru, lambda: L.NStepGRU(1, 3, 4, 0.0), 3, (2,)),
        ("simple_rnn", rnn, lambda: L.NStepRNNTanh(1, 3, 4, 0.0), 1, ()),
        ("lstm", lstm, lambda: L.LSTM(3, 4), 4, ()),
    ],
)
def test_recurrent_layers(name, formula, make, gates, rows):
    link, x = make(), draw(2, 5, 3)
    arrays = [draw(3, 4 * gates), draw(4, 4 * gates), draw(*rows, 4 * gates)]
    load_keras(laid_out(**{f"layers__{name}__cell": arrays}), link)
    if isinstance(link, L.LSTM):
        near([link(x[:, t]) for t in range(5)][-1], formula(x, *arrays))
        return
    states = (None, None) if name == "lstm" else (None,)
    near(link(*states, list(x))[0][0], formula(x, *arrays))
    with pytest.raises(CheckpointError, match="the model: no layer fits"):
        load_keras(laid_out(**{f"layers__{name}__cell": [*arrays[:2], draw(7)]}), link)


def gru_reset_before(x, kernel, recurrent, bias):
    (kz, kr, kn), (uz, ur, un) = np.split(kernel, 3, 1), np.split(recurrent, 3, 1)
    bz, br, bn = np.split(bias, 3)
    h = np.zeros((len(x), len(recurrent)))
    for t in range(x.shape[1]):
        z, r = sigmoid(x[:, t] @ kz + h @ uz + bz), sigmoid(x[:, t] @ kr + h @ ur + br)
        h = z * h + (1 - z) * np.tanh(x[:, t] @ kn + (r * h) @ un + bn)
    return h


@pytest.mark.parametrize("biased", [True, False])
def test_gates_that_are_reset_before_the_product(biased):
    x, arrays, before = draw(2, 5, 3), [draw(3, 12), draw(4, 12)], {"reset_after": False}
    bias = draw(12) * biased
    file = laid_out(layers__gru__cell=[*arrays, bias][: 2 + biased])
    link, after = L.StatefulGRU(3, 4), L.NStepGRU(1, 3, 4, 0.0)
    load_keras(zipped(file, gru=before), link)
    near([link(x[:, t]) for t in range(5)][-1], gru_reset_before(x, *arrays, bias))
    for settings in (before, {}):  # without a bias nothing but the settings tells which they are
        if biased or settings:
            with pytest.raises(CheckpointError, match="no layer fits"):
                load_keras(zipped(file, gru=settings), after)
    with pytest.raises(CheckpointError, match="no layer fits"):
        load_keras(zipped(laid_out(layers__gru__cell=arrays), gru={"reset_after": True}), link)


NORM = "layers__batch_normalization"


@pytest.mark.parametrize("told", ["settings", "names"])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("gamma", [True, False])
@pytest.mark.parametrize("beta", [True, False])
def test_what_normalizations_lack_is_not_taken_for_what_they_have(told, scale, center, gamma, beta):
    arrays = {"gamma": draw(3), "beta": draw(3), "moving_mean": draw(3), "moving_variance": draw(3)}
    kept = {n: a for n, a in arrays.items() if {"gamma": scale, "beta": center}.get(n, True)}
    if told == "names":
        names = [f"batch_normalization/{name}:0" for name in kept]
        file = old(names, batch_normalization=[*kept.values()])
    else:
        settings = {"batch_normalization": {"scale": scale, "center": center}}
        file = zipped(laid_out(**{NORM: [*kept.values()]}), **settings)
    link = L.BatchNormalization(3, use_gamma=gamma, use_beta=beta)
    if (scale and not gamma) or (center and not beta):
        with pytest.raises(CheckpointError, match="no layer fits"):
            load_keras(file, link)
        return
    load_keras(file, link)
    near(link.avg_mean, arrays["moving_mean"])
    if gamma:
        near(link.gamma, arrays["gamma"] if scale else np.ones(3))
    if beta:
        near(link.beta, arrays["beta"] if center else np.zeros(3))


def test_what_tells_gamma_from_beta_is_named_where_nothing_does():
    arrays = [draw(3), draw(3), draw(3)]
    with pytest.raises(
        CheckpointError, match=r"one is gamma or beta: give model\.keras, which tells"
    ):
        load_keras(laid_out(**{NORM: arrays}), L.BatchNormalization(3))
    for name in ("gamma", "beta"):
        link = L.BatchNormalization(3, use_gamma=name == "gamma", use_beta=name == "beta")
        load_keras(laid_out(**{NORM: arrays}), link)
        near(getattr(link, name), arrays[0])


def test_settings_of_two_layers_of_one_name_tell_nothing():
    norm = [
        {"class_name": "A", "config": {"name": "bn", "scale": scale}} for scale in (True, False)
    ]
    assert settings_of({"inner": [norm[:1], norm[1:]], "other": {"config": None}}) == {}


def test_both_directions():
    link, x = L.NStepBiLSTM(1, 3, 4, 0.0), draw(2, 5, 3)
    sides = [[draw(3, 16), draw(4, 16), draw(16)] for _ in range(2)]
    load_keras(
        laid_out(
            layers__bidirectional__forward_layer__cell=sides[0],
            layers__bidirectional__backward_layer__cell=sides[1],
        ),
        link,
    )
    h, _, _ = link(None, None, list(x))
    near(h[0], lstm(x, *sides[0]))
    near(h[1], lstm(x[:, ::-1], *sides[1]))


def test_attention():
    link, x = L.MultiHeadAttention(6, 2), draw(2, 4, 6)
    names = ["query", "key", "value"]
    parts = {f"layers__multi_head_attention__{n}_dense": (draw(6, 2, 3), draw(2, 3)) for n in names}
    out = draw(2, 3, 6), draw(6)
    load_keras(laid_out(**parts, layers__multi_head_attention__output_dense=out), link)
    q, k, v = [np.einsum("bti,ihd->bhtd", x, W) + b[:, None] for W, b in parts.values()]
    scores = np.exp(q @ k.swapaxes(2, 3) / np.sqrt(3))
    seen = scores / scores.sum(axis=-1, keepdims=True) @ v
    near(link(x), np.einsum("bhtd,hdo->bto", seen, out[0]) + out[1])


@pytest.mark.parametrize("prefix", ["", "base/", "whole/base/inner/"])
def test_a_model_within_a_model_of_older_files(prefix):
    kernels, last, scale = (draw(1, 1, 2, 3), draw(3)), (draw(3, 2), draw(2)), draw(3)
    names = "first/kernel first/bias norm/gamma last/kernel last/bias norm/mean norm/var"
    arrays = [*kernels, scale, *last, draw(3), draw(3) ** 2]  # what is trained comes first
    file = old([f"{prefix}{name}:0" for name in names.split()], base=arrays)
    model = core.Sequential(
        *[L.Convolution2D(2, 3, 1), L.BatchNormalization(3, use_beta=False)],
        *[lambda x: F.mean(x, axis=(2, 3)), L.Linear(3, 2)],
    )
    table = load_keras(file, model)
    inner = prefix.removeprefix("whole/").removeprefix("base/")
    assert [t for row in table for t in row.tensors] == [
        f"base/{inner}{name}" for name in ("first", "norm", "last")
    ]
    near(model[1].gamma, scale)
    near(model[1].avg_mean, arrays[-2])
    near(model[-1].W, last[0].T)


def test_parts_of_layers_of_older_files_are_one_layer():
    link, sides = L.NStepBiLSTM(1, 3, 4, 0.0), [draw(3, 16), draw(4, 16), draw(16)] * 2
    ways = [f"enc/{way}_lstm_2/lstm_cell/" for way in ("forward", "backward")]
    table = load_keras(old([f"{w}{x}:0" for w in ways for x in "krb"], enc=sides), link)
    assert table[0].tensors == ("enc",)
    called = [f"bidirectional/{way}/{x}:0" for way in ("one", "other") for x in "krb"]
    table = load_keras(old(called, bidirectional=sides), link)
    assert table[0].tensors == ("bidirectional",)
    table = load_keras(
        old(["a/dense_3/k:0", "a/dense_3/b:0"], fc=[draw(3, 2), draw(2)]), L.Linear(3, 2)
    )
    assert table[0].tensors == ("fc",)


@pytest.mark.parametrize("write", [laid_out, lambda **x: zipped(laid_out(**x)), old])
def test_separable_convolutions(write):
    across, along, bias = draw(3, 3, 2, 2), draw(1, 1, 4, 3), draw(3)
    model = core.Sequential(
        L.DepthwiseConvolution2D(2, 2, 3, nobias=True), L.Convolution2D(4, 3, 1)
    )
    load_keras(write(separable_conv2d=[across, along, bias]), model)
    x = draw(2, 2, 5, 5)
    pairs = [(x[:, c, ..., None], across[:, :, [c], m : m + 1]) for c in (0, 1) for m in (0, 1)]
    h = np.concatenate([conv(*pair, 0) for pair in pairs], -1)
    near(F.transpose(model(x), (0, 2, 3, 1)), h @ along[0, 0] + bias)


class Named(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.words = L.EmbedID(7, 3)
            self.last, self.first = L.Linear(3, 3), L.Linear(3, 3)


def test_by_path_and_by_mapping():
    model = Named()
    words, one, two = draw(7, 3), draw(3, 3), draw(3, 3)
    load_keras(laid_out(words=[words], first=[one, draw(3)], last=[two]), model)
    near(model.first.W, one.T)
    near(model.last.W, two.T)
    assert not model.last.b.array.any()
    near(model.words.W, words)
    for a, b in (("a", "b"), ("dec/dense", "enc/dense")):
        file = laid_out(words=[words], **{a.replace("/", "__"): [one], b.replace("/", "__"): [two]})
        with pytest.raises(CheckpointError, match=f"last: {a} and {b} fit either"):
            load_keras(file, model)
    load_keras(old(words=[words], b=[two], a=[one]), model)  # which says their order
    near(model.last.W, two.T)
    file = laid_out(words=[words], a=[one], b=[two], c__d=[draw(2)])
    load_keras(file, model, {"a": "last", "b": "first", "c": None})
    near(model.last.W, one.T)


def test_layers_are_numbered():
    kernels = [draw(2, 2) for _ in range(12)]
    names = ["dense", *[f"dense_{i}" for i in range(1, 12)]]
    model = core.Sequential(*[L.Linear(2, 2) for _ in names])
    load_keras(
        laid_out(**{f"layers__{n}": [k] for n, k in zip(names, kernels, strict=True)}), model
    )
    for link, kernel in zip(model, kernels, strict=True):
        near(link.W, kernel.T)


def test_other_kernels():
    torch = pytest.importorskip("torch")
    to = torch.nn.functional
    model = core.Sequential(L.DepthwiseConvolution2D(3, 2, 2), L.Deconvolution2D(6, 4, 3, stride=2))
    model.append(L.LayerNormalization(4))
    one, two = (draw(2, 2, 3, 2), draw(6)), (draw(3, 3, 4, 6), draw(4))
    file = laid_out(
        layers__depthwise_conv2d=one,
        layers__conv2d_transpose=two,
        layers__layer_normalization=[draw(4), draw(4)],
    )
    load_keras(file, model)
    x, torch_of = draw(2, 3, 5, 5), lambda a: torch.from_numpy(np.ascontiguousarray(a))
    filters = one[0].transpose(2, 3, 0, 1).reshape(6, 1, 2, 2)  # two to a channel
    h = to.conv2d(torch_of(x), torch_of(filters), torch_of(one[1]), groups=3)
    kernel = torch_of(two[0].transpose(3, 2, 0, 1))
    y = to.conv_transpose2d(h, kernel, torch_of(two[1]), stride=2)
    near(model[1](model[0](x)), y.numpy())


@pytest.mark.parametrize(
    ("name", "kernel", "link", "channels"),
    [
        ("conv2d", (3, 3, 2, 4), lambda: L.Convolution2D(2, 4, 3), 4),
        ("conv2d_transpose", (3, 3, 4, 6), lambda: L.Deconvolution2D(6, 4, 3), 4),
        ("depthwise_conv2d", (2, 2, 3, 4), lambda: L.DepthwiseConvolution2D(3, 4, 2), 12),
    ],
)
def test_maps_of_any_convolution_are_asked_about(name, kernel, link, channels):
    convolution, dots = (draw(*kernel), draw(channels)), (draw(channels * 6, 5), draw(5))
    model = core.Sequential(link(), L.Linear(None, 5))
    file = laid_out(**{f"layers__{name}": convolution, "layers__dense": dots})
    with pytest.raises(CheckpointError, match=f"maps of {channels} channels"):
        load_keras(file, model)


def test_a_layer_of_another_class_is_not_taken_for_its_shape():
    model = L.Linear(3, 3, nobias=True)
    for name in ("embedding", "simple_rnn"):
        with pytest.raises(CheckpointError, match="no layer fits"):
            load_keras(laid_out(**{f"layers__{name}": [draw(3, 3)]}), model)
    kernel = draw(3, 3)
    load_keras(laid_out(layers__of_ones_own=[kernel]), model)
    near(model.W, kernel.T)


def test_half_precision():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kernel = draw(3, 2).astype(ml_dtypes.bfloat16)
    file = io.BytesIO()
    with h5py.File(file, "w") as written:
        made = written.create_dataset("layers/dense/vars/0", data=kernel.view("V2"))
        made.attrs["dtype"] = "bfloat16"
    file.seek(0)
    link = L.Linear(3, 2)
    load_keras(file, link)
    near(link.W, kernel.astype("f").T)


def test_what_does_not_fit_changes_nothing():
    model = core.Sequential(L.Linear(3, 2), L.Linear(2, 2))
    before = [p.array.copy() for p in model.params()]
    kernels = {"layers__dense": [draw(3, 2)], "layers__dense_1": [draw(2, 2)]}
    beyond = bytearray(zipped(laid_out(**kernels)).getvalue())
    beyond[-8] = 255  # the directory would begin before the file
    for file, error, said in (
        (laid_out(**kernels, layers__dense_2=[draw(2, 2)]), CheckpointError, "left over: dense_2"),
        (laid_out(layers__dense=[draw(3, 2)]), CheckpointError, "1: no layer fits; there are none"),
        (laid_out(layers__dense=[draw(4, 2)]), CheckpointError, r"are dense \(4, 2\)\n"),
        (io.BytesIO(b"PK nothing"), CheckpointDamaged, "expected an archive of Keras's"),
        (io.BytesIO(beyond), CheckpointDamaged, "expected an archive of Keras's"),
        (io.BytesIO(b"nothing"), CheckpointDamaged, "no HDF5 file"),
    ):
        with pytest.raises(error, match=said):
            load_keras(file, model)
    with pytest.raises(CheckpointError, match="Linear links in flattened, got 'fc'"):
        load_keras(laid_out(**kernels), model, flattened={"fc": (1, 1, 3)})
    for flattened in ((1, 2, 3), {"fc": 3}, {"fc": (1, 3)}):
        with pytest.raises(TypeError, match="expected flattened to be a dict of shapes"):
            load_keras(laid_out(**kernels), model, flattened=flattened)
    for p, array in zip(model.params(), before, strict=True):
        np.testing.assert_array_equal(p.array, array)

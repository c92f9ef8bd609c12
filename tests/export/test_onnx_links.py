"""Every link, and models of them, written as ONNX and run by onnxruntime, for any batch."""

import importlib.util
import io
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_runs import compare, exported, run

import core
import core.functions as F
import core.links as L
from core.errors import ExportError, TraceError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "links"))

CASES = list(importlib.import_module("test_every_link").tables())

KEEPS_STATE = "its state would depend on earlier calls"
FIXED = {
    "BlackOut": "draws are made outside of the trace",
    "NegativeSampling": "draws are made outside of the trace",
    "CRF1d": "a list as long as the batch",
    **dict.fromkeys(
        [
            *["NStepLSTM", "NStepBiLSTM", "NStepGRU", "NStepBiGRU"],
            *["NStepRNNTanh", "NStepRNNReLU", "NStepBiRNNTanh", "NStepBiRNNReLU"],
        ],
        "states have layers first, and batches are lists of sequences",
    ),
}
"""Case -> why its file is for one size of the batch."""


def _floats(inputs):
    return tuple([np.asarray(x, "f") if np.asarray(x).dtype.kind == "f" else x for x in inputs])


def _flat(y):
    if isinstance(y, (tuple, list)):
        return [each for part in y for each in _flat(part)]
    return [core.as_array(y)]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0][5:]}-{c[1]}")
def test_link(case):
    _, name, make, inputs, *_ = case
    inputs = _floats(inputs)
    with core.using_config("train", False), core.no_backprop_mode():
        link = make()
        link(*inputs)  # sizes
        if hasattr(link, "reset_state"):
            with pytest.raises((ExportError, TraceError), match="state|earlier calls"):
                link.reset_state()
                exported(link, inputs)
            return
        fixed = name in FIXED
        message = exported(link, inputs, batch=None if fixed else "batch")
        core.seed(0)
        try:
            compare(message, inputs, _flat(link(*inputs)))
            n = len(inputs[0])
            more = [np.concatenate([x, x, x[:1]]) if len(x) == n else x for x in inputs]
            if not fixed:
                compare(message, more, _flat(link(*more)))
        finally:
            core.seed(None)


def test_names_of_parameters_are_paths():
    model = L.Classifier(L.Linear(3, 2))
    message = exported(model.predictor, np.zeros((2, 3), "f"))
    assert {"W", "b"} <= {each.name for each in message.graph.initializer}
    chain = core.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2))
    message = exported(chain, np.zeros((2, 3), "f"), input_names=["image"], output_names=["scores"])
    assert {"0/W", "0/b", "1/W", "1/b"} <= {each.name for each in message.graph.initializer}
    assert [each.name for each in message.graph.input] == ["image"]
    assert [each.name for each in message.graph.output] == ["scores"]
    dims = message.graph.input[0].type.tensor_type.shape.dim
    assert [d.dim_param or d.dim_value for d in dims] == ["batch", 3]


def test_layers_are_onnxs_own():
    model = core.Sequential(
        L.Convolution2D(3, 4, 3, pad=1),
        L.BatchNormalization(4),
        F.gelu,
        lambda x: F.max_pooling_2d(x, 2),
        lambda x: F.average_pooling_2d(x, 2),
        L.Linear(16, 8),
        L.LayerNormalization(8),
        F.silu,
        F.softmax,
    )
    x = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype("f")
    message = exported(model, x)
    assert [n.op_type for n in message.graph.node] == [
        *["Conv", "BatchNormalization", "Gelu", "MaxPool", "AveragePool"],
        *["Reshape", "Gemm", "LayerNormalization", "Sigmoid", "Mul", "Softmax", "Identity"],
    ]


def upsampled(mode, **more):
    return lambda x: F.resize_images(x, (8, 12), mode=mode, **more)


@pytest.mark.parametrize(
    "model, kind",
    [
        (upsampled("bilinear"), "Resize"),
        (upsampled("bilinear", align_corners=False), "Resize"),
        (upsampled("nearest"), "Resize"),
        (lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), "Attention"),
        (
            lambda x: F.layer_normalization(x, np.ones(6, "f"), np.zeros(6, "f")),
            "LayerNormalization",
        ),
        (lambda x: F.deconvolution_2d(x, np.ones((2, 3, 2, 2), "f"), stride=2), "ConvTranspose"),
        (lambda x: F.local_response_normalization(x, 3), "LRN"),
    ],
)
def test_operations_are_one_node(model, kind):
    x = np.random.default_rng(0).normal(size=(3, 2, 4, 6)).astype("f")
    message = exported(model, x, opset=23)
    assert [n.op_type for n in message.graph.node] == [kind, "Identity"]
    compare(message, [x[:2]], [model(x[:2]).array])


@pytest.mark.parametrize("opset", range(18, 29))
def test_each_opset(opset):
    def model(x):
        h = L_GROUP(F.gelu(L_CONV(x)))
        q = F.reshape(h, (-1, 2, 4, 16))
        return {"scores": F.sum(F.scaled_dot_product_attention(q, q, q), axis=(1, 2))}

    L_CONV, L_GROUP = L.Convolution2D(3, 8, 3, pad=1), L.GroupNormalization(2, 8)
    x = np.random.default_rng(0).normal(size=(3, 3, 4, 4)).astype("f")
    with core.using_config("train", False):
        expected = model(x)["scores"].array
        message = exported(model, x, opset=opset)
        compare(message, [x], [expected])
    assert [each.name for each in message.graph.output] == ["scores"]


class Recurrent(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed, self.lstm = L.EmbedID(10, 6), L.LSTM(6, 5)
            self.top, self.out = L.NStepBiLSTM(2, 5, 4, 0.0), L.Linear(8, 3)

    def forward(self, words):
        self.lstm.reset_state()
        steps = [self.lstm(self.embed(words[:, i])) for i in range(words.shape[1])]
        self.lstm.reset_state()
        rows = F.separate(F.stack(steps, axis=1), axis=0)
        _, _, ys = self.top(None, None, list(rows))
        return self.out(F.mean(F.stack(ys), axis=1))


def test_a_recurrent_model():
    model = Recurrent()
    words = np.random.default_rng(0).integers(0, 10, (3, 7)).astype("i4")
    with core.using_config("train", False), core.no_backprop_mode():
        message = exported(model, words, batch=None)
        compare(message, [words], [model(words).array])
    assert [n.op_type for n in message.graph.node].count("LSTM") == 4


def test_what_a_recurrent_link_carries_ends_with_the_function():
    link, x = L.LSTM(3, 4), np.random.default_rng(0).normal(size=(2, 5, 3)).astype("f")

    def run(x):
        link.reset_state()
        return [link(x[:, i]) for i in range(x.shape[1])][-1]

    def run_and_forget(x):
        y = run(x)
        link.reset_state()
        return y

    with core.using_config("train", False), core.no_backprop_mode():
        for _ in range(2):  # without what was carried before, and with it
            with pytest.raises(TraceError, match=r"reset_state\(\) at the end of the function"):
                exported(run, x)
            run(x)
        with pytest.raises(TraceError, match=r"reset_state\(\) before tracing, too"):
            exported(run_and_forget, x)
        link.reset_state()
        message = exported(run_and_forget, x)
        more = np.concatenate([x, x[:1]])
        compare(message, [more], [run(more).array])


@pytest.mark.parametrize(
    "link, lengths, count",
    [
        (L.NStepGRU(2, 3, 4, 0.0), [5, 5], 2),
        (L.NStepBiGRU(1, 3, 4, 0.0), [5, 5], 2),
        (L.NStepGRU(1, 3, 4, 0.0), [4, 2, 2], 1),
        (L.NStepBiLSTM(1, 3, 4, 0.0), [5, 5], 2),
        (L.NStepBiLSTM(2, 3, 4, 0.0), [2, 6, 1, 6], 4),
        (L.NStepRNNTanh(2, 3, 4, 0.0), [5, 5], 2),
        (L.NStepBiRNNTanh(1, 3, 4, 0.0), [1, 2, 3], 2),
        (L.NStepBiRNNReLU(1, 3, 4, 0.0), [5, 5], 2),
    ],
)
def test_layers_of_steps_are_one_node(link, lengths, count):
    rng = np.random.default_rng(0)
    xs = tuple([rng.normal(size=(n, 3)).astype("f") for n in lengths])
    (kind,) = [each for each in ("LSTM", "GRU", "RNN") if each in type(link).__name__]
    states = (None, None) if kind == "LSTM" else (None,)
    for parameter in link.params():
        parameter.array[...] = rng.normal(size=parameter.shape)

    def run(*xs):
        *last, ys = link(*states, list(xs))
        return *last, *ys

    with core.using_config("train", False), core.no_backprop_mode():
        message = exported(run, xs, batch=None)
        compare(message, xs, [y.array for y in run(*xs)])
    assert [n.op_type for n in message.graph.node].count(kind) == count


def test_steps_with_something_between_stay_apart():
    link = L.NStepGRU(1, 3, 4, 0.0)

    def run(x):
        h, _ = link(None, [x[0]])
        return link(F.tanh(h), [x[1]])[0]

    x = np.random.default_rng(0).normal(size=(2, 1, 3)).astype("f")
    with core.using_config("train", False), core.no_backprop_mode():
        message = exported(run, x, batch=None)
        compare(message, [x], [run(x).array])
    assert [n.op_type for n in message.graph.node].count("GRU") == 2


def test_the_transformer_example():
    path = ROOT / "examples" / "topics" / "train_transformer.py"
    spec = importlib.util.spec_from_file_location("transformer_example", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    model = example.Writer(20, size=16, blocks=2, heads=4)
    x = np.random.default_rng(0).integers(1, 20, (3, 8)).astype("i4")
    with core.using_config("train", False), core.no_backprop_mode():
        message = exported(model, x)
        compare(message, [x], [model(x).array])
        more = np.concatenate([x, x[::-1]])
        compare(message, [more], [model(more).array])


@pytest.mark.parametrize(
    "name, size, kinds",
    [
        ("GoogLeNet", 224, {"Conv", "LRN", "MaxPool", "AveragePool", "Gemm", "Softmax"}),
        ("ResNet50Layers", 64, {"Conv", "BatchNormalization", "Relu", "MaxPool", "Gemm"}),
    ],
)
def test_networks_for_images(name, size, kinds):
    model = getattr(L, name)(pretrained_model=None)
    x = np.random.default_rng(0).normal(size=(1, 3, size, size)).astype("f")

    def probabilities(x):
        return model(x, layers=["prob"])["prob"]

    with core.using_config("train", False), core.no_backprop_mode():
        message = exported(probabilities, x)
        compare(message, [x], [probabilities(x).array])
    assert kinds <= {n.op_type for n in message.graph.node}


def test_training_mode_draws():
    message = exported(lambda x: F.dropout(x, 0.25), np.ones((100, 100), "f"), train=True)
    (y,) = run(message, [np.ones((200, 100), "f")])
    assert {*np.unique(y).round(4)} == {np.float32(0), np.float32(1.3333)}
    assert abs((y == 0).mean() - 0.25) < 0.02


def test_a_mean_over_the_batch_follows_it():
    model = lambda x: F.mean(x * x, axis=0) + F.sum(x) / len(x)  # noqa: E731
    message = exported(model, np.zeros((4, 3), "f"))
    for n in (1, 6):
        x = np.random.default_rng(n).normal(size=(n, 3)).astype("f")
        compare(message, [x], [model(x).array])


class Doubled(core.Elementwise):
    domain = core.Domain(x=core.real(-2, 2))

    def compute(self, xp, x):
        return x + x

    def gradient(self, xp, g):
        return g + g


def doubled(g, call, x):
    return [g.add("Mul", x, g.constant(2, g.dtype(x)))] if call.inputs[0].shape[1] > 1 else None


class Exporters:
    def __init__(self, **given):
        self._given = given

    def names(self):
        return [f"{__name__}:{name}" for name in self._given]

    def get(self, name):
        return self._given[name.partition(":")[2]]


def test_what_plugins_translate(monkeypatch):
    """A stranger's operation is written by its words, or as its translation says."""
    x = np.ones((2, 3), "f")
    model = lambda x: Doubled.call(x)  # noqa: E731
    kinds = lambda x: [n.op_type for n in exported(model, x).graph.node]  # noqa: E731
    assert kinds(x) == ["Add", "Identity"]
    from plugins.export import onnx_file

    known = onnx_file.registry.catalogue
    mine = {"exporters": Exporters(Doubled=doubled)}
    monkeypatch.setattr(onnx_file.registry, "catalogue", lambda k: mine.get(k) or known(k))
    assert kinds(x) == ["Mul", "Identity"]
    assert kinds(x[:, :1]) == ["Add", "Identity"]


def test_exporters_are_named_by_class():
    from core.errors import PluginError
    from core.registry.loader import checked

    given = {"plugrad_mish.mish:Mish": "plugrad_mish.as_onnx:mish"}
    assert checked("register_exporters", given) is given
    with pytest.raises(PluginError, match=r"expected 'package\.module:Class'"):
        checked("register_exporters", {"Mish": "plugrad_mish.as_onnx:mish"})


def decomposed(x):
    return x.__array_namespace__().linalg.qr(x).R


@settings(max_examples=6, deadline=None, derandomize=True, database=None)
@given(st.integers(1, 9), st.integers(0, 99))
def test_elimination_of_any_matrix(n, seed):
    """Rows are exchanged where they have to be, in batches of any size."""

    def model(a, b):
        xp = a.__array_namespace__()
        sign, size = xp.linalg.slogdet(a)
        square = a @ xp.matrix_transpose(a) + xp.eye(n, dtype=a.dtype)
        return xp.linalg.solve(a, b), xp.linalg.inv(a), sign, size, xp.linalg.cholesky(square)

    rng = np.random.default_rng(seed)

    def drawn(batch):
        a = rng.normal(size=(batch, n, n)) * rng.integers(0, 2, (batch, n, n))
        turned = np.eye(n)[rng.permutation(n)] * 3  # 0 where the first pivots would be
        return [x.astype("f") for x in (a * 0.2 + turned, rng.normal(size=(batch, n, 2)))]

    message = exported(model, tuple(drawn(2)))
    for batch in (1, 3):
        a, b = drawn(batch)
        expected = [core.as_array(y) for y in model(core.as_variable(a), core.as_variable(b))]
        compare(message, [a, b], expected, rtol=1e-2, atol=1e-3)


def test_a_singular_matrix_has_no_finite_inverse():
    message = exported(lambda x: F.inv(x), np.eye(2, dtype="f"), batch=None)
    (y,) = run(message, [np.ones((2, 2), "f")])
    assert not np.isfinite(y).any()


def test_refusals_name_the_place():
    with pytest.raises(ExportError, match=r"linalg\.qr cannot be exported.*QR.*test_onnx_links"):
        exported(decomposed, np.eye(2, dtype="f"), batch=None)
    with pytest.raises(ExportError, match=r"linalg\.inv cannot be .*steps are written for 32 rows"):
        exported(lambda x: F.inv(x), np.eye(33, dtype="f"), batch=None)
    with pytest.raises(ExportError, match=r"numpy\.arange.*batch=None"):
        exported(lambda x: x + np.arange(len(x), dtype="f"), np.zeros(3, "f"))
    with pytest.raises(ExportError, match="other things with a larger batch"):
        exported(lambda x: F.sum(F.stack([F.exp(a) for a in x])), np.zeros((3, 2), "f"))
    for part in (slice(8), slice(-8, None), slice(None, -8, -1)):
        with pytest.raises(ExportError, match="slice ends where the batch does.*batch=None"):
            exported(lambda x, part=part: F.mean(x[part]), np.zeros((3, 2), "f"))
    with pytest.raises(ExportError, match="an opset from 18 to 28, got 29"):
        exported(F.relu, np.zeros((3, 2), "f"), opset=29)
    for nothing in (lambda x: 3.0, lambda x: core.grad([F.sum(x * x)], [x])[0]):
        with pytest.raises(ExportError, match="a model that gives arrays.*gradients are None"):
            exported(nothing, np.zeros((3, 2), "f"))
    with pytest.raises(TypeError, match="expected an array of a backend.* got list"):
        exported(F.relu, [np.zeros((3, 2), "f")])
    with pytest.raises(ExportError, match="expected 1 input_names"):
        exported(F.relu, np.zeros((3, 2), "f"), input_names=["a", "b"])
    for names in ({"input_names": ["y0"]}, {"input_names": [""]}, {"output_names": [""]}):
        with pytest.raises(ExportError, match="expected names that are not empty, and others"):
            exported(F.relu, np.zeros((3, 2), "f"), **names)


def test_training_mode_of_what_keeps_statistics():
    model = core.Sequential(L.BatchNormalization(2), L.Linear(2, 3))
    x = np.random.default_rng(0).normal(size=(4, 2)).astype("f")
    message = exported(model, x, train=True, batch=None)
    assert (model[0].avg_mean == 0).all()
    (found,) = onnxruntime.InferenceSession(message.SerializeToString()).run(None, {"x0": x})
    np.testing.assert_allclose(found, model(x).array, atol=1e-5)


def test_a_model_for_one_size_is_told_of_others():
    with pytest.raises(core.errors.InvalidType) as refused:
        exported(lambda x: F.reshape(x, (3, 2, 1)), np.zeros((3, 2), "f"))
    (note,) = refused.value.__notes__
    assert "a batch of 4, where 3 was given. Export it for one size by batch=None" in note


def test_sizes_that_are_open_are_told():
    with pytest.raises(ExportError, match="got /0/W without. Call the model once"):
        exported(core.Sequential(L.Linear(None, 2)), np.zeros((2, 3), "f"))


def test_more_than_a_file_holds_is_told(monkeypatch):
    monkeypatch.setattr("plugins.export.graph.LARGEST", 1000)
    with pytest.raises(ExportError, match=r"at most 1000 bytes of arrays.*got 1600 with 1/W"):
        exported(
            core.Sequential(L.Linear(5, 20, nobias=True), L.Linear(20, 15)), np.ones((2, 5), "f")
        )


def test_arrays_beside_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("plugins.export.graph.LARGEST", 1000)  # of what is in the file itself
    model, x = core.Sequential(L.Linear(5, 60), L.Linear(60, 15)), np.ones((2, 5), "f")
    path = tmp_path / "model.onnx"
    for scale in (1, 2):
        model[0].W.array *= scale
        core.export.onnx(model, x, path, external_data=True)
        onnx.checker.check_model(str(path), full_check=True)
        (y,) = onnxruntime.InferenceSession(str(path)).run(None, {"x0": x})
        np.testing.assert_allclose(y, model(x).array, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(L.ONNXModel(path)(x).array, y, rtol=1e-5, atol=1e-6)
    assert path.stat().st_size < 2000
    assert len([*tmp_path.glob("model.onnx.*.data")]) == 2  # the old one belongs to the old file
    with pytest.raises(ExportError, match="expected a path, beside which"):
        core.export.onnx(model, x, io.BytesIO(), external_data=True)


def test_a_refusal_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.onnx"
    core.export.onnx(F.relu, np.zeros((3, 2), "f"), path)
    before = path.read_bytes()
    onnx.checker.check_model(onnx.load(path))
    with pytest.raises(ExportError):
        core.export.onnx(decomposed, np.eye(2, dtype="f"), path, batch=None)
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]

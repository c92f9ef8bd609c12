"""What ONNX's own cases do not ask: gradients, hostile numbers, values that are no arrays."""

import io
import zlib

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import core
import core.functions as F
import core.links as L
from core.errors import CheckpointError
from core.testing.gradient_check import check_backward

RNG = np.random.default_rng(0)


def model(op, inputs, outputs=1, opset=22, arrays=(), **settings):
    """A model of one node, of inputs x0, x1, ...; arrays by name are in the file."""
    names = [f"y{i}" for i in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(op, inputs, names, **settings)],
        "g",
        [
            helper.make_tensor_value_info(n, TensorProto.FLOAT, None)
            for n in inputs
            if n and n not in dict(arrays)
        ],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in dict(arrays).items()],
    )
    message = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return L.ONNXModel(io.BytesIO(message.SerializeToString()))


# ---------------------------------------------------------------------- gradients

GRID = RNG.uniform(-0.9, 0.9, (2, 3, 2, 2))
FRAMES = {"step": np.array(3), "length": np.array(6)}
SMOOTH = {
    "GridSample": (model("GridSample", ["x", "g"], mode="linear"), [(2, 2, 4, 5), GRID]),
    "GridSample, cubic": (
        model("GridSample", ["x", "g"], mode="cubic", padding_mode="reflection"),
        [(2, 2, 5, 4), GRID * 1.6],
    ),
    "GridSample, at the border": (
        model("GridSample", ["x", "g"], padding_mode="border", align_corners=1),
        [(2, 2, 4, 5), GRID * 1.6],
    ),
    "AffineGrid": (
        model("AffineGrid", ["t", "s"], arrays={"s": np.array([2, 1, 3, 4])}),
        [(2, 2, 3)],
    ),
    "RoiAlign": (
        model(
            "RoiAlign",
            ["x", "r", "b"],
            output_height=2,
            output_width=2,
            arrays={"r": np.array([[0.5, 0.5, 3, 3.5]]), "b": np.array([1])},
        ),
        [(2, 2, 5, 5)],
    ),
    "DeformConv": (
        model("DeformConv", ["x", "W", "o"], kernel_shape=[2, 2]),
        [(1, 2, 4, 4), (3, 2, 2, 2), RNG.uniform(0.1, 0.4, (1, 8, 3, 3))],
    ),
    "DFT": (model("DFT", ["x", "", "a"], onesided=1, arrays={"a": np.array(1)}), [(2, 7, 1)]),
    "DFT, back": (
        model("DFT", ["x", "", "a"], inverse=1, onesided=1, arrays={"a": np.array(1)}),
        [(2, 4, 2)],
    ),
    "STFT": (
        model("STFT", ["x", "step", "w", "length"], arrays=FRAMES),
        [(2, 15), (6,)],
    ),
    "RotaryEmbedding": (
        model("RotaryEmbedding", ["x", "c", "s"], opset=23, num_heads=2, interleaved=1),
        [(2, 3, 8), (2, 3, 2), (2, 3, 2)],
    ),
    "TensorScatter": (
        model("TensorScatter", ["c", "x", "i"], opset=24, arrays={"i": np.array([1, 0])}),
        [(2, 1, 4, 2), (2, 1, 2, 2)],
    ),
    "LinearAttention": (
        model(
            "LinearAttention",
            ["q", "k", "v", "", "d", "b"],
            opset=27,
            outputs=2,
            q_num_heads=2,
            kv_num_heads=1,
            update_rule="gated_delta",
        ),
        [(1, 3, 4), (1, 3, 2), (1, 3, 2), (1, 3, 1), (1, 3, 1)],
    ),
    "DequantizeLinear": (
        model(
            "DequantizeLinear", ["x", "s"], axis=0, arrays={"x": np.array([[1, -2], [3, 4]], "i1")}
        ),
        [(2,)],
    ),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name):
    link, given = SMOOTH[name]
    arrays = [RNG.normal(size=a) if isinstance(a, tuple) else a for a in given]

    def run(*x):
        found = link(*x)
        return found[0] if isinstance(found, tuple) else found

    with core.no_backprop_mode():
        y = run(*[a.astype("f") for a in arrays])
    check_backward(run, tuple(arrays), RNG.normal(size=y.shape), dtype="d", atol=1e-4, rtol=1e-3)


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_products_of_integers_are_exact(data):
    m, k, n = (data.draw(st.integers(1, 5)) for _ in range(3))
    seed = np.random.default_rng(data.draw(st.integers(0, 99)))
    a, b = seed.integers(0, 256, (m, k)).astype("u1"), seed.integers(-128, 128, (k, n)).astype("i1")
    az, bz = (
        np.array(data.draw(st.integers(0, 255)), "u1"),
        seed.integers(-128, 128, n).astype("i1"),
    )
    exact = (a.astype(int) - int(az)) @ (b.astype(int) - bz.astype(int))
    found = model("MatMulInteger", ["a", "b", "az", "bz"])(a, b, az, bz).array
    assert found.dtype == np.int32 and (found == exact).all()


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(st.sampled_from(["u1", "i1", "u2", "i2"]), st.floats(0.01, 2), st.integers(0, 99))
def test_there_and_back_is_within_half_a_step(kind, scale, seed):
    ends = np.iinfo(kind)
    zero = np.array((ends.min + ends.max) // 2, kind)
    steps = np.random.default_rng(seed).uniform(ends.min - 9, ends.max + 9, 50)
    x, s = ((steps - int(zero)) * scale).astype("f"), np.array(scale, "f")
    q = model("QuantizeLinear", ["x", "s", "z"])(x, s, zero).array
    y = model("DequantizeLinear", ["q", "s", "z"])(q, s, zero).array
    low, high = ((int(end) - int(zero)) * scale for end in (ends.min, ends.max))
    assert q.dtype == kind
    assert (abs(y - np.clip(x, low, high)) <= 0.501 * scale + 1e-6 * abs(x)).all()


# ---------------------------------------------------------------------- hostile numbers

HUGE = np.array([1 << 40])
ASKED = {
    "ConstantOfShape": (model("ConstantOfShape", ["s"]), [HUGE]),
    "ConstantOfShape, many axes": (model("ConstantOfShape", ["s"]), [np.full(64, 2)]),
    "ConstantOfShape, below 0": (model("ConstantOfShape", ["s"]), [np.array([-1])]),
    "Expand": (model("Expand", ["x", "s"]), [np.ones(1, "f"), HUGE]),
    "Tile": (model("Tile", ["x", "s"]), [np.ones(4, "f"), HUGE]),
    "Range": (model("Range", ["a", "b", "c"]), [np.array(0), np.array(1 << 40), np.array(1)]),
    "Range, for ever": (model("Range", ["a", "b", "c"]), [np.array(0), np.array(1), np.array(0)]),
    "Range, to infinity": (
        model("Range", ["a", "b", "c"]),
        [np.array(0, "f"), np.array(np.inf, "f"), np.array(1, "f")],
    ),
    "OneHot": (
        model("OneHot", ["i", "d", "v"]),
        [np.zeros(3, "i8"), np.array(1 << 40), np.array([0, 1], "f")],
    ),
    "Pad": (model("Pad", ["x", "p"]), [np.ones(2, "f"), np.array([0, 1 << 40])]),
    "Pad, edge": (model("Pad", ["x", "p"], mode="edge"), [np.ones(2, "f"), np.array([0, 1 << 40])]),
    "CenterCropPad": (model("CenterCropPad", ["x", "s"]), [np.ones(2, "f"), HUGE]),
    "Resize": (
        model("Resize", ["x", "", "", "s"]),
        [np.ones((1, 1, 2, 2), "f"), np.array([1, 1, 1 << 20, 1 << 20])],
    ),
    "RandomNormal": (model("RandomNormal", [], shape=[1 << 40]), []),
    "HannWindow": (model("HannWindow", ["n"]), [np.array(1 << 40)]),
    "MelWeightMatrix": (
        model("MelWeightMatrix", list("nlrab")),
        [np.array(8), np.array(1 << 40), np.array(8000), np.array(0.0), np.array(4000.0)],
    ),
    "DFT": (model("DFT", ["x", "n"]), [np.ones((1, 4, 1), "f"), np.array(1 << 40)]),
    "STFT": (
        model("STFT", ["x", "s", "", "n"]),
        [np.ones((1, 4), "f"), np.array(0), np.array(2)],
    ),
    "AffineGrid": (
        model("AffineGrid", ["t", "s"]),
        [np.ones((1, 2, 3), "f"), np.array([1, 1, 1 << 20, 1 << 20])],
    ),
    "RoiAlign": (
        model("RoiAlign", ["x", "r", "b"]),
        [np.ones((1, 1, 4, 4), "f"), np.array([[0, 0, 1e9, 1e9]], "f"), np.array([0])],
    ),
    "MaxUnpool": (
        model("MaxUnpool", ["x", "i"], kernel_shape=[1 << 30], strides=[1]),
        [np.ones((1, 1, 2), "f"), np.zeros((1, 1, 2), "i8")],
    ),
    "MaxUnpool, elsewhere": (
        model("MaxUnpool", ["x", "i"], kernel_shape=[2]),
        [np.ones((1, 1, 2), "f"), np.full((1, 1, 2), 99)],
    ),
    "Conv": (
        model("Conv", ["x", "w"], pads=[1 << 40, 0]),
        [np.ones((1, 1, 4), "f"), np.ones((1, 1, 2), "f")],
    ),
    "ConvTranspose": (
        model("ConvTranspose", ["x", "w"], output_shape=[1 << 40]),
        [np.ones((1, 1, 4), "f"), np.ones((1, 1, 2), "f")],
    ),
    "MaxPool": (
        model("MaxPool", ["x"], kernel_shape=[1 << 40]),
        [np.ones((1, 1, 4), "f")],
    ),
    "Col2Im": (
        model("Col2Im", ["x", "s", "b"]),
        [np.ones((1, 4, 1), "f"), np.array([1 << 20, 1 << 20]), np.array([2, 2])],
    ),
    "Gather": (model("Gather", ["x", "i"]), [np.ones(2, "f"), np.array([2])]),
    "Gather, before": (model("Gather", ["x", "i"]), [np.ones(2, "f"), np.array([-3])]),
    "SequenceAt": (model("SequenceAt", ["s", "i"]), [[np.ones(2, "f")], np.array(1)]),
    "OptionalGetElement": (model("OptionalGetElement", ["x"]), [None]),
    "SplitToSequence": (model("SplitToSequence", ["x", "n"]), [np.ones(2, "f"), np.array(0)]),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_numbers_ask_for_is_refused_first(name):
    link, given = ASKED[name]
    with pytest.raises(CheckpointError, match=rf"ONNXModel: {name.split(',')[0]}: expected "):
        link(*given)


UNASKED = {
    "ScatterND": (
        [np.full((2, 2), -np.inf, "f"), [[0, 1]], np.array([3], "f")],
        "-inf 3 -inf -inf",
    ),
    "ScatterND, of small": ([np.array([1e9, 2], "f"), [[0]], np.array([0.1], "f")], "0.1 2"),
    "ScatterND, twice": ([np.zeros(2, "f"), [[1], [1]], np.array([5, 7], "f")], "0 7"),
    "ScatterElements": ([np.full((2, 1), np.nan, "f"), [[1]], np.array([[3]], "f")], "nan 3"),
    "TensorScatter": ([np.full((1, 2, 1), 1e9, "f"), np.full((1, 1, 1), 0.1, "f"), [1]], "1e9 0.1"),
    "Slice": ([np.arange(3.0), [-9], [-9], [0], [-1]], "0"),
    "Slice, of nothing": ([np.arange(3.0), [-9], [-2], [0], [-1]], ""),
    "ReduceMean": ([np.array([[1, 2], [4, 5]], "i"), [1]], "1 4"),
}


@pytest.mark.parametrize("name", UNASKED)
def test_values_that_the_cases_do_not_have(name):
    inputs, text = UNASKED[name]
    given = [np.asarray(x) for x in inputs]
    y = model(name.split(",")[0], list("abcde")[: len(given)], opset=24)(*given).array
    assert y.dtype == given[0].dtype
    np.testing.assert_array_equal(y.reshape(-1), np.array(text.split(), y.dtype))


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("beyond", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [0, 1])
def test_samples_from_beyond_an_image_are_those_of_pytorch(mode, beyond, corners):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, grid = rng.random((2, 2, 5, 7), "f"), rng.uniform(-3, 3, (2, 6, 6, 2)).astype("f")
    settings = {"mode": mode, "padding_mode": beyond, "align_corners": corners}
    found = model("GridSample", ["x", "g"], **settings)(x, grid).array
    settings["mode"] = {"nearest": "nearest", "linear": "bilinear", "cubic": "bicubic"}[mode]
    settings["align_corners"] = bool(corners)
    sample = torch.nn.functional.grid_sample
    expected = sample(torch.from_numpy(x), torch.from_numpy(grid), **settings)
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-4)


def test_gradients_of_what_is_replaced():
    link = model("ScatterND", ["x", "i", "u"])
    x, u = core.Variable(np.ones((2, 2), "f")), core.Variable(np.ones((2, 2), "f"))
    F.sum(link(x, np.array([[1], [1]]), u) * np.array([[1, 2], [3, 4]], "f")).backward()
    assert x.grad.tolist() == [[1, 2], [0, 0]] and u.grad.tolist() == [[0, 0], [3, 4]]


def loop(body_op, state):
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["on"]), helper.make_node(body_op, ["v"], ["w"])],
        "body",
        [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []),
         value("v", TensorProto.FLOAT, None)],
        [value("on", TensorProto.BOOL, []), value("w", TensorProto.FLOAT, None)],
    )  # fmt: skip
    return model("Loop", ["", "", state], body=body)


def test_loops_that_do_not_end_are_refused(monkeypatch):
    from plugins.imported import running

    monkeypatch.setattr(running, "STEPS", 50)
    with pytest.raises(CheckpointError, match="Loop: its loops take more than 50 steps"):
        loop("Neg", "x")(np.ones(1, "f"))


# ---------------------------------------------------------------------- other values


def test_sequences_and_text_come_and_go():
    parts = model("SplitToSequence", ["x", "n"])(np.arange(5.0), np.array(2))
    assert [p.array.tolist() for p in parts] == [[0, 1], [2, 3], [4]]
    x = [core.Variable(np.ones(2)), core.Variable(np.ones(3))]
    y = model("ConcatFromSequence", ["s"], axis=0)(x)
    F.sum(y * np.arange(5.0)).backward()
    assert x[1].grad.tolist() == [2, 3, 4]
    words = np.array(["deep learning", "in chains"])
    found, counts = model("StringSplit", ["x"], outputs=2)(words)
    assert found.tolist() == [["deep", "learning"], ["in", "chains"]]
    assert counts.array.tolist() == [2, 2]
    for op, args, what in [("Add", [x, np.ones(2)], "a sequence"), ("Neg", [words], "text")]:
        link = model(op, [f"x{i}" for i in range(len(args))])
        with pytest.raises(
            CheckpointError, match=f"ONNXModel: {op}: an input that is {what} is not known here"
        ):
            link(*args)


def test_bfloat16_parameters_are_trained():
    W = RNG.normal(size=(3, 2)).astype(ml_dtypes.bfloat16)
    link = model("MatMul", ["x", "W"], arrays={"W": W})
    assert [(path, p.dtype) for path, p in link.namedparams()] == [("/W", W.dtype)]
    F.sum(link(np.ones((4, 3), ml_dtypes.bfloat16))).backward()
    assert (link.W.grad == 4).all()


def test_small_floats_are_no_parameters():
    W = RNG.normal(size=6).astype(ml_dtypes.float8_e5m2)
    link = model("DequantizeLinear", ["W", "s"], arrays={"W": W})
    assert not [*link.params()]
    np.testing.assert_array_equal(link(np.array(2.0, "f")).array, W.astype("f") * 2)


def test_images_are_decoded_with_suspicion():
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.new("RGB", (4, 3), (1, 2, 3)).save(file, "PNG")
    data = np.frombuffer(file.getvalue(), "u1").copy()
    assert model("ImageDecoder", ["x"], pixel_format="BGR")(data).array[0, 0].tolist() == [3, 2, 1]
    huge = data.copy()
    huge[16:24] = np.frombuffer(np.array([1 << 15, 1 << 15], ">u4").tobytes(), "u1")
    huge[29:33] = np.frombuffer(np.array(zlib.crc32(huge[12:29].tobytes()), ">u4").tobytes(), "u1")
    for bad in (huge, data[:40], np.zeros(0, "u1")):
        with pytest.raises(CheckpointError, match="ImageDecoder: expected an"):
            model("ImageDecoder", ["x"])(bad)


def test_patterns_are_refused():
    """Python's take time without bound for hostile ones."""
    with pytest.raises(CheckpointError, match="not known here: RegexFullMatch"):
        model("RegexFullMatch", ["x"], pattern="(a*)*b")

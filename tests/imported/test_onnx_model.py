"""ONNX's models as links: its own test cases, models that were exported here, and hostile files."""

import io
import runpy
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_runs import exported

import core
import core.functions as F
import core.links as L
from core.errors import CheckpointDamaged, CheckpointError

ROOT = Path(__file__).resolve().parents[2]


def loaded(message):
    return L.ONNXModel(io.BytesIO(message.SerializeToString()))


# ---------------------------------------------------------------------- ONNX's own cases

CASES = runpy.run_path(str(ROOT / "docs" / "onnx_cases.py"))


def test_onnxs_own_cases():
    """All that is not refused gives what ONNX says; how many these are, the page says."""
    found = CASES["outcomes"]()
    counts = sum(found.values(), Counter())
    assert set(counts) == {"passed", "refused", "drawn"}
    assert counts["passed"] > 0.99 * counts.total(), counts
    text = CASES["PAGE"].read_text(encoding="utf-8")
    if f"Cases of onnx {onnx.__version__}," in text:
        assert text == CASES["page"](text, CASES["table"](found)), "run `python docs/onnx_cases.py`"


@pytest.mark.parametrize(
    "kind, name",
    [
        ("simple", ""),
        ("pytorch-operator", ""),
        ("pytorch-converted", ""),
        ("real", "squeezenet"),
        ("real", "shufflenet"),
    ],
)
def test_whole_models(kind, name):
    """Those with their weights, and large ones whose weights are made in them."""
    counts = sum(CASES["models"](kind, name).values(), Counter())
    assert set(counts) == {"passed"}
    text = CASES["PAGE"].read_text(encoding="utf-8")
    if f"Cases of onnx {onnx.__version__}," in text:
        rows = [row.split("|") for row in text.splitlines() if CASES["KINDS"][kind] in row]
        assert name or sum(int(row[-2]) for row in rows) == counts.total()


# ---------------------------------------------------------------------- there and back


class Net(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv, self.norm = L.Convolution2D(3, 4, 3, pad=1), L.BatchNormalization(4)
            self.block, self.out = L.TransformerBlock(4, 2), L.Linear(4, 3)

    def forward(self, x):
        h = F.max_pooling_2d(F.gelu(self.norm(self.conv(x))), 2)
        h = self.block(F.transpose(F.reshape(h, (-1, 4, 16)), (0, 2, 1)))
        return F.log_softmax(self.out(F.mean(h, axis=1)))


def test_what_was_exported_comes_back():
    net, x = Net(), np.random.default_rng(0).normal(size=(5, 3, 8, 8)).astype("f")
    with core.using_config("train", False):
        model = loaded(exported(net, x[:2], opset=22))
        assert (model.input_names, model.output_names) == (("x0",), ("y0",))
        assert {"/conv_W", "/conv_b", "/norm_gamma", "/out_W"} <= {
            p for p, _ in model.namedparams()
        }
        assert "norm_avg_mean" in model._persistent
        v, w = core.Variable(x), core.Variable(x)
        y, expected = model(v), net(w)
        np.testing.assert_allclose(y.array, expected.array, rtol=1e-4, atol=1e-5)
        F.sum(y * y).backward()
        F.sum(expected * expected).backward()
    np.testing.assert_allclose(v.grad, w.grad, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(model.conv_W.grad, net.conv.W.grad, rtol=1e-3, atol=1e-4)
    by_name = model(inputs={"x0": x}, outputs=["y0"])
    np.testing.assert_allclose(by_name["y0"].array, y.array, rtol=1e-5)


def test_it_trains_and_is_saved(tmp_path):
    model = loaded(exported(L.Linear(3, 1), np.zeros((2, 3), "f")))
    optimizer = core.optimizers.SGD(0.1).setup(model)
    x = np.random.default_rng(0).normal(size=(32, 3)).astype("f")
    t = x @ np.array([[1], [2], [3]], "f")
    for _ in range(200):
        optimizer.update(lambda: F.mean_squared_error(model(x), t))
    np.testing.assert_allclose(model.W.array, [[1, 2, 3]], atol=1e-3)
    traced = core.trace(lambda x: model(x).array, x)
    np.testing.assert_allclose(traced(x), model(x).array, rtol=1e-5)
    core.serializers.save_npz(tmp_path / "model.npz", model)
    again = loaded(exported(model, x))
    np.testing.assert_allclose(again(x).array, model(x).array, rtol=1e-5)


def test_recurrent_layers_come_back():
    lstm = L.NStepLSTM(1, 3, 4, 0.0)
    run = lambda x: F.stack(lstm(None, None, list(x))[-1])  # noqa: E731
    x = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("f")
    model = loaded(exported(run, x, batch=None))
    np.testing.assert_allclose(model(x).array, run(x).array, rtol=1e-4, atol=1e-6)


def test_names_are_told():
    model = loaded(exported(F.relu, np.zeros((2, 3), "f")))
    for call, text in [
        (lambda: model(), r"expected \['x0'\], got 0 arrays"),
        (lambda: model(inputs={"a": np.zeros((2, 3), "f")}), r"got \['a'\]"),
        (lambda: model(np.zeros((2, 3), "f"), outputs=["z"]), "no values called z"),
        (lambda: model(np.zeros((2, 3), "f"), outputs="y0"), "outputs to be a tuple of strings"),
        (lambda: model(inputs=[np.zeros((2, 3), "f")]), "expected inputs by name, as a dict"),
    ]:
        with pytest.raises((ValueError, TypeError), match=text):
            call()


# ---------------------------------------------------------------------- refused


def message(nodes, arrays=(), **more):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [x], [y], list(arrays))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], **more)


def add(array):
    return message([helper.make_node("Add", ["x", "w"], ["y"])], [array])


def test_unknown_operators_are_named():
    made = message(
        [
            helper.make_node("Frobnicate", ["x"], ["z"]),
            helper.make_node("Relu", ["z"], ["y"], domain="com.acme"),
        ]
    )
    with pytest.raises(CheckpointError, match=r"not known here: Frobnicate, com\.acme\.Relu"):
        loaded(made)


def test_what_is_no_model():
    for data in (b"", b"no model", b"\x00" * 100, b"\x08\x09"):
        with pytest.raises(CheckpointDamaged):
            L.ONNXModel(io.BytesIO(data))


def test_sizes_that_are_not_there():
    huge = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1 << 40], raw_data=b"1234")
    with pytest.raises(CheckpointDamaged, match="1099511627776 elements, and 1 are there"):
        loaded(add(huge))
    below = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[-1], raw_data=b"1234")
    with pytest.raises(CheckpointDamaged, match="a size below 0"):
        loaded(add(below))
    short = TensorProto(name="w", data_type=TensorProto.INT4, dims=[5], raw_data=b"12")
    with pytest.raises(CheckpointDamaged, match="5 elements, and 4 are there"):
        loaded(add(short))
    text = loaded(add(numpy_helper.from_array(np.array(["a"], object), "w")))
    with pytest.raises(CheckpointError, match="Add: an input that is text is not known"):
        text(np.zeros(1, "f"))


@pytest.mark.parametrize(
    "nodes, arrays, text",
    [
        ([("Add", ["x", "z"], ["y"]), ("Neg", ["y"], ["z"])], 1, "takes 'z', and nothing before"),
        ([("Add", ["x", "w"], ["y"]), ("Neg", ["x"], ["y"])], 1, "'y' is no text, or given twice"),
        ([("Neg", ["x"], ["x"])], 1, "given twice"),
        ([("Neg", ["x"], ["z"])], 1, "gives 'y', and nothing before"),
        ([("Add", ["x", "w"], ["y"])], 2, "several arrays have one name"),
    ],
)
def test_names_that_do_not_fit_together(nodes, arrays, text):
    given = [numpy_helper.from_array(np.full(2, i, "f"), "w") for i in range(arrays)]
    with pytest.raises(CheckpointDamaged, match=text):
        loaded(message([helper.make_node(*node) for node in nodes], given))


def test_names_that_are_no_text():
    good = add(numpy_helper.from_array(np.ones(2, "f"), "weight")).SerializeToString()
    for name in (b"weight", b"Add"):
        bad = good.replace(name, b"\xff" + name[1:])
        assert bad != good
        with pytest.raises(CheckpointDamaged):
            L.ONNXModel(io.BytesIO(bad))


def test_graphs_within_graphs():
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node("Relu", ["x"], ["y"])
    for _ in range(20):
        graph = helper.make_graph([node], "g", [], [y])
        node = helper.make_node("If", ["x"], ["y"], then_branch=graph, else_branch=graph)
        node.attribute[1].g.Clear()
    with pytest.raises(CheckpointError, match="over 16 deep"):
        loaded(message([node]))


def external(location, tmp_path, **more):
    array = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3])
    array.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **more}.items():
        array.external_data.add(key=key, value=str(value))
    path = tmp_path / "models" / "model.onnx"
    path.parent.mkdir(exist_ok=True)
    onnx.save(add(array), path)
    return path


def test_arrays_in_other_files(tmp_path):
    path = external("w.bin", tmp_path, offset=4)
    np.arange(4, dtype="f").tofile(path.parent / "w.bin")
    (tmp_path / "secret").write_bytes(bytes(12))
    (path.parent / "link").symlink_to(tmp_path / "secret")
    np.testing.assert_array_equal(L.ONNXModel(path)(np.zeros(3, "f")).array, [1, 2, 3])
    outside = ("../secret", str(tmp_path / "secret"), "link", "missing", "", "w\0", "w" * 5000)
    for location in outside:
        with pytest.raises(CheckpointError, match="in the folder of the model"):
            L.ONNXModel(external(location, tmp_path))
    for more in ({"offset": 8}, {"offset": -4}, {"length": 4}, {"offset": "x"}):
        with pytest.raises(CheckpointDamaged):
            L.ONNXModel(external("w.bin", tmp_path, **more))
    with pytest.raises(CheckpointError, match="by its path"):
        L.ONNXModel(io.BytesIO(path.read_bytes()))


def test_loops_and_branches():
    """X is doubled until its sum is above 10."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["v", "v"], ["w"]),
            helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
            helper.make_node("Less", ["s", "ten"], ["on"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, None),
        ],
    )
    ten = numpy_helper.from_array(np.array(10, "f"), "ten")
    model = loaded(message([helper.make_node("Loop", ["", "", "x"], ["y"], body=body)], [ten]))
    x = core.Variable(np.array([1, 2], "f"))
    y = model(x)
    np.testing.assert_array_equal(y.array, [4, 8])
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, [4, 4])

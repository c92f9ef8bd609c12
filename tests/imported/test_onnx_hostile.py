"""Valid ONNX files, damaged: they run, or are refused in words; nothing else comes of them."""

import io
import runpy
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import AttributeProto, helper
from onnx.backend.test.loader import load_model_tests

import core
import core.links as L
from core.errors import CoreError

ROOT = Path(__file__).resolve().parents[2]
CASES = runpy.run_path(str(ROOT / "docs" / "onnx_cases.py"))

NUMBERS = (0, 1, -1, 2, 7, 1 << 20, 1 << 31, 1 << 40, -(1 << 40), (1 << 63) - 1, -(1 << 63))
REALS = (0.0, -1.0, 1e30, float("nan"), float("inf"), 2.5)
TEXTS = (b"", b"x", b"\xff", b"NOTSET", b"SAME_UPPER", b"linear")


def samples():
    """Small models with inputs that fit: layers and text, and a loop, a branch, a function."""
    for kind in ("simple", "pytorch-operator"):
        for case in load_model_tests(kind=kind):
            message = onnx.load(Path(case.model_dir, "model.onnx"))
            ((inputs, _),) = CASES["_files"](case)
            yield message, [CASES["_array"](x) for x in inputs]
    text = """<ir_version: 9, opset_import: ["" : 20, "own" : 1]>
    g (float[N] x, int64 n) => (float[N] y) {
      on = Constant <value = bool {1}> ()
      s = Loop (n, on, x) <body = b (int64 i, bool c, float[N] v) => (bool d, float[N] w) {
        d = Identity (c)
        w = If (c) <then_branch = t () => (p) { p = own.f <k = 2.0> (v) },
                    else_branch = e () => (q) { q = Neg (v) }>
      }>
      h = own.f (s)  y = Resize (h, , , h)
    }
    <domain: "own", opset_import: ["" : 20]>
    f <k: float = 1.0> (x) => (y) { a = Constant <value_float: float = @k> () y = Mul (x, a) }"""
    yield onnx.parser.parse_model(text), [np.ones(1, "f"), np.array(3)]


SAMPLES = list(samples())


def nodes(graph):
    for node in graph.node:
        yield node
        for setting in node.attribute:
            yield from nodes(setting.g)


@st.composite
def hostile(draw):
    """A model with settings, names, sizes or bytes that are others."""
    whole, inputs = draw(st.sampled_from(SAMPLES))
    message = onnx.ModelProto()
    message.CopyFrom(whole)
    for _ in range(draw(st.integers(1, 2))):
        everything = [*nodes(message.graph)]
        for function in message.functions:
            everything += nodes(function)
        node = draw(st.sampled_from(everything))
        names = sorted({name for each in everything for name in (*each.input, *each.output)})
        what = draw(st.sampled_from(["setting", "setting", "kind", "gone", "input", "op", "size"]))
        if what in ("setting", "kind", "gone") and node.attribute:
            i = draw(st.integers(0, len(node.attribute) - 1))
            setting = node.attribute[i]
            if what == "gone":
                del node.attribute[i]
            elif what == "kind":
                setting.type = draw(st.integers(0, 13))
            elif setting.type == AttributeProto.INT:
                setting.i = draw(st.sampled_from(NUMBERS))
            elif setting.type == AttributeProto.FLOAT:
                setting.f = draw(st.sampled_from(REALS))
            elif setting.type == AttributeProto.STRING:
                setting.s = draw(st.sampled_from(TEXTS))
            elif setting.type == AttributeProto.INTS:
                setting.ints[:] = [draw(st.sampled_from(NUMBERS)) for _ in setting.ints]
            elif setting.type == AttributeProto.TENSOR:
                setting.t.dims.append(draw(st.sampled_from(NUMBERS)))
        elif what == "input" and node.input:
            place = draw(st.integers(0, len(node.input) - 1))
            node.input[place] = draw(st.sampled_from(names))
        elif what == "op":
            node.op_type = draw(st.sampled_from(everything)).op_type
        elif what == "size" and message.graph.initializer:
            array = draw(st.sampled_from(list(message.graph.initializer)))
            array.dims[:] = [draw(st.sampled_from(NUMBERS)) for _ in array.dims]
    data = bytearray(message.SerializeToString())
    for _ in range(draw(st.sampled_from([0, 0, 3]))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data), inputs


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(hostile())
def test_damaged_files_run_or_are_refused(drawn):
    data, inputs = drawn
    try:
        model = L.ONNXModel(io.BytesIO(data))
        with core.no_backprop_mode():
            model(*inputs)
    except CoreError as error:
        assert str(error)
    except ValueError as error:  # the damage is in the names of what it takes and gives
        assert str(error).startswith("ONNXModel: expected [")


@pytest.mark.parametrize("size", [1 << 40, (1 << 63) - 1, -1])
def test_hostile_windows(size):
    x = np.ones((1, 1, 8, 8), "f")
    for op in ("MaxPool", "AveragePool", "LpPool"):
        for more in (
            {"kernel_shape": [size, 2]},
            {"kernel_shape": [2, 2], "pads": [0, 0, 0, size]},
        ):
            node = helper.make_node(op, ["x"], ["y"], **more)
            value = helper.make_tensor_value_info
            graph = helper.make_graph([node], "g", [value("x", 1, None)], [value("y", 1, None)])
            message = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
            with pytest.raises(CoreError):
                L.ONNXModel(io.BytesIO(message.SerializeToString()))(x)

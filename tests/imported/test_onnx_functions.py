"""Functions that an ONNX file defines: called as onnxruntime calls them, within bounds."""

import io
import tracemalloc

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx_runs import OPTIONS

import core
import core.functions as F
import core.links as L
from core.errors import CheckpointDamaged, CheckpointError
from plugins.imported import message as message_room

HEAD = '<ir_version: 9, opset_import: ["" : 20, "own" : 1]>\n'
FUNCTION = '<domain: "own", opset_import: ["" : 20, "own" : 1]>\n'


def parsed(graph, *functions):
    return onnx.parser.parse_model(HEAD + graph + "".join(FUNCTION + f for f in functions))


def loaded(message):
    return L.ONNXModel(io.BytesIO(message.SerializeToString()))


CALLS = {
    "settings and their defaults": [
        "g (float[N] x) => (float[N] y, float[N] z) {"
        " y = own.scaled <alpha = 3.0> (x)  z = own.scaled (x) }",
        "scaled <alpha: float = 2.0> (x) => (y) {"
        " a = Constant <value_float: float = @alpha> ()  y = Mul (x, a) }",
    ],
    "settings that may be missing": [
        "g (float[N] x) => (float[N] y) { y = own.leaky (x) }",
        "leaky <alpha> (x) => (y) { y = LeakyRelu <alpha: float = @alpha> (x) }",
    ],
    "functions in functions, with the same names": [
        "g (float[N] x) => (float[N] y) { t = own.outer (x)  y = own.outer (t) }",
        "outer (t) => (x) { y = own.inner (t)  x = own.inner (y) }",
        "inner (x) => (y) { t = Exp (x)  y = Sigmoid (t) }",
    ],
    "graphs that see the values of a call": [
        "g (float[N] x, bool c) => (float[N] y) { y = own.either (c, x) }",
        "either (c, t) => (s) { one = Constant <value = float[1] {1}> ()"
        " s = If (c) <then_branch = a () => (y) { y = Add (t, one) },"
        " else_branch = b () => (y) { y = Sub (t, one) }> }",
    ],
    "values that are not given": [
        "g (float[N] x) => (float[N] y) { y, rest = own.clipped (x, ) }",
        "clipped (x, low, high) => (y, rest) { y = Clip (x, low, high)  rest = Sub (x, y) }",
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_those_of_onnxruntime(name):
    message = parsed(*CALLS[name])
    given = {"x": np.array([-1, 0.5, 2], "f"), "c": np.array(False)}
    given = {each.name: given[each.name] for each in message.graph.input}
    session = onnxruntime.InferenceSession(message.SerializeToString(), OPTIONS)
    found = loaded(message)(*given.values())
    found = found if isinstance(found, tuple) else (found,)
    for one, other in zip(found, session.run(None, given), strict=True):
        np.testing.assert_allclose(one.array, other, rtol=1e-5)


def test_parameters_and_statistics_are_found_through_functions():
    message = parsed(
        "g (float[N,2] x) => (float[N,2] y)"
        " <float[2] w = {2, 3}, float[2] b = {0, 0}, float[2] mean = {1, 1}, float[2] v = {1, 1}> {"
        " y = own.norm (x, w, b, mean, v) }",
        "norm (x, mean, b, m, v) => (y) { y = BatchNormalization (x, mean, b, m, v) }",
    )
    model = loaded(message)
    assert sorted(path for path, _ in model.namedparams()) == ["/b", "/w"]
    F.sum(model(np.ones((3, 2), "f"))).backward()
    assert model.b.grad.tolist() == [3, 3]


REFUSED = {
    "itself": (["f (x) => (y) { y = own.f (x) }"], CheckpointError, "over 16 deep"),
    "each other": (
        ["f (x) => (y) { y = own.h (x) }", "h (x) => (y) { y = own.f (x) }"],
        CheckpointError,
        "over 16 deep",
    ),
    "ever more": (
        [
            *[f"f{'' if i == 0 else i} (x) => (y) {{ "
              + " ".join(f"t{k} = own.f{i + 1} (x)" for k in range(9))
              + " y = Neg (x) }" for i in range(8)],
            "f8 (x) => (y) { y = Neg (x) }",
        ],
        CheckpointError,
        "more than 2000 nodes",
    ),
    "with too much": (["f () => (y) { y = Constant <value_float = 1.0> () }"], CheckpointDamaged,
                      "takes 0 values and gives 1, and is called with 1"),
    "of no operator": (["f (x) => (y) { y = own.no (x) }"], CheckpointError, "here: own.no"),
    "of no value": (["f (x) => (y) { y = Neg (z) }"], CheckpointDamaged, "'f:1/z', and nothing"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_functions_are_refused(name, monkeypatch):
    monkeypatch.setattr(message_room, "MOST", 2000)
    functions, kind, text = REFUSED[name]
    message = parsed("g (float[N] x) => (float[N] y) { y = own.f (x) }", *functions)
    with pytest.raises(kind, match=text):
        loaded(message)


def test_arrays_of_a_function_are_read_once():
    """A thousand calls of a function with a large array take its memory once."""
    calls = " ".join(f"y{i} = own.f (x)" for i in range(1000))
    message = parsed(
        f"g (float[N] x) => (float[N] y) {{ {calls} y = Neg (x) }}",
        "f (x) => (y) { a = Constant <value = float[1] {1}> ()  y = Add (x, a) }",
    )
    array = onnx.numpy_helper.from_array(np.zeros(1 << 20, "f"))
    message.functions[0].node[0].attribute[0].t.CopyFrom(array)
    data = message.SerializeToString()
    tracemalloc.start()
    L.ONNXModel(io.BytesIO(data))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 64 << 20


def test_a_gradient_in_a_graph_is_that_of_the_graph():
    """`Gradient` of ai.onnx.preview.training; through it there are gradients again."""
    message = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 20, "ai.onnx.preview.training" : 1]>\n'
        "g (float[N] x) => (float[N] d, float[N] e) { h = Exp (x)  y = Mul (h, x)"
        ' d, e = ai.onnx.preview.training.Gradient <xs = ["x", "h"], y = "y"> (x, h) }'
    )
    x = core.Variable(np.array([0.5, -1], "f"))
    d, e = loaded(message)(x)
    np.testing.assert_allclose(d.array, np.exp(x.array), rtol=1e-6)  # h is a start of its own
    np.testing.assert_allclose(e.array, x.array)
    F.sum(d).backward()
    np.testing.assert_allclose(x.grad, np.exp(x.array), rtol=1e-6)
    with core.no_backprop_mode():
        np.testing.assert_array_equal(loaded(message)(x)[0].array, d.array)

"""Operators of which onnx has few cases or none: against onnxruntime."""

import io
import math

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from onnx_runs import OPTIONS

import core
import core.functions as F
import core.links as L
from core.errors import CheckpointError

RNG = np.random.default_rng(0)
ML = "ai.onnx.ml"


def one(op, inputs, outputs=1, domain="", version=22, **given):
    """A model of one node, of inputs that are there, by name."""
    there = {name: x for name, x in inputs.items() if x is not None}
    kinds = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in there.items()}
    names = [name if name in there else "" for name in inputs]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], domain=domain, **given)
    values = [helper.make_tensor_value_info(name, kinds[name], None) for name in there]
    results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in node.output]
    graph = helper.make_graph([node], "g", values, results)
    opsets = {"": 22} | {domain: version}
    message = helper.make_model(
        graph, opset_imports=[helper.make_opsetid(*each) for each in opsets.items()], ir_version=10
    )
    for each in message.graph.output:
        each.type.Clear()
    return onnx.shape_inference.infer_shapes(message), there


def loaded(message):
    return L.ONNXModel(io.BytesIO(message.SerializeToString()))


def compare(message, there, atol=1e-4):
    found = loaded(message)(*there.values())
    session = onnxruntime.InferenceSession(message.SerializeToString(), OPTIONS)
    expected = session.run(None, there)
    for one, other in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
        got = np.asarray(getattr(one, "array", one))
        assert got.shape == other.shape
        if other.dtype.kind == "O":
            assert got.tolist() == other.tolist()
        else:
            assert got.dtype == other.dtype
            np.testing.assert_allclose(got, other, atol=atol, rtol=1e-4)


# ---------------------------------------------------------------------- recurrent layers

GATES = {"RNN": (1, 1), "GRU": (3, 2), "LSTM": (4, 3)}
TAKE = {"Affine": 2, "Elu": 1, "HardSigmoid": 2, "LeakyRelu": 1, "ScaledTanh": 2,
        "ThresholdedRelu": 1}  # fmt: skip
BOUNDED = ("HardSigmoid", "Sigmoid", "Softsign", "Tanh", "ScaledTanh")


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.data(), st.sampled_from(sorted(GATES)))
def test_recurrent_layers(data, op):
    """With all their settings: directions, lengths, first states, peepholes, clips, activations."""
    gates, count = GATES[op]
    direction = data.draw(st.sampled_from(["forward", "reverse", "bidirectional"]))
    d, t, n, i, h = 2 if direction == "bidirectional" else 1, 4, 3, 2, 3
    rng, maybe = np.random.default_rng(data.draw(st.integers(0, 99))), st.booleans()

    def drawn(*shape):
        return rng.normal(size=shape).astype("f")

    def perhaps(*shape):
        return drawn(*shape) if data.draw(maybe) else None

    inputs = {"x": drawn(t, n, i), "W": drawn(d, gates * h, i), "R": drawn(d, gates * h, h)}
    inputs["b"] = perhaps(d, 2 * gates * h)
    inputs["lengths"] = rng.integers(1, t + 1, n).astype("i4") if data.draw(maybe) else None
    inputs["h"] = perhaps(d, n, h)
    more = {"hidden_size": h, "direction": direction}
    if op == "LSTM":
        inputs |= {"c": perhaps(d, n, h), "p": perhaps(d, 3 * h)}
        more["input_forget"] = int(data.draw(maybe))
    if op == "GRU":
        more["linear_before_reset"] = int(data.draw(maybe))
    if data.draw(maybe):
        more["clip"] = 0.4
    if data.draw(maybe):
        first = st.sampled_from(BOUNDED)  # gates that grow without bound overflow
        later = st.sampled_from([*TAKE, "Relu", "Sigmoid", "Softplus", "Softsign", "Tanh"])
        more["activations"] = [
            data.draw(first if k % count == 0 or op != "LSTM" else later) for k in range(d * count)
        ]
        takes = [TAKE.get(name, 0) for name in more["activations"]]
        for key, least in (("activation_alpha", 1), ("activation_beta", 2)):
            own = [float(rng.uniform(0.2, 0.9)) for k in takes if k >= least]
            more |= {key: own} if own else {}
    compare(*one(op, inputs, 3 if op == "LSTM" else 2, **more))


def test_activations_are_checked():
    inputs = {
        "x": np.ones((2, 1, 2), "f"),
        "W": np.ones((1, 3, 2), "f"),
        "R": np.ones((1, 3, 3), "f"),
    }
    for names, text in [(["Tanh", "Relu"], "expected 1 activations, got 2"), (["Sine"], "Sine")]:
        message, there = one("RNN", inputs, 2, hidden_size=3, activations=names)
        with pytest.raises(CheckpointError, match=text):
            loaded(message)(*there.values())


# ---------------------------------------------------------------------- tables

X = RNG.normal(size=(4, 3)).astype("f")
X[1] = 0
GAPS = np.where(abs(X) > 1, np.float32(np.nan), X)
TEXT = np.array(["a", "c", "z"], object)
POOL = {"ngram_counts": [0, 3], "ngram_indexes": [0, 1, 2, 4, 3], "min_gram_length": 1}
TABLES = {
    "Scaler": [({"x": X}, {"offset": [1.0, 2.0, 3.0], "scale": [0.5, 0.2, 2.0]}),
               ({"x": (X * 9).astype("i8")}, {"offset": [1.0], "scale": [0.5]})],
    "Normalizer": [({"x": x}, {"norm": norm}) for norm in ("MAX", "L1", "L2") for x in (X, X[0])],
    "OneHotEncoder": [({"x": np.array([[1, 2], [3, 7]])}, {"cats_int64s": [1, 3, 2]}),
                      ({"x": np.array([1.5, 3], "f")}, {"cats_int64s": [1, 3]}),
                      ({"x": TEXT}, {"cats_strings": ["a", "b", "c"]})],
    "Imputer": [({"x": GAPS}, {"imputed_value_floats": [1.0, 2.0, 3.0],
                               "replaced_value_float": math.nan}),
                ({"x": np.array([[1, 2]])}, {"imputed_value_int64s": [9],
                                             "replaced_value_int64": 2})],
    "FeatureVectorizer": [({"x": X, "z": X[:, :2]}, {"inputdimensions": [3, 2]})],
    "LinearRegressor": [({"x": X + 1}, {"coefficients": [1.0, 2, 3, 4, 5, 6], "targets": 2,
                                        "intercepts": [0.5, 0.25], "post_transform": how})
                        for how in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")],
    "LabelEncoder": [({"x": np.array([1, 2, 9])}, {"keys_int64s": [1, 2],
                                                   "values_floats": [0.5, 0.25]}),
                     ({"x": TEXT}, {"keys_strings": ["a", "b"], "values_strings": ["x", "y"]})],
    "CategoryMapper": [({"x": x}, {"cats_strings": ["a", "b"], "cats_int64s": [7, 8], **default})
                       for x, default in [(TEXT, {"default_int64": -5}),
                                          (np.array([7, 9]), {"default_string": "no"})]],
    "ArrayFeatureExtractor": [({"x": x, "i": np.array([2, 0])}, {}) for x in (X, X[0])],
    "Binarizer": [({"x": X}, {"threshold": 0.25})],
}  # fmt: skip


@pytest.mark.parametrize("op", TABLES)
def test_tables(op):
    for inputs, more in TABLES[op]:
        compare(*one(op, inputs, domain=ML, version=3, **more))


def test_counts_of_sequences():
    for mode in ("TF", "IDF", "TFIDF"):
        rows, weights = np.array([[1, 2, 3, 1], [2, 3, 2, 3]]), [1.0, 2.0, 3.0, 4.0, 5.0]
        more = {**POOL, "max_gram_length": 2, "max_skip_count": 1, "weights": weights}
        pool = {"pool_int64s": [1, 2, 3, 2, 3, 1, 3]}
        compare(*one("TfIdfVectorizer", {"x": rows}, mode=mode, **more, **pool))


def forest(dtype, how):
    """Trees of up to four levels, with all comparisons, and values that are missing."""
    names = ("modes", "featureids", "splits", "missing_value_tracks_true",
             "truenodeids", "falsenodeids", "trueleafs", "falseleafs")  # fmt: skip
    columns = {name: [] for name in names}
    weights, targets = [], []

    def grow(depth):
        i = len(columns["modes"])
        drawn = (RNG.integers(6), RNG.integers(3), RNG.choice([0, 0.5, -0.5]), RNG.integers(2))
        for name, value in zip(names, (*drawn, 0, 0, 0, 0), strict=True):
            columns[name].append(value)
        for side in ("true", "false"):
            leaf = depth == 0 or RNG.random() < 0.3
            if leaf:
                weights.append(RNG.normal())
                targets.append(int(RNG.integers(3)))
            columns[f"{side}leafs"][i] = int(leaf)
            columns[f"{side}nodeids"][i] = len(weights) - 1 if leaf else grow(depth - 1)
        return i

    roots = [grow(3) for _ in range(4)]
    tensors = {"modes": "u1", "splits": dtype}
    given = {
        f"nodes_{name}": numpy_helper.from_array(np.array(each, tensors[name]))
        if name in tensors
        else [int(n) for n in each]
        for name, each in columns.items()
    }
    given["leaf_weights"] = numpy_helper.from_array(np.array(weights, dtype))
    return given | {"leaf_targetids": targets, "tree_roots": roots, "n_targets": 3,
                    "aggregate_function": how}  # fmt: skip


@pytest.mark.parametrize("how", range(4))
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_trees(dtype, how):
    x = RNG.choice([0, 0.5, -0.5, 1, -1, np.nan], size=(20, 3)).astype(dtype)
    compare(*one("TreeEnsemble", {"x": x}, domain=ML, version=5, **forest(dtype, how)))


BAD = {
    "nodes that lead back": {"nodes_trueleafs": [0], "nodes_truenodeids": [0]},
    "numbers of nodes": {"nodes_trueleafs": [0], "nodes_truenodeids": [5]},
    "numbers of features": {"nodes_featureids": [9]},
    "numbers of targets": {"leaf_targetids": [1]},
    "an array of at most": {"n_targets": 1 << 40},
    "as many settings as nodes": {"nodes_featureids": [0, 0]},
    "1 sets of members": {"nodes_modes": numpy_helper.from_array(np.array([6], "u1"))},
}


@pytest.mark.parametrize("what", BAD)
def test_hostile_trees(what):
    number = numpy_helper.from_array(np.array([0.5], "f"))
    tree = {"nodes_modes": numpy_helper.from_array(np.array([0], "u1")), "n_targets": 1,
            "nodes_featureids": [0], "nodes_splits": number, "leaf_weights": number,
            "leaf_targetids": [0], "tree_roots": [0]}  # fmt: skip
    for side in ("true", "false"):
        tree |= {f"nodes_{side}nodeids": [0], f"nodes_{side}leafs": [1]}
    x = np.zeros((2, 1), "f")
    message, _ = one("TreeEnsemble", {"x": x}, domain=ML, version=5, **tree)
    assert loaded(message)(x).array.tolist() == [[0.5], [0.5]]
    message, _ = one("TreeEnsemble", {"x": x}, domain=ML, version=5, **tree | BAD[what])
    with pytest.raises(CheckpointError, match=what):
        loaded(message)(x)


# ---------------------------------------------------------------------- integers

OF_INTEGERS = "ReduceL1 ReduceL2 ReduceLogSum ReduceProd ReduceSum ReduceSumSquare Shrink"


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("op", OF_INTEGERS.split())
def test_operators_of_integers(op, dtype):
    x = np.array([[1, -2, 3], [4, 5, -6]], dtype)
    if op == "ReduceLogSum":
        x = abs(x)
    more = {"bias": 0.25} if op == "Shrink" else {"keepdims": 0}
    compare(*one(op, {"x": x}, **more))
    compare(*one("Relu", {"x": x.astype("int32")}))


# ---------------------------------------------------------------------- images


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(
    size=st.tuples(*[st.integers(3, 8)] * 2),
    axes=st.tuples(*[st.tuples(*[st.integers(1, 3)] * 2, *[st.integers(0, 2)] * 2)] * 2),
    more=st.fixed_dictionaries(
        {"ceil_mode": st.integers(0, 1), "storage_order": st.integers(0, 1)}
    ),
)
def test_maxima_their_places_and_their_gradients(size, axes, more):
    """Each of several equal elements had the whole gradient, and padding a place."""
    k, s, before, after = zip(*axes, strict=True)
    pads = [min(p, n - 1) for p, n in zip((*before, *after), k * 2, strict=True)]
    x = np.where(RNG.random((2, 2, *size)) < 0.2, 0, -np.inf).astype("f")
    settings = {"kernel_shape": k, "strides": s, "pads": pads, **more}
    message, there = one(
        "MaxPool", {"x": x + RNG.integers(0, 3, x.shape).astype("f")}, 2, **settings
    )
    compare(message, there)  # where windows have maxima above -inf
    v = core.Variable(x)
    y, places = loaded(message)(v)
    F.sum(y).backward()
    at = core.as_array(places) % np.prod(size)
    order = "F" if more["storage_order"] else "C"
    at = np.ravel_multi_index(np.unravel_index(at, size, order=order), size)
    expected = np.array(
        [np.bincount(each.ravel(), minlength=np.prod(size)) for plane in at for each in plane]
    )
    np.testing.assert_array_equal(v.grad, expected.reshape(x.shape))
    chosen = np.take_along_axis(x.reshape(2, 2, -1), at.reshape(2, 2, -1), 2)
    np.testing.assert_array_equal(chosen.reshape(y.shape), y.array)


def test_sizes_are_the_product_with_scales_in_their_own_precision():
    x = RNG.normal(size=(1, 1, 3, 5)).astype("f")
    scales = np.array([1, 1, 5 / 3, 9 / 5], "f")
    compare(*one("Resize", {"x": x, "roi": None, "scales": scales}, mode="linear"))


@pytest.mark.parametrize("how", ["floor", "ceil", "round_prefer_floor"])
@pytest.mark.parametrize("where", ["asymmetric", "half_pixel"])
def test_the_nearest_is_decided_in_float32(where, how):
    """As 4 / (4 / 3) is 3 there, with scales in float32."""
    x = np.arange(9, dtype="f").reshape(1, 1, 1, 9)
    mode = {"mode": "nearest", "nearest_mode": how, "coordinate_transformation_mode": where}
    for n in (3, 5, 7, 12, 15, 21, 24, 26):
        scales = np.array([1, 1, 1, n / 9], "f")
        compare(*one("Resize", {"x": x, "roi": None, "scales": scales}, **mode))
        sizes = np.array([1, 1, 1, n])
        compare(*one("Resize", {"x": x, "roi": None, "scales": None, "sizes": sizes}, **mode))


# ---------------------------------------------------------------------- pooling


def test_pooling_of_regions():
    rois = np.array([[0, 0, 0, 7, 7], [1, 2, 1, 5, 6], [0, 3, 3, 4, 9]], "f")
    x = RNG.normal(size=(2, 3, 8, 9)).astype("f")
    for scale in (1.0, 0.5):
        more = {"pooled_shape": [3, 2], "spatial_scale": scale}
        compare(*one("MaxRoiPool", {"x": x, "r": rois}, version=21, **more))
    compare(*one("GlobalLpPool", {"x": x}, version=21, p=3))


def test_draws_of_classes():
    scores = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-9]], "f"))
    found = loaded(one("Multinomial", {"x": scores}, sample_size=4000)[0])(scores).array
    assert (found.shape, found.dtype) == ((2, 4000), np.int32)
    shares = np.stack([np.bincount(row, minlength=3) for row in found]) / 4000
    np.testing.assert_allclose(shares, np.exp(scores), atol=0.05)


# ---------------------------------------------------------------------- what optimizers write

MICROSOFT = "com.microsoft"
X, ROW = RNG.normal(size=(2, 5, 8)).astype("f"), RNG.normal(size=8).astype("f")
W, IMAGES = RNG.normal(size=(8, 24)).astype("f"), RNG.normal(size=(2, 4, 6, 5)).astype("f")
KERNEL = RNG.normal(size=(3, 4, 3, 3)).astype("f")
QKV = {"x": X, "W": W, "b": RNG.normal(size=24).astype("f")}
SEEN = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "i4")
FUSED = [
    ("Gelu", {"x": X}, {}),
    ("BiasGelu", {"x": X, "b": ROW}, {}),
    ("FastGelu", {"x": X, "b": ROW}, {}),
    ("FastGelu", {"x": X}, {}),
    ("QuickGelu", {"x": X}, {"alpha": 1.5}),
    ("FusedMatMul", {"a": X, "b": X}, {"transB": 1, "alpha": 0.25}),
    ("FusedMatMul", {"a": X, "b": X}, {"transA": 1}),
    ("FusedMatMul", {"a": X, "b": X}, {"transBatchA": 1, "transBatchB": 1, "transB": 1}),
    ("FusedMatMul", {"a": X, "b": X}, {"transBatchA": 1, "transBatchB": 1, "transA": 1}),
    (
        "FusedMatMul",
        {"a": IMAGES, "b": IMAGES},
        {"transBatchA": 1, "transBatchB": 1, "transB": 1},
    ),
    ("FusedGemm", {"a": X[0], "b": W, "c": QKV["b"]}, {"activation": "Relu", "alpha": 2.0}),
    ("FusedGemm", {"a": X[0], "b": W}, {"activation": "LeakyRelu", "activation_alpha": 0.3}),
    ("FusedConv", {"x": IMAGES, "W": KERNEL}, {"activation": "Relu", "pads": [1, 1, 1, 1]}),
    ("FusedConv", {"x": IMAGES, "W": KERNEL, "b": ROW[:3]},
     {"activation": "LeakyRelu", "activation_params": [0.2]}),
    ("FusedConv", {"x": IMAGES, "W": KERNEL, "b": None, "z": IMAGES[:, :3, :4, :3]},
     {"activation": "Clip", "activation_params": [-1.0, 2.0]}),
    ("SkipLayerNormalization", {"x": X, "s": X[::-1].copy(), "g": ROW, "b": ROW, "c": ROW},
     {"epsilon": 1e-3}),
    ("SkipLayerNormalization", {"x": X, "s": X[:1], "g": ROW}, {}),
    ("SkipSimplifiedLayerNormalization", {"x": X, "s": X[::-1].copy(), "g": ROW}, {}),
    ("Attention", QKV, {"num_heads": 2}),
    ("Attention", QKV, {"num_heads": 4, "unidirectional": 1, "scale": 0.3}),
    ("Attention", {**QKV, "m": SEEN}, {"num_heads": 2}),
    ("Attention", {**QKV, "m": SEEN.sum(1).astype("i4")}, {"num_heads": 2}),
    ("Attention", {**QKV, "m": np.stack([SEEN] * 5, 1)}, {"num_heads": 2}),
]  # fmt: skip


@pytest.mark.parametrize("op, inputs, given", FUSED)
def test_operators_that_stand_for_several(op, inputs, given):
    compare(*one(op, inputs, domain=MICROSOFT, version=1, **given))


def test_the_sum_that_is_normalized_is_given_too():
    inputs = {"x": X, "s": X[::-1].copy(), "g": ROW, "b": ROW}
    node = helper.make_node(
        "SkipLayerNormalization", [*inputs], ["y", "", "", "t"], domain=MICROSOFT
    )
    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in inputs.items()
    ]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, X.shape) for n in ("y", "t")]
    opsets = [helper.make_opsetid("", 22), helper.make_opsetid(MICROSOFT, 1)]
    graph = helper.make_graph([node], "g", values, outputs)
    compare(helper.make_model(graph, opset_imports=opsets, ir_version=10), inputs)


@pytest.mark.parametrize("given", [{"past": X}, {"do_rotary": 1}])
def test_attention_with_more_is_refused_by_name(given):
    past = {"p": np.zeros((2, 2, 2, 1, 4), "f")} if "past" in given else {}
    settings = {} if past else given
    message, there = one(
        "Attention",
        {**QKV, "m": None, **past},
        domain=MICROSOFT,
        version=1,
        num_heads=2,
        **settings,
    )
    with pytest.raises(CheckpointError, match=r"com\.microsoft\.Attention: .* is not known here"):
        loaded(message)(*there.values())

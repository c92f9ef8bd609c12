"""The links that connect units by weights, by check_link, against elementwise references."""

import inspect
import pickle
from math import prod

import numpy as np
import pytest
from references.connection import convolution, deconvolution
from references.pooling import max_pooling

import core
import core.functions as F
import core.links as L
from core.arrays import backend
from core.errors import RemovedArgument
from core.testing import check_link

RANDOM = np.random.RandomState(0)
X = RANDOM.uniform(-1, 1, (4, 3))
E2 = RANDOM.uniform(-1, 1, (4, 2))
LINES = RANDOM.uniform(-1, 1, (2, 2, 6))
IMAGES = RANDOM.permutation(np.linspace(-1, 1, 160)).reshape(2, 4, 5, 4)  # far apart, for maxima
VOLUMES = RANDOM.uniform(-1, 1, (2, 2, 3, 3, 3))


def drawn(array):
    """An initializer that gives the same values each time, so that no kink is met by chance."""
    values = np.random.RandomState(prod(array.shape)).uniform(-1, 1, tuple(array.shape))
    home = backend.of(array)
    home.copyto(array, home.asarray(values.astype(home.dtype_name(array.dtype))))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


def affine(p, x, name):
    return x @ p[f"{name}/W"].T + p.get(f"{name}/b", 0)


def convolved(p, x, name="", **settings):
    return convolution(x, p[f"{name}/W"], p.get(f"{name}/b"), **settings)


def deconvolved(p, x, **settings):
    return deconvolution(x, p["/W"], p.get("/b"), **settings)


def depthwise(p, x, **settings):
    y = [
        convolution(x[:, c : c + 1], p["/W"][:, c : c + 1], None, **settings)
        for c in range(x.shape[1])
    ]
    y = np.concatenate(y, axis=1)
    return y if "/b" not in p else y + p["/b"][:, None, None]


def local(p, x, stride=1):
    W = p["/W"]
    (o, h, w, _, kh, kw) = W.shape
    y = np.empty((len(x), o, h, w))
    for k, i, j in np.ndindex(o, h, w):
        rows, columns = i * stride, j * stride
        seen = x[:, :, rows : rows + kh, columns : columns + kw]
        y[:, k, i, j] = (seen * W[k, i, j]).sum((1, 2, 3))
    return y + p.get("/b", 0)


def deformable(p, x):
    """With windows of 2 by 2, moved by the first convolution along the columns, then the rows."""
    offset, W = convolved(p, x, "/offset_conv"), p["/deform_conv/W"]
    padded = np.pad(x, [(0, 0), (0, 0), (0, 2), (0, 2)])
    y = np.zeros((len(x), len(W), *offset.shape[2:])) + p["/deform_conv/b"][:, None, None]
    for n, o, h, w, i, j in np.ndindex(*y.shape, 2, 2):
        row = h + i + offset[n, 4 + 2 * i + j, h, w]
        column = w + j + offset[n, 2 * i + j, h, w]
        top, left = int(np.floor(row)), int(np.floor(column))
        for r, c in np.ndindex(2, 2):
            weight = (1 - abs(top + r - row)) * (1 - abs(left + c - column))
            y[n, o, h, w] += weight * (padded[n, :, top + r, left + c] @ W[o, :, i, j])
    return y


def bilinear(p, e1, e2):
    y = np.einsum("nj,nk,jkl->nl", e1, e2, p["/W"])
    return y + e1 @ p["/V1"] + e2 @ p["/V2"] + p["/b"] if "/b" in p else y


def highway(p, x, activate=relu):
    t = sigmoid(affine(p, x, "/transform"))
    return t * activate(affine(p, x, "/plain")) + (1 - t) * x


def perceptron(p, x):
    return convolved(p, np.tanh(convolved(p, x, "/0")), "/1")


def inception(p, x):
    branches = [
        convolved(p, x, "/conv1"),
        convolved(p, relu(convolved(p, x, "/proj3")), "/conv3", pad=1),
        convolved(p, relu(convolved(p, x, "/proj5")), "/conv5", pad=2),
        convolved(p, max_pooling(x, 3, 1, 1), "/projp"),
    ]
    return relu(np.concatenate(branches, axis=1))


def normalized(p, x, name):
    mean, var = (f(x, axis=(0, 2, 3), keepdims=True) for f in (np.mean, np.var))
    gamma, beta = (p[f"{name}/{part}"][:, None, None] for part in ("gamma", "beta"))
    return gamma * (x - mean) / np.sqrt(var + 2e-5) + beta


def through(p, x, *names, stride=1):
    for name in names:
        pad = 1 if "conv3" in name else 0
        step = stride if name == names[-1] else 1
        x = relu(normalized(p, convolved(p, x, f"/{name}", stride=step, pad=pad), f"/{name}n"))
    return x


def inception_bn(p, x):
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    h, w = x.shape[2:]
    mean = sum(padded[:, :, i : i + h, j : j + w] for i in range(3) for j in range(3)) / 9
    branches = [
        through(p, x, "conv1"),
        through(p, x, "proj3", "conv3"),
        through(p, x, "proj33", "conv33a", "conv33b"),
        through(p, mean, "poolp"),
    ]
    return np.concatenate(branches, axis=1)


def shrinking_inception_bn(p, x):
    branches = [
        through(p, x, "proj3", "conv3", stride=2),
        through(p, x, "proj33", "conv33a", "conv33b", stride=2),
        max_pooling(x, 3, 2, 1, cover_all=False),
    ]
    return np.concatenate(branches, axis=1)


ALL = {"initialW": drawn, "initial_bias": drawn}


def lifted(module):
    """The module with its normalizations far from the kinks of the rectifiers behind them."""
    for link in module.links():
        if isinstance(link, L.BatchNormalization):
            link.beta.array += 9
    return module


LINKS = {
    "Bias": (lambda: L.Bias(1, (3,)), (X,), lambda p, x: x + p["/b"]),
    "Bias of a second input": (lambda: L.Bias(0), (X, X[:, 0]), lambda p, x, b: x + b[:, None]),
    "Scale": (lambda: L.Scale(1, (3,)), (X,), lambda p, x: x * p["/W"]),
    "Scale and bias": (
        lambda: L.Scale(1, (4, 5), bias_term=True),
        (IMAGES,),
        lambda p, x: x * p["/W"][..., None] + p["/bias/b"][..., None],
    ),
    "Scale by a second input, and bias": (
        lambda: L.Scale(1, None, True, (3,)),
        (X, X[0]),
        lambda p, x, W: x * W + p["/bias/b"],
    ),
    "Bilinear": (lambda: L.Bilinear(3, 2, 4, initial_bias=(drawn,) * 3), (X, E2), bilinear),
    "Bilinear without a bias": (lambda: L.Bilinear(3, 2, 4, nobias=True), (X, E2), bilinear),
    "Highway": (
        lambda: L.Highway(3, activate=F.tanh),
        (X,),
        lambda p, x: highway(p, x, np.tanh),
    ),
    "Highway, rectified": (
        lambda: L.Highway(3, init_Wh=drawn, init_Wt=drawn, init_bh=drawn),
        (X,),
        highway,
    ),
    "Highway without a bias": (
        lambda: L.Highway(3, True, F.tanh),
        (X,),
        lambda p, x: highway(p, x, np.tanh),
    ),
    "Convolution1D": (lambda: L.Convolution1D(2, 3, 2), (LINES,), convolved),
    "Convolution1D, settings": (
        lambda: L.Convolution1D(3, 2, nobias=True, dilate=2, stride=2, pad=1, cover_all=True),
        (LINES,),
        lambda p, x: convolved(p, x, dilate=2, stride=2, pad=1, cover_all=True),
    ),
    "Convolution2D": (lambda: L.Convolution2D(3, 2, **ALL), (IMAGES,), convolved),
    "Convolution3D": (lambda: L.Convolution3D(2, 2, 2), (VOLUMES,), convolved),
    "ConvolutionND": (
        lambda: L.ConvolutionND(3, 2, 2, (2, 1, 3), groups=2, **ALL),
        (VOLUMES,),
        lambda p, x: convolved(p, x, groups=2),
    ),
    "ConvolutionND, size omitted": (
        lambda: L.ConvolutionND(1, 2, 3, cover_all=True, stride=2),
        (LINES,),
        lambda p, x: convolved(p, x, cover_all=True, stride=2),
    ),
    "DilatedConvolution2D": (
        lambda: L.DilatedConvolution2D(4, 3, 2, 1, 1, 2, initial_bias=drawn),
        (IMAGES,),
        lambda p, x: convolved(p, x, pad=1, dilate=2),
    ),
    "DilatedConvolution2D, size omitted": (
        lambda: L.DilatedConvolution2D(3, 2, nobias=True),
        (IMAGES,),
        convolved,
    ),
    "DepthwiseConvolution2D": (
        lambda: L.DepthwiseConvolution2D(4, 2, 2, 2, 1, **ALL),
        (IMAGES,),
        lambda p, x: depthwise(p, x, stride=2, pad=1),
    ),
    "DepthwiseConvolution2D, size omitted": (
        lambda: L.DepthwiseConvolution2D(None, 2, (2, 3), nobias=True),
        (IMAGES,),
        depthwise,
    ),
    "LocalConvolution2D": (
        lambda: L.LocalConvolution2D(4, 2, (5, 4), 2, 2, **ALL),
        (IMAGES,),
        lambda p, x: local(p, x, 2),
    ),
    "LocalConvolution2D, size omitted": (
        lambda: L.LocalConvolution2D(None, 2, ksize=3, nobias=True),
        (IMAGES,),
        local,
    ),
    "DeformableConvolution2D": (
        # Moved by less than an element, far from the places where interpolation has kinks.
        lambda: L.DeformableConvolution2D(
            4, 2, 2, offset_initialW=0.01, offset_initial_bias=0.4, deform_initial_bias=drawn
        ),
        (IMAGES,),
        deformable,
    ),
    "Deconvolution1D": (
        lambda: L.Deconvolution1D(2, 3, 2, initial_bias=drawn),
        (LINES,),
        deconvolved,
    ),
    "Deconvolution2D": (
        lambda: L.Deconvolution2D(3, 2, stride=2, initial_bias=drawn),
        (IMAGES,),
        lambda p, x: deconvolved(p, x, stride=2),
    ),
    "Deconvolution2D, settings": (
        lambda: L.Deconvolution2D(4, 2, (3, 2), 2, 1, True, (12, 7), dilate=2, groups=2),
        (IMAGES,),
        lambda p, x: deconvolved(p, x, stride=2, pad=1, dilate=2, groups=2, size=(12, 7)),
    ),
    "Deconvolution3D": (lambda: L.Deconvolution3D(2, 2, 2), (VOLUMES[:, :, :2],), deconvolved),
    "DeconvolutionND": (
        lambda: L.DeconvolutionND(1, 2, 4, 3, groups=2, **ALL),
        (LINES,),
        lambda p, x: deconvolved(p, x, groups=2),
    ),
    "DeconvolutionND, size omitted": (
        lambda: L.DeconvolutionND(1, 2, 3, dilate=2, outsize=10),
        (LINES,),
        lambda p, x: deconvolved(p, x, dilate=2, size=(10,)),
    ),
    "MLPConvolution2D": (
        lambda: L.MLPConvolution2D(4, (3, 2), 2, activation=F.tanh, bias_init=drawn),
        (IMAGES,),
        perceptron,
    ),
    "MLPConvolution2D, size omitted": (
        lambda: L.MLPConvolution2D((3, 2), 2, pad=1, activation=None),
        (IMAGES,),
        lambda p, x: convolved(p, convolved(p, x, "/0", pad=1), "/1"),
    ),
    "Inception": (
        # Far from the kinks of the rectifiers; test_inception_rectifies is about them.
        lambda: L.Inception(None, 2, 1, 3, 2, 2, 1, drawn, 50),
        (IMAGES,),
        inception,
    ),
    "InceptionBN": (
        lambda: lifted(L.InceptionBN(None, 2, 1, 2, 2, 2, "avg", 1, conv_init=drawn)),
        (IMAGES,),
        inception_bn,
    ),
    "InceptionBN, shrinking": (
        lambda: lifted(L.InceptionBN(4, 0, 1, 2, 2, 2, "max", stride=2, conv_init=drawn)),
        (IMAGES,),
        shrinking_inception_bn,
    ),
}


@pytest.mark.parametrize("name", LINKS)
def test_link(name):
    make, inputs, reference = LINKS[name]
    check_link(make, inputs, reference, kind="solution" if "BN" in name else "reduction")


@pytest.mark.parametrize(
    ("module", "reference"),
    [
        (L.Inception(4, 2, 1, 3, 2, 2, 1, drawn, drawn), inception),
        (L.InceptionBN(4, 2, 1, 2, 2, 2, "avg", 1, conv_init=drawn), inception_bn),
    ],
)
def test_inception_rectifies(module, reference):
    p = {path: param.array.astype("d") for path, param in module.namedparams()}
    y = module(IMAGES.astype("f")).array
    assert (y == 0).any()
    np.testing.assert_allclose(y, reference(p, IMAGES), rtol=1e-4, atol=1e-4)


def test_convolutions_of_any_rank_have_a_bias():
    assert L.ConvolutionND(1, 2, 3, 1).b.shape == (3,)
    assert L.DeconvolutionND(1, 2, 3, 1).b.shape == (3,)


@pytest.mark.parametrize("cls", [L.Convolution1D, L.Convolution2D, L.Convolution3D])
def test_convolution_from_params(cls):
    W = RANDOM.normal(size=(4, 1, *(2,) * {"1": 1, "2": 2, "3": 3}[cls.__name__[-2]]))
    b = RANDOM.normal(size=4)
    with core.using_config("dtype", "float64"):
        layer = cls.from_params(W, b, stride=2, dilate=2, groups=2)
        duplicate = L.ConvolutionND.from_params(W, b, stride=2, dilate=2, groups=2)
    assert type(layer) is cls
    assert (layer.in_channels, layer.out_channels, layer.stride[0]) == (2, 4, 2)
    np.testing.assert_array_equal(layer.W.array, W)
    np.testing.assert_array_equal(layer.b.array, b)
    x = RANDOM.normal(size=(1, 2, *(4,) * duplicate.ndim))
    np.testing.assert_array_equal(layer(x).array, duplicate(x).array)


def test_first_and_second_input_are_told_apart():
    with pytest.raises(TypeError, match="links.Bias: expected 2 inputs, got 1. Give the link a sh"):
        L.Bias()(X)
    with pytest.raises(TypeError, match="links.Scale: expected 1 inputs, got 2"):
        L.Scale(1, (3,))(X, X)
    with pytest.raises(ValueError, match="links.Scale: .* Give W_shape or bias_shape"):
        L.Scale(bias_term=True)


@pytest.mark.parametrize(
    "cls", [L.Deconvolution2D, L.DilatedConvolution2D, L.MLPConvolution2D, L.LocalConvolution2D]
)
def test_removed_arguments_are_refused_with_the_cure(cls):
    with pytest.raises(RemovedArgument, match=f"{cls.__name__}: .*'wscale'.*(initialW|conv_init)="):
        cls(1, 2, 3, wscale=2)


def test_impossible_settings_are_refused():
    with pytest.raises(ValueError, match="'max' or 'avg', got 'min'"):
        L.InceptionBN(1, 1, 1, 1, 1, 1, "min", 1)
    with pytest.raises(ValueError, match="Give out1=0"):
        L.InceptionBN(1, 1, 1, 1, 1, 1, "max", stride=2)
    with pytest.raises(TypeError, match="out_channels to be a tuple"):
        L.MLPConvolution2D(1, 2, 3)
    with pytest.raises(TypeError, match="expected a ksize"):
        L.LocalConvolution2D(1, 2)
    with pytest.raises(ValueError, match="links.Deconvolution1D: expected input channels that 2"):
        L.Deconvolution1D(3, 2, 1, groups=2)
    with pytest.raises(TypeError, match="ConvolutionND: expected out_channels to be .* got None"):
        L.ConvolutionND(2, 3, None)


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
def test_layers_of_a_rank_take_the_arguments_of_those_of_any(kind, rank):
    of_any, of_rank = getattr(L, f"{kind}ND"), getattr(L, f"{kind}{rank}D")
    expected = list(inspect.signature(of_any).parameters.values())
    assert list(inspect.signature(of_rank).parameters.values()) == expected[1:]
    layer = pickle.loads(pickle.dumps(of_rank(2, 3, 2)))
    assert type(layer) is of_rank and layer.ndim == rank and layer.W.ndim == rank + 2
    with pytest.raises(TypeError, match="'in_channels' and 'out_channels'"):
        of_rank()


def test_a_parameter_alone():
    layer = L.Parameter(X)
    assert layer().array is X and isinstance(layer(), core.Parameter)
    F.sum(layer() ** 2).backward()
    np.testing.assert_allclose(layer.W.grad, 2 * X)
    with pytest.raises(RemovedArgument, match="'volatile' no longer exists. .*no_backprop_mode"):
        layer(volatile="off")


EYE = np.eye(3)
FILLED = {
    "Linear": lambda: L.Linear(3, 3, initialW=EYE, initial_bias=np.float64(1)),
    "Linear.from_params": lambda: L.Linear.from_params(EYE, np.ones(3)),
    "Linear of omitted size": lambda: L.Linear(None, 3, initialW=EYE),
    "Convolution2D": lambda: L.Convolution2D(3, 3, 1, initialW=EYE[:, :, None, None]),
    "EmbedID": lambda: L.EmbedID(3, 3, initialW=EYE),
    "EmbedID.from_params": lambda: L.EmbedID.from_params(EYE),
    "LSTM": lambda: L.LSTM(3, 3, lateral_init=EYE, forget_bias_init=np.ones(3)),
    "NStepGRU": lambda: L.NStepGRU(1, 3, 3, 0.0, initialW=EYE),
    "BatchNormalization": lambda: L.BatchNormalization(
        3, initial_gamma=np.ones(3), initial_avg_mean=np.zeros(3)
    ),
    "PReLU": lambda: L.PReLU((3,), np.ones(3)),
    "CRF1d": lambda: L.CRF1d(3, initial_cost=EYE),
}


@pytest.mark.parametrize("name", FILLED)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_arrays_of_initial_values_leave_the_dtype_in_force(name, dtype):
    """As in Chainer, so that a link filled with what NumPy makes fits into the others."""
    with core.using_config("dtype", dtype):
        link = FILLED[name]()
    if "omitted" in name:
        link(np.ones((1, 3), dtype))
    arrays = [param.array for param in link.params()]
    arrays += [getattr(link, name) for name in link._persistent if name != "N"]
    assert {array.dtype for array in arrays} == {np.dtype(dtype)}


@pytest.mark.parametrize(
    "link", [L.Convolution1D, L.Convolution3D, L.Deconvolution1D, L.Deconvolution3D]
)
def test_a_layer_of_one_rank_goes_by_its_own_name(link):
    init = f"{link.__name__}.__init__"
    assert link.__init__.__qualname__ == init
    with pytest.raises(TypeError, match=rf"^{init}\(\) missing 2 required positional arguments"):
        link()
    with pytest.raises(TypeError, match="ndim"):
        link(1, 2, 3, ndim=2)
    assert pickle.loads(pickle.dumps(link(1, 2, 3))).ksize == link(1, 2, 3).ksize


def test_the_weights_of_inception_are_drawn_in_chainers_order():
    shapes = {"proj3": (2, 5), "conv3": (3, 2, 3, 3), "proj33": (2, 5), "conv33a": (4, 2, 3, 3)}
    shapes |= {"conv33b": (4, 4, 3, 3), "conv1": (6, 5), "poolp": (1, 5)}
    state = np.random.get_state()
    try:
        np.random.seed(0)
        layer = L.InceptionBN(5, 6, 2, 3, 2, 4, "max", 1, conv_init=core.initializers.Normal(1))
        np.random.seed(0)
        for name, shape in shapes.items():
            drawn_there = np.random.standard_normal(shape).astype("f")
            np.testing.assert_array_equal(layer[name].W.array.reshape(shape), drawn_there)
    finally:
        np.random.set_state(state)


@pytest.mark.parametrize("biases", [0, core.initializers.One(), (0, 0), np.zeros(4)])
def test_bilinear_has_three_initial_biases(biases):
    with pytest.raises(ValueError, match="expected initial_bias to be a tuple of three init"):
        L.Bilinear(3, 2, 4, initial_bias=biases)

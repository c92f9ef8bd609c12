"""Functions as links, by check_link, against formulas in plain NumPy; and that they are links."""

import copy
import inspect
import math
import pickle

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.testing import check_link
from plugins.links.function_link import FunctionLink

RANDOM = np.random.RandomState(0)
X = RANDOM.uniform(0.1, 2, (4, 3)) * RANDOM.choice([-1, 1], (4, 3))
IMAGES = RANDOM.permutation(2 * 3 * 5 * 4).reshape(2, 3, 5, 4) / 40


def softmax(x, axis):
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


def windows(x, size, reduce):
    """Windows that touch; those at the lower and right border may be smaller."""
    rows, columns = (range(0, n, k) for n, k in zip(x.shape[2:], size, strict=True))
    return np.stack(
        [
            np.stack([reduce(x[:, :, i : i + size[0], j : j + size[1]]) for j in columns], -1)
            for i in rows
        ],
        -2,
    )


# name -> how it is made, its input, its formula
LINKS = {
    "ReLU": (lambda: L.ReLU(), (X,), lambda p, x: np.maximum(x, 0)),
    "LeakyReLU": (lambda: L.LeakyReLU(0.1), (X,), lambda p, x: np.where(x < 0, 0.1 * x, x)),
    "ClippedReLU": (lambda: L.ClippedReLU(1.05), (X,), lambda p, x: np.clip(x, 0, 1.05)),
    "ELU": (lambda: L.ELU(0.5), (X,), lambda p, x: np.where(x < 0, 0.5 * np.expm1(x), x)),
    "SELU": (
        lambda: L.SELU(1.5, 1.1),
        (X,),
        lambda p, x: 1.1 * np.where(x < 0, 1.5 * np.expm1(x), x),
    ),
    "GELU": (
        lambda: L.GELU(),
        (X,),
        lambda p, x: x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    ),
    "SiLU": (lambda: L.SiLU(), (X,), lambda p, x: x / (1 + np.exp(-x))),
    "Softplus": (lambda: L.Softplus(2.0), (X,), lambda p, x: np.log1p(np.exp(2 * x)) / 2),
    "Sigmoid": (lambda: L.Sigmoid(), (X,), lambda p, x: 1 / (1 + np.exp(-x))),
    "HardSigmoid": (
        lambda: L.HardSigmoid(),
        (X,),
        lambda p, x: np.clip(0.2 * x + 0.5, 0, 1),
    ),
    "Tanh": (lambda: L.Tanh(), (X,), lambda p, x: np.sinh(x) / np.cosh(x)),
    "Softmax": (lambda: L.Softmax(), (X,), lambda p, x: softmax(x, 1)),
    "Softmax(axis=0)": (lambda: L.Softmax(axis=0), (X,), lambda p, x: softmax(x, 0)),
    "LogSoftmax": (lambda: L.LogSoftmax(), (X,), lambda p, x: np.log(softmax(x, 1))),
    "Flatten": (
        lambda: L.Flatten(),
        (IMAGES,),
        lambda p, x: np.stack([np.concatenate([row.ravel() for row in each]) for each in x]),
    ),
    "Dropout without dropping": (lambda: L.Dropout(0.0), (X,), lambda p, x: x),
    "MaxPooling2D": (
        lambda: L.MaxPooling2D((2, 3)),
        (IMAGES,),
        lambda p, x: windows(x, (2, 3), lambda w: w.max((2, 3))),
    ),
    "AveragePooling2D": (
        lambda: L.AveragePooling2D(2),
        (IMAGES[:, :, :4],),
        lambda p, x: windows(x, (2, 2), lambda w: w.mean((2, 3))),
    ),
}

# link -> the function that it calls
FUNCTIONS = {
    **{name: name.lower() for name in ("ReLU", "ELU", "SELU", "GELU", "SiLU", "Softplus")},
    **{name: name.lower() for name in ("Sigmoid", "Tanh", "Softmax", "Dropout")},
    "LeakyReLU": "leaky_relu",
    "ClippedReLU": "clipped_relu",
    "HardSigmoid": "hard_sigmoid",
    "LogSoftmax": "log_softmax",
    "MaxPooling2D": "max_pooling_2d",
    "AveragePooling2D": "average_pooling_2d",
}
ALL = [
    name
    for name in core.registry.catalogue("links").names()
    if isinstance(getattr(L, name), type) and issubclass(getattr(L, name), FunctionLink)
]


@pytest.mark.parametrize("name", LINKS)
def test_link(name):
    check_link(*LINKS[name])


@pytest.mark.parametrize("name", [name for name in ALL if name != "Flatten"])
def test_settings_are_those_of_the_function(name):
    ours = inspect.signature(getattr(L, name)).parameters.values()
    _, *theirs = inspect.signature(getattr(F, FUNCTIONS[name])).parameters.values()
    assert [(p.name, p.default) for p in ours] == [(p.name, p.default) for p in theirs][: len(ours)]


@pytest.mark.parametrize("name", ALL)
def test_they_are_layers_of_a_sequential_and_of_a_list(name):
    given = {"ksize": 2} if "Pooling" in name else {}
    layer = getattr(L, name)(**given)
    x = IMAGES.astype("f")
    for model in (core.Sequential(layer, copy.deepcopy(layer)), core.ChainList(layer)):
        assert list(model.children())[0] is layer and layer.name == "0"
        assert not list(model.params())
        assert f"0: {name}" in repr(model)
    with core.using_config("train", False):
        expected = layer(x).array
        for duplicate in (pickle.loads(pickle.dumps(layer)), layer.copy(), layer.repeat(1)):
            np.testing.assert_array_equal(duplicate(x).array, expected)


def test_settings_are_shown_and_may_be_changed():
    layer = L.LeakyReLU(slope=0.5)
    assert repr(layer) == "LeakyReLU(slope=0.5): 0 parameters"
    assert repr(L.LeakyReLU()) == "LeakyReLU: 0 parameters"
    assert repr(L.MaxPooling2D(2, pad=1)) == "MaxPooling2D(ksize=2, pad=1): 0 parameters"
    layer.slope = 0.25
    assert layer(np.array([-4.0])).array.tolist() == [-1.0]


def test_wrong_arguments_are_refused_by_name():
    with pytest.raises(TypeError, match=r"links.LeakyReLU: .*'slop'.*'slope'\? It takes slope\."):
        L.LeakyReLU(slop=0.1)
    for make, theirs, ours in (
        (L.LeakyReLU, "negative_slope", "slope"),
        (L.Dropout, "p", "ratio"),
        (L.MaxPooling2D, "kernel_size", "ksize"),
    ):
        with pytest.raises(TypeError, match=rf"Did you mean '{ours}'"):
            make(**{theirs: 1})
    with pytest.raises(TypeError, match=r"links.ReLU: .* It takes no arguments\."):
        L.ReLU(True)
    with pytest.raises(TypeError, match="links.MaxPooling2D: .*'ksize'.* It takes ksize, stride"):
        L.MaxPooling2D()
    with pytest.raises(core.errors.InvalidType, match="(?s)Flatten.*x.ndim >= 1"):
        L.Flatten()(np.zeros(()))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("value", ["x", object(), core.Variable(np.ones(1))], ids=type)
def test_settings_of_a_wrong_kind_are_refused_when_the_link_is_made(name, value):
    for setting in inspect.signature(getattr(L, name)).parameters:
        given = {"ksize": 2} if "Pooling" in name else {}
        with pytest.raises(core.errors.InvalidSetting, match=f"^{name}: expected {setting} to be"):
            getattr(L, name)(**{**given, setting: value})


def test_dropout_drops_in_training_only():
    layer = L.Dropout(0.25)
    y = layer(np.ones((200, 50), "f")).array
    np.testing.assert_allclose(np.unique(y), [0, 1 / 0.75], rtol=1e-6)
    assert abs((y == 0).mean() - 0.25) < 0.02  # four and a half standard deviations
    with core.using_config("train", False):
        assert (layer(np.ones((4, 5), "f")).array == 1).all()


def test_examples_are_flattened_even_where_there_are_none():
    assert L.Flatten()(np.zeros((0, 3, 4))).shape == (0, 12)
    assert L.Flatten()(np.zeros(5)).shape == (5, 1)

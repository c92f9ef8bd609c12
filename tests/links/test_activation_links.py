"""The activations that learn, by check_link, against formulas in plain NumPy."""

import numpy as np
import pytest

import core
import core.links as L
from core.testing import check_link

RANDOM = np.random.RandomState(0)
X = RANDOM.uniform(0.1, 1, (4, 3)) * RANDOM.choice([-1, 1], (4, 3))
IMAGES = RANDOM.uniform(0.1, 1, (2, 3, 2, 2)) * RANDOM.choice([-1, 1], (2, 3, 2, 2))
MASK = RANDOM.choice([0.0, 1.0], (4, 2, 3))
W = RANDOM.uniform(-1, 1, (2, 4, 3)).astype("f")
B = RANDOM.uniform(-1, 1, (2, 4)).astype("f")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def prelu(p, x):
    slope = p["/W"].reshape(p["/W"].shape + (1,) * (x.ndim - 1 - p["/W"].ndim))
    return np.where(x >= 0, x, x * slope)


def maxout(p, x):
    pieces = np.einsum("ijk,nk->nij", p["/linear/W"].reshape(2, 4, 3), x)
    return (pieces + p.get("/linear/b", np.zeros(8)).reshape(2, 4)).max(2)


def masked(p, x, mask, ratio=0.5):
    return np.einsum("nk,nmk,mk->nm", x, mask, p["/W"]) / (1 - ratio) + p.get("/b", 0)


LINKS = {
    "PReLU": (lambda: L.PReLU(), (X,), prelu),
    "PReLU, a slope for each": (lambda: L.PReLU((3,), typed(W[0, 0])), (X,), prelu),
    "PReLU, a slope for each channel": (lambda: L.PReLU((3,), 0.5), (IMAGES,), prelu),
    "Swish": (lambda: L.Swish((3,), 2), (X,), lambda p, x: x * sigmoid(p["/beta"] * x)),
    "Swish, one for all": (lambda: L.Swish(()), (X,), lambda p, x: x * sigmoid(p["/beta"] * x)),
    "Swish, shape omitted": (
        lambda: L.Swish(None),
        (IMAGES,),
        lambda p, x: x * sigmoid(p["/beta"] * x),
    ),
    "Maxout": (lambda: L.Maxout(3, 2, 4, typed(W), typed(B)), (X,), maxout),
    "Maxout, plain values": (lambda: L.Maxout(None, 2, 4, typed(W), None), (X,), maxout),
    "SimplifiedDropconnect without dropping": (
        lambda: L.SimplifiedDropconnect(3, 2, ratio=0.0, initial_bias=1),
        (X,),
        lambda p, x: x @ p["/W"].T + p["/b"],
    ),
}


def typed(array):
    """The array in the dtype under test, where that is known: initial arrays decide the dtype."""
    return array.astype(core.config.dtype)


@pytest.mark.parametrize("name", LINKS)
def test_link(name):
    check_link(*LINKS[name])


def test_maxout_starts_as_it_is_told():
    layer = L.Maxout(3, 2, 4, initial_bias=B)
    np.testing.assert_array_equal(layer.linear.b.array, B.ravel())
    assert layer.linear.W.shape == (8, 3)
    assert L.Maxout(3, 2, 4).linear.b.array.tolist() == [0] * 8
    assert L.Maxout(3, 2, 4, initial_bias=None).linear.b is None


@pytest.mark.parametrize(("name", "shape"), [("initialW", (4, 2, 3)), ("initial_bias", (4, 2))])
def test_maxout_refuses_arrays_with_the_maps_before_the_outputs(name, shape):
    with pytest.raises(ValueError, match=rf"{name} of the shape \(2, 4.* got \(4, 2"):
        L.Maxout(3, 2, 4, **{name: np.ones(shape, "f")})


def test_dropconnect_with_a_given_mask():
    for make in (
        lambda: L.SimplifiedDropconnect(3, 2, initial_bias=1),
        lambda: L.SimplifiedDropconnect(None, 2, nobias=True),
    ):
        layer = make()
        x = X.astype("f")
        y = layer(x, mask=MASK.astype("f"))
        p = {path: param.array for path, param in layer.namedparams()}
        np.testing.assert_allclose(y.array, masked(p, x, MASK), rtol=1e-5, atol=1e-6)


def test_dropconnect_keeps_the_first_mask_and_saves_it():
    layer, x = L.SimplifiedDropconnect(3, 2), X.astype("f")
    layer(x)
    assert not hasattr(layer, "mask")
    layer(x, mask=MASK)
    layer(x, mask=1 - MASK)
    target = {}
    core.serializers.DictionarySerializer(target).save(layer)
    np.testing.assert_array_equal(target["mask"], MASK)
    other = L.SimplifiedDropconnect(3, 2)
    other(x, mask=1 - MASK)
    core.serializers.NpzDeserializer(target).load(other)
    np.testing.assert_array_equal(other.mask, MASK)
    core.serializers.NpzDeserializer(target).load(L.SimplifiedDropconnect(3, 2))


def test_dropconnect_drops_in_training_only():
    layer = L.SimplifiedDropconnect(300, 200, ratio=0.25, initialW=1)
    x = np.ones((1, 300), "f")
    kept = layer(x).array / 300
    assert kept.std() > 0 and abs(kept.mean() - 1) < 0.02
    for y in (layer(x, train=False), in_test_mode(layer, x)):
        np.testing.assert_array_equal(y.array, np.full((1, 200), 300, "f"))


def test_dropconnect_draws_for_each_example_or_for_all():
    layer = L.SimplifiedDropconnect(3, 200)
    x = np.ones((2, 3), "f")
    one, two = layer(x).array
    assert (one != two).any()
    one, two = layer(x, use_batchwise_mask=False).array
    assert (one == two).all()


def in_test_mode(layer, x):
    with core.using_config("train", False):
        return layer(x)

"""einops on Variables: by its own functions, and by those for the array standard."""

import numpy as np
import pytest

from core import Variable
from core.testing.gradient_check import check_backward, check_double_backward

einops = pytest.importorskip(
    "einops", reason="einops is not installed: pip install 'plugrad[interop]'"
)

from einops import array_api  # noqa: E402

from plugins.interop import register_einops  # noqa: E402

X = np.random.default_rng(0).normal(size=(4, 6, 2))
W = np.random.default_rng(1).normal(size=(2, 5))
ROOMS = {"einops": einops, "array_api": array_api}
CALLS = {
    "rearrange": lambda e, x: e.rearrange(x, "n (a b) c -> (n b) c a", a=2),
    "repeat": lambda e, x: e.repeat(x, "n a c -> n (a 2) c 3"),
    **{
        f"reduce, {how}": lambda e, x, how=how: e.reduce(x, "n (a b) c -> n a", how, b=3)
        for how in ("sum", "mean", "max", "min", "prod")
    },
}


@pytest.fixture(autouse=True, scope="module")
def registered():
    assert register_einops() is register_einops()


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("name", CALLS)
def test_patterns(room, name):
    expected = CALLS[name](einops, X)
    actual = CALLS[name](ROOMS[room], Variable(X))
    assert isinstance(actual, Variable)
    np.testing.assert_allclose(actual.array, expected, rtol=1e-12)
    random = np.random.default_rng(2)
    g, seed = random.normal(size=expected.shape), random.normal(size=X.shape)

    def squared(x):
        return CALLS[name](ROOMS[room], x) ** 2

    check_backward(squared, (X,), g, rtol=1e-4, atol=1e-4)
    check_double_backward(squared, (X,), g, (seed,), rtol=1e-3, atol=1e-3)


def test_einsum_pack_and_lists():
    x, w = Variable(X), Variable(W)
    np.testing.assert_allclose(
        einops.einsum(x, w, "n a c, c k -> n k a").array, einops.einsum(X, W, "n a c, c k -> n k a")
    )
    packed, shapes = einops.pack([x, x[..., 0]], "n *")
    assert packed.shape == (4, 18) and packed.requires_grad
    back, _ = einops.unpack(packed, shapes, "n *")
    np.testing.assert_array_equal(back.array, X)
    assert einops.rearrange([x, x], "two n a c -> (two n) a c").shape == (8, 6, 2)
    assert einops.parse_shape(x, "n a _") == {"n": 4, "a": 6}
    assert einops.asnumpy(Variable(W, requires_grad=False)) is W


def test_means_of_integers_are_refused():
    with pytest.raises(Exception, match="reduce_mean is not available for non-floating"):
        einops.reduce(Variable(np.ones((2, 2), int)), "a b -> a", "mean")

"""Initializers: exact ones by their values, random ones by moments and bounds, all by dtype."""

import copy
import inspect
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.links as L
from core import initializers
from core.arrays import backend
from core.link.initializer import as_initializer, generate_array, get_fans

SHAPE = (40, 30, 3, 2)
FAN_IN, FAN_OUT = 30 * 6, 40 * 6
SPREADS = {
    "Normal": (initializers.Normal, 0.05),
    "TruncatedNormal": (initializers.TruncatedNormal, 0.05 * 0.879626),
    "TruncatedNormal(0.2, bound=1)": (
        lambda **kw: initializers.TruncatedNormal(0.2, bound=1, **kw),
        0.2 * 0.539605,
    ),
    "Normal(0.2)": (lambda **kw: initializers.Normal(0.2, **kw), 0.2),
    "LeCunNormal": (initializers.LeCunNormal, math.sqrt(1 / FAN_IN)),
    "LeCunNormal(3)": (lambda **kw: initializers.LeCunNormal(3, **kw), 3 * math.sqrt(1 / FAN_IN)),
    "GlorotNormal": (initializers.GlorotNormal, math.sqrt(2 / (FAN_IN + FAN_OUT))),
    "HeNormal": (initializers.HeNormal, math.sqrt(2 / FAN_IN)),
    "HeNormal(fan_out)": (
        lambda **kw: initializers.HeNormal(fan_option="fan_out", **kw),
        math.sqrt(2 / FAN_OUT),
    ),
    "Uniform": (initializers.Uniform, 0.05 / math.sqrt(3)),
    "LeCunUniform": (initializers.LeCunUniform, math.sqrt(1 / FAN_IN)),
    "GlorotUniform": (initializers.GlorotUniform, math.sqrt(2 / (FAN_IN + FAN_OUT))),
    "HeUniform": (initializers.HeUniform, math.sqrt(2 / FAN_IN)),
}
CHAINER = json.loads((Path(__file__).parents[1] / "data/oracle/initializers.json").read_text())
backends = pytest.mark.parametrize("name", ["numpy", "strict"])


def host(array):
    return backend.to_host(array)


@pytest.fixture(autouse=True)
def seeded():
    before = np.random.get_state()
    np.random.seed(0)
    yield
    np.random.set_state(before)


@pytest.mark.parametrize(
    "case", CHAINER["cases"], ids=lambda c: f"{c['initializer']}{c['arguments']}{c['shape']}"
)
def test_elements_are_those_of_chainer(case):
    """Draws included: both take them from NumPy's global generator."""
    initializer = getattr(initializers, case["initializer"])(**case["arguments"])
    shape = tuple(case["shape"])
    if case["values"] is None:
        with pytest.raises(ValueError, match=r"expected|needs"):
            generate_array(initializer, shape, np)
        return
    found = generate_array(initializer, shape, np)
    expected = np.reshape(np.array(case["values"]), shape)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_every_initializer_has_the_reference_s_arguments():
    for name, declared in CHAINER["signatures"].items():
        parameters = inspect.signature(getattr(initializers, name)).parameters.values()
        ours = [[one.name, one.default] for one in parameters if one.default is not one.empty]
        ours = [one for one in ours if one[0] != "rng"]
        assert ours == declared, name
    ones = {"Initializer", "NaN", "TruncatedNormal", "generate_array"}
    assert set(core.registry.catalogue("initializers").names()) == {*CHAINER["signatures"], *ones}


@backends
@pytest.mark.parametrize("spread", SPREADS)
def test_random_initializers_have_their_spread(spread, name):
    make, deviation = SPREADS[spread]
    values = host(generate_array(make(), SHAPE, name)).astype("float64")
    count = values.size
    assert abs(values.mean()) < 5 * deviation / math.sqrt(count)
    assert values.std() == pytest.approx(deviation, rel=0.03)
    # A fourth moment tells the families apart: 3 for a normal distribution, 1.8 for a uniform.
    truncated = {"TruncatedNormal": 2.366, "TruncatedNormal(0.2, bound=1)": 1.941}
    expected = truncated.get(spread, 3.0 if "Normal" in spread else 1.8)
    assert ((values / deviation) ** 4).mean() == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("bound", [1e-3, 1.5, 5, 40])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_truncated_draws_stay_within_their_bound(bound, dtype):
    draws = generate_array(initializers.TruncatedNormal(3, bound=bound), (30000,), np, dtype)
    assert abs(draws).max() <= np.dtype(dtype).type(3 * bound) and draws.min() < 0 < draws.max()
    assert draws.dtype == dtype and np.isfinite(draws).all() and len(np.unique(draws)) > 1000


RANDOM = ["Uniform", "HeUniform", "Normal", "TruncatedNormal", "GlorotNormal", "Orthogonal"]


@backends
@pytest.mark.parametrize("of", ["Uniform", "HeUniform", "Normal", "TruncatedNormal"])
def test_the_sign_of_a_scale_means_nothing(of, name):
    """Uniform draws were all one number, and normal ones of a generator refused."""
    for more in ({}, {"rng": np.random.default_rng(0)}):
        made = getattr(initializers, of)(-0.5, **more)
        values = host(generate_array(made, (40, 50), name))
        expected = host(generate_array(getattr(initializers, of)(0.5), (40, 50), name))
        assert values.std() == pytest.approx(expected.std(), rel=0.1)
        assert abs(values.mean()) < 0.1


def test_a_bound_is_above_0():
    with pytest.raises(ValueError, match="expected a bound above 0, got 0"):
        initializers.TruncatedNormal(bound=0)


@pytest.mark.parametrize("spread", SPREADS)
def test_a_generator_of_ones_own_is_used(spread):
    make, deviation = SPREADS[spread]
    one, two = (generate_array(make(rng=np.random.RandomState(7)), SHAPE, np) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert one.std() == pytest.approx(deviation, rel=0.03)


@backends
@pytest.mark.parametrize("of", RANDOM)
def test_whole_numbers_are_no_draws(of, name):
    """All of them were 0."""
    for dtype in ("int32", "uint8", "bool"):
        with pytest.raises(TypeError, match=f"{of}: expected an array of floats .* of {dtype}"):
            generate_array(getattr(initializers, of)(dtype=dtype), (3, 3), name)


@pytest.mark.parametrize("of", RANDOM)
def test_a_seed_is_no_generator(of):
    with pytest.raises(TypeError, match=rf"{of}: expected rng .* got 3.*default_rng\(seed\)"):
        getattr(initializers, of)(rng=3)


@backends
@pytest.mark.parametrize("dtype", ["float32", "float64", np.float32, np.dtype("float64"), "d"])
def test_dtype_of_the_initializer(name, dtype):
    array = generate_array(initializers.Normal(dtype=dtype), (2, 3), name)
    assert backend.of(array).dtype_name(array.dtype) == np.dtype(dtype).name


def test_dtype_rules():
    with core.using_config("dtype", "float64"):
        assert generate_array(initializers.One(), (), np).dtype == "float64"
    assert generate_array(initializers.One(), (2,), np, dtype="float16").dtype == "float16"
    assert generate_array(initializers.One("float16"), (2,), np, "float16").dtype == "float16"
    with pytest.raises(ValueError, match="Give the dtype to one of the two"):
        generate_array(initializers.One("float16"), (2,), np, dtype="float32")


def test_mixed16_is_float16_unless_a_link_asks_for_more():
    with core.using_config("dtype", core.mixed16):
        assert generate_array(initializers.Normal(), (2, 3), np).dtype == "float16"
        assert core.Parameter(0, (2,)).dtype == "float16"
        assert core.get_dtype() is core.mixed16
        assert core.get_dtype(None, map_mixed16="float32") == "float32"
        assert core.get_dtype("float64", map_mixed16="float32") == "float64"
        assert generate_array(initializers.Zero(), (), np, dtype="float32").dtype == "float32"
    assert core.get_dtype(core.mixed16, "float16") == "float16" == np.dtype(core.mixed16)
    assert generate_array(initializers.Normal(dtype=core.mixed16), (2,), np).dtype == "float16"
    assert generate_array(initializers.One(core.mixed16), (), np, "float16").dtype == "float16"
    assert pickle.loads(pickle.dumps(core.mixed16)) is core.mixed16
    assert copy.deepcopy(core.mixed16) is core.mixed16


@backends
def test_exact_initializers(name):
    def made(initializer, shape):
        return host(generate_array(initializer, shape, name))

    np.testing.assert_array_equal(made(initializers.Zero(), (2,)), [0, 0])
    np.testing.assert_array_equal(made(initializers.One(), ()), 1)
    np.testing.assert_array_equal(made(initializers.NaN(), (2,)), [np.nan, np.nan])
    np.testing.assert_array_equal(made(initializers.Constant(2.5), (2,)), [2.5, 2.5])
    np.testing.assert_array_equal(made(initializers.Constant(np.float32(2)), (2,)), [2, 2])
    given_array = np.array([[1.0, 2.0]], "f")
    np.testing.assert_array_equal(made(initializers.Constant(given_array), (1, 2)), given_array)
    np.testing.assert_array_equal(made(initializers.Identity(3), (2, 2)), [[3, 0], [0, 3]])


@pytest.mark.parametrize("shape", [(2, 3), (2,), (2, 2, 2)])
def test_identity_refuses_what_is_not_square(shape):
    with pytest.raises(ValueError, match="square matrix"):
        generate_array(initializers.Identity(), shape, np)


@backends
def test_a_constant_array_broadcasts(name):
    rows = generate_array(initializers.Constant(np.array([1.0, 2.0])), (3, 2), name)
    np.testing.assert_array_equal(host(rows), [[1, 2]] * 3)
    columns = generate_array(initializers.Constant(np.array([[1.0], [2.0]])), (2, 3), name)
    np.testing.assert_array_equal(host(columns), [[1] * 3, [2] * 3])
    with pytest.raises(ValueError, match=r"shape \(1, 2\) to fill, got \(2,\)"):
        generate_array(initializers.Constant(np.ones((1, 2))), (2,), name)


def test_constant_refuses_another_shape():
    with pytest.raises(ValueError, match=r"shape \(2,\) to fill, got \(3,\)"):
        generate_array(initializers.Constant(np.ones(2)), (3,), np)


@backends
@given(
    rows=st.integers(1, 6),
    columns=st.lists(st.integers(1, 3), min_size=1, max_size=2),
    scale=st.floats(0.5, 2),
)
def test_orthogonal_in_both_orientations(name, rows, columns, scale):
    shape = (rows, *columns)
    values = host(generate_array(initializers.Orthogonal(scale, "float64"), shape, name))
    W = values.reshape(rows, -1)
    gram = W @ W.T if W.shape[0] <= W.shape[1] else W.T @ W
    np.testing.assert_allclose(gram, scale**2 * np.eye(len(gram)), atol=1e-12)


def test_orthogonal_is_uniform_over_rotations_and_reflections():
    firsts = [generate_array(initializers.Orthogonal(1), (2, 2), np)[0, 0] for _ in range(2000)]
    # The entry of a uniform 2x2 orthogonal matrix is the cosine of a uniform angle.
    assert abs(np.mean(firsts)) < 0.06
    assert np.mean(np.square(firsts)) == pytest.approx(0.5, abs=0.04)


def test_orthogonal_modes():
    generate_array(initializers.Orthogonal(mode="projection"), (2, 3), np)
    generate_array(initializers.Orthogonal(mode="embedding"), (3, 2), np)
    assert abs(generate_array(initializers.Orthogonal(2.0), (), np)) == 2
    assert generate_array(initializers.Orthogonal(), (0, 3), np).shape == (0, 3)
    with pytest.raises(ValueError, match="mode 'projection' needs at most as many"):
        generate_array(initializers.Orthogonal(mode="projection"), (3, 2), np)
    with pytest.raises(ValueError, match="mode 'embedding' needs at least as many"):
        generate_array(initializers.Orthogonal(mode="embedding"), (2, 3), np)
    with pytest.raises(ValueError, match="mode 'basis' needs just as many"):
        generate_array(initializers.Orthogonal(mode="basis"), (2, 3), np)
    with pytest.raises(ValueError, match="Did you mean 'embedding'"):
        initializers.Orthogonal(mode="embeding")


@backends
def test_interpolation_filters(name):
    up = host(generate_array(initializers.UpsamplingDeconvFilter(), (2, 2, 4, 4), name))
    hat = np.array([0.25, 0.75, 0.75, 0.25])
    np.testing.assert_allclose(up[0, 0], np.outer(hat, hat))
    np.testing.assert_array_equal(up[0, 1], np.zeros((4, 4)))
    down = host(generate_array(initializers.DownsamplingConvFilter(), (3, 1, 3, 5), name))
    np.testing.assert_allclose(down.sum((1, 2, 3)), np.ones(3), rtol=1e-6)
    with pytest.raises(ValueError, match="expected a weight of shape"):
        generate_array(initializers.UpsamplingDeconvFilter(), (2, 3, 4, 4), np)
    with pytest.raises(ValueError, match="interpolation='linear'"):
        initializers.DownsamplingConvFilter("cubic")


def test_slips_are_named():
    with pytest.raises(TypeError, match=r"got the class HeNormal. Make one of it: HeNormal\(\)"):
        L.Linear(2, 2, initialW=initializers.HeNormal)
    for name in ("Normal", "LeCunUniform", "Orthogonal", "Identity"):
        with pytest.raises(TypeError, match=f"{name}: expected a number for scale, got 'a'"):
            getattr(initializers, name)("a")
    for wrong in (None, "a", [1.0]):
        with pytest.raises(TypeError, match="Constant: expected a number or an array"):
            initializers.Constant(wrong)


def test_fans():
    assert get_fans((8, 3, 5, 5)) == (75, 200)
    assert get_fans((4, 2)) == (2, 4)
    for shape in [(3,), (), [2, 3]]:
        with pytest.raises(ValueError, match="get_fans"):
            get_fans(shape)
    with pytest.raises(ValueError, match="Did you mean 'fan_out'"):
        initializers.HeNormal(fan_option="fanout")


def test_as_initializer():
    assert np.isnan(generate_array(as_initializer(None), (), np))
    assert generate_array(as_initializer(None, 3), (), np) == 3
    assert generate_array(as_initializer(2), (), np) == 2
    assert generate_array(as_initializer(2, dtype="float16"), (), np).dtype == "float16"

    for fill in (np.float64(2), np.full((), 2.0), np.full(3, 2, "i8")):  # as in Chainer
        assert generate_array(as_initializer(fill), (3,), np).dtype == "float32"
        assert generate_array(initializers.Constant(fill, "float64"), (3,)).dtype == "float64"

    def fill(array):
        array[...] = 7

    assert as_initializer(fill) is fill
    typed = generate_array(as_initializer(fill, dtype="float64"), (2,), np)
    assert typed.tolist() == [7, 7] and typed.dtype == "float64"
    with pytest.raises(TypeError, match="expected None, a number, an array or a callable"):
        as_initializer("LeCunNormal")


@pytest.mark.parametrize("name", ["numpy", "strict"])
@pytest.mark.parametrize("dtype", [None, "float64"])
def test_an_initializer_that_makes_an_array_is_refused(name, dtype):
    """The parameter would be zeros."""
    with backend.using(name):
        made = as_initializer(lambda array: np.ones(array.shape), dtype=dtype)
        with pytest.raises(TypeError, match=r"fill the array .* Write into the array, as by"):
            generate_array(made, (2,))
        filled = as_initializer(lambda array: array.__iadd__(1), dtype=dtype)  # the array itself
        assert backend.to_host(generate_array(filled, (2,))).tolist() == [1, 1]


def test_generate_array_finds_the_backend():
    for xp in (np, "numpy", backend.get("numpy"), None):
        assert isinstance(generate_array(initializers.One(), (2,), xp), np.ndarray)
    with backend.using("strict"):
        assert backend.of(generate_array(initializers.One(), (2,))).name == "strict"
    with pytest.raises(TypeError, match="its name or its namespace"):
        generate_array(initializers.One(), (2,), math)


def test_repr_shows_settings():
    assert repr(initializers.HeNormal(2.0)) == "HeNormal(scale=2.0, fan_option='fan_in')"


def test_a_base_initializer_says_what_is_missing():
    with pytest.raises(NotImplementedError, match="does not define __call__"):
        core.Initializer()(np.zeros(2))

"""The utils package: sizes, columns, scalars, arguments, warnings, sampling."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core.arrays import backend
from core.compat import utils
from core.compat.utils import argument, conv
from core.errors import BackendUnavailable, RemovedArgument

BACKENDS = ["numpy", "strict"]
small = st.integers(1, 4)

# ---------------------------------------------------------------------- sizes


@given(st.integers(1, 30), small, small, st.integers(0, 3), small)
def test_conv_outsize_counts_the_windows_that_fit(size, k, s, p, d):
    reach = (k - 1) * d + 1
    places = range(0, size + 2 * p - reach + 1, s)
    if len(places):
        assert utils.get_conv_outsize(size, k, s, p, d=d) == len(places)
    else:
        assert utils.get_conv_outsize(size, k, s, p, d=d) <= 0


@given(st.integers(1, 30), small, small, st.integers(0, 3), small)
def test_cover_all_reaches_the_last_element(size, k, s, p, d):
    out = utils.get_conv_outsize(size, k, s, p, cover_all=True, d=d)
    reach = (k - 1) * d + 1
    if size + 2 * p >= reach:
        assert (out - 1) * s + reach >= size + 2 * p
        assert (out - 2) * s + reach < size + 2 * p


@given(st.integers(1, 20), small, small, st.integers(0, 3), st.booleans(), small)
def test_deconv_outsize_is_the_smallest_size_that_convolves_back(out, k, s, p, cover_all, d):
    size = utils.get_deconv_outsize(out, k, s, p, cover_all, d)
    assert utils.get_conv_outsize(size, k, s, p, cover_all, d) == out
    assert utils.get_conv_outsize(size - 1, k, s, p, cover_all, d) == out - 1


@pytest.mark.parametrize("wrong", [{"k": 0}, {"s": 0}, {"s": -1}, {"d": 0}, {"p": -1}])
@pytest.mark.parametrize("function", [utils.get_conv_outsize, utils.get_deconv_outsize])
def test_sizes_that_make_no_sense_are_refused(function, wrong):
    what = {"k": "the size", "s": "stride", "d": "dilate", "p": "pad"}
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"of at least 1, got .*{what[name]} {value}"):
        function(**{"size": 5, "k": 2, "s": 1, "p": 0, **wrong})


# ---------------------------------------------------------------------- columns

geometry = st.tuples(
    st.integers(4, 7),
    st.integers(4, 7),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(0, 2),
    st.integers(0, 2),
    st.booleans(),
)


def columns(img, kh, kw, sy, sx, ph, pw, pval, dy, dx, out_h, out_w):
    """Element by element."""
    n, c, h, w = img.shape
    col = np.full((n, c, kh, kw, out_h, out_w), pval, img.dtype)
    for i, j, y, x in np.ndindex(kh, kw, out_h, out_w):
        row, column = y * sy + i * dy - ph, x * sx + j * dx - pw
        if 0 <= row < h and 0 <= column < w:
            col[:, :, i, j, y, x] = img[:, :, row, column]
    return col


@pytest.mark.parametrize("name", BACKENDS)
@given(geometry, st.integers(1, 2), st.integers(1, 2))
def test_im2col_and_its_adjoint(name, sizes, dy, dx):
    h, w, kh, kw, sy, sx, ph, pw, cover_all = sizes
    b = backend.get(name)
    img = np.arange(2 * 2 * h * w, dtype="f").reshape(2, 2, h, w)
    out_h = conv.get_conv_outsize(h, kh, sy, ph, cover_all, dy)
    out_w = conv.get_conv_outsize(w, kw, sx, pw, cover_all, dx)
    if min(out_h, out_w) <= 0:
        return
    col = conv.im2col(b.asarray(img), kh, kw, sy, sx, ph, pw, cover_all, dy, dx)
    expected = columns(img, kh, kw, sy, sx, ph, pw, 0, dy, dx, out_h, out_w)
    np.testing.assert_array_equal(b.to_host(col), expected)
    weights = np.random.default_rng(0).integers(0, 3, expected.shape).astype("f")
    back = conv.col2im(b.asarray(weights), sy, sx, ph, pw, h, w, dy, dx)
    assert back.shape == img.shape
    np.testing.assert_allclose((b.to_host(back) * img).sum(), (weights * expected).sum())


def test_im2col_pads_with_a_value_and_takes_as_many_windows_as_asked():
    img = np.arange(16, dtype="f").reshape(1, 1, 4, 4)
    for out_h, out_w in ((2, 2), (4, 5), (7, 3)):
        col = conv.im2col_cpu(img, 3, 2, 1, 2, 1, 0, -5, False, 1, 1, out_h, out_w)
        np.testing.assert_array_equal(col, columns(img, 3, 2, 1, 2, 1, 0, -5, 1, 1, out_h, out_w))
        back = conv.col2im_cpu(col, 1, 2, 1, 0, 4, 4)
        assert back.shape == img.shape


def test_im2col_gives_an_array_of_its_own():
    img = np.zeros((1, 1, 3, 3), "f")
    col = conv.im2col_gpu(img, 1, 1, 1, 1, 0, 0)
    col += 1
    assert not img.any()
    back = conv.col2im_gpu(col, 1, 1, 0, 0, 3, 3)
    back += 1
    assert (col == 1).all()


def test_im2col_needs_one_window():
    with pytest.raises(ValueError, match="im2col: expected at least one window, got -1 x 1"):
        conv.im2col(np.zeros((1, 1, 2, 4), "f"), 4, 4, 1, 1, 0, 0)


# ---------------------------------------------------------------------- scalars


def test_force_array():
    for scalar in (np.float32(2), np.int8(2), np.bool_(True)):
        made = utils.force_array(scalar)
        assert isinstance(made, np.ndarray)
        assert (made.shape, made.dtype, made[()]) == ((), scalar.dtype, scalar)
    array = np.zeros(3, "f")
    assert utils.force_array(array) is array
    assert utils.force_array(array, "f") is array
    assert utils.force_array(array, np.float16).dtype == np.float16
    assert utils.force_array(np.float64(1), "float32").dtype == np.float32
    assert utils.force_array(2, np.float32).dtype == np.float32


def test_force_array_makes_arrays_of_the_current_backend():
    with core.using("strict") as strict:
        assert isinstance(utils.force_array(2.0, "float32"), strict.array_type)


def test_force_type():
    for dtype in (np.dtype("float32"), np.float32):
        assert type(utils.force_type(dtype, 2)) is np.float32
        assert type(utils.force_type(dtype, np.float64(2))) is np.float32
    array = np.zeros(3, "f")
    assert utils.force_type(np.dtype("f"), array) is array
    assert utils.force_type(np.dtype("d"), array).dtype == np.float64


def test_sum_to_and_size_of_shape():
    np.testing.assert_array_equal(utils.sum_to(np.ones((2, 3), "f"), (3,)), [2, 2, 2])
    np.testing.assert_array_equal(utils.sum_to(np.ones((2, 3), int), (1, 1)), [[6]])
    with pytest.raises(ValueError, match="broadcast"):
        utils.sum_to(np.ones((2, 3), "f"), (3, 1))
    assert utils.size_of_shape((2, 0, 3)) == 0


# ---------------------------------------------------------------------- arguments and warnings


def test_former_arguments_are_refused_with_their_cure():
    with pytest.raises(RemovedArgument, match="'train' no longer exists. Use using_config"):
        argument.parse_kwargs({"train": 1}, ("pad", 0), train="Use using_config.")


def test_arguments_are_parsed_in_order():
    given_ = {"b": 3}
    assert argument.parse_kwargs(given_, ("a", 1), ("b", 2)) == (1, 3)
    assert given_ == {"b": 3}
    with pytest.raises(TypeError, match="got 'strid'. Did you mean 'stride'"):
        argument.parse_kwargs({"strid": 2}, ("stride", 1))
    with pytest.raises(TypeError, match="got 'a'"):
        argument.assert_kwargs_empty({"a": 1})
    argument.assert_kwargs_empty({})


def test_experimental_warns_until_it_is_switched_off(monkeypatch):
    def feature():
        utils.experimental("core.feature")

    with pytest.warns(FutureWarning, match="core.feature is experimental") as caught:
        feature()
    assert caught[0].filename == __file__
    monkeypatch.setattr(core, "disable_experimental_feature_warning", True, raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        feature()


def test_nondeterministic_warns_if_asked_to():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        utils.nondeterministic("f")
    with core.using_config("warn_nondeterministic", True), pytest.warns(RuntimeWarning, match="f "):
        utils.nondeterministic("f")


# ---------------------------------------------------------------------- sampling


@pytest.mark.parametrize("name", BACKENDS)
def test_draws_follow_the_weights(name):
    weights = np.array([5, 1, 0, 3, 1], "f")
    core.seed(0)
    try:
        with core.using(name) as b:
            sampler = utils.WalkerAlias(weights)
            drawn = sampler.sample((20, 1000))
            assert isinstance(drawn, b.array_type)
            drawn = b.to_host(drawn)
    finally:
        core.seed(None)
    assert drawn.shape == (20, 1000)
    assert drawn.dtype == np.int32
    share = np.bincount(drawn.ravel(), minlength=5) / drawn.size
    np.testing.assert_allclose(share, weights / weights.sum(), atol=0.01)
    assert share[2] == 0


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8).filter(any))
def test_the_tables_hold_exactly_the_weights(weights):
    from core.compat.utils.walker_alias import _tables

    keep, owner, alias = _tables([float(w) for w in weights])
    mass = [0.0] * len(weights)
    for part, i, j in zip(keep, owner, alias, strict=True):
        mass[i] += part
        mass[j] += 1 - part
    np.testing.assert_allclose(mass, np.array(weights) / sum(weights) * len(weights), atol=1e-5)
    assert min(keep) >= 0
    assert max(keep) <= 1


def test_draws_are_those_of_chainer():
    sampler = utils.WalkerAlias([4, 1, 0, 3, 2])
    np.random.seed(0)
    assert sampler.sample((3, 8)).tolist() == [
        [3, 0, 0, 3, 3, 0, 3, 0],
        [0, 3, 0, 3, 3, 0, 4, 4],
        [4, 0, 0, 0, 0, 0, 3, 0],
    ]


def test_samplers_move():
    sampler = utils.WalkerAlias(core.Variable(np.array([0, 1], "f")).array)
    assert sampler.to_device("strict") is sampler
    assert isinstance(sampler.sample(3), backend.get("strict").array_type)
    assert sampler.to_cpu().sample(3).tolist() == [1, 1, 1]
    assert not sampler.use_gpu
    assert sampler.sample_xp(np, ()).shape == ()
    assert sampler.sample_cpu([2]).shape == sampler.sample_gpu(2).shape == (2,)
    with pytest.raises(core.backend.BackendError, match="sample_xp: expected the namespace"):
        sampler.sample_xp(backend.get("strict").xp, 2)


def test_to_gpu_without_a_gpu_says_why():
    if backend.available()["cuda"] is None:
        pytest.skip("there is a GPU")
    with pytest.raises(BackendUnavailable, match="cuda"):
        utils.WalkerAlias([1]).to_gpu()


@pytest.mark.parametrize("wrong", [[], [0, 0], [1, -1], [1, float("nan")], [float("inf")]])
def test_weights_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="WalkerAlias: expected weights"):
        utils.WalkerAlias(wrong)

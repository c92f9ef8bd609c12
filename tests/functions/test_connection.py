"""Functions made of convolutions and products, against loops in float64."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
from core.testing.gradient_check import check_backward, check_double_backward

InvalidType = core.type_check.InvalidType


def draw(*shape, seed=0):
    return np.random.default_rng(seed + len(shape)).normal(size=shape)


def check_gradients(function, *arrays):
    y = function(*arrays)
    g = draw(*y.shape, seed=1)
    check_backward(function, arrays, g, atol=1e-6)
    seeds = tuple(draw(*a.shape, seed=2) for a in arrays)
    check_double_backward(function, arrays, g, seeds, atol=1e-5)


@given(n=st.integers(1, 3), j=st.integers(1, 4), k=st.integers(1, 4), units=st.integers(1, 3))
def test_bilinear_is_the_sum_over_pairs(n, j, k, units):
    e1, e2, W = draw(n, j), draw(n, k, seed=5), draw(j, k, units)
    V1, V2, b = draw(j, units, seed=1), draw(k, units, seed=2), draw(units)
    expected = np.einsum("ij,ik,jkl->il", e1, e2, W)
    np.testing.assert_allclose(F.bilinear(e1, e2, W).array, expected, atol=1e-12)
    expected += e1 @ V1 + e2 @ V2 + b
    np.testing.assert_allclose(F.bilinear(e1, e2, W, V1, V2, b).array, expected, atol=1e-12)


def test_bilinear_flattens_and_differentiates():
    args = [draw(2, 2, 2), draw(2, 3), draw(4, 3, 2), draw(4, 2), draw(3, 2, seed=3), draw(2)]
    assert F.bilinear(*args).shape == (2, 2)
    check_gradients(F.bilinear, *args)


def test_bilinear_refuses_what_does_not_fit():
    e1, e2, W = draw(2, 4), draw(2, 3), draw(4, 3, 2)
    with pytest.raises(ValueError, match="all of V1, V2 and b, or none"):
        F.bilinear(e1, e2, W, draw(4, 2))
    with pytest.raises(InvalidType, match=r"\(3, 4\) != \(4, 3\)"):
        F.bilinear(e2, e1, W)
    with pytest.raises(InvalidType, match=r"e1.shape\[0\] == e2.shape\[0\]\nActual: 1 != 2"):
        F.bilinear(e1[:1], e2, W)
    with pytest.raises(InvalidType, match="W.ndim == 3"):
        F.bilinear(e1, e2, W[0])


@given(
    multiplier=st.integers(1, 3),
    channels=st.integers(1, 3),
    stride=st.integers(1, 2),
    pad=st.integers(0, 1),
)
def test_depthwise_convolution_keeps_channels_apart(multiplier, channels, stride, pad):
    x, W = draw(2, channels, 4, 5), draw(multiplier, channels, 3, 2)
    b = draw(channels * multiplier)
    y = F.depthwise_convolution_2d(x, W, b, stride, pad).array
    for c in range(channels):
        for m in range(multiplier):
            alone = F.convolution_2d(x[:, c : c + 1], W[m : m + 1, c : c + 1], None, stride, pad)
            unit = c * multiplier + m
            np.testing.assert_allclose(y[:, unit], alone.array[:, 0] + b[unit], atol=1e-12)


def test_depthwise_convolution_has_gradients():
    check_gradients(F.depthwise_convolution_2d, draw(1, 2, 3, 3), draw(2, 2, 2, 2), draw(4))
    with pytest.raises(InvalidType, match="depthwise_convolution_2d.*\n\nExpect: x.shape"):
        F.depthwise_convolution_2d(draw(1, 2, 3, 3), draw(2, 3, 2, 2))


def test_dilated_convolution_is_convolution_with_holes():
    x, W = draw(1, 2, 7, 7), draw(3, 2, 2, 3)
    holes = np.zeros((3, 2, 3, 5))
    holes[:, :, ::2, ::2] = W
    y = F.dilated_convolution_2d(x, W, pad=1, dilate=2)
    np.testing.assert_allclose(y.array, F.convolution_2d(x, holes, pad=1).array, atol=1e-12)


@given(
    stride=st.integers(1, 2), kh=st.integers(1, 2), kw=st.integers(1, 3), units=st.integers(1, 2)
)
def test_local_convolution_has_a_filter_for_each_place(stride, kh, kw, units):
    x = draw(2, 3, 4, 5)
    out = (4 - kh) // stride + 1, (5 - kw) // stride + 1
    W, b = draw(units, *out, 3, kh, kw), draw(units, *out)
    y = F.local_convolution_2d(x, W, b, stride).array
    for unit, i, j in np.ndindex(units, *out):
        rows, columns = slice(i * stride, i * stride + kh), slice(j * stride, j * stride + kw)
        expected = (x[:, :, rows, columns] * W[unit, i, j]).sum(axis=(1, 2, 3)) + b[unit, i, j]
        np.testing.assert_allclose(y[:, unit, i, j], expected, atol=1e-12)


def test_local_convolution_has_gradients_and_refuses_other_sizes():
    x, W, b = draw(1, 2, 3, 3), draw(2, 2, 2, 2, 2, 2), draw(2, 2, 2)
    check_gradients(F.local_convolution_2d, x, W, b)
    with pytest.raises(InvalidType, match=r"\(2, 2, 2\) != \(2, 2, 1\)"):
        F.local_convolution_2d(x, W[:, :, :1], b)
    with pytest.raises(InvalidType, match="W.ndim == 6"):
        F.local_convolution_2d(x, W[0], b)


@given(
    groups=st.integers(1, 2),
    dilate=st.integers(1, 2),
    stride=st.integers(1, 3),
    pad=st.integers(0, 1),
    extra=st.integers(0, 2),
)
def test_deconvolution_is_the_adjoint_of_convolution(groups, dilate, stride, pad, extra):
    x, W = draw(2, 4, 3, 4), draw(4, 3, 3, 2)
    settings = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    size = F.deconvolution_2d(x, W, None, **settings).shape[2:]
    size = tuple(n + min(extra, stride - 1) for n in size)
    y = F.deconvolution_2d(x, W, None, outsize=size, **settings).array
    z = draw(*y.shape, seed=9)
    inner = np.vdot(F.convolution_2d(z, W, None, **settings).array, x)
    np.testing.assert_allclose(np.vdot(y, z), inner, rtol=1e-10)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_deconvolution_by_rank(ndim):
    x, W, b = draw(1, 2, *[3] * ndim), draw(2, 1, *[2] * ndim), draw(1)
    function = getattr(F, f"deconvolution_{ndim}d")
    y = function(x, W, b, stride=2)
    np.testing.assert_array_equal(y.array, F.deconvolution_nd(x, W, b, stride=2).array)
    with pytest.raises(
        InvalidType, match=f"deconvolution_{ndim}d .*\n\nExpect: x.ndim == {ndim + 2}"
    ):
        function(x[..., None], W)
    with pytest.raises(InvalidType, match=r"x\.shape\[2\] == 2"):
        F.deconvolution_nd(x, W, b, stride=2, outsize=5)


def test_deconvolution_refuses_former_arguments():
    with pytest.raises(ValueError, match="deterministic"):
        F.deconvolution_2d(draw(1, 1, 2, 2), draw(1, 1, 2, 2), deterministic=True)


def deformed(x, offset, W, b, stride, pad):
    """Element by element, the image having zeros around it."""
    n, units, (kh, kw), (oh, ow) = len(x), len(W), W.shape[2:], offset.shape[2:]
    y = np.zeros((n, units, oh, ow)) + b[:, None, None]
    for image, i, j, ki, kj in np.ndindex(n, oh, ow, kh, kw):
        tap = ki * kw + kj
        row = i * stride - pad + ki + offset[image, kh * kw + tap, i, j]
        column = j * stride - pad + kj + offset[image, tap, i, j]
        for h, w in np.ndindex(*x.shape[2:]):
            share = max(0, 1 - abs(row - h)) * max(0, 1 - abs(column - w))
            y[image, :, i, j] += W[:, :, ki, kj] @ x[image, :, h, w] * share
    return y


@given(stride=st.integers(1, 2), pad=st.integers(0, 1), kh=st.integers(1, 2), kw=st.integers(1, 3))
def test_deformable_convolution_takes_moved_elements(stride, pad, kh, kw):
    x, W, b = draw(2, 2, 4, 5), draw(3, 2, kh, kw), draw(3)
    plain = F.convolution_2d(x, W, b, stride, pad)
    offset = draw(2, 2 * kh * kw, *plain.shape[2:], seed=7) * 1.5
    y = F.deformable_convolution_2d_sampler(x, offset, W, b, stride, pad)
    np.testing.assert_allclose(y.array, deformed(x, offset, W, b, stride, pad), atol=1e-12)
    still = F.deformable_convolution_2d_sampler(x, offset * 0, W, b, stride, pad)
    np.testing.assert_allclose(still.array, plain.array, atol=1e-12)


def test_deformable_convolution_has_gradients_of_offsets_too():
    x, W, b = draw(1, 2, 3, 4), draw(2, 2, 2, 2), draw(2)
    offset = np.random.default_rng(3).uniform(0.1, 0.9, (1, 8, 2, 3)) - 1
    check_gradients(F.deformable_convolution_2d_sampler, x, offset, W, b)


def test_deformable_convolution_refuses_other_sizes():
    x, W = draw(1, 2, 3, 4), draw(2, 2, 2, 2)
    with pytest.raises(InvalidType, match=r"offset.shape == \(1, 8, 2, 3\)"):
        F.deformable_convolution_2d_sampler(x, np.zeros((1, 8, 2, 2)), W)
    with pytest.raises(InvalidType, match=r"W.shape\[1\] == 2"):
        F.deformable_convolution_2d_sampler(x, np.zeros((1, 8, 2, 3)), W[:, :1])


@pytest.mark.parametrize("x", [np.ones(3, "f"), np.ones((), "f")])
def test_linear_refuses_one_example_without_its_axis(x):
    with pytest.raises(InvalidType, match="Expect: x.ndim == 2"):
        F.linear(x, np.ones((2, 1), "f"))

"""Spatial pyramids against loops over their windows, and unpooling as what undoes pooling."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import core
import core.functions as F
from core.arrays.windows import window_count
from core.errors import InvalidType
from core.testing.gradient_check import check_backward


def pyramid(x, height):
    """The maxima of each grid's windows, by index arithmetic on single elements."""
    features = []
    for bins in (2**level for level in range(height)):
        ranges = []
        for n in x.shape[1:]:
            k = -(-n // bins)
            start = -((k * bins - n) // 2)
            ranges.append([range(start + i * k, start + (i + 1) * k) for i in range(bins)])
        for channel in x:
            for rows in ranges[0]:
                for columns in ranges[1]:
                    seen = [
                        channel[i, j]
                        for i in rows
                        for j in columns
                        if 0 <= i < x.shape[1] and 0 <= j < x.shape[2]
                    ]
                    features.append(max(seen, default=None))
    return features


@given(h=st.integers(1, 12), w=st.integers(1, 12), height=st.integers(1, 3))
def test_spatial_pyramid_is_the_maxima_of_grids(h, w, height):
    x = np.random.default_rng(h * 100 + w).normal(size=(2, 3, h, w))
    expected = [pyramid(image, height) for image in x]
    assume(None not in expected[0])
    y = F.spatial_pyramid_pooling_2d(x, height, "max")
    assert y.shape == (2, 3 * (4**height - 1) // 3, 1, 1)
    np.testing.assert_array_equal(y.array[:, :, 0, 0], expected)


def test_spatial_pyramid_has_gradients():
    x = np.random.default_rng(0).permutation(np.arange(72.0)).reshape(1, 2, 6, 6)
    y = F.spatial_pyramid_pooling_2d(x, 3, "max")
    check_backward(
        lambda x: F.spatial_pyramid_pooling_2d(x, 3, "max"), x, np.ones_like(y.array), atol=1e-6
    )


def test_spatial_pyramid_takes_the_class_of_pooling():
    x = np.random.default_rng(1).normal(size=(1, 2, 4, 5))
    expected = F.spatial_pyramid_pooling_2d(x, 2, "max").array
    for y in (
        F.spatial_pyramid_pooling_2d(x, 2, F.MaxPooling2D),
        F.spatial_pyramid_pooling_2d(x, 2, pooling_class=F.MaxPooling2D),
    ):
        np.testing.assert_array_equal(y.array, expected)


def test_spatial_pyramid_refuses_what_it_cannot_do():
    x = np.ones((1, 1, 5, 5))
    with pytest.raises(ValueError, match="4 windows of 2 has some that see nothing"):
        F.spatial_pyramid_pooling_2d(x, 3, "max")
    with pytest.raises(ValueError, match="pooling='max', got None"):
        F.spatial_pyramid_pooling_2d(x, 1)
    with pytest.raises(ValueError, match="pyramid_height of at least 1, got 0"):
        F.spatial_pyramid_pooling_2d(x, 0, "max")
    with pytest.raises(ValueError, match="pooling='max', got <class .*AveragePooling2D"):
        F.spatial_pyramid_pooling_2d(x, 1, F.AveragePooling2D)
    with pytest.raises(core.type_check.InvalidType, match="x.ndim == 4"):
        F.spatial_pyramid_pooling_2d(x[0], 1, "max")


@given(
    size=st.lists(st.integers(2, 5), min_size=1, max_size=2),
    ksize=st.integers(2, 4),
    stride=st.integers(1, 3),
    cover_all=st.booleans(),
    share=st.sampled_from([0.5, 0.9, 1.0]),
    data=st.data(),
)
def test_gradients_of_maxima_go_to_elements_and_never_to_padding(
    size, ksize, stride, cover_all, share, data
):
    """Where the elements that a window sees are -inf, as padding is, these were lost."""
    pad = data.draw(st.integers(0, ksize - 1))
    drawn = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = np.where(drawn.random((1, 2, *size)) < share, -np.inf, drawn.integers(0, 3, (1, 2, *size)))
    assume(all(n + 2 * pad >= ksize for n in size))
    maxima, gx, numbers = [], np.zeros(x.shape), []
    counts = [window_count(n, ksize, stride, pad, cover_all) for n in size]
    for place in np.ndindex(1, 2, *counts):
        corner = [stride * i - pad for i in place[2:]]
        seen = []
        for number, inner in enumerate(np.ndindex(*[ksize] * len(size))):
            at = tuple(c + i for c, i in zip(corner, inner, strict=True))
            if all(0 <= i < n for i, n in zip(at, size, strict=True)):
                seen.append((x[(*place[:2], *at)], -number, at))
        assume(seen)
        value, number, at = max(seen)
        maxima.append(value)
        numbers.append(-number)
        gx[(*place[:2], *at)] += 1
    for device in ("numpy", "strict:0"):
        v = core.Variable(F.copy(x, device).array)
        y, indexes = F.max_pooling_nd(v, ksize, stride, pad, cover_all, return_indices=True)
        F.sum(y).backward()
        for found, expected in ((y.array, maxima), (indexes, numbers), (v.grad, gx)):
            np.testing.assert_array_equal(
                core.dataset.to_device("numpy", found), np.reshape(expected, found.shape)
            )


def test_upsampling_puts_maxima_back():
    x = np.random.default_rng(1).permutation(np.arange(50.0)).reshape(1, 2, 5, 5) + 1
    y, indexes = F.max_pooling_2d(x, 2, return_indices=True)
    back = F.upsampling_2d(y, indexes, 2, outsize=(5, 5)).array
    np.testing.assert_array_equal(back[back != 0], x[back != 0])
    np.testing.assert_array_equal(F.max_pooling_2d(back, 2).array, y.array)


def test_upsampling_refuses_indexes_of_another_shape():
    with pytest.raises(core.type_check.InvalidType):
        F.upsampling_2d(np.ones((1, 1, 2, 2)), np.zeros((1, 1, 2, 1), "int32"), 2)


@pytest.mark.parametrize("cover_all", [True, False])
def test_average_pooling_undoes_unpooling(cover_all):
    x = np.random.default_rng(2).normal(size=(2, 3, 4, 3, 2))
    y = F.unpooling_nd(x, 2, outsize=(8, 6, 4), cover_all=cover_all)
    np.testing.assert_allclose(F.average_pooling_nd(y, 2).array, x)


def test_unpooling_says_which_size_does_not_fit():
    with pytest.raises(core.type_check.InvalidType, match=r"x\.shape\[2\] == 4"):
        F.unpooling_2d(np.ones((1, 1, 3, 3)), 2, outsize=(8, 6))


@pytest.mark.parametrize("cover_all", [True, False])
def test_unpooling_says_when_padding_leaves_nothing(cover_all):
    x = np.ones((1, 1, 2, 2), "f")
    for pad in (2, (0, 3)):
        with pytest.raises(InvalidType, match="that padding .* leaves"):
            F.unpooling_2d(x, 1, pad=pad, cover_all=cover_all)
    y = F.unpooling_2d(core.Variable(x), 1, pad=1, cover_all=cover_all)
    assert y.shape == (1, 1, 0, 0)


def regions(seed, count, size):
    """Regions (y_min, x_min, y_max, x_max) that reach over the edges of images, and images."""
    draw = np.random.default_rng(seed)
    corner = draw.uniform(-3, size, (count, 2)).round(2)
    rois = np.concatenate([corner, corner + draw.uniform(-1, size, (count, 2)).round(2)], axis=1)
    return rois, draw.integers(0, 2, count)


def interpolated(image, y, x):
    """The value of an image between its elements; None outside."""
    h, w = image.shape
    if not (-1 <= y <= h and -1 <= x <= w):
        return None
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    i, j = min(int(y), max(h - 2, 0)), min(int(x), max(w - 2, 0))
    rows, columns = image[i : i + 2, j : j + 2], np.array([1 - (x - j), x - j])[: w - j]
    return float(np.array([1 - (y - i), y - i])[: h - i] @ rows @ columns)


def points(roi, outsize, ratio, bin_y, bin_x):
    (top, left, bottom, right), (high, wide) = roi, outsize
    height, width = max(bottom - top, 1) / high, max(right - left, 1) / wide
    down, across = ratio or (math.ceil(height), math.ceil(width))
    for i in range(down):
        for j in range(across):
            yield (
                top + (bin_y + (i + 0.5) / down) * height,
                left + (bin_x + (j + 0.5) / across) * width,
            )


@given(
    seed=st.integers(0, 99),
    outsize=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    ratio=st.sampled_from([None, (1, 2), (3, 2)]),
    scale=st.sampled_from([1.0, 0.5]),
)
def test_regions_aligned_are_sampled_by_interpolation(seed, outsize, ratio, scale):
    x = np.random.default_rng(seed).normal(size=(2, 2, 4, 5))
    rois, images = regions(seed, 3, 5)
    settings = (rois, images, outsize, scale, ratio)
    mean = F.roi_average_align_2d(x, *settings).array
    top = F.roi_max_align_2d(x, *settings).array
    assert mean.shape == top.shape == (3, 2, *outsize)
    for r, c, i, j in np.ndindex(*mean.shape):
        image = x[images[r], c]
        places = points(rois[r] * scale, outsize, ratio, i, j)
        values = [interpolated(image, y, x) for y, x in places]
        seen = [v for v in values if v is not None]
        np.testing.assert_allclose(mean[r, c, i, j], sum(seen) / len(values), atol=1e-9)
        np.testing.assert_allclose(top[r, c, i, j], max(seen, default=0), atol=1e-9)


@given(seed=st.integers(0, 99), outsize=st.integers(1, 3), scale=st.sampled_from([1.0, 0.5]))
def test_regions_pooled_by_their_means(seed, outsize, scale):
    x = np.random.default_rng(seed).normal(size=(2, 2, 4, 5))
    rois, images = regions(seed, 3, 5)
    y = F.roi_average_pooling_2d(x, rois, images, outsize, scale).array
    for r, c, i, j in np.ndindex(*y.shape):
        ends = np.floor(rois[r] * scale + 0.5).astype(int)
        slices = []
        for low, high, at, length in zip(ends[:2], ends[2:], (i, j), (4, 5), strict=True):
            size = max(high - low, 1)
            start, stop = low + at * size // outsize, low - (-(at + 1) * size // outsize)
            slices.append(slice(max(start, 0), max(min(stop, length), 0)))
        seen = x[(images[r], c, *slices)]
        np.testing.assert_allclose(y[r, c, i, j], seen.mean() if seen.size else 0, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["roi_average_pooling_2d", "roi_average_align_2d", "roi_max_align_2d"]
)
def test_regions_have_gradients_of_images_alone(name):
    function = getattr(F, name)
    x = np.random.default_rng(3).permutation(np.arange(40.0)).reshape(2, 1, 4, 5)
    rois, images = regions(3, 3, 5)
    g = np.random.default_rng(4).normal(size=(3, 1, 2, 2))
    check_backward(lambda x: function(x, rois, images, 2, 1.0), x, g, atol=1e-6)
    y = function(core.Variable(x), core.Variable(rois), images, 2, 1.0)
    y.grad = g
    y.backward()
    half = function(x.astype("float16"), rois.astype("float16"), images, 2, 1.0)
    assert half.dtype == "float16"
    empty = function(x, rois[:0], images[:0], 2, 1.0)
    assert empty.shape == (0, 1, 2, 2)


def test_the_gradient_of_a_region_of_infinities_stays_within_it():
    x = core.Variable(np.full((1, 1, 4, 5), -np.inf))
    y = F.roi_max_pooling_2d(x, np.array([[2.0, 3, 4, 5]]), np.zeros(1, "i"), 1, 1.0)
    y.backward()
    assert y.array.item() == -np.inf and np.argwhere(x.grad).tolist() == [[0, 0, 2, 3]]


REGION, OF_IMAGE = np.zeros((1, 4), "f"), np.zeros(1, "i")
OF_ELEMENTS = {
    "roi_pooling_2d": lambda x: F.roi_pooling_2d(x, np.zeros((1, 5), "f"), 2, 2, 1.0),
    "roi_max_pooling_2d": lambda x: F.roi_max_pooling_2d(x, REGION, OF_IMAGE, 2, 1.0),
    "roi_max_align_2d": lambda x: F.roi_max_align_2d(x, REGION, OF_IMAGE, 2, 1.0),
}


@pytest.mark.parametrize("shape", [(1, 2, 3, 0), (1, 2, 0, 3)])
@pytest.mark.parametrize("name", OF_ELEMENTS)
def test_images_without_elements_are_refused(name, shape):
    with pytest.raises(InvalidType, match=r"Expect: x.shape\[(2|3|2:)\] (> 0|without 0)"):
        OF_ELEMENTS[name](np.zeros(shape, "f"))


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("shape", [(1, 2, 3, 0), (1, 2, 0, 3), (0, 2, 3, 3)])
@pytest.mark.parametrize(
    "spread",
    [
        lambda x: F.unpooling_2d(x, 2, stride=1, pad=1),
        lambda x: F.unpooling_2d(x, 3),
        lambda x: F.unpooling_nd(x, 2, cover_all=False),
        lambda x: F.upsampling_2d(x, np.zeros(x.shape, "i"), 2),
    ],
)
def test_images_without_elements_have_gradients_without(spread, shape, graph):
    x = core.Variable(np.zeros(shape, "f"))
    F.sum(spread(x)).backward(enable_double_backprop=graph)
    assert (x.grad.shape, x.grad.dtype) == (x.shape, x.dtype)


def test_regions_that_do_not_fit_are_refused():
    x, rois, images = np.ones((2, 1, 4, 5)), np.zeros((3, 4)), np.zeros(3, int)
    InvalidType = core.type_check.InvalidType
    with pytest.raises(InvalidType, match=r"roi_max_align_2d .*\n\nExpect: rois.shape == \(r, 4\)"):
        F.roi_max_align_2d(x, rois[:, :3], images, 1, 1.0)
    with pytest.raises(InvalidType, match=r"roi_indices.shape == \(r,\)"):
        F.roi_average_pooling_2d(x, rois, images[:2], 1, 1.0)
    with pytest.raises(InvalidType, match="x.dtype == rois.dtype"):
        F.roi_average_align_2d(x, rois.astype("f"), images, 1, 1.0)
    with pytest.raises(ValueError, match="output size of at least 1"):
        F.roi_max_pooling_2d(x, rois, images, 0, 1.0)
    with pytest.raises(ValueError, match="sampling_ratio of at least 1"):
        F.roi_average_align_2d(x, rois, images, 1, 1.0, 0)


@given(st.data())
def test_adaptive_pooling_divides_maps_evenly(data):
    axes = data.draw(st.integers(1, 3))
    size = data.draw(st.lists(st.integers(1, 7), min_size=axes, max_size=axes))
    outsize = data.draw(
        st.lists(st.one_of(st.none(), st.integers(1, 8)), min_size=axes, max_size=axes)
    )
    x = (
        np.random.RandomState(sum(size)).permutation(6 * math.prod(size)).reshape(2, 3, *size)
        * 0.25
    )
    counts = [n if o is None else o for n, o in zip(size, outsize, strict=True)]
    functions = ((F.adaptive_average_pooling_nd, np.mean), (F.adaptive_max_pooling_nd, np.max))
    for function, summary in functions:
        expected = np.empty((2, 3, *counts))
        for place in np.ndindex(*counts):
            edges = zip(place, size, counts, strict=True)
            window = [slice(i * n // o, -(-(i + 1) * n // o)) for i, n, o in edges]
            expected[(..., *place)] = summary(x[(..., *window)], axis=tuple(range(2, 2 + axes)))
        np.testing.assert_allclose(function(x, outsize).array, expected, rtol=1e-12)
        check_backward(
            lambda x, f=function: f(x, outsize),
            x,
            np.cos(expected),
            dtype="d",
            atol=1e-6,
            rtol=1e-5,
        )


@pytest.mark.parametrize("images", [1, 300], ids=["formula", "loop"])
def test_what_is_not_finite_is_in_the_means_and_maxima_of_its_windows_alone(images):
    x = np.random.RandomState(0).normal(size=(images, 1, 8, 7))
    x[:, 0, 3, 5], x[:, 0, 7, 1] = np.nan, np.inf
    for function in (F.adaptive_average_pooling_nd, F.adaptive_max_pooling_nd):
        y = function(x, (3, 4)).array  # rows 0-2, 2-5 and 5-7, columns 0-1, 1-3, 3-5 and 5-6
        found = np.isnan(y).nonzero(), np.isposinf(y).nonzero()
        np.testing.assert_array_equal(np.unique(np.stack(found[0][2:]), axis=1), [[1, 1], [2, 3]])
        np.testing.assert_array_equal(np.unique(np.stack(found[1][2:]), axis=1), [[2, 2], [0, 1]])
        assert np.isfinite(y).sum() == 8 * images


def test_adaptive_pooling_takes_one_number_for_all_and_refuses_others():
    x = np.zeros((1, 1, 5, 6), "f")
    assert F.adaptive_average_pooling_nd(x, 3).shape == (1, 1, 3, 3)
    for outsize in (0, (2,), (2, -1), (1, 2, 3)):
        with pytest.raises(ValueError, match="adaptive_max_pooling_nd"):
            F.adaptive_max_pooling_nd(x, outsize)
    for shape in ((2, 3), (2, 3, 0, 4)):
        with pytest.raises(core.errors.InvalidType, match="adaptive_average_pooling_nd"):
            F.adaptive_average_pooling_nd(np.zeros(shape, "f"), 1)


def test_regions_of_an_image_are_not_those_of_another_that_is_not_a_number():
    x = core.Variable(np.stack([np.ones((1, 6, 6)), np.full((1, 6, 6), np.nan)]))
    x.array[0, 0, 5, 5] = np.inf
    y = F.roi_max_align_2d(x, np.array([[0.0, 0.0, 2.0, 2.0]]), np.array([0]), 2, 1.0)
    F.sum(y).backward()
    assert (y.array == 1).all() and x.grad.sum() == 4 and not x.grad[1].any()

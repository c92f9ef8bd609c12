"""Spatial pyramids against loops over their windows, and unpooling as what undoes pooling."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import core
import core.functions as F
from core.gradient_check import check_backward


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


def test_spatial_pyramid_refuses_what_it_cannot_do():
    x = np.ones((1, 1, 5, 5))
    with pytest.raises(ValueError, match="4 windows of 2 has some that see nothing"):
        F.spatial_pyramid_pooling_2d(x, 3, "max")
    with pytest.raises(ValueError, match="pooling='max', got None"):
        F.spatial_pyramid_pooling_2d(x, 1)
    with pytest.raises(ValueError, match="pyramid_height of at least 1, got 0"):
        F.spatial_pyramid_pooling_2d(x, 0, "max")
    with pytest.raises(ValueError, match="pooling_class"):
        F.spatial_pyramid_pooling_2d(x, 1, "max", pooling_class=None)
    with pytest.raises(core.type_check.InvalidType, match="x.ndim == 4"):
        F.spatial_pyramid_pooling_2d(x[0], 1, "max")


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

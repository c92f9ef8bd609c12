"""Maxima of regions by a loop: those of the formula, and no image is copied for each region."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
from backends.numpy_backend.kernels import compiler
from core.registry.threads import using_threads

pytestmark = pytest.mark.skipif(not compiler.available(), reason="needs plugrad[fast]")

VALUES = st.sampled_from([0.0, 1.0, 2.0, -1.0, np.inf, -np.inf, np.nan])


def pooled(x, rois, threads):
    v = core.Variable(x)
    with using_threads(threads):
        y = F.roi_max_pooling_2d(v, rois, np.zeros(len(rois), "i"), (2, 3), 1.0)
        y.grad = np.arange(1, y.size + 1, dtype=x.dtype).reshape(y.shape)
        y.backward()
    return y.array, v.grad


@settings(max_examples=40, deadline=None)
@given(st.lists(VALUES, min_size=12, max_size=12), st.integers(1, 3))
def test_equal_elements_infinities_and_nan_are_those_of_the_formula(values, threads):
    x = np.full((1, 160, 6, 7), -3.0)
    x[0, :, 1:4, 2:6] = np.reshape(values, (3, 4))
    rois = np.array([[1, 2, 4, 6], [0, 0, 6, 7], [2, 3, 3, 4], [5, 6, 9, 9.0]])
    assert x.size >= compiler.SMALL
    y, gx = pooled(x, rois, threads)
    expected, expected_gx = pooled(x[:, :8], rois, threads)  # as few elements are the formula's
    np.testing.assert_array_equal(y[:, :8], expected)
    np.testing.assert_array_equal(y, np.repeat(y[:, :1], 160, 1))
    np.testing.assert_array_equal(gx != 0, np.repeat(expected_gx[:, :1] != 0, 160, 1))


MAXIMA_AND_MEANS = pytest.mark.parametrize(
    "function",
    [F.roi_max_pooling_2d, F.roi_average_pooling_2d, F.roi_average_align_2d],
    ids=["maxima", "means", "means of points"],
)


@MAXIMA_AND_MEANS
def test_no_image_is_copied_for_each_region(function) -> None:
    x, r = np.random.default_rng(0).standard_normal((1, 32, 64, 64), "f"), 50
    rois = np.tile(np.array([[3, 5, 40, 60]], "f"), (r, 1))
    v = core.Variable(x)
    function(v, rois, np.zeros(r, "i"), 2, 1.0)
    tracemalloc.start()
    function(v, rois, np.zeros(r, "i"), 2, 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * x.nbytes < r * x.nbytes


@MAXIMA_AND_MEANS
@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_not_finite_is_in_its_regions_alone(function, threads) -> None:
    x = np.random.default_rng(0).standard_normal((2, 40, 20, 20))
    x[0, :, 12, 15], x[1] = np.nan, np.inf
    rois = np.array([[1.0, 2, 9, 8], [10, 12, 16, 19], [2, 3, 5, 9]])
    v = core.Variable(x)
    with using_threads(threads):
        y = function(v, rois, np.array([0, 0, 0], "i"), 2, 1.0)
        y.grad = np.ones_like(y.array)
        y.backward()
    assert np.isfinite(y.array).all(axis=(1, 2, 3)).tolist() == [True, False, True]
    assert v.grad[0, :, 1:9, 2:8].any() and not v.grad[1].any()

"""Images, sequences and signals: borders, other sizes, and what is refused."""

import numpy as np
import pytest
from references.images import bilinear, resize_images
from refusals import refused_in_three_parts

import core
import core.functions as F
from core.errors import RemovedArgument
from core.testing.gradient_check import check_backward, check_double_backward

RANDOM = np.random.default_rng(0)


def test_depth_and_space_undo_each_other():
    x = RANDOM.normal(size=(2, 8, 3, 2))
    np.testing.assert_array_equal(F.space2depth(F.depth2space(x, 2), 2).array, x)


def test_columns_times_filters_are_the_convolution():
    x, W = RANDOM.normal(size=(2, 3, 5, 4)), RANDOM.normal(size=(6, 3, 3, 2))
    columns = F.im2col(x, (3, 2), 1, 1)
    y = F.einsum("oc,ncpq->nopq", W.reshape(6, -1), columns)
    np.testing.assert_allclose(y.array, F.convolution_2d(x, W, pad=1).array)


def test_a_resized_ramp_is_a_ramp():
    x = np.linspace(0, 1, 5)[:, None] + np.linspace(0, 2, 3)
    y = F.resize_images(x[None, None], (7, 4))
    np.testing.assert_allclose(
        y.array[0, 0], np.linspace(0, 1, 7)[:, None] + np.linspace(0, 2, 4), atol=1e-15
    )
    np.testing.assert_array_equal(F.resize_images(x[None, None], (5, 3)).array[0, 0], x)


def test_infinite_pixels_are_repeated_as_they_are():
    x = core.Variable(np.array([[[[0.0, -np.inf], [np.nan, np.inf]]]]))
    y = F.resize_images(x, (3, 4), mode="nearest")
    top, low = [0, 0, -np.inf, -np.inf], [np.nan, np.nan, np.inf, np.inf]
    np.testing.assert_array_equal(y.array[0, 0], [top, top, low])
    g = np.array([[[[1.0, 0, 0, 0], [2, 0, np.inf, 0], [0, 4, 0, 0]]]])
    (gx,) = core.grad([y], [x], [core.Variable(g)])
    np.testing.assert_array_equal(gx.array[0, 0], [[3, np.inf], [4, 0]])


@pytest.mark.parametrize("images", [1, 500], ids=["formula", "loop"])
@pytest.mark.parametrize("align_corners", [True, False])
def test_nan_counts_for_its_neighbours_alone(images, align_corners):
    x = RANDOM.normal(size=(images, 2, 6, 5))
    x[:, 0, 2, 3] = x[:, 1, 4, 1] = np.nan
    v = core.Variable(x)
    y = F.resize_images(v, (9, 4), align_corners=align_corners)
    expected = resize_images(x[:1], (9, 4), "bilinear", align_corners)
    known = np.isfinite(expected)  # the reference leaves out pixels that do not count
    assert 0.6 < known.mean() < 1
    np.testing.assert_allclose(y.array[:1][known], expected[known], atol=1e-12)
    g = RANDOM.normal(size=y.shape)
    g[:, :, 0, 0] = np.nan
    (gx,) = core.grad([y], [v], [core.Variable(g)])
    assert np.isfinite(gx.array).mean() > 0.8


@pytest.mark.parametrize("size", [(1, 1), (1, 4), (5, 2)])
def test_sampling_images_of_other_sizes(size):
    x = RANDOM.normal(size=(2, 2, *size))
    grid = RANDOM.uniform(-1.9, 1.9, (2, 2, 3, 2))
    y = F.spatial_transformer_sampler(x, grid)
    for b, c, i, j in np.ndindex(*y.shape):
        across, down = grid[b, :, i, j]
        at = (down + 1) * (size[0] - 1) / 2, (across + 1) * (size[1] - 1) / 2
        np.testing.assert_allclose(y.array[b, c, i, j], bilinear(x[b, c], *at), atol=1e-12)
    g = RANDOM.normal(size=y.shape)
    seeds = RANDOM.normal(size=x.shape), RANDOM.normal(size=grid.shape)
    check_backward(F.spatial_transformer_sampler, (x, grid), g, eps=1e-6)
    check_double_backward(F.spatial_transformer_sampler, (x, grid), g, seeds, eps=1e-6)


def test_the_identity_samples_the_image_itself():
    x = RANDOM.normal(size=(2, 3, 4, 5))
    theta = np.tile(np.eye(2, 3), (2, 1, 1))
    grid = F.spatial_transformer_grid(theta, (4, 5))
    np.testing.assert_allclose(F.spatial_transformer_sampler(x, grid).array, x, atol=1e-12)


def test_places_far_outside_give_zeros_and_no_slope():
    x, grid = np.ones((1, 1, 2, 2)), np.array([[[[-9.0, 9.0]], [[0.0, 9.0]]]])
    places = core.Variable(grid)
    y = F.spatial_transformer_sampler(x, places)
    F.sum(y).backward()
    assert not y.array.any()
    assert not places.grad.any()


@pytest.mark.parametrize("n", [1, 4, 7])
def test_transforms_are_numpys_and_undo_each_other(n):
    x, y = RANDOM.normal(size=(2, 3, n))
    real, imag = F.fft((x, y))
    expected = np.fft.fft(x + 1j * y)
    np.testing.assert_allclose(real.array, expected.real, atol=1e-12)
    np.testing.assert_allclose(imag.array, expected.imag, atol=1e-12)
    back = F.ifft((real, imag))
    np.testing.assert_allclose(back[0].array, x, atol=1e-12)
    np.testing.assert_allclose(back[1].array, y, atol=1e-12)


IMAGE = np.zeros((1, 3, 4, 4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.depth2space(IMAGE, 2), "shape"),
        (lambda: F.space2depth(IMAGE, 3), "shape"),
        (lambda: F.space2depth(IMAGE[0], 2), "ndim"),
        (lambda: F.im2col(IMAGE[0], 2), "ndim"),
        (lambda: F.pad_sequence([np.zeros(3)], length=2), "3"),
        (lambda: F.pad_sequence([np.zeros((3, 1)), np.zeros((3, 2))]), "shape"),
        (lambda: F.pad_sequence([np.zeros(()), np.zeros(())]), "ndim"),
        (lambda: F.resize_images(IMAGE[0], (2, 2)), "ndim"),
        (lambda: F.resize_images(IMAGE[:, :, :0], (2, 2)), "shape"),
        (lambda: F.spatial_transformer_grid(np.zeros((1, 3, 3)), (2, 2)), "shape"),
        (lambda: F.spatial_transformer_sampler(IMAGE, np.zeros((2, 2, 1, 1))), "shape"),
        (lambda: F.fft((np.zeros((2, 3)), np.zeros((1, 3)))), "shape"),
        (lambda: F.fft((np.zeros((2, 0)), np.zeros((2, 0)))), "shape"),
    ],
)
def test_ill_fitting_input_is_refused_in_three_parts(call, message):
    refused_in_three_parts(call, message)


@pytest.mark.parametrize(
    ("given", "came"),
    [
        (np.ones((3, 4)), "ndarray of 3"),
        (core.Variable(np.ones((3, 4))), "Variable of 3"),
        ([np.ones(4)], "list of 1"),
        (np.array(1.0), "ndarray."),
        (None, "NoneType."),
    ],
)
@pytest.mark.parametrize("name", ["fft", "ifft"])
def test_what_is_no_pair_of_parts_is_told_so_and_what_to_write(name, given, came):
    with pytest.raises(TypeError, match=f"^{name}: .* got {came}.*{name}.\\(x, 0 \\* x"):
        getattr(F, name)(given)


def test_windows_that_do_not_fit_and_former_arguments_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        F.im2col(IMAGE, 5)
    with pytest.raises(RemovedArgument, match="use_cudnn"):
        F.spatial_transformer_grid(np.zeros((1, 2, 3)), (2, 2), use_cudnn=True)
    with pytest.raises(TypeError, match="sampling"):
        F.spatial_transformer_sampler(IMAGE, np.zeros((1, 2, 1, 1)), sampling=3)


def test_a_resized_image_refuses_other_modes():
    with pytest.raises(ValueError, match="'bilinear' or 'nearest', got 'cubic'"):
        F.resize_images(IMAGE, (2, 2), mode="cubic")
    with pytest.raises(ValueError, match=r"at least 0, got \(-1, 2\)"):
        F.resize_images(IMAGE, (-1, 2))


def test_a_place_that_is_not_a_number_makes_its_pixel_nan():
    grid = np.zeros((1, 2, 2, 2), "f")
    grid[0, 1, 0, 1] = np.nan
    grid = core.Variable(grid)
    y = F.spatial_transformer_sampler(np.ones((1, 1, 3, 3), "f"), grid)
    np.testing.assert_array_equal(np.isnan(y.array[0, 0]), [[False, True], [False, False]])
    F.sum(y).backward()
    assert np.isfinite(grid.grad[:, :, 1]).all()

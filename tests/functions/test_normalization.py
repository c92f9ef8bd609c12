"""What normalizations promise beyond their formulas."""

import numpy as np
import pytest

import core
import core.functions as F


def test_layer_normalization_takes_the_last_axes_by_default():
    x = np.arange(24.0).reshape(2, 3, 4) ** 1.5
    y = F.layer_normalization(x, np.ones((3, 4)), np.zeros((3, 4))).array
    for example, normalized in zip(x, y, strict=True):
        expected = (example - example.mean()) / np.sqrt(example.var() + 1e-5)
        np.testing.assert_allclose(normalized, expected, rtol=1e-12)


def test_layer_normalization_keeps_its_precision_when_the_variance_is_tiny():
    x = (1000 + np.array([[-1, 1, -1, 1]]) * 2**-9).astype("f")
    y = F.layer_normalization(x, np.ones(4, "f"), np.zeros(4, "f"), eps=1e-12)
    np.testing.assert_allclose(y.array, [[-1, 1, -1, 1]], rtol=1e-5)


@pytest.mark.parametrize("axis", [1, -1, (1,)])
def test_layer_normalization_counts_axes_from_either_end(axis):
    x = np.random.default_rng(0).normal(size=(3, 5))
    y = F.layer_normalization(x, np.ones(5), np.zeros(5), axis=axis)
    np.testing.assert_array_equal(y.array, F.layer_normalization(x, np.ones(5), np.zeros(5)).array)


def test_group_normalization_in_half_precision_does_not_overflow():
    x = np.array([[300, -300, 200, -200]], "float16")
    y = F.group_normalization(x, 2, np.ones(4, "float16"), np.zeros(4, "float16"))
    np.testing.assert_array_equal(y.array, [[1, -1, 1, -1]])


def test_group_normalization_says_which_channels_do_not_fit():
    one, zero = np.ones(3, "f"), np.zeros(3, "f")
    with pytest.raises(core.type_check.InvalidType, match=r"x\.shape\[1\] % "):
        F.group_normalization(np.ones((2, 3), "f"), 2, one, zero)
    with pytest.raises(ValueError, match="at least 1 group"):
        F.group_normalization(np.ones((2, 3), "f"), 0, one, zero)


def test_normalize_of_zeros_is_zeros_with_the_gradient_of_division_by_eps():
    x = core.Variable(np.zeros((1, 3)))
    y = F.normalize(x, eps=0.25)
    np.testing.assert_array_equal(y.array, np.zeros((1, 3)))
    (g,) = core.grad([F.sum(y)], [x], enable_double_backprop=True)
    np.testing.assert_array_equal(g.array, np.full((1, 3), 4.0))
    (gg,) = core.grad([F.sum(g * g)], [x])
    np.testing.assert_array_equal(gg.array, np.zeros((1, 3)))


def test_normalize_over_several_axes_takes_them_as_one_vector():
    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    y = F.normalize(x, eps=0.0, axis=(1, 2)).array
    np.testing.assert_allclose(np.linalg.norm(y.reshape(2, -1), axis=1), 1, rtol=1e-12)


def test_local_response_normalization_by_its_defaults():
    x = np.random.default_rng(2).normal(size=(2, 7, 3, 3)) * 50
    y = F.local_response_normalization(x).array
    near = sum(x[:, i] ** 2 for i in range(1, 6))
    np.testing.assert_allclose(y[:, 3], x[:, 3] / (2 + 1e-4 * near) ** 0.75, rtol=1e-12)

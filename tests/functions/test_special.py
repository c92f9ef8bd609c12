"""Special functions where they are hard: tails, poles, tiny and negative arguments."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import core.functions as F
from core import Variable
from core.testing.gradient_check import check_backward, check_double_backward

TINY = [1e-300, 1e-100, 1e-12, 1e-3]

POINTS = {
    "erfc": [-30, -3, -1e-9, 0, 1e-9, 0.5, 3, 10, 26, 40, math.inf, -math.inf, math.nan],
    "erfcx": [-20, -3, -1e-9, 0, 1e-9, 0.5, 3, 10, 26, 1e3, 1e8, 1e300, math.inf, math.nan],
    "erfinv": [-1, -0.999999, -0.5, 0.49999, -1e-300, 0, 1e-12, 0.75, 1, 1.5, -2, math.nan],
    "erfcinv": [0, *TINY, 0.5, 0.51, 1, 1.4999, 1.5, 1.999, 2, -0.1, 2.5, math.nan],
    "ndtr": [-37, -10, -1, 0, 1e-9, 3, 9, math.inf, -math.inf, math.nan],
    "log_ndtr": [-1e6, -300, -20, -1e-5, 0, 1e-5, 2, 8, 30, math.nan],
    "ndtri": [0, *TINY, 0.25, 0.5, 0.7, 0.999, 1, -0.5, 1.5, math.nan],
    "lgamma": [
        1e-200,
        1e-3,
        0.5,
        1,
        2,
        2.5,
        7.99,
        8,
        100,
        1e10,
        -0.5,
        -2.7,
        -30.3,
        0,
        -3,
        math.inf,
        math.nan,
    ],
    "digamma": [1e-100, 0.1, 0.5, 1, 7.9, 8, 1e8, -0.5, -2.7, -30.3, -3, math.nan, 0, -0.0],
}


@pytest.mark.parametrize("name", POINTS)
def test_values_are_scipys(name):
    x = np.array(POINTS[name], float)
    plain = {"lgamma": special.gammaln, "digamma": special.psi}.get(name) or getattr(special, name)
    with np.errstate(divide="ignore"):
        for points in (x, np.resize(x, 70000)):  # by the formula, and in a loop
            found = getattr(F, name)(points).array[: len(x)]
            np.testing.assert_allclose(found, plain(x), rtol=2e-13, atol=2e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tails_keep_all_their_digits(dtype):
    x = np.linspace(0.5, 8 if dtype == "float32" else 25, 61).astype(dtype)
    few = 10 * np.finfo(dtype).eps
    bell = [float((-(Decimal(float(a)) ** 2)).exp()) for a in x]  # of the square without rounding
    for points in (x, np.resize(x, 70000)):  # by the formula, and in a loop
        found = F.erfc(points).array[: len(x)]
        np.testing.assert_allclose(found, bell * special.erfcx(x.astype("d")), rtol=few)
        half = [float((-(Decimal(float(a)) ** 2) / 2).exp()) for a in x]
        tail = half * special.erfcx(x * np.sqrt(0.5)) / 2
        np.testing.assert_allclose(F.ndtr(-points).array[: len(x)], tail, rtol=few)


def test_the_gamma_functions_logarithm_is_infinite_at_both_infinities():
    np.testing.assert_array_equal(F.lgamma(np.array([-math.inf, math.inf])).array, math.inf)


def test_polygamma_and_zeta_are_scipys():
    n, x = np.meshgrid(np.arange(12), [1e-3, 0.3, 1.0, 4.5, 30.0, 1e5])
    np.testing.assert_allclose(F.polygamma(n, x).array, special.polygamma(n, x), rtol=1e-12)
    s, q = np.meshgrid([1.001, 1.5, 2.0, 7.3, 20.0, 60.0], [1e-3, 0.3, 1.0, 4.5, 30.0, 1e5])
    np.testing.assert_allclose(F.zeta(s, q).array, special.zeta(s, q), rtol=1e-12)


@given(
    st.lists(st.floats(-40, 0) | st.sampled_from([0.0, -0.0, -3.0, -1e-20, -1e6 - 0.3]), min_size=1)
)
def test_polygamma_and_zeta_below_zero_are_scipys(points):
    """They were NaN there."""
    order, x = np.meshgrid(np.arange(1, 9), points)
    s, q = np.meshgrid([0.5, 1.0, 1.5, 2.0, 3.0, 20.0], points)
    with np.errstate(over="ignore"):  # near poles
        for found, expected in (
            (F.polygamma(order, x), special.polygamma(order, x)),
            (F.zeta(s, q), special.zeta(s, q)),
        ):
            np.testing.assert_allclose(found.array, expected, rtol=1e-9, atol=1e-9)


def test_derivatives_of_polygamma_and_zeta_below_zero():
    x, g = np.array([-0.5, -1.4, -2.6]), np.ones(3)
    for function in (lambda x: F.polygamma(2, x), lambda x: F.zeta(np.full(3, 3.0), x)):
        check_backward(function, x, g, eps=1e-4, atol=1e-4, rtol=1e-5)


def test_outside_their_domains_they_are_not_a_number():
    nothing = F.zeta(np.array([0.5, 2.5, 2.0, np.nan]), np.array([1.0, -0.5, np.nan, 1.0]))
    assert np.isnan(nothing.array).all()
    assert np.isnan(F.polygamma(np.array([-1, 2]), np.array([1.0, np.nan])).array).all()


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_derivatives_at_negative_arguments(name):
    x, g = np.array([-0.5, -1.4, -2.6, 0.3, 4.0]), np.ones(5)
    check_backward(getattr(F, name), x, g, eps=1e-4, atol=1e-5, rtol=1e-5)
    check_double_backward(getattr(F, name), x, g, g, eps=1e-4, atol=1e-4, rtol=1e-4)


def test_the_derivative_of_digamma_is_trigamma():
    x = np.array([1e-5, 0.3, 1, 7.9, 8, 1e3, 1e12, np.inf, -0.5, -2.7, -30.3, -3])
    for points in (x, np.resize(x, 70000)):
        given = Variable(points)
        F.sum(F.digamma(given)).backward()
        expected = special.polygamma(1, x[:8])
        np.testing.assert_allclose(given.grad[:8], expected, rtol=1e-14)
        squared = (np.pi / np.sin(np.pi * x[8:11])) ** 2
        expected = squared - special.polygamma(1, 1 - x[8:11])
        np.testing.assert_allclose(given.grad[8:11], expected, rtol=1e-12)
        assert given.grad[11] == np.inf


def test_the_derivative_of_log_ndtr_far_below():
    x = Variable(np.array([-1e4, -200, -30, 0, 30], "f"))
    y = F.log_ndtr(x)
    F.sum(y).backward()
    expected = [1e4, 200.005, 30.033259, 0.797884561, 0]
    np.testing.assert_allclose(x.grad, expected, rtol=1e-6, atol=1e-30)


def test_second_derivatives_of_digamma_near_poles_and_far_below_zero():
    """The sine of x pi had lost the digits of x in float32: 1.6 % off at -1000.01."""
    x = Variable(np.array([-2.001, -159.75, -1000.01], "f"))
    (slope,) = _derivative(F.digamma(x), x)
    (bend,) = _derivative(slope, x)
    d = x.array.astype("d")
    turned = (d - np.round(d)) * np.pi
    expected = special.polygamma(2, 1 - d) - 2 * np.pi**3 * np.cos(turned) / np.sin(turned) ** 3
    np.testing.assert_allclose(bend.array, expected, rtol=1e-5)


@pytest.mark.parametrize(("dtype", "rtol"), [("f", 3e-6), ("d", 5e-15)])
def test_derivatives_of_erfcx_and_log_ndtr_far_out(dtype, rtol):
    """Terms as great as 1 cancelled: a slope at 1e4 was rounding alone, and a curvature 1e12."""
    far = np.array([300, 3e3, 1e4, 1e6], dtype)
    exact = far.astype("d")
    for n in (1, 70_000):  # by the formula, and in a loop
        x = Variable(np.repeat(far, n))
        (slope,) = _derivative(F.erfcx(x), x)
        small = 0.5 / exact**2
        expected = -2 * small * (1 - 3 * small + 15 * small**2 - 105 * small**3)
        np.testing.assert_allclose(slope.array[::n], expected / math.sqrt(math.pi), rtol=rtol)
        (slope,) = _derivative(F.log_ndtr(-x), x)
        (bend,) = _derivative(slope, x)
        one = 1 - 1 / exact**2 + 6 / exact**4 - 50 / exact**6
        np.testing.assert_allclose(bend.array[::n], -one, rtol=max(rtol, 1e-9))


def test_third_derivatives_of_digamma_are_polygammas():
    x = Variable(np.array([0.7, 3.0]))
    y = F.digamma(x)
    for order in (1, 2, 3):
        y.grad = None
        (y,) = _derivative(y, x)
        np.testing.assert_allclose(y.array, special.polygamma(order, x.array), rtol=1e-10)


def _derivative(y, x):
    import core

    return core.grad([F.sum(y)], [x], enable_double_backprop=True)


@pytest.mark.parametrize(("dtype", "rtol"), [("f", 3e-7), ("d", 1e-15)])
def test_inverses_of_error_functions_at_all_sizes(dtype, rtol):
    rng = np.random.default_rng(0)
    q = (10 ** rng.uniform(-37 if dtype == "f" else -307, 0, 3000)).astype(dtype)
    for name, points in [
        ("erfcinv", q),
        ("ndtri", q / 3),
        ("erfinv", q),
        ("erfinv", -1 + 1e-3 * q),
    ]:
        points = points[points > -1]
        expected = getattr(special, name)(points.astype("d"))
        for many in (points, np.resize(points, 70000)):  # by the formula, and in a loop
            found = getattr(F, name)(many).array[: len(points)]
            np.testing.assert_allclose(found, expected, rtol=rtol)


def test_float32_and_float16_stay():
    for dtype in ("float16", "float32"):
        for name in POINTS:
            assert getattr(F, name)(np.array([0.25], dtype)).dtype == dtype
        assert F.zeta(np.array([2], dtype), 1.0).dtype == dtype
        assert F.polygamma(1, np.array([2], dtype)).dtype == dtype

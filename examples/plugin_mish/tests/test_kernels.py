"""The kernels: they run where they should, and give what the formulas give."""

import numpy as np
import pytest
from plugrad_mish import on_numpy
from plugrad_mish.mish import Mish

import core
import core.functions as F
from core.testing import check_op

pytest.importorskip("numba", reason="needs plugrad-mish[fast]")


def test_large_arrays_are_theirs_and_small_ones_the_formulas(monkeypatch):
    calls, filled = [], on_numpy.filled
    monkeypatch.setattr(on_numpy, "filled", lambda *args: calls.append(1) or filled(*args))
    for size, expected in ((100, 0), (20_000, 2)):
        F.sum(F.mish(core.Variable(np.linspace(-5, 5, size, dtype="f")))).backward()
        assert len(calls) == expected


def test_they_equal_the_formulas(monkeypatch):
    for kernel in (on_numpy.mish, on_numpy.gradient):
        monkeypatch.setattr(kernel, "least", 0)  # the arrays that are drawn are small
    check_op(Mish, backends=["numpy"])


def test_far_away_they_stay_right():
    x = np.concatenate([np.linspace(-100, 100, 20_001), [-1e30, 1e30]]).astype("f")
    y = F.mish(x).array
    exact = x.astype("d") * np.tanh(np.logaddexp(x.astype("d"), 0))
    np.testing.assert_allclose(y, exact, rtol=2e-6, atol=1e-7)

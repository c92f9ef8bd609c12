"""bfloat16 on NumPy, which does not know it by itself: every op keeps it.

The other dtypes are proven by check_op. Here the same inputs, which bfloat16 holds exactly, go
through each op in bfloat16 and in float32.
"""

import dataclasses

import ml_dtypes
import numpy as np
import pytest
from all_ops import CHECKED, KINDS
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
from core.arrays import backend
from core.testing.strategies import cases
from core.testing.tolerances import Tolerance, assert_near
from core.testing.trial import Trial

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NEAR = {"solution": Tolerance(0.1, 0.1)}  # BatchNormalization keeps its mean rounded
USUAL = Tolerance(2.0**-6, 2.0**-5)


def rounded(case):
    """The case with inputs that bfloat16 holds."""
    values = tuple(
        np.asarray(value).astype(BFLOAT16).astype("float32") if declared.real else value
        for value, declared in zip(case.values, case.inputs, strict=True)
    )
    return dataclasses.replace(case, values=values)


def wide(array):
    """A host array in which bfloat16 became float64."""
    return array.astype("float64") if array.dtype in (BFLOAT16, "float32") else array


def _real(domain):
    return not domain.inputs or any(domain.values[name].real for name in domain.inputs)


OPS = {name: op for name, op in CHECKED.items() if _real(op.domain)}


@pytest.mark.parametrize("name", OPS)
@settings(max_examples=5)
@given(data=st.data())
def test_bfloat16_is_kept(name, data):
    trial = Trial(rounded(data.draw(cases(OPS[name], "plain"))), backend.get("numpy"), None, "")
    with np.errstate(all="ignore"):
        outputs, gradients = trial.run_with_gradients("bfloat16")
        wider, wider_gradients = trial.run_with_gradients("float32")
        halves = [y.dtype for y in trial.outputs("float16")]
    near = NEAR.get(KINDS.get(name), USUAL)
    for y, z, half in zip(outputs, wider, halves, strict=True):
        assert y.dtype == (BFLOAT16 if half == "float16" else half)
        if not trial.is_random:
            assert_near(wide(y), wide(z), near, "output")
    for g, z in zip(gradients, wider_gradients, strict=True):
        assert (g is None) == (z is None)
        if g is not None:
            assert g.dtype == BFLOAT16
            if not trial.is_random:
                assert_near(wide(g), wide(z), near, "gradient")


@pytest.mark.parametrize("loss", [F.softmax_cross_entropy, F.sigmoid_cross_entropy])
def test_labels_may_be_probabilities(loss):
    x, t = np.array([[0.5, -1.0], [2.0, 0.0]], "f"), np.array([[0.25, 0.75], [1.0, 0.0]], "f")
    y = loss(x.astype(BFLOAT16), t.astype(BFLOAT16))
    assert y.dtype == BFLOAT16
    assert_near(wide(y.array), wide(loss(x, t).array), USUAL, "loss")


def test_debug_mode_finds_what_is_not_a_number():
    x = core.Variable(np.array([1, -1], BFLOAT16))
    found = pytest.raises(core.errors.GraphError, match="NaN is detected on forward")
    with core.using_config("debug", True), np.errstate(invalid="ignore"), found:
        F.log(x)

"""Formulas in the array standard's words, on NumPy and on the strict referee."""

import ast
import math
from pathlib import Path

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins import functions
from plugins.functions.math import error_functions
from plugins.functions.math.logsumexp import LogSumExp

namespaces = pytest.mark.parametrize("xp", [np, strict], ids=["numpy", "strict"])


@namespaces
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_logsumexp_without_overflow(xp, axis):
    x = np.random.RandomState(9).uniform(-1000, 1000, (3, 4))
    top = np.max(x, axis=axis, keepdims=True)
    expected = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    found = LogSumExp(axis).compute(xp, xp.asarray(x))
    np.testing.assert_allclose(np.asarray(found), np.squeeze(expected, axis=axis), rtol=1e-12)


@namespaces
def test_logsumexp_of_infinities(xp):
    x = xp.asarray([[-math.inf, -math.inf], [math.inf, 1.0]], dtype=xp.float32)
    with np.errstate(divide="ignore", over="ignore"):
        found = LogSumExp(1).compute(xp, x)
    assert found.dtype == xp.float32
    np.testing.assert_array_equal(np.asarray(found), [-np.inf, np.inf])


@namespaces
@given(st.lists(st.floats(-8, 8), min_size=1, max_size=20))
def test_erf_to_the_last_places(xp, values):
    found = error_functions.erf(xp, xp.asarray(values, dtype=xp.float64))
    expected = np.array([math.erf(v) for v in values])
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_erf_keeps_dtype_ends_and_nan(dtype):
    x = np.array([0.0, 1.0, 100.0, np.inf, -np.inf, np.nan], dtype)
    found = error_functions.erf(np, x)
    assert found.dtype == x.dtype
    expected = np.array([0, math.erf(1), 1, 1, -1, np.nan], dtype)
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps)


def test_products_are_the_backends_own():
    """`@` of arrays is the library's, whose threads wait for each other where others compute."""
    for path in Path(functions.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if " @ " in text:
            found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.MatMult)]
            assert not found, f"{path}: write xp.matmul(a, b) for a @ b"

"""Results of loops do not depend on where in memory arrays lie: runs resume to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from all_ops import CHECKED, drawn
from compiled_kernels import NUMPY, taking
from hypothesis import given
from hypothesis import strategies as st

import core
from backends.numpy_backend.kernels import compiled, formulas
from backends.numpy_backend.kernels.compiled.loss import softmax
from backends.numpy_backend.kernels.compiler import Compiled, available
from core.testing.strategies import Case
from core.testing.trial import Trial

LOOPS = {
    softmax._softmax: 1,
    softmax._softmax_gradient: 2,
    softmax._log_softmax: 1,
    softmax._log_softmax_gradient: 2,
}
"""Loops of rows whose sums have any order, and how many arrays they read."""


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.function.__name__)
@given(columns=st.integers(8, 40), seed=st.integers(0, 1000))
def test_what_is_written_may_lie_beside_what_is_read(
    loop: Compiled, columns: int, seed: int
) -> None:
    given = np.random.default_rng(seed).normal(size=(LOOPS[loop], 6, columns)).astype("f")
    *others, beside = given
    alone, size = np.empty((6, columns), "f"), beside.size
    loop(*given, alone, 0, 6)
    for gap in range(20):
        room = np.empty(2 * size + gap, "f")
        before, behind = room[:size].reshape(6, columns), room[size + gap :].reshape(6, columns)
        for read, written in ((before, behind), (behind, before)):
            read[...] = beside
            loop(*others, read, written, 0, 6)
            np.testing.assert_array_equal(written, alone)


WITH_KERNELS = {
    key.rpartition(":")[2]
    for table in (compiled, formulas)
    for key in table.COMPUTE | table.GRADIENT
}
REPEATED = [n for n, op in CHECKED.items() if "random" not in op.domain.leave_out.values()]


def odd(array: np.ndarray) -> np.ndarray:
    """A copy that begins at an odd address, as in the bytes of a file behind a short head."""
    raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
    raw[:] = np.frombuffer(array.tobytes(), np.uint8)
    return raw.view(array.dtype).reshape(array.shape)


def results(case: Case, dtype: str, lying: Any) -> list[Any]:
    """Outputs and gradients of a case whose arrays, and gradients of outputs, lie so."""
    trial = Trial(case, NUMPY, None, "elementwise")
    inputs = trial.variables([lying(a) for a in case.arrays(dtype)])
    outputs = trial.run(inputs)
    roots = [y for y in outputs if y.requires_grad]
    wanted = [x for x in inputs if x.requires_grad]
    weights = [core.Variable(lying(np.cos(np.ones(y.shape, y.dtype)))) for y in roots]
    gradients = core.grad(roots, wanted, weights) if roots else []
    return [None if y is None else y.array for y in (*outputs, *gradients)]


@pytest.mark.skipif(not available(), reason="needs plugrad[fast]")
@pytest.mark.parametrize("name", [n for n in REPEATED if n in WITH_KERNELS])
def test_arrays_may_begin_at_any_address(name: str) -> None:
    with taking(1), np.errstate(all="ignore"):
        for case in drawn(name, 3):
            for dtype in ("float32", "float64"):
                whole, apart = [results(case, dtype, lying) for lying in (np.copy, odd)]
                for expected, found in zip(whole, apart, strict=True):
                    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)

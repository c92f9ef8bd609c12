"""Results of loops do not depend on where in memory arrays lie: runs resume to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.numpy_backend.kernels.compiled.loss import softmax
from backends.numpy_backend.kernels.compiler import Compiled

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

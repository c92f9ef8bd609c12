"""The gradient of maxima and minima: every element that equals one gets it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from backends.numpy_backend.kernels.compiled.math.broadcasting import (
    arranged,
    computed,
    loop_of_three,
)
from backends.numpy_backend.kernels.compiler import FLOATS, Array, in_loops
from backends.numpy_backend.kernels.emitter import Emitter

LEAST = 1 << 12  # elements, of fewer of which NumPy takes as long


def _where_equal(e: Emitter, x: Any, extremum: Any, g: Any) -> Any:
    from llvmlite import ir

    return e.where(e.builder.fcmp_ordered("==", x, extremum), g, ir.Constant(g.type, None))


_loop = loop_of_three("where_equal", _where_equal)


@in_loops
def extremum_gradient(f: Any, g: Array, needs_grad: int) -> Any:
    """That of elements of many; of few NumPy's formula takes as long."""
    x, extrema = f._sources[0].data, f.data
    if x.size < LEAST or x.dtype not in FLOATS or not x.dtype == g.dtype == extrema.dtype:
        return NotImplemented
    axes = range(x.ndim) if f.axis is None else normalize_axis_tuple(f.axis, x.ndim)
    found = arranged(x.shape, tuple([1 if i in axes else n for i, n in enumerate(x.shape)]))
    if found is None:
        return NotImplemented
    gx = computed(_loop, found, x, *map(np.ascontiguousarray, (extrema, g)))
    return gx if gx is NotImplemented else (gx,)

"""The few operations behind the operators: the smallest set that is closed under its own backward.

Plugins re-export them (`F.matmul`, `F.sum`, ...), so there is one operation of each meaning. Each
proves itself like any plugin's: see tests/test_ops.py.
"""

from core.ops.intrinsics import operators
from core.ops.intrinsics.arithmetic import (
    Add,
    Divide,
    Multiply,
    Negative,
    Power,
    Subtract,
)
from core.ops.intrinsics.broadcasting import BroadcastTo, Sum, SumTo, axes_of, unbroadcast
from core.ops.intrinsics.casting import Cast, arrays_in, cast, is_complex, refuse_complex
from core.ops.intrinsics.indexing import GetItem, ScatterAdd, SetItem
from core.ops.intrinsics.products import MatMul
from core.ops.intrinsics.shapes import Reshape, Transpose
from core.ops.intrinsics.standard import (
    broadcast_to,
    getitem,
    matmul,
    matrix_transpose,
    reshape,
    transpose,
    unshared,
)

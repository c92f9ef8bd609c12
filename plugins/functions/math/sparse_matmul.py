"""Products of sparse matrices with dense ones."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, as_variable, choice, integers, real
from core.compat.utils import CooMatrix
from core.errors import InvalidType
from core.errors.removed import removed
from plugins.functions.array.axis_order import matrix_transpose
from plugins.functions.array.take import Take
from plugins.functions.array.where import Where


class CooMatMul(FunctionNode):
    """y[row] += data b[col] for each element of the sparse matrix; `rows` is the length of y."""

    rows: int
    wide = True
    domain = Domain(
        "(k),(k),(k),(n,m)->(p,m)",
        data=real(-2, 2),
        row=integers(0, 3),
        col=integers(0, "n"),
        b=real(-2, 2),
        settings={"rows": choice(3, 4)},
        dims={"n": (1, 4)},
    )

    def compute(self, xp, data, row, col, b):
        y = xp.zeros((self.rows, b.shape[1]), dtype=b.dtype, device=b.device)
        return self.backend.scatter_add(y, row, data[:, None] * xp.take(b, col, axis=0))

    def gradient_data(self, xp, g, row, col, b):
        return xp.sum(Take(0).evaluate(g, row) * Take(0).evaluate(b, col), axis=1)

    def gradient_b(self, xp, g, data, row, col):
        return CooMatMul(self.input_shape(3)[0]).evaluate(data, col, row, g)


@removed()
def sparse_matmul(a: Any, b: Any, transa: bool = False, transb: bool = False) -> Variable:
    """Multiply two matrices, one of them sparse; or two batches of matrices, one by one.

    Args:
        a: (n, k) or (batch, n, k): an array or Variable, or a `core.utils.CooMatrix`.
        b: (k, m) or (batch, k, m), alike: one of both is sparse, the other is not.
        transa: Whether the last two axes of `a` change places first.
        transb: The same of `b`.

    Returns:
        (n, m) or (batch, n, m), dense, and the dtype of the operands. The values of the sparse
        operand get a gradient if it was made with `requires_grad`.

    Raises:
        InvalidType: Shapes or dtypes do not fit.
        TypeError: Both operands are sparse, or neither is.

    >>> import core.functions as F, numpy as np
    >>> from core.utils import to_coo
    >>> F.sparse_matmul(to_coo(np.array([[0, 2], [0, 0]], "f")), np.array([[1], [3]], "f"))
    variable([[6.],
              [0.]], dtype=float32)
    """
    if isinstance(a, CooMatrix) == isinstance(b, CooMatrix):
        raise TypeError(
            "sparse_matmul: expected one operand to be a CooMatrix and the other to be dense, got "
            f"{type(a).__name__} and {type(b).__name__}. See core.utils.to_coo."
        )
    if isinstance(a, CooMatrix):
        return _product(a, transa, _dense(b, transb))
    return matrix_transpose(_product(b, not transb, _dense(a, not transa)))


def _dense(x: Any, turned: bool) -> Variable:
    x = as_variable(x)
    return matrix_transpose(x) if turned and x.ndim > 1 else x


def _product(a: CooMatrix, turned: bool, b: Variable) -> Variable:
    rows, inner = a.shape[::-1] if turned else a.shape
    row, col = (a.col, a.row) if turned else (a.row, a.col)
    lead = a.data.shape[:-1]
    if b.shape[:-1] != (*lead, inner):
        raise _refused(f"the dense operand fits {(*lead, inner)}", f"{b.shape}")
    xp, count = a.data.xp, lead[0] if lead else 1
    with a.data.backend.beside(a.data.array):
        used = row >= 0
        row, col = (xp.reshape(xp.where(used, i, 0), (count, -1)) for i in (row, col))
        # The matrices of a batch stand on the diagonal of a large one.
        along = xp.arange(count, dtype=row.dtype, device=row.device)[:, None]
        row, col = (xp.reshape(i + along * n, (-1,)) for i, n in ((row, rows), (col, inner)))
        data = Where.call(used, a.data, xp.zeros_like(a.data.array)).reshape((-1,))
    columns = b.shape[-1]
    y = CooMatMul.call(data, row, col, b.reshape((count * inner, columns)), rows=count * rows)
    return y.reshape((*lead, rows, columns))


def _refused(expect: str, actual: str) -> InvalidType:
    return InvalidType(expect, actual, operation="sparse_matmul")

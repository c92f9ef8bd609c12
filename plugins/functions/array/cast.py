"""Conversion of dtypes."""

from __future__ import annotations

from core import Variable
from core.errors import InvalidSetting
from core.ops import intrinsics
from core.ops.intrinsics import Cast as Cast
from core.typing import Array, DType


def cast(x: Array, typ: DType) -> Variable:
    """Cast to another dtype; the gradient is cast back.

    Integers and truth values have no gradient.

    Args:
        x: Of any shape and dtype.
        typ: The new dtype, or its name.

    Returns:
        The shape of `x`; `x` itself where it has the dtype.

    Raises:
        InvalidSetting: `typ` is None or a Variable.
        BackendError: The backend of `x` has no such dtype.

    >>> import core.functions as F, numpy as np
    >>> F.cast(np.ones(2, "f"), "float64")
    variable([1., 1.])
    """
    if typ is None or isinstance(typ, Variable):
        came = "None" if typ is None else "a Variable"
        raise InvalidSetting(f"cast: expected typ to be a dtype or the name of one, got {came}")
    return intrinsics.cast(x, typ)

"""Products of two inputs with a tensor of weights (Socher, Chen, Manning and Ng 2013)."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable
from core.errors.kinds import checked
from core.typing import Array
from plugins.functions.array.reshape import reshape
from plugins.functions.math.product import product as matmul
from plugins.functions.refusal import require


@checked
def bilinear(
    e1: Array,
    e2: Array,
    W: Array,
    V1: Array | None = None,
    V2: Array | None = None,
    b: Array | None = None,
) -> Variable:
    """The bilinear map of two inputs, with linear terms where they are given.

    y_il = Σ_jk e¹_ij e²_ik W_jkl + Σ_j e¹_ij V¹_jl + Σ_k e²_ik V²_kl + b_l.

    Args:
        e1: Floating, (n, ...); the axes after the first are flattened to j elements.
        e2: Alike, to k elements.
        W: Weights, (j, k, l), of the dtype of the inputs.
        V1: Linear weights of `e1`, (j, l), or None.
        V2: Linear weights of `e2`, (k, l); None if `V1` is.
        b: Biases, (l,); None if `V1` is.

    Returns:
        (n, l), of the dtype of the inputs.

    Raises:
        InvalidType: Sizes or dtypes do not fit.
        ValueError: Some of `V1`, `V2`, `b` are given and some are not.

    Source: Socher, Chen, Manning and Ng 2013, "Reasoning with neural tensor networks for knowledge
    base completion", equation 1.

    >>> import core.functions as F, numpy as np
    >>> e1, e2 = np.array([[1, 2]], "f"), np.array([[3, 4]], "f")
    >>> F.bilinear(e1, e2, np.ones((2, 2, 1), "f"))
    variable([[21.]], dtype=float32)
    """
    given = [v is not None for v in (V1, V2, b)]
    if any(given) and not all(given):
        raise ValueError("bilinear: expected all of V1, V2 and b, or none of them")
    e1, e2, W = _flat("e1", e1), _flat("e2", e2), as_variable(W)
    linear = [as_variable(v) for v in (V1, V2, b) if v is not None]
    _check(e1, e2, W, linear)
    j, k, units = W.shape
    inner = reshape(matmul(e1, reshape(W, (j, k * units))), (e1.shape[0], k, units))
    y = reshape(matmul(reshape(e2, (e2.shape[0], 1, k)), inner), (e1.shape[0], units))
    if not linear:
        return y
    V1, V2, b = linear
    return y + matmul(e1, V1) + matmul(e2, V2) + b


def _flat(name: str, e: Any) -> Variable:
    e = as_variable(e)
    require("bilinear", (f"{name}.ndim > 0", e.ndim > 0, True))
    return e if e.ndim == 2 else e.reshape((e.shape[0], -1))


def _check(e1: Variable, e2: Variable, W: Variable, linear: list[Variable]) -> None:
    """Name what does not fit before the shapes are changed."""
    n, j = e1.shape
    k, units = e2.shape[1], W.shape[-1] if W.ndim else 0
    shapes = [v.shape for v in linear]
    require(
        "bilinear",
        ("W.ndim == 3", W.ndim, 3),
        ("e1.shape[0] == e2.shape[0]", n, e2.shape[0]),
        ("(e1.shape[1], e2.shape[1]) == W.shape[:2]", (j, k), W.shape[:2]),
        ("shapes of V1, V2 and b", shapes, [(j, units), (k, units), (units,)][: len(shapes)]),
    )

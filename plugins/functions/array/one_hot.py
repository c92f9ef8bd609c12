"""Labels as one-hot vectors."""

from __future__ import annotations

from core import Domain, FunctionNode, Variable, axes, choice, config, integers
from core.errors.kinds import checked
from core.typing import Array, DType
from plugins.functions.labels import refuse_outside

LABELS = "A label has an element for itself; give num_classes as the greatest label plus 1."


class OneHot(FunctionNode):
    """1 where the index along the new axis is x, 0 elsewhere."""

    num_classes: int = 3
    axis: int = -1
    dtype: DType = "float32"
    domain = Domain(
        "(...)->(...b)",
        x=integers(0, 3),
        settings={
            "num_classes": choice(3, 5),
            "axis": axes("x", beyond=1),
            "dtype": choice("float32", "int32"),
        },
        leave_out={"gradient": "integer-valued"},
    )

    def compute(self, xp, x):
        refuse_outside("OneHot", self.backend, "x", x, self.num_classes, LABELS)
        classes = xp.arange(self.num_classes, dtype=xp.int64, device=x.device)
        axis = self.axis % (x.ndim + 1)
        classes = xp.reshape(classes, (-1, *(1,) * (x.ndim - axis)))
        marks = xp.expand_dims(xp.astype(x, xp.int64), axis=axis) == classes
        return xp.astype(marks, self.backend.dtype(self.dtype))


@checked
def one_hot(x: Array, num_classes: int, axis: int = -1, dtype: DType = None) -> Variable:
    """Turn labels into vectors with 1 at the index of the label, 0 elsewhere; without gradient.

    The number of classes has to be given, so that the shape does not depend on the labels that
    happen to be in a batch, and no device is waited for.

    Args:
        x: Integers of any shape, each in [0, num_classes).
        num_classes: Elements of each vector, at least 1.
        axis: Where the result has the axis of the classes.
        dtype: Of the result; None takes `core.config.dtype`.

    Returns:
        The shape of `x` with an axis of length num_classes added.

    Raises:
        InvalidType: `x` is not integral, or the result has no such axis.
        OutOfRange: A label is not a class; where devices run ahead, under `core.config.debug`.
        ValueError: num_classes is below 1.

    >>> import core.functions as F, numpy as np
    >>> F.one_hot(np.array([2, 0]), 3)
    variable([[0., 0., 1.],
              [1., 0., 0.]], dtype=float32)
    """
    if num_classes < 1:
        raise ValueError(f"one_hot: expected num_classes of at least 1, got {num_classes}")
    return OneHot.call(x, num_classes, axis, config.dtype if dtype is None else dtype)

"""The boxes of a detector that stand for those which they cover."""

from __future__ import annotations

from typing import Any

from core import Variable, as_variable
from core.arrays import backend
from core.errors.kinds import checked
from core.typing import Array, Probability, Width
from plugins.functions.refusal import refused, require

NAME = "non_maximum_suppression"


@checked
def non_maximum_suppression(
    boxes: Array, threshold: Probability, scores: Array | None = None, limit: Width | None = None
) -> Variable:
    """Choose boxes, the best first, none of which covers much of a better one; no gradient.

    How much two boxes cover each other is the area of their intersection over that of their union.
    How many are chosen depends on the values, so that the host waits for a device.

    Args:
        boxes: (n, 4), floating: the lower corner, then the upper one, both as (y, x) or (x, y).
        threshold: What no two chosen boxes cover more of each other than.
        scores: (n,), how good each box is; None where they come in order, the best first.
        limit: How many are chosen at most; None for any number.

    Returns:
        Numbers of the chosen boxes, int64, the best first.

    Raises:
        InvalidType: Shapes do not fit.

    Source: as in Girshick et al. 2014 (arXiv:1311.2524), section 2.3.

    >>> import core.functions as F, numpy as np
    >>> boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 3], [4, 4, 5, 5]], "f")
    >>> F.non_maximum_suppression(boxes, 0.5, scores=np.array([0.3, 0.9, 0.5], "f"))
    variable([1, 2])
    """
    boxes = as_variable(boxes)
    require(NAME, ("boxes.ndim == 2", boxes.ndim, 2))
    require(NAME, ("boxes.shape[1] == 4", boxes.shape[1], 4))
    home, host = boxes.backend, backend.get("numpy")
    xp = host.xp
    corners = _real(xp, "boxes", boxes)
    order = xp.arange(len(corners))
    if scores is not None:
        scores = as_variable(scores)
        require(NAME, ("scores.shape == boxes.shape[:1]", scores.shape, boxes.shape[:1]))
        order = xp.argsort(-_real(xp, "scores", scores), stable=True)
    chosen: list[Any] = []
    while len(order) and (limit is None or len(chosen) < limit):
        best, order = order[0], order[1:]
        chosen.append(best)
        order = order[~_covered(xp, corners[best], corners[order], threshold)]
    return as_variable(home.asarray(xp.asarray(chosen, dtype=xp.int64), None, boxes.device))


def _real(xp: Any, name: str, x: Variable) -> Any:
    """The numbers as float64 on the host."""
    if x.backend.kind(x.dtype) == "c":
        raise refused(NAME, f"{name}.dtype is real", f"{x.dtype}")
    return xp.astype(x.backend.to_host(x.array), xp.float64)


def _covered(xp: Any, box: Any, others: Any, threshold: float) -> Any:
    """Which of the others has more than the threshold in common with the box."""
    low, high = xp.maximum(box[:2], others[:, :2]), xp.minimum(box[2:], others[:, 2:])
    shared = xp.prod(xp.maximum(high - low, 0), axis=1)
    areas = [xp.prod(b[..., 2:] - b[..., :2], axis=-1) for b in (box, others)]
    return shared > threshold * (areas[0] + areas[1] - shared)

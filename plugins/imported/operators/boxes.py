"""Boxes in images."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugins.imported.operators.common import host, ints, like, plain


def _overlap(box: Any, others: Any) -> Any:
    """The intersection over the union of a box with others, given by two corners each."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=1)
    areas = [np.prod(b[..., 2:] - b[..., :2], axis=-1) for b in (box, others)]
    union = areas[0] + areas[1] - shared
    return np.where((shared > 0) & (union > 0), shared / np.where(union > 0, union, 1), 0.0)


@plain
def _suppress(
    node: Any, boxes: Any, scores: Any, most: Any = None, shared: Any = None, least: Any = None
) -> Any:
    """The best boxes of each class, none of which covers much of a better one."""
    a, points = host(boxes).astype("d"), host(scores)
    if node.get("center_point_box", 0):
        half = a[..., 2:] / 2
        a = np.concatenate([a[..., :2] - half, a[..., :2] + half], axis=-1)
    else:
        a = np.concatenate(
            [np.minimum(a[..., :2], a[..., 2:]), np.maximum(a[..., :2], a[..., 2:])], -1
        )
    count = ints(most)[0] if most is not None else 0
    limit = float(host(shared).reshape(-1)[0]) if shared is not None else 0.0
    found = []
    for i, j in np.ndindex(points.shape[:2]):
        order = np.argsort(-points[i, j], kind="stable")
        if least is not None:
            order = order[points[i, j][order] > host(least).reshape(-1)[0]]
        chosen = 0
        while len(order) and chosen < count:
            best, order = order[0], order[1:]
            found.append((i, j, best))
            chosen += 1
            order = order[_overlap(a[i, best], a[i, order]) <= limit]
    return like(boxes, np.array(found, "int64").reshape(-1, 3))


OPERATORS: dict[str, Any] = {"NonMaxSuppression": _suppress}

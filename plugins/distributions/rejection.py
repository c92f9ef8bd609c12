"""Draws by rejection: what is not accepted is drawn again, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.typing import AnyArray

Trial = Callable[..., tuple[Any, Any]]


def by_rejection(xp: Any, trial: Trial, wanted: Any, others: Any, *params: AnyArray) -> Any:
    """Draw until each element has been accepted.

    Args:
        xp: The namespace.
        trial: Takes the parameters of the elements that are missing, along one axis; gives draws of
            them, and which of these are accepted.
        wanted: Which elements are to be drawn.
        others: What the rest is, of their shape and the dtype of the draws.
        params: Of their shape.
    """
    shape = wanted.shape
    flat = [xp.reshape(x, (-1,)) for x in (wanted, others, *params)]
    missing, rest = _places(xp, flat[0])
    places, found = [rest], [xp.take(flat[1], rest)]
    given = [xp.take(x, missing) for x in flat[2:]]
    while missing.shape[0]:
        drawn, accepted = trial(*given)
        taken, left = _places(xp, accepted)
        places.append(xp.take(missing, taken))
        found.append(xp.take(drawn, taken))
        missing, given = xp.take(missing, left), [xp.take(x, left) for x in given]
    order = xp.argsort(xp.concat(places), stable=True)
    return xp.reshape(xp.take(xp.concat(found), order), shape)


def _places(xp: Any, mask: Any) -> tuple[Any, Any]:
    """Where a mask of one axis holds, and where not.

    By sorting, for not all libraries have arrays whose shape depends on values.
    """
    order = xp.argsort(xp.astype(mask, xp.uint8), stable=True)
    fail = mask.shape[0] - int(xp.sum(xp.astype(mask, xp.int64)))
    return order[fail:], order[:fail]

"""The setting `reduce` that many losses have."""

from __future__ import annotations

from core import Variable
from core.errors import nearest
from plugins.functions.math.average import mean
from plugins.functions.math.sum import sum


def check_reduce(where: str, reduce: str, known: tuple[str, ...] = ("mean", "no")) -> None:
    """Refuse a reduction that the function `where` does not know.

    >>> check_reduce("hinge", "mean")
    >>> check_reduce("hinge", "maen")
    Traceback (most recent call last):
    ValueError: hinge: expected reduce to be 'mean' or 'no', got 'maen'. Did you mean 'mean'?
    """
    if reduce not in known:
        raise ValueError(
            f"{where}: expected reduce to be {' or '.join(map(repr, known))}, got {reduce!r}."
            + nearest(str(reduce), known)
        )


def reduced(loss: Variable, reduce: str) -> Variable:
    """The losses of elements as they are ('no'), their sum, or their mean, 0 where there are none.

    >>> import core, numpy as np
    >>> reduced(core.Variable(np.array([1.0, 2.0])), "mean")
    variable(1.5)
    """
    if reduce == "no":
        return loss
    return mean(loss) if reduce == "mean" and loss.size else sum(loss)

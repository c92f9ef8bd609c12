"""How a loss function is called with a batch, and how many examples that has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Variable
from core.dataset import concat_examples
from core.errors import UpdateError


def call_with(function: Callable[..., Any], arrays: Any, *first: Any) -> Any:
    """Call `function` with what a converter made: several arrays of a tuple, keywords of a dict.

    >>> call_with(pow, (2, 3)), call_with(dict, {"x": 1}), call_with(len, [1, 2])
    (8, {'x': 1}, 2)
    """
    if isinstance(arrays, tuple):
        return function(*first, *arrays)
    if isinstance(arrays, dict):
        return function(*first, **arrays)
    return function(*first, arrays)


def loss_of(who: str, function: Callable[..., Any], arrays: Any) -> Variable:
    """The loss of a batch. Raises UpdateError, which names `who` asks, for what is no Variable."""
    loss = call_with(function, arrays)
    if not isinstance(loss, Variable):
        raise UpdateError(
            f"{who}: expected the loss function to return a Variable, got "
            f"{type(loss).__name__}." + " Is there no `return loss` in it?" * (loss is None)
        )
    return loss


def examples_in(batch: Any, converter: Callable[..., Any]) -> int | None:
    """How many examples a batch has that `converter` gets; None where it does not tell.

    `concat_examples` gets them one by one. Another converter may get arrays that an iterator of
    one's own has joined.

    >>> import numpy as np
    >>> examples_in([1, 2, 3], concat_examples), examples_in((np.ones((5, 2)), np.ones(5)), print)
    (3, 5)
    """
    if not isinstance(batch, tuple | dict) or converter is concat_examples:
        return len(batch) if hasattr(batch, "__len__") else None
    parts = batch.values() if isinstance(batch, dict) else batch
    (first, *rest) = {tuple(getattr(part, "shape", ()))[:1] for part in parts} or {()}
    return first[0] if first and not rest else None

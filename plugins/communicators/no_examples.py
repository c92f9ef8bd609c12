"""What a rank does in a step for which it has no examples, and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import core
from core.link import Link
from core.training import reporter


def examples_of(args: Sequence[Any], kwds: dict[str, Any]) -> int:
    """How many examples the arguments of a loss hold: the length of the first that has one.

    >>> examples_of((0.5, ["a", "b"]), {})
    2
    """
    for each in (*args, *kwds.values()):
        shape = getattr(each, "shape", None)
        if shape:
            return int(shape[0])
        if shape is None and isinstance(each, (list, tuple, dict)):
            return len(each) if not isinstance(each, dict) else examples_of((), each)
    return 1


def is_collective(target: Link) -> bool:
    """Whether a forward waits for all ranks, as multi-node batch normalization does."""
    return any([getattr(link, "is_collective", False) for link in target.links()])


def size_parameters(lossfun: Callable[..., Any], args: Any, kwds: Any) -> None:
    """Let links make the parameters whose sizes they take from their input, of no examples."""
    with reporter.unobserved(), core.using_config("train", False), core.no_backprop_mode():
        lossfun(*args, **kwds)

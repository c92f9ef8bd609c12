"""Backpropagation from what was not computed from anything does nothing in Chainer."""

from __future__ import annotations

from functools import wraps
from typing import Any

from core import Variable


def switch() -> None:
    """Let `backward` return where there is no graph, as after `no_backprop_mode`."""
    plain = Variable.backward

    @wraps(plain)
    def backward(self: Any, *args: Any, **kwargs: Any) -> None:
        if self.creator is not None:
            plain(self, *args, **kwargs)

    Variable.backward = backward  # type: ignore[method-assign]

"""Comparisons of Variables are not defined in Chainer, and elementwise in plugrad."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from core import Variable


def switch() -> None:
    """Let programs' comparisons raise NotImplementedError; operations compare as before."""
    _ = (
        Variable(np.zeros(1)) == 0
    )  # the first use gives Variable its operators, and later ones none
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        method = f"__{name}__"
        setattr(Variable, method, _refused(name, getattr(Variable, method)))
    Variable.__hash__ = object.__hash__  # type: ignore[assignment,method-assign]


def _refused(name: str, compare: Any) -> Any:
    def comparison(self: Any, other: Any) -> Any:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.partition(".")[0] in ("", "core", "plugins"):  # "" is a call that was written
            return compare(self, other)
        raise NotImplementedError(
            f"Variable.__{name}__: Chainer compares no Variables. Compare their arrays, x.array."
        )

    return comparison

"""Rules: conditions on sizes and settings, as text that both checks inputs and words the error.

A rule is a Python expression over the names of its domain: dimensions, inputs (their `shape`,
`ndim` and `size`) and settings. Where it fails it is quoted, with places for dimensions and values
for settings: "c % groups == 0" becomes "x.shape[1] % 2 == 0".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from core.errors import DeclarationError
from core.typing import Shape

FUNCTIONS: dict[str, Any] = {"len": len, "max": max, "min": min, "prod": prod}


class Shaped(NamedTuple):
    """What a rule reads of an input."""

    shape: Shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)


class Scope(NamedTuple):
    """What the names in rules stand for in one call, and where dimensions and inputs are found.

    Among the values are FUNCTIONS.
    """

    values: dict[str, Any]
    places: dict[str, str]


class Rule:
    """An expression in the names of a domain; `needs` are those names.

    >>> Rule("4 * u")({"u": 3})
    12
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._code = compile(text, f"<rule {text}>", "eval")
        except (SyntaxError, TypeError):
            raise DeclarationError(
                f"Domain: {text!r} is not an expression. Write one in the names of dimensions, "
                "inputs and settings, such as 'c % groups == 0'."
            ) from None
        alone = re.findall(r"(?<![\w.])[^\W\d]\w*", text)  # and not an attribute
        names = [name for name in self._code.co_names if name in alone]
        self.needs = tuple([name for name in names if name not in FUNCTIONS])

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """The value."""
        return eval(self._code, {**FUNCTIONS, **values})

    def holds(self, values: dict[str, Any]) -> bool:
        """Whether it does, of values with FUNCTIONS; of an input left out it says nothing."""
        return not all([name in values for name in self.needs]) or eval(self._code, values)

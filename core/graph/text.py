"""Variables in words, which `core.show.variable` finds; it is loaded when first asked for."""

from __future__ import annotations

from typing import Any

from core.graph import array_api


class Texts:
    """What `print`, `repr`, notebooks and debugging show."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The array in NumPy's look, as `variable([1., 2.], dtype=float32)`.

        >>> import core, numpy as np
        >>> core.Variable(np.arange(2, dtype="f"))
        variable([0., 1.], dtype=float32)
        """
        return array_api.shown.text(self)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        """The array in NumPy's short look, as `variable([1. 2.])`."""
        return array_api.shown.short(self)  # type: ignore[no-any-return]

    def debug_print(self) -> str:
        """Describe the array and its gradient in a few lines: place, size, mean and spread."""
        return array_api.shown.statistics(self)  # type: ignore[no-any-return]

    def summary(self: Any) -> str:
        """The name, if any, in one word of text."""
        return f"<variable {self.name}>" if self.name else "<variable>"

    def _repr_html_(self) -> str:
        return array_api.shown.html(self)  # type: ignore[no-any-return]

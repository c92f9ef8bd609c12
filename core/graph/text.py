"""Variables in words."""

from __future__ import annotations

from typing import Any

from core.arrays.backend import to_host


class Texts:
    """What `print`, `repr`, notebooks and debugging show."""

    __slots__ = ()

    def __repr__(self: Any) -> str:
        """The array in NumPy's look, as `variable([1., 2.], dtype=float32)`.

        >>> import core, numpy as np
        >>> core.Variable(np.arange(2, dtype="f"))
        variable([0., 1.], dtype=float32)
        """
        prefix = f"variable {self.name or ''}".rstrip()
        if self.array is None:
            return f"{prefix}(uninitialized)"
        text = repr(self.backend.to_host(self.array))
        return prefix + text.removeprefix("array").replace("\n     ", "\n" + " " * len(prefix))

    def __str__(self: Any) -> str:
        """The array in NumPy's short look, as `variable([1. 2.])`."""
        prefix = f"variable {self.name or ''}".rstrip()
        text = "uninitialized" if self.array is None else str(self.backend.to_host(self.array))
        return f"{prefix}({text})".replace("\n", "\n" + " " * (len(prefix) + 1))

    def debug_print(self: Any) -> str:
        """Describe the array and its gradient in a few lines: place, size, mean and spread."""
        lines = [self.summary(), f"- backend: {self._spec and self._spec.backend.name}"]
        for title, array in (("data", self.array), ("grad", self.grad)):
            if array is None:
                lines.append(f"- {title}: None")
                continue
            host = to_host(array)
            lines += [f"- {title} shape: {host.shape}, dtype: {host.dtype}"]
            if host.size:
                mean, deviation = host.mean(dtype="float64"), host.std(dtype="float64")
                lines += [f"- {title} statistics: mean={mean:.8f}, std={deviation:.8f}"]
        return "\n".join(lines)

    def summary(self: Any) -> str:
        """The name, if any, in one word of text."""
        return f"<variable {self.name}>" if self.name else "<variable>"

    def _repr_html_(self: Any) -> str:
        from core.graph.html import variable_html

        return variable_html(self)

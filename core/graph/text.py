"""Variables in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.arrays.backend import to_host

if TYPE_CHECKING:
    from core.graph.variable import Variable


def variable_repr(var: Variable) -> str:
    """The array in NumPy's look, as `variable([1., 2.], dtype=float32)`.

    >>> import core, numpy as np
    >>> core.Variable(np.arange(2, dtype="f"))
    variable([0., 1.], dtype=float32)
    """
    prefix = "variable" if var.name is None else f"variable {var.name}"
    if var.array is None:
        return f"{prefix}(uninitialized)"
    text = repr(var.backend.to_host(var.array))
    return prefix + text.removeprefix("array").replace("\n     ", "\n" + " " * len(prefix))


def variable_str(var: Variable) -> str:
    """The array in NumPy's short look, as `variable([1. 2.])`."""
    prefix = "variable" if var.name is None else f"variable {var.name}"
    if var.array is None:
        return f"{prefix}(uninitialized)"
    text = str(var.backend.to_host(var.array))
    return f"{prefix}({text})".replace("\n", "\n" + " " * (len(prefix) + 1))


def variable_details(var: Variable) -> str:
    """A few lines on the array and its gradient: where, how large, mean and spread."""
    lines = [var.summary(), f"- backend: {var._spec and var._spec.backend.name}"]
    for title, array in (("data", var.array), ("grad", var.grad)):
        if array is None:
            lines.append(f"- {title}: None")
            continue
        host = to_host(array)
        lines += [f"- {title} shape: {host.shape}, dtype: {host.dtype}"]
        if host.size:
            mean, deviation = host.mean(dtype="float64"), host.std(dtype="float64")
            lines += [f"- {title} statistics: mean={mean:.8f}, std={deviation:.8f}"]
    return "\n".join(lines)

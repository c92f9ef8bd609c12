"""Variables in words, and as tables in notebooks."""

from __future__ import annotations

from core.arrays.backend import to_host
from core.graph.variable import Variable
from core.link.html import table


def text(variable: Variable) -> str:
    """The array in NumPy's look, as `variable([1., 2.], dtype=float32)`."""
    prefix = _prefix(variable)
    if variable.array is None:
        return f"{prefix}(uninitialized)"
    host = repr(to_host(variable))
    return prefix + host.removeprefix("array").replace("\n     ", "\n" + " " * len(prefix))


def short(variable: Variable) -> str:
    """The array in NumPy's short look, as `variable([1. 2.])`."""
    prefix = _prefix(variable)
    host = "uninitialized" if variable.array is None else str(to_host(variable))
    return f"{prefix}({host})".replace("\n", "\n" + " " * (len(prefix) + 1))


def _prefix(variable: Variable) -> str:
    return f"variable {variable.name or ''}".rstrip()


def statistics(variable: Variable) -> str:
    """The array and its gradient in a few lines: place, size, mean and spread."""
    backend = None if variable.array is None else variable.backend.name
    lines = [variable.summary(), f"- backend: {backend}"]
    for title, array in (("data", variable.array), ("grad", variable.grad)):
        if array is None:
            lines.append(f"- {title}: None")
            continue
        host = to_host(array)
        lines += [f"- {title} shape: {host.shape}, dtype: {host.dtype}"]
        if host.size:
            mean, deviation = host.mean(dtype="float64"), host.std(dtype="float64")
            lines += [f"- {title} statistics: mean={mean:.8f}, std={deviation:.8f}"]
    return "\n".join(lines)


def html(variable: Variable) -> str:
    """A table of the array, in NumPy's look, and of the gradient where there is one."""
    name = f"variable {variable.name}" if variable.name else "variable"
    if variable.array is None:
        return table(f"{name}, uninitialized", [], "th")
    shape = ", ".join(map(str, variable.shape))
    dtype = variable.backend.dtype_name(variable.dtype)
    arrays = {"array": variable.array, "grad": variable.grad}
    rows = [
        (title, str(variable.backend.to_host(array)))
        for title, array in arrays.items()
        if array is not None
    ]
    return table(f"{name}: ({shape}) {dtype} on {variable.device}", rows, "td")

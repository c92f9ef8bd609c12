"""What formulas of ops compute with on NumPy: the numpy module, with some of it in our threads."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from backends.numpy_backend.kernels import compiler
from backends.numpy_backend.kernels.compiled import channels
from backends.numpy_backend.products import matmul


def _native(dtype: Any) -> Any:
    """A dtype in the machine's order of bytes, the only one in which NumPy may be asked for it."""
    if dtype is None or np.dtype(dtype).isnative:
        return dtype
    return np.dtype(dtype).newbyteorder("=")


def _reducing(ufunc: np.ufunc) -> Callable[..., Any]:
    """What NumPy calls for its function of the same name, which takes as long again to call it."""
    reduce = ufunc.reduce

    def reduced(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
        if dtype is not None and not np.dtype(dtype).isnative:
            dtype = _native(dtype)
        return reduce(a, axis, dtype, **options)

    return reduced


def _running(name: str) -> dict[str, Callable[..., Any]]:
    """NumPy's function of running sums or products, where this NumPy has one of that name."""
    function = getattr(np, name, None)

    def running(a: Any, *others: Any, dtype: Any = None, **options: Any) -> Any:
        return function(a, *others, dtype=_native(dtype), **options)  # type: ignore[misc]

    return {} if function is None else {name: running}


added, multiplied = _reducing(np.add), _reducing(np.multiply)


def total(a: Any, axis: Any = None, *others: Any, **options: Any) -> Any:
    """`numpy.sum`; large ones over all axes but that of channels are divided among threads."""
    plain = isinstance(a, np.ndarray) and not others and not options
    if type(axis) is tuple and plain and compiler.available():
        found = channels.total(a, axis)
        if found is not None:
            return found
    return added(a, axis, *others, **options)


def astype(x: Any, dtype: Any, /, *, copy: bool = True) -> Any:
    """`numpy.astype`, of numbers without dimensions too, which NumPy 2.0 refuses."""
    return x.astype(dtype, copy=copy)


class Rarer:
    """A module of NumPy's that NumPy imports when somebody asks for it, and so does this."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(np, self._name), name)


def _module(**replaced: Any) -> ModuleType:
    """The numpy module with some functions replaced, in which Python remembers where names are.

    It does not where a module has a `__getattr__`, as NumPy's has for rarer modules.
    """
    if tuple(map(int, np.__version__.split(".")[:2])) < (2, 1):
        replaced["astype"] = astype
    made = ModuleType("numpy", "The numpy module with some functions replaced.")
    rarer = {name: Rarer(name) for name in dir(np) if name not in vars(np)}
    vars(made).update({**rarer, **vars(np), "fft": np.fft, "linalg": np.linalg, **replaced})
    del made.__getattr__
    return made


_of_both: dict[str, Any] = {"prod": multiplied}
for _name in ("cumsum", "cumprod", "cumulative_sum", "cumulative_prod"):
    _of_both |= _running(_name)

namespace = _module(matmul=matmul, sum=total, **_of_both)
few = _module(sum=added, **_of_both)
"""The same for arrays of a few elements, whose products are NumPy's."""

"""What formulas of ops compute with on NumPy: the numpy module, with some of it in our threads."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from backends.numpy_backend.decompositions import linalg
from backends.numpy_backend.methods import METHODS, OF_FEW
from backends.numpy_backend.products import matmul
from backends.numpy_backend.sums import added, greatest, least, mean, multiplied, running, total
from backends.numpy_backend.triangles import TRIANGLES


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
    vars(made).update({**rarer, **vars(np), "linalg": linalg, **replaced})
    del made.__getattr__
    return made


_of_both = {"matmul": matmul, "prod": multiplied, **running, **TRIANGLES}
_extremes = {"max": greatest, "amax": greatest, "min": least, "amin": least}
namespace = _module(mean=mean, sum=total, **_extremes, **_of_both, **METHODS)
few = _module(sum=added, **_of_both, **OF_FEW)
"""The same for arrays of a few elements."""

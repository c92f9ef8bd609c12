"""What formulas of ops compute with on NumPy: the numpy module, with products in our threads."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from backends.numpy_backend.products import matmul


def astype(x: Any, dtype: Any, /, *, copy: bool = True) -> Any:
    """`numpy.astype`, of numbers without dimensions too, which NumPy 2.0 refuses."""
    return x.astype(dtype, copy=copy)


def _module(**replaced: Any) -> ModuleType:
    """The numpy module with some functions replaced, in which Python remembers where names are.

    It does not where a module has a `__getattr__`, as NumPy's has for rarer modules.
    """
    if tuple(map(int, np.__version__.split(".")[:2])) < (2, 1):
        replaced["astype"] = astype
    made = ModuleType("numpy", "The numpy module with some functions replaced.")
    vars(made).update({**vars(np), "fft": np.fft, "linalg": np.linalg, **replaced})
    del made.__getattr__
    return made


namespace = _module(matmul=matmul)
few = _module()
"""The same for arrays of a few elements, whose products are NumPy's."""

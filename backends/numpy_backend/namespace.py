"""What formulas of ops compute with on NumPy: the numpy module, with products in our threads."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from backends.numpy_backend.products import matmul

namespace = ModuleType("numpy", "The numpy module with some functions replaced.")
vars(namespace).update({**vars(np), "fft": np.fft, "linalg": np.linalg, "matmul": matmul})
del namespace.__getattr__  # for rarer modules; where a module has one, Python caches no look-up


def astype(x: Any, dtype: Any, /, *, copy: bool = True) -> Any:
    """`numpy.astype`, of numbers without dimensions too, which NumPy 2.0 refuses."""
    return x.astype(dtype, copy=copy)


few: ModuleType = np
"""The same for arrays of a few elements: the module itself, from NumPy 2.1 on."""

if tuple(map(int, np.__version__.split(".")[:2])) < (2, 1):
    vars(namespace)["astype"] = astype
    few = namespace

"""What formulas of ops compute with on NumPy: the numpy module, with products in our threads."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from backends.numpy_backend.products import matmul

namespace = ModuleType("numpy", "The numpy module with some functions replaced.")
vars(namespace).update({**vars(np), "fft": np.fft, "linalg": np.linalg, "matmul": matmul})
del namespace.__getattr__  # for rarer modules; where a module has one, Python caches no look-up

"""What operations give to Variables: operators, the array standard's functions, and NumPy's."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# All stand above this room, and are loaded when first asked for.
provider: Any
"""The module core.ops.namespace."""

intrinsics: Any
"""The module core.ops.intrinsics."""

numpy_functions: Any
"""The module core.compat.numpy_functions."""

_ABOVE = {
    "provider": "core.ops.namespace",
    "intrinsics": "core.ops.intrinsics",
    "numpy_functions": "core.compat.numpy_functions",
}


def __getattr__(name: str) -> Any:
    if name not in _ABOVE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = globals()[name] = import_module(_ABOVE[name])
    return module

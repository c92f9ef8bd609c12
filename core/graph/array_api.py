"""What Variables have of higher rooms and of plugins: functions, namespaces, and how they look.

The modules are loaded when first asked for; all but the facade stand above this room.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

LATE = {
    "functions": "core.functions",
    "provider": "core.ops.namespace",
    "numpy_functions": "core.compat.numpy_functions",
    "shown": "core.show.variable",
}


def __getattr__(name: str) -> Any:
    if name not in LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = globals()[name] = import_module(LATE[name])
    return module

"""What `dir()` of a module shows: names for its users, not those that it imports for itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any


def listing(module: str, also: Iterable[str] = ()) -> Callable[[], list[str]]:
    """The `__dir__` of a module: its `__all__`, or what is made in it, and the names in `also`.

    What is made in the files of a package is the package's.
    """

    def __dir__() -> list[str]:
        scope = vars(sys.modules[module])
        names = scope.get("__all__") or [n for n, v in scope.items() if _is_own(module, n, v)]
        special = (name for name in scope if name.startswith("__"))
        return sorted({*names, *also, *special})

    return __dir__


def _is_own(module: str, name: str, value: Any) -> bool:
    if name.startswith("_") or name == "TYPE_CHECKING" or isinstance(value, ModuleType):
        return False
    if type(value).__module__ == "typing":  # variables of types
        return False
    home = getattr(value, "__module__", None) or module  # a constant has none
    is_package = hasattr(sys.modules[module], "__path__") and value is not listing
    return home == module or (is_package and home.startswith(module + "."))

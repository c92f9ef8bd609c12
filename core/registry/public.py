"""What modules give: names that `dir()` shows, and names that are loaded when first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from core.registry.kinds import FACADES
from core.registry.paths import PATHS


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


def exporting(
    package: str, provides: Mapping[str, str], modules: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package that loads names when they are first asked for.

    `provides` maps modules to their names, and `modules` are those below the package that others
    may use, both separated by spaces; its facades and old paths are known.
    """
    homes = {name: home for home, names in provides.items() for name in names.split()}
    paths = [path.rpartition(".") for path in (*FACADES.values(), *PATHS)]
    below = {
        *modules.split(),
        *(n for parent, _, n in paths if parent == package and n != "__main__"),
    }
    shown = listing(package, [*homes, *below])

    def __getattr__(name: str) -> Any:
        if name in homes:
            value = getattr(import_module(homes[name]), name)
            if homes[name] not in FACADES.values():  # what these give may change by a preference
                setattr(sys.modules[package], name, value)
            return value
        if name in below:
            return import_module(f"{package}.{name}")
        if name == "__all__":  # `from core import *` takes all that is shown
            return [n for n in shown() if not n.startswith("_")]
        error = f"module {package!r} has no attribute {name!r}"
        if name.startswith("_") or find_spec(f"{package}.{name}"):  # `from package import module`
            raise AttributeError(error)
        from core.errors import UnknownName

        raise UnknownName(lambda: f"{error}.{_nearest(name, shown(), package, below)}")

    return __getattr__, shown


def _nearest(name: str, shown: list[str], package: str, below: Iterable[str]) -> str:
    from core.errors import nearest
    from core.errors.synonyms import folded
    from core.registry.catalogues import elsewhere
    from core.registry.environment import installed

    known, room = [n for n in shown if not n.startswith("_")], package.rpartition(".")[2]
    others = elsewhere(installed)
    for module in sorted(below):  # as of `core.backend.get_array_module`
        if folded(name) not in others:
            home = f"{package}.{module}"
            others |= {folded(n): f"{home}.{n}" for n in _own_names(home)}
    return nearest(name, known, room, others)


def _own_names(module: str) -> list[str]:
    """What a module gives that is made in it; nothing where it cannot be imported here."""
    from core.errors import CoreError

    try:
        found = import_module(module)
        return [n for n in dir(found) if _is_own(found.__name__, n, getattr(found, n))]
    except (ImportError, CoreError):
        return []


def _is_own(module: str, name: str, value: Any) -> bool:
    if name.startswith("_") or name == "TYPE_CHECKING" or isinstance(value, ModuleType):
        return False
    if type(value).__module__ == "typing":  # variables of types
        return False
    home = getattr(value, "__module__", None) or module  # a constant has none
    is_package = hasattr(sys.modules[module], "__path__") and home != __name__
    return home == module or (is_package and home.startswith(module + "."))

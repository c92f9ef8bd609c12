"""Modules of Chainer's paths, made when imported; their names are looked up in `places`."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from plugrad_chainer import places
from plugrad_chainer.facts import modules

from core.registry.facades import _is_import

_CHANGING = ("available", "memory_pool", "pinned_memory_pool")


class Module(ModuleType):
    """A module at a path of Chainer: its names are found, and kept, when they are asked for."""

    def __getattr__(self, name: str) -> Any:
        """What stands for the name, or an error that says what to write."""
        path = self.__name__
        if name == "__all__":
            return [n for n in dir(self) if not n.startswith("_")]
        if name.startswith("__"):
            raise AttributeError(f"module {path!r} has no attribute {name!r}")
        full = f"{path}.{name}"
        try:
            return self._found(full, name)
        except AttributeError as error:
            if _is_import(sys._getframe(1)):  # which would say only that it cannot be imported
                raise ImportError(str(error), name=path) from None
            raise

    def _found(self, full: str, name: str) -> Any:
        path = self.__name__
        value = import_module(full) if places.is_module(full) else places.find(path, name)
        if name not in _CHANGING:
            self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a name here, and where plugrad reads it."""
        if isinstance(value, ModuleType) and not places.is_module(f"{self.__name__}.{name}"):
            return  # the import of a module whose name a function has
        if not name.startswith("__"):
            places.set_(self.__name__, name, value)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """The names of all versions that there are here."""
        names = modules().get(self.__name__, frozenset())
        own = [name for name in self.__dict__ if not name.startswith("_")]
        return sorted({*own, *[n for n in names if places.has(self.__name__, n)]})


class Finder:
    """Finds the modules of Chainer that something stands for here."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a module of Chainer; its submodules are found here as well."""
        if not name.startswith("chainer.") or name not in modules():
            return None
        places.refuse_module(name)
        loader: Any = self
        return ModuleSpec(name, loader, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module without names."""
        return Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: its names come when they are asked for."""


def install() -> None:
    """Let Python find the modules; once is enough."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        loader: Any = Finder()
        sys.meta_path.insert(0, loader)

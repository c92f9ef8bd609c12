"""Facades: modules such as `core.functions`, whose names are those of a catalogue."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from core.registry.catalogues import Catalogue, Offer
from core.registry.index import Registry

Facade = tuple[Callable[[str], Any], Callable[[], list[str]], Callable[[str], Offer]]
"""The three functions that make a module a facade: `__getattr__`, `__dir__` and `of`."""


def make_facade(registry: Registry, module: str, kind: str) -> Facade:
    """The functions for the facade `module` over the catalogue of `kind`.

    A name found is kept in the module, so that the next use costs nothing; what was kept is
    forgotten when a preference changes.
    """
    names = _Names(registry, module, kind)
    registry.listen(names.forget)
    return names.find, names.all, names.of


class _Names:
    """The names of a module, each found at first use and kept there."""

    def __init__(self, registry: Registry, module: str, kind: str) -> None:
        self._registry = registry
        self._module = module
        self._catalogue = Catalogue(registry, kind)
        self._kept: dict[str, Any] = {}

    def find(self, name: str) -> Any:
        if name == "__all__":
            return self._catalogue.names()
        if name.startswith("_"):
            raise AttributeError(f"module {self._module!r} has no attribute {name!r}")
        from core.registry.signatures import show  # by now there are things to show

        generation = self._registry.generation
        try:
            value = self._catalogue.get(name)
            show(value, name)
        except AttributeError as error:
            if _is_import(sys._getframe(1)):
                raise ImportError(str(error), name=self._module) from error
            raise
        self._registry.keep(generation, partial(self._keep, name, value))
        return value

    def _keep(self, name: str, value: Any) -> None:
        self._kept[name] = sys.modules[self._module].__dict__[name] = value

    def all(self) -> list[str]:
        catalogue = self._catalogue
        return sorted({*catalogue.names(), *_own(self._module)} - set(catalogue.conflicts()))

    def of(self, distribution: str) -> Offer:
        """What one installed distribution gives, even where another plugin has the plain name."""
        return self._catalogue.of(distribution)

    def forget(self) -> None:
        here = sys.modules[self._module].__dict__
        for name, value in list(self._kept.items()):
            if here.get(name) is value:
                here.pop(name, None)
        self._kept.clear()


def _own(module: str) -> list[str]:
    return [
        name for name in list(vars(sys.modules[module])) if name == "of" or name.startswith("__")
    ]


def _is_import(frame: Any) -> bool:
    # `from core.functions import rleu` turns an AttributeError into a bare "cannot import name",
    # and with it the reason is lost; other errors pass through.
    from opcode import opname

    return bool(opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM")

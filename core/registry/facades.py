"""Facades: modules such as `core.functions`, whose names are those of a catalogue."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from core.registry.catalogues import Catalogue, Offer
from core.registry.index import Registry


class Facade(NamedTuple):
    """The three functions that make a module a facade: `__getattr__`, `__dir__` and `of`."""

    getattr: Callable[[str], Any]
    dir: Callable[[], list[str]]
    of: Callable[[str], Offer]


def make_facade(registry: Registry, module: str, kind: str) -> Facade:
    """The functions for the facade `module` over the catalogue of `kind`.

    A name found is kept in the module, so that the next use costs nothing; what was kept is
    forgotten when a preference changes.
    """
    catalogue = Catalogue(registry, kind)
    kept: dict[str, Any] = {}

    def find(name: str) -> Any:
        if name == "__all__":
            return catalogue.names()
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        from core.registry.signatures import show  # by now there are things to show

        generation = registry.generation
        try:
            value = catalogue.get(name)
            show(value, name)
        except AttributeError as error:
            if _is_import(sys._getframe(1)):
                raise ImportError(str(error), name=module) from error
            raise

        def keep() -> None:
            kept[name] = sys.modules[module].__dict__[name] = value

        registry.keep(generation, keep)
        return value

    def names() -> list[str]:
        return sorted({*catalogue.names(), *_own(module)} - set(catalogue.conflicts()))

    def of(distribution: str) -> Offer:
        """What one installed distribution gives, even where another plugin has the plain name."""
        return catalogue.of(distribution)

    def forget() -> None:
        here = sys.modules[module].__dict__
        for name, value in list(kept.items()):
            if here.get(name) is value:
                here.pop(name, None)
        kept.clear()

    registry.listen(forget)
    return Facade(find, names, of)


def _own(module: str) -> list[str]:
    return [
        name for name in list(vars(sys.modules[module])) if name == "of" or name.startswith("__")
    ]


def _is_import(frame: Any) -> bool:
    # `from core.functions import rleu` turns an AttributeError into a bare "cannot import name",
    # and with it the reason is lost; other errors pass through.
    from opcode import opname

    return bool(opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM")

"""Where modules were once, or are looked for by scripts for Chainer: one table, old path to new.

A path in the table, or below one, imports the very module that stands at the new one.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

PATHS = {
    "core.__main__": "plugrad.__main__",
    "core.backend": "core.arrays.backend",
    "core.backends": "core.compat.backends",
    "core.backends.cuda": "core.compat.cuda",
    "core.communicators.datasets": "plugins.communicators.datasets",
    "core.communicators.evaluators": "plugins.communicators.evaluators",
    "core.communicators.extensions": "plugins.communicators.extensions",
    "core.communicators.functions": "plugins.communicators.functions",
    "core.communicators.global_except_hook": "plugins.communicators.global_except_hook",
    "core.communicators.iterators": "plugins.communicators.iterators",
    "core.communicators.links": "plugins.communicators.links",
    "core.computational_graph": "core.show.computational_graph",
    "core.configuration": "core.registry.configuration",
    "core.cuda": "core.compat.cuda",
    "core.dataset.tabular": "core.datasets",
    "core.function": "core.compat.function",
    "core.function_hook": "core.graph.function_hook",
    "core.function_node": "core.ops.function_node",
    "core.gradient_check": "core.testing.gradient_check",
    "core.hookspecs": "core.registry.hookspecs",
    "core.initializer": "core.link.initializer",
    "core.intrinsics": "core.functions",
    "core.link_hook": "core.link.hook",
    "core.links.model": "core.compat.model",
    "core.ops.intrinsics": "core.functions",
    "core.parameter": "core.link.parameter",
    "core.plugins": "core.registry.plugins",
    "core.reporter": "core.training.reporter",
    "core.sequential": "core.link.sequential",
    "core.serializer": "core.link.serializer",
    "core.type_check": "core.compat.type_check",
    "core.utils": "core.compat.utils",
    "core.utils.type_check": "core.compat.type_check",
    "core.variable": "core.graph.variable",
}
"""What is typed -> where it stands."""


def place(name: str) -> str | None:
    """The path of the module that stands at, or below, an old path; None for any other name.

    >>> place("core.utils.conv"), place("core.functions")
    ('core.compat.utils.conv', None)
    """
    path, rest = name, ""
    while path.startswith("core."):
        if path in PATHS:
            return PATHS[path] + rest
        path, _, last = path.rpartition(".")
        rest = f".{last}{rest}"
    return None


def _spec(name: str) -> ModuleSpec | None:
    from importlib.util import find_spec  # not loaded before an old path is

    return find_spec(name)


class OldPaths:
    """The finder of modules at old paths; the first, for no folder is searched under two paths."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """A spec whose module is the one at the new path."""
        there = place(name)
        loader: Any = self
        return ModuleSpec(name, loader) if there is not None and _spec(there) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself; what it says about itself is kept, since the import system sets it."""
        module = import_module(str(place(spec.name)))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it was executed at its own path."""
        spec: Any = module.__spec__
        module.__spec__ = spec.loader_state

    def get_code(self, name: str) -> CodeType | None:
        """The code at the new path, for `python -m`."""
        spec: Any = _spec(str(place(name)))
        return spec.loader.get_code(spec.name)  # type: ignore[no-any-return]


def install() -> None:
    """Let Python find the paths; once is enough."""
    if not any(isinstance(finder, OldPaths) for finder in sys.meta_path):
        sys.meta_path.insert(0, OldPaths())

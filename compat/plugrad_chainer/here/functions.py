"""Functions as programs for Chainer call them: with the arguments of version 1, and its links."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from plugrad_chainer import version_1
from plugrad_chainer.facts import names_of
from plugrad_chainer.version1.keywords import accepting, signatures

from core import functions, links

_made: dict[str, Any] = {}
_done: set[str] = set()


def __getattr__(name: str) -> Any:
    """A function, a class of functions, or one of the links that version 1 had beside them."""
    old = signatures().get(f"functions.{name}.__init__")
    if old is not None:
        cls: Any = getattr(functions, name)
        if name not in _done:
            _done.add(name)
            cls.__init__ = accepting(cls.__init__, old, skip=1)
        return cls
    old = signatures().get(f"functions.{name}")
    if old is not None:
        if name not in _made:
            _made[name] = accepting(getattr(functions, name), old)
            _made[name].__module__ = "chainer.functions"  # where pickles find it
        return _made[name]
    if name == "split_axis" and version_1():
        return split_axis_of_version_1
    if name == "create_huffman_tree":  # of the link, since version 1.3
        return links.BinaryHierarchicalSoftmax.create_huffman_tree
    if _is_link(name):
        return getattr(import_module("chainer.links"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _is_link(name: str) -> bool:
    facts = names_of("1.24.0")
    return name in facts["chainer.links"] and not hasattr(functions, name)


def split_axis_of_version_1(
    x: Any, indices_or_sections: Any, axis: int, force_tuple: bool = False
) -> Any:
    """`split_axis`, which in version 1 gave a Variable where there is one part."""
    return functions.split_axis(x, indices_or_sections, axis, force_tuple=force_tuple)

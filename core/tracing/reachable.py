"""The links and optimizers that a function can name, so that their arrays are traced with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MethodType
from typing import Any

from core.link import Link
from core.optimizer import Optimizer
from core.programs import names_in


def roots(function: Any) -> list[Any]:
    """The links and optimizers that a function can name: of its own, its closure, its globals."""
    found = [each for each in _named(function, []) if isinstance(each, (Link, Optimizer))]
    return list({id(each): each for each in found}.values())


def _named(function: Any, seen: list[Any]) -> Iterator[Any]:
    if any([function is known for known in seen]):
        return
    seen.append(function)
    if isinstance(function, (Link, Optimizer)):
        yield function
        return
    owner = attribute(function, "__self__")
    if owner is not None:
        yield owner
        yield from _parts(list((attribute(owner, "__dict__") or {}).values()))
    for name in ("func", "__wrapped__", "__func__"):
        inner = attribute(function, name)
        if inner is not None:
            yield from _named(inner, seen)
    yield from _parts(attribute(function, "args") or ())
    yield from _parts((attribute(function, "keywords") or {}).values())
    yield from _parts(attribute(function, "__defaults__") or ())
    code = attribute(function, "__code__")
    if code is None:
        return
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # not filled yet
            continue
        yield from _parts([content])
        if isinstance(content, MethodType) or attribute(content, "__code__") is not None:
            yield from _named(content, seen)
    scope = function.__globals__
    yield from _parts([scope[name] for name in names_in(code) if name in scope])


def attribute(x: Any, name: str) -> Any:
    """What an object has by a name, or None, without `__getattr__`, which may say anything."""
    try:
        return object.__getattribute__(x, name)
    except AttributeError:
        return None


def _parts(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from value
        elif isinstance(value, dict):
            yield from value.values()
        else:
            yield value

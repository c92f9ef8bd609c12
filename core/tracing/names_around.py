"""What a step names from outside: of its closure, its globals, and objects and lists among them.

A replay does what was recorded, with the numbers that these names stood for. So they are looked at
before each replay, and a step that changes them is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from core.arrays.backend import BACKENDS, host, to_host
from core.errors import TraceError
from core.graph.fitting import is_array
from core.graph.variable import Variable
from core.link import Link
from core.optimizer import Optimizer
from core.tracing.leaving import PLAIN
from core.tracing.places import names_in, roots

MOST = 16
"""Longer lists and dicts are told by their lengths."""

DEEPEST = 4
"""So many lists and dicts within each other are looked into."""


class Name(NamedTuple):
    """A name from outside: a key of a dict, or an attribute of another object."""

    label: str
    where: Any
    key: str

    def read_as(self, where: str) -> str:
        """The text that reads it, of a name for `where`."""
        if type(self.where) is dict:
            return f"{where}.get({self.key!r})"
        if isinstance(self.where, CellType):
            return f"{where}.cell_contents"
        return f"getattr({where}, {self.key!r}, None)"

    def read(self) -> Any:
        """What it stands for; None for nothing."""
        if type(self.where) is dict:
            return self.where.get(self.key)
        try:
            return getattr(self.where, self.key, None)
        except ValueError:  # a cell that is not filled yet
            return None

    def write(self, x: Any) -> None:
        """Let it stand for something."""
        if type(self.where) is dict:
            self.where[self.key] = x
        else:
            setattr(self.where, self.key, x)


def names_of(function: Any) -> list[Name]:
    """The names from outside that a function, those of its file, and its links can use."""
    found: list[Name] = []
    seen: set[Any] = set()

    def look(each: Any) -> None:
        if isinstance(each, (Link, Optimizer, type)):
            return
        inner = getattr(each, "__wrapped__", getattr(each, "func", None))
        if inner is not None:
            look(inner)
        owner = getattr(each, "__self__", None)
        method = getattr(each, "__func__", each)
        if not isinstance(method, FunctionType) and inner is None:
            owner, method = each, getattr(type(each), "__call__", None)  # noqa: B004
        if not isinstance(method, FunctionType) or (id(owner), method) in seen:
            return
        seen.add((id(owner), method))
        scope, used = method.__globals__, sorted(set(names_in(method.__code__)))
        look_into(owner, used, scope)
        cells = zip(method.__code__.co_freevars, method.__closure__ or (), strict=True)
        for name, cell in cells:
            found.append(Name(name, cell, "cell_contents"))
            content = found[-1].read()
            look(content)
            look_into(content, used, scope)
        for name in used:
            x = scope.get(name)
            if name not in scope or isinstance(x, ModuleType):
                continue
            if (id(scope), name) in seen:
                look_into(x, used, scope)
                continue
            seen.add((id(scope), name))
            found.append(Name(name, scope, name))
            if getattr(x, "__globals__", None) is scope:
                look(x)
            look_into(x, used, scope)

    def look_into(owner: Any, used: list[str], scope: dict[str, Any]) -> None:
        own, of = getattr(owner, "__dict__", None), type(owner)
        if isinstance(owner, Optimizer):  # its rates
            for name in used:
                if type(getattr(owner, name, None)) in PLAIN[:-1]:
                    found.append(Name(f"{of.__name__}.{name}", owner, name))
        if type(own) is not dict or isinstance(owner, _OTHERS):
            return
        link = isinstance(owner, Link)  # whose attributes are looked at by themselves
        for name in used:
            if (id(own), name) in seen:
                continue
            seen.add((id(own), name))
            common = getattr(of, name, None)
            if isinstance(common, FunctionType) and common.__globals__ is scope:
                look(MethodType(common, owner))
            elif link:
                look_into(own.get(name), used, scope)
            elif name in own or type(common) in PLAIN[:-1]:
                found.append(Name(f"{of.__name__}.{name}", owner, name))
                look_into(found[-1].read(), used, scope)

    look(function)
    for each in roots(function):
        owner = each if isinstance(each, Link) else each.target
        for link in () if owner is None else owner.links():
            forward = getattr(type(link), "forward", None)
            if isinstance(forward, FunctionType) and not _is_bundled(forward):
                look(MethodType(forward, link))
    return found


def _is_bundled(function: FunctionType) -> bool:
    return function.__module__.partition(".")[0] in ("core", "plugins")


_OTHERS = (Optimizer, Variable, type, FunctionType, ModuleType)


def told(x: Any, depth: int = 0) -> Any:
    """What a name stands for: numbers and text by value, others by identity, and by entries."""
    if isinstance(x, PLAIN):
        return type(x), x
    if isinstance(x, (list, dict)) and depth < DEEPEST:
        return id(x), len(x), [told(part, depth + 1) for part in _parts(x)]
    return id(x)


def _parts(x: Any) -> list[Any]:
    if len(x) > MOST:
        return []
    return [*x, *x.values()] if isinstance(x, dict) else list(x)


class Around:
    """What the names of a step stand for at a recording."""

    def __init__(self, function: Any) -> None:
        self._names = names_of(function)
        self._held = [(x, _entries(x)) for x in [each.read() for each in self._names]]
        self._told = [told(x) for x, _ in self._held]
        self._same = self._comparison()

    def _comparison(self) -> Callable[[], bool]:
        """A function of one expression: whether names stand for the same objects and entries.

        Where they do not, they may still be equal numbers.
        """
        scope: dict[str, Any] = {"told": told}
        parts = ["True"]
        for i, (name, (x, _)) in enumerate(zip(self._names, self._held, strict=True)):
            scope |= {f"w{i}": name.where, f"x{i}": x}
            parts.append(f"{name.read_as(f'w{i}')} is x{i}")
            if isinstance(x, (list, dict)):
                scope[f"t{i}"] = self._told[i]
                parts.append(f"told(x{i}) == t{i}")
        return eval(f"lambda: {' and '.join(parts)}", scope)  # type: ignore[no-any-return]

    @contextmanager
    def kept(self) -> Iterator[None]:
        """A context in which arrays that have names cannot be changed in place.

        Raises TraceError where one would be: a replay would not do it.
        """
        arrays = {id(x): x for x in self._arrays()}.values()
        for x in arrays:
            x.flags.writeable = False
        others = [(x, to_host(x).copy()) for x in self._arrays_of_others()]
        try:
            yield
            for x, before in others:
                if to_host(x).tobytes() != before.tobytes():
                    BACKENDS[type(x)].copyto(x, before)
                    raise TraceError(
                        "capture: an array from outside is changed in place by its library itself, "
                        "and would not be by a replay. Give it as an argument, or make it an "
                        "attribute of a link."
                    )
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise TraceError(
                "capture: an array from outside is changed in place by NumPy itself, and would not "
                "be by a replay. Give it as an argument, or make it an attribute of a link."
            ) from error
        finally:
            for x in sorted(arrays, key=lambda x: x.base is not None):  # views last
                x.flags.writeable = True

    def _named(self) -> Iterator[Any]:
        for x, entries in self._held:
            yield from [x, *[part for _, copy in entries for part in _parts(copy)]]

    def _arrays_of_others(self) -> Iterator[Any]:
        """Those of other backends than the host's, whose arrays can be changed."""
        for part in self._named():
            if not isinstance(part, _OTHERS) and is_array(part):
                backend = BACKENDS[type(part)]
                if backend.mutable and backend is not host():
                    yield part

    def _arrays(self) -> Iterator[Any]:
        array_type: Any = host().array_type
        for part in self._named():
            if isinstance(part, array_type) and part.flags.writeable:
                owner = part if part.base is None else part.base
                if isinstance(owner, array_type) and owner.flags.owndata:  # or it stays so
                    yield part

    def holds(self) -> bool:
        """Whether they stand for the same."""
        try:
            if self._same():
                return True
        except ValueError:  # a cell that is not filled
            pass
        return [told(each.read()) for each in self._names] == self._told

    def refuse_changes(self) -> None:
        """Raise TraceError where the recording has changed what a name stands for."""
        for name, before in zip(self._names, self._told, strict=True):
            if told(name.read()) != before:
                raise TraceError(
                    f"capture: {name.label}, outside of the step, is changed by it, and would not "
                    "be by a replay. Change it elsewhere; arrays may be attributes of links."
                )

    def restore(self) -> None:
        """Let all names stand for what they stood for before the recording."""
        for name, (x, entries) in zip(self._names, self._held, strict=True):
            if name.read() is not x:
                name.write(x)
            for of, copy in entries:
                if told(of)[1:] != told(copy)[1:]:
                    of.clear()
                    of.extend(copy) if isinstance(of, list) else of.update(copy)


def _entries(x: Any, depth: int = 0) -> list[tuple[Any, Any]]:
    """A list or dict with a copy of it, and those in it with theirs."""
    if not isinstance(x, (list, dict)) or len(x) > MOST or depth == DEEPEST:
        return []
    within = [pair for part in _parts(x) for pair in _entries(part, depth + 1)]
    return [(x, x.copy()), *within]

"""What a step names from outside: of its closure, its globals, and objects and lists among them.

A replay does what was recorded, with the numbers that these names stood for. So they are looked at
before each replay, and a step that changes them is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import is_
from typing import Any

from core.arrays.backend import BACKENDS, host, to_host
from core.capturing.generators import Generators
from core.capturing.reached import Reached, parts_of
from core.capturing.watching import optimizers_watched
from core.errors import TraceError
from core.programs import PLAIN

MOST_BYTES = 2**20
"""So large arrays are compared before each replay."""


def told(x: Any) -> Any:
    """What a name stands for: numbers and text by value, others by identity."""
    if isinstance(x, PLAIN):
        return type(x), repr(x) if isinstance(x, (float, complex)) else x
    return (type(x), x.tobytes()) if isinstance(x, host().xp.generic) else id(x)


def _told_parts(x: Any) -> list[Any]:
    return [told(part) for part in (sorted(x, key=hash) if isinstance(x, set) else parts_of(x))]


class Around:
    """What the names of a step stand for at a recording."""

    def __init__(self, function: Any) -> None:
        reached = Reached(function)
        self._arrays, self._names = reached.arrays, reached.names
        self.links, self.parameters = reached.links, reached.parameters
        self.variables = reached.variables
        self._generators = Generators(reached.generators, "random" in reached.used)
        self._containers, self._caches = reached.containers, reached.caches
        self._held = [each.read() for each in self._names]
        self._missing = [each.is_missing() for each in self._names]
        self._copies = [x.copy() for _, x in self._containers]
        self._scope = reached.scope
        self._attributes = [(label, own, set(own)) for label, own in reached.attributes()]
        self._told = self._tell()
        self._elements: list[tuple[Any, bytes]] = []
        self._same = self._comparison()

    def _tell(self) -> list[Any]:
        found = [told(each.read()) for each in self._names]
        return found + [_told_parts(x) for _, x in self._containers]

    def _comparison(self) -> Callable[[], bool]:
        """A function, quick by being one expression: whether names stand for the same objects.

        Where it says no, other objects may still be equal numbers.
        """
        scope: dict[str, Any] = {"is_": is_}
        parts = ["True"]
        for i, (name, x) in enumerate(zip(self._names, self._held, strict=True)):
            scope |= {f"w{i}": name.where, f"x{i}": x}
            parts.append(f"{name.read_as(f'w{i}')} is x{i}")
        for i, ((_, x), copy) in enumerate(zip(self._containers, self._copies, strict=True)):
            scope |= {f"l{i}": x, f"c{i}": list(_values(copy)), f"k{i}": list(copy)}
            parts.append(f"len(l{i}) == {len(copy)}")
            if isinstance(x, set):
                scope[f"k{i}"] = {*map(id, copy)}
                parts.append(f"k{i}.issuperset(map(id, l{i}))")
            elif len(copy):
                values = f"l{i}.values()" if isinstance(x, dict) else f"l{i}"
                parts.append(f"all(map(is_, {values}, c{i}))")
                if isinstance(x, dict):
                    parts.append(f"all(map(is_, l{i}, k{i}))")
        for i, (array, elements) in enumerate(self._elements):
            scope |= {f"a{i}": array.tobytes, f"b{i}": elements}
            parts.append(f"a{i}() == b{i}")
        return eval(f"lambda: {' and '.join(parts)}", scope)  # type: ignore[no-any-return]

    def compare_elements(self, read: Iterable[Any], changed: Iterable[Any]) -> None:
        """Let arrays that the program does not read, and NumPy itself may have, be compared.

        Raises TraceError for one that is too large for that, and for one that the step changes
        under another name.
        """
        array_type: Any = host().array_type
        shares = host().xp.may_share_memory
        known, own = ([x for x in some if isinstance(x, array_type)] for some in (read, changed))
        for label, x in self._arrays:
            if not isinstance(x, array_type) or any([shares(x, other) for other in known]):
                continue
            if any([shares(x, other) for other in own]):
                raise TraceError(
                    f"capture: {label}, an array from outside, shares memory with what the step "
                    "changes, and no operation reads it: what NumPy itself takes of it would stay "
                    "the same. Read it where it is changed, as from the parameter."
                )
            if x.nbytes > MOST_BYTES:
                raise TraceError(
                    f"capture: {label}, an array of {x.nbytes:,} bytes from outside, is read by no "
                    "operation, and what NumPy itself takes of it would stay the same. Give it, or "
                    "what is needed of it, as an argument."
                )
            self._elements.append((x, x.tobytes()))
        self._same = self._comparison()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """A context in which arrays that have names cannot be changed in place.

        Raises TraceError where one would be: a replay would not do it. Functions that keep what
        they have given forget it, if that was traced.
        """
        known = [cache.cache_info().misses for cache in self._caches]
        arrays = {id(x): x for x in self._arrays_of_host()}.values()
        for x in arrays:
            x.flags.writeable = False
        others = [(x, to_host(x).copy()) for x in self._arrays_of_others()]
        try:
            with self._numbers_of_optimizers():
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
            for cache, misses in zip(self._caches, known, strict=True):
                if cache.cache_info().misses != misses:
                    cache.cache_clear()
            for x in sorted(arrays, key=lambda x: x.base is not None):  # views last
                x.flags.writeable = True

    @contextmanager
    def _numbers_of_optimizers(self) -> Iterator[None]:
        """A context in which numbers of optimizers that the step reads are added to its names."""
        with optimizers_watched(self._scope) as asked:
            try:
                yield
            finally:
                for name, value in asked.values():
                    self._told.insert(len(self._names), told(value))
                    self._names.append(name)
                    self._held.append(value)
                    self._missing.append(False)

    def _arrays_of_others(self) -> Iterator[Any]:
        """The arrays of backends other than the host's whose arrays can be changed."""
        array_type: Any = host().array_type
        for _, x in self._arrays:
            if not isinstance(x, array_type) and BACKENDS[type(x)].mutable:
                yield x

    def _arrays_of_host(self) -> Iterator[Any]:
        array_type: Any = host().array_type
        for _, x in self._arrays:
            if isinstance(x, array_type) and x.flags.writeable:
                owner = x if x.base is None else x.base
                if isinstance(owner, array_type) and owner.flags.owndata:  # or it stays so
                    yield x

    def holds(self) -> bool:
        """Whether all names stand for what they stood for at the recording."""
        try:
            if self._same():
                return True
        except Exception:  # a cell that is not filled, or a property that says so
            pass
        same = all([x.tobytes() == elements for x, elements in self._elements])
        return same and self._tell() == self._told

    def changed(self) -> list[str]:
        """The names that stand for something else by now."""
        labels = [each.label for each in self._names] + [label for label, _ in self._containers]
        pairs = zip(self._tell(), self._told, strict=True)
        return [label for label, (now, told) in zip(labels, pairs, strict=True) if now != told]

    def refuse_changes(self) -> None:
        """Raise TraceError where the recording has changed what a name stands for."""
        self._generators.refuse_draws()
        found = self.changed()
        found += [
            f"{label}.{x}" for label, own, names in self._attributes for x in own.keys() - names
        ]
        if found:
            raise TraceError(
                f"capture: {found[0]}, outside of the step, is changed by it, and would not "
                "be by a replay. Change it elsewhere; arrays may be attributes of links."
            )

    def restore(self) -> None:
        """Let all names stand for what they stood for before the recording."""
        self._generators.restore()
        for name, x, missing in zip(self._names, self._held, self._missing, strict=True):
            if missing:
                name.remove()
            elif told(name.read()) != told(x):
                name.write(x)
        for _, own, names in self._attributes:
            for new in own.keys() - names:
                del own[new]
        for (_, x), copy in zip(self._containers, self._copies, strict=True):
            if _told_parts(x) != _told_parts(copy):
                x.clear()
                x.extend(copy) if isinstance(x, (list, deque)) else x.update(copy)


def _values(x: Any) -> Iterable[Any]:
    return x.values() if isinstance(x, dict) else x

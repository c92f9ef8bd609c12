"""Backends by name and by the type of their arrays: those that plugins offer, those added here.

One is made when its name is asked for, or when an array of its library turns up; a library that
nobody has imported is never imported here.
"""

from __future__ import annotations

import sys
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from core import registry
from core.errors import BackendError, BackendUnavailable, CoreError, nearest
from core.registry.once import publishing

HOST = "numpy"
"""The backend of arrays in host memory, which every other one copies to and from (`to_host`); also
the one that makes new arrays where nobody has chosen.
"""
GPU = "cuda"
"""The backend whose devices a bare number means, as in training scripts (`to_gpu(1)`)."""


class Known(Protocol):
    """What a backend is found by."""

    name: str
    library: str
    array_type: type

    @property
    def unlike(self) -> tuple[type, ...]:
        """Types of arrays that derive from it and are none of the backend's."""

    @classmethod
    def unavailable(cls) -> str | None:
        """Why it cannot be used here; None where it can."""

    def refresh_kernels(self) -> None:
        """Called when plugins have been preferred or disabled."""


B = TypeVar("B", bound=Known)


class ByType(dict[type, B]):
    """Array type -> backend; a type not met before is looked for among the backends, once.

    So is one that no backend has, as of Variables: its refusal is kept until names may mean
    something else. A type of arrays derives from its library's, which is imported before.
    """

    def __init__(self, backends: Backends[B]) -> None:
        self._backends = backends

    def __missing__(self, kind: type) -> B:
        known, generation = self._backends, registry.installed.generation
        refused, words = known.refused.get(kind, (None, ""))
        if refused == generation:
            raise BackendError(words)
        before = known.added
        backend = known.of_type(kind)
        words = known.not_an_array(kind) if backend is None else ""
        with publishing:
            if known.added is before and backend is None:
                known.refused[kind] = generation, words
            elif known.added is before and backend is not None:
                self[kind] = backend
        if backend is None:
            raise BackendError(words)
        return backend


class Backends(Generic[B]):
    """All backends: by name, and, in `by_type`, by the type of their arrays."""

    def __init__(self) -> None:
        self.by_type: ByType[B] = ByType(self)
        self.refused = WeakKeyDictionary[type, tuple[int, str]]()  # no arrays, since a generation
        self.of_shapes: dict[Any, Any] = {}  # the specs of core.arrays.spec, by type of array
        self.made: dict[str, B] = {}
        self.added: dict[str, B] = {}  # replaced by every change
        self.unnamed: dict[type, B] = {}  # by type of array: those that nobody asks for by name

    def host(self) -> B:
        """The backend of arrays in host memory, which every other one copies to and from.

        >>> import core
        >>> core.backend.host()
        <backend 'numpy'>
        """
        return self.get(HOST)

    def names(self) -> list[str]:
        """The names of all backends that are registered, whether they can run here or not.

        >>> import core
        >>> 'numpy' in core.backend.names()
        True
        """
        return sorted({*self.added, *_catalogue().names()})

    def available(self) -> dict[str, str | None]:
        """Backend name -> None where it can be used here, else the reason why it cannot.

        >>> import core
        >>> core.backend.available()['numpy'] is None
        True
        """
        return {name: self.reason(name) for name in self.names()}

    def reason(self, name: str) -> str | None:
        """Why the backend cannot be used here; None where it can."""
        if name in self.added:
            return self.added[name].unavailable()
        return _broken(name) or _class(name).unavailable()

    def get(self, name: str) -> B:
        """The backend called `name`.

        Raises BackendError for an unknown name, NameConflict where several plugins give it, and
        BackendUnavailable, with the reason and what can be used instead, for one that cannot run
        here.

        >>> import core
        >>> core.backend.get('numpy').name
        'numpy'
        """
        found = self.added.get(name) or self.made.get(name)
        if found is not None:
            return found
        if name in _catalogue().conflicts():
            _class(name)  # raises, and names who gives it
        if name not in self.names():
            raise BackendError(
                f"No backend is called {name!r}; known here: {', '.join(self.names())}."
                + nearest(name, self.names(), "backends")
                + registry.absent()
            )
        reason = self.reason(name)
        if reason is not None:
            usable = [other for other, why in self.available().items() if why is None]
            raise BackendUnavailable(
                f"Backend {name!r} cannot be used here: {reason} Available: {', '.join(usable)}."
            )
        return self._make(name)

    def _make(self, name: str) -> B:
        """The one instance of a bundled or installed backend; it imports its library here."""
        found = self.made.get(name)
        if found is None:
            made: B = _class(name)()
            found = self.made.setdefault(name, made)
            if found is made:
                registry.installed.listen(made.refresh_kernels)
        return found

    def add(self, backend: B) -> B:
        """Add a backend object at run time, under its name; meant for tests and notebooks.

        A distribution offers its backend by the hook `register_backends` instead.
        """
        return self._change({**self.added, backend.name: backend}, backend)

    def remove(self, backend: B) -> B:
        """Forget what was added at run time."""
        kept = {name: known for name, known in self.added.items() if known is not backend}
        return self._change(kept, backend)

    def _change(self, added: dict[str, B], backend: B) -> B:
        with publishing:
            self.added = added
            self.by_type.clear()
            self.refused.clear()
            self.of_shapes.clear()
        return backend

    def of_type(self, kind: type) -> B | None:
        """The backend whose arrays have just this type, else the one whose type it derives from.

        A type that derives from one `unlike` the arrays of a backend is none of its.
        """
        found = [
            backend
            for backend in self._candidates()
            if issubclass(kind, backend.array_type) and not issubclass(kind, backend.unlike)
        ]
        return min(found, key=lambda b: kind.__mro__.index(b.array_type), default=None)

    def _candidates(self) -> list[B]:
        """Backends whose arrays can exist: those added, and those whose library is imported.

        A library may be imported where it has no device to make an array on.
        """
        imported = [
            name
            for name in _catalogue().names()
            if name not in self.added
            and _broken(name) is None
            and _class(name).library in sys.modules
            and (name in self.made or self.reason(name) is None)
        ]
        return [*self.added.values(), *self.unnamed.values(), *map(self._make, imported)]

    def in_use(self) -> list[B]:
        """The host's backend, and all others that have been made or added."""
        host = self.host()
        return [host, *(b for b in (self.made | self.added).values() if b is not host)]

    def not_an_array(self, kind: type) -> str:
        """What is wrong with a value of this type in the place of an array."""
        if kind is type(None):
            return "Expected an array, got None (a parameter has none until its shape is known)."
        return (
            f"Expected an array of one of the backends {', '.join(self.names())}; "
            f"got a {kind.__module__}.{kind.__qualname__}. "
            "Make an array of it first, with core.backend.current().asarray(...)."
            + registry.absent()
        )


known: Backends[Any] = Backends()
"""All backends there are."""


def _catalogue() -> Any:
    return registry.catalogue("backends")


def _class(name: str) -> Any:
    return _catalogue().get(name)


def _broken(name: str) -> str | None:
    """Why the class of a backend cannot be had: its plugin fails, or two claim the name."""
    try:
        _class(name)
    except CoreError as error:
        return str(error)
    return None

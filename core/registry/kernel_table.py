"""Whose a kernel is: tables of faster implementations, by the class that they stand in for.

A class is known by its module and qualified name, `'package.module:Class'`, so that a table need
not import it. Another class of the same name, and a subclass, whose formula may be another, have
nothing of it; a subclass that computes the same says so, by `kernels_of = Base`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, TypeAlias

from core.registry.kernel_key import kernel_key
from core.registry.once import publishing

Kernel: TypeAlias = Callable[..., Any]


class KernelTable(MutableMapping[Any, Kernel]):
    """Faster implementations by class, or by its key.

    Args:
        backend: The name of the backend whose they are.
        section: Which of the sections of `register_kernels` is read when first looked into.
        changed: Called after every change, with the key of the class that it concerns.
    """

    def __init__(self, backend: str, section: str, changed: Callable[[str], None]) -> None:
        self._backend = backend
        self._section = section
        self._changed = changed
        self._read: dict[str, Kernel] | None = None
        self._forgotten = 0
        # By class, once looked for; but not one made in a function, which is to be let go.
        self._found: dict[Any, Kernel | None] = {}

    @property
    def _kernels(self) -> dict[str, Kernel]:
        known = self._read
        return self._registered() if known is None else known

    def _registered(self) -> dict[str, Kernel]:
        from core.registry import kernels  # nothing of plugins is loaded before it is needed

        before = self._forgotten
        found = dict(kernels(self._backend)[self._section])
        with publishing:
            if self._read is not None:
                return self._read
            if self._forgotten == before:
                self._read = found
        return found

    def forget(self) -> None:
        """Read the table anew when it is next looked into."""
        with publishing:
            self._forgotten += 1
            self._read = None
            self._found.clear()

    def __getitem__(self, whose: Any) -> Kernel:
        return self._kernels[kernel_key(whose)]

    def __setitem__(self, whose: Any, kernel: Kernel) -> None:
        key = kernel_key(whose)
        with publishing:
            self._kernels[key] = kernel
            self._found.clear()
        self._changed(key)

    def __delitem__(self, whose: Any) -> None:
        key = kernel_key(whose)
        with publishing:
            del self._kernels[key]
            self._found.clear()
        self._changed(key)

    def get(self, whose: Any, default: Any = None) -> Any:
        """The kernel of a class, or `default`."""
        try:
            found = self._found[whose]
        except (KeyError, TypeError):
            key, kernels = kernel_key(whose), self._kernels
            with publishing:
                found = kernels.get(key)
                if self._read is kernels and "<locals>" not in getattr(whose, "__qualname__", ""):
                    self._found[whose] = found
        return default if found is None else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __repr__(self) -> str:
        return f"KernelTable({self._backend!r}, {sorted(self._kernels)})"

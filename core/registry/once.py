"""What is made when first asked for, safe when several threads come first together.

Calls must not wait, so none of what they look up is guarded: it is made in full, by as many threads
as come, and published by one assignment, the first maker's for all. `publishing` is held by steps
that publish several things, and by those that make anew what has been published. No plugin is
loaded, nor asked for a name, while it is held: whoever imports a module might wait for it.

Tables that all threads read are read as `table[key]`: without a global lock, CPython 3.13's `get`
takes a lock twice, and waits for itself, for a key that another thread has made.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


def free_in_children(lock: Any) -> Any:
    """The lock, for which a fork waits: it has no threads, so nobody would ever release it there.

    Forks take such locks, the one of the last call first; so must whoever holds several.
    """
    if hasattr(os, "register_at_fork"):
        free = lock.release
        os.register_at_fork(before=lock.acquire, after_in_parent=free, after_in_child=free)
    return lock


publishing = free_in_children(threading.RLock())


class once(Generic[T]):
    """A method without arguments as an attribute that is made when first read.

    Several threads may make it at once, and all get what one of them made.

    >>> class Circle:
    ...     @once
    ...     def center(self):
    ...         return [0, 0]
    >>> circle = Circle()
    >>> circle.center is circle.center
    True
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._make(instance))

"""Who waits for a device: looks of the host at values of the referee backend, counted.

Its arrays stand for those of a GPU, to look at which is to wait. So indexes are checked in debug
mode alone, and values are added into places by the library itself, as there.
"""

from contextlib import contextmanager

import numpy as np

import core

_LOOKS = ("__bool__", "__int__", "__float__", "__complex__", "__index__", "__array__")


@contextmanager
def host_reads():
    """A context that gives a list: by what each look was made."""
    strict, looked = core.backend.get("strict"), []
    kind, cls = strict.array_type, type(strict)

    def counted(name, method):
        def look(array, *args, **kwargs):
            looked.append(name)
            return method(array, *args, **kwargs)

        return look

    plain = {name: getattr(kind, name) for name in _LOOKS if hasattr(kind, name)}
    to_host = cls.to_host
    for name, method in plain.items():
        setattr(kind, name, counted(name, method))
    cls.to_host = lambda self, array: counted("to_host", to_host.__get__(self))(array)
    cls.outside = lambda self, numbers, size: (
        core.is_debug() and super(cls, self).outside(numbers, size)
    )
    cls.scatter_add = _scatter_add
    try:
        yield looked
    finally:
        for name, method in plain.items():
            setattr(kind, name, method)
        cls.to_host = to_host
        del cls.outside, cls.scatter_add


def _scatter_add(self, a, index, values):
    parts = index if isinstance(index, tuple) else (index,)
    index = tuple([getattr(part, "_array", part) for part in parts])
    np.add.at(a._array, index, getattr(values, "_array", values))
    return a

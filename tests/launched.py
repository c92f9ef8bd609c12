"""A backend that records and launches, as CUDA graphs do, on a CPU: NumPy's arrays inside.

While it records, each call of NumPy with its arrays is noted together with the memory of what it
takes and gives; a launch makes these calls again, on the same memory. No Python of the recorded
function runs in it: a draw within would be that of the recording, and so would a number that is
read from an array, which is refused.
"""

from operator import index

import numpy as np

from core.arrays.backend import Backend, HostRandom
from core.programs import Launched

under_way = []


def plain(tree):
    if isinstance(tree, Noted):
        return tree.view(np.ndarray)
    if isinstance(tree, (tuple, list)):
        return type(tree)(map(plain, tree))
    return {k: plain(v) for k, v in tree.items()} if isinstance(tree, dict) else tree


def noted(function, *args, **kwargs):
    """The result of a call, which is noted while somebody records."""
    args, kwargs = plain(args), plain(kwargs)
    found = function(*args, **kwargs)
    several = type(found) in (tuple, list)
    made = list(found) if several else [found]
    made = [np.asarray(x) if isinstance(x, np.generic) else x for x in made]
    for calls in under_way:
        calls.append((function, args, kwargs, made))
    made = [x.view(Noted) if type(x) is np.ndarray else x for x in made]
    return type(found)(made) if several else made[0]


class Noted(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return noted(getattr(ufunc, method), *args, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        return noted(function, *args, **kwargs)

    def __getitem__(self, index):
        return noted(np.ndarray.__getitem__, self, index)

    def __setitem__(self, index, value):
        noted(np.ndarray.__setitem__, self, index, value)

    def item(self, *index):
        if under_way:
            raise RuntimeError("a number of an array is asked for while it is recorded")
        return super().item(*index)

    __bool__, __int__, __float__, __index__ = [
        lambda self, kind=kind: kind(self.item()) for kind in (bool, int, float, index)
    ]


class Namespace:
    """NumPy's functions, of which those that make arrays make such."""

    def __getattr__(self, name):
        found = getattr(np, name)
        if isinstance(found, type) or not callable(found):
            return found
        setattr(self, name, lambda *args, **kwargs: noted(found, *args, **kwargs))
        return getattr(self, name)


class Recorder:
    def __init__(self):
        self.recordings = self.launches = 0
        self.refusal = None

    def record(self, call):
        if self.refusal:
            raise RuntimeError(self.refusal)
        under_way.append([])
        try:
            call()
        finally:
            calls = under_way.pop()
        self.recordings += 1

        def launch():
            self.launches += 1
            for function, args, kwargs, results in calls:
                found = function(*args, **kwargs)
                again = found if type(found) in (tuple, list) else [found]
                for memory, new in zip(results, again, strict=True):
                    if memory is not None and memory is not new:
                        np.copyto(memory, new)

        return launch

    def address(self, array):
        return array.__array_interface__["data"], array.strides


class LaunchingBackend(Backend):
    name = "launching"
    library = "numpy"
    array_type = Noted
    xp = Namespace()

    def __init__(self):
        self.random = HostRandom(self)
        self.recorder = Recorder()

    @classmethod
    def unavailable(cls):
        return None

    def stage(self, function):
        return Launched(function, self, self.recorder)

    def asarray(self, obj, dtype=None, device=None):
        if type(obj) is Noted and dtype in (None, obj.dtype, obj.dtype.name):
            return obj
        return np.array(plain(obj), dtype=dtype).view(Noted)

    def to_host(self, array):
        return np.array(plain(array))

    def copy(self, array):
        return noted(np.copy, array)

    def copyto(self, dst, src):
        noted(np.copyto, dst, src)
        return dst

    def scatter_add(self, a, places, values):
        noted(np.add.at, a, places, values)
        return a

    def dtype(self, name):
        return np.dtype(name)

    def device_of(self, array):
        return self.devices()[0]

    def spec_device(self, array):
        return None

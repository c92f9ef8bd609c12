"""A referee backend whose arrays never change, as those of JAX: NumPy's inside, and read-only.

`x += y` gives `x` another array; an assignment to elements is refused.
"""

import functools

import numpy as np

from core.arrays.backend import Backend, HostRandom


class Unchanging(np.ndarray):
    """An array that is never written to."""

    def __setitem__(self, index, value):
        raise TypeError("arrays of this library cannot be changed: use backend.put")

    def __array_finalize__(self, source):
        pass


for _name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]:
    setattr(Unchanging, f"__i{_name}__", getattr(Unchanging, f"__{_name}__"))


def _frozen(result):
    if isinstance(result, (tuple, list)):
        return type(result)(map(_frozen, result)) if type(result) in (tuple, list) else result
    if isinstance(result, (np.ndarray, np.generic)):
        array = np.asarray(result)
        array = array if array.flags.owndata and type(result) is np.ndarray else array.copy()
        array.flags.writeable = False
        return array.view(Unchanging)
    return result


class Namespace:
    """NumPy's functions, which give such arrays."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        found = getattr(self._module, name)
        if type(found) is type(np):
            return Namespace(found)
        if isinstance(found, type) or not callable(found):
            return found

        @functools.wraps(found)
        def function(*args, **kwargs):
            return _frozen(found(*args, **kwargs))

        setattr(self, name, function)
        return function


class UnchangingBackend(Backend):
    """As little as a backend may have."""

    name = "unchanging"
    library = "numpy"
    array_type = Unchanging
    xp = Namespace(np)
    mutable = False

    def __init__(self):
        self.random = HostRandom(self)

    @classmethod
    def unavailable(cls):
        return None

    def asarray(self, obj, dtype=None, device=None):
        if type(obj) is Unchanging and dtype in (None, obj.dtype, obj.dtype.name):
            return obj
        return _frozen(np.array(obj, dtype=dtype))

    def to_host(self, array):
        return np.array(array)

    def copy(self, array):
        return _frozen(np.array(array))

    def device_of(self, array):
        return self.devices()[0]

    def spec_device(self, array):
        return None

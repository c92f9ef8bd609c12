"""A referee backend over array_api_strict, which refuses what is outside the array API standard.

It has no float16 and no kernels, its arrays are never NumPy's, and its fake devices do not mix. Its
arrays are NumPy's inside, so that nothing but the rules differs.
"""

import functools

import array_api_strict
import numpy as np

from core.arrays.backend import Backend, HostRandom

DType = type(array_api_strict.float32)
compared = DType.__eq__
inside = array_api_strict._array_object
names = {each._np_dtype: each for each in inside._all_dtypes}


def is_same(self, other):
    """Whether two of its dtypes are the same."""
    if type(other) is DType:
        return self is other or self._np_dtype == other._np_dtype
    return compared(self, other)


def has_index(cls, part):
    return hasattr(part, "__index__")


# It asks a dozen times an operation for the dtype of an array, and whether that is one of some: the
# same objects, in sets, need not be compared one after the other.
DType.__eq__ = is_same
inside.DType = lambda dtype: names.get(dtype) or DType(dtype)
inside._all_dtypes = frozenset(inside._all_dtypes)
inside._dtype_categories.update({k: frozenset(v) for k, v in inside._dtype_categories.items()})
HOST, supports = inside.CPU_DEVICE, inside.device_supports_dtype
inside.device_supports_dtype = lambda device, dtype: device is HOST or supports(device, dtype)
# Protocols look through the class of each part of an index; versions are read anew in each call.
inside.SupportsIndex = type("HasIndex", (type,), {"__instancecheck__": has_index})("Index", (), {})
np.lib.NumpyVersion = functools.cache(np.lib.NumpyVersion)


class StrictBackend(Backend):
    name = "strict"
    library = "array_api_strict"
    xp = array_api_strict
    array_type = type(array_api_strict.asarray(0.0))

    def __init__(self):
        # The shape of a result must not depend on values: a device could not know it in time.
        array_api_strict.set_array_api_strict_flags(data_dependent_shapes=False)
        self.random = HostRandom(self)

    @classmethod
    def unavailable(cls):
        return None

    def asarray(self, obj, dtype=None, device=None):
        dtype = self.dtype(dtype)
        if type(obj) is self.array_type:
            obj = self.to_device(obj, device) if device is not None else obj
            return obj if dtype in (None, obj.dtype) else self.xp.astype(obj, dtype)
        # NumPy reads what it is given; the copy keeps memory from being shared unawares.
        host = np.array(obj, dtype=None if dtype is None else self.dtype_name(dtype))
        return self.xp.asarray(host, dtype=dtype, device=self.native_device(device))

    def to_host(self, array):
        return np.asarray(array._array)

    def memory(self, array):
        return super().memory(array._array)

    def writable(self, array):
        return array._array.flags.writeable

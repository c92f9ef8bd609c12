"""What NumPy and Python had in Chainer's time, and have removed since."""

from __future__ import annotations

import builtins
import collections
import fractions
import inspect
import math
import time
from collections import abc
from functools import wraps
from typing import Any

import numpy as np

_NAMES: dict[str, Any] = {
    "Inf": np.inf,
    "Infinity": np.inf,
    "NaN": np.nan,
    "PINF": np.inf,
    "NINF": -np.inf,
    "infty": np.inf,
    "alltrue": np.all,
    "sometrue": np.any,
    "product": np.prod,
    "cumproduct": np.cumprod,
    "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype),
    "asscalar": lambda a: a.item(),
    "bool8": np.bool_,
    "in1d": lambda ar1, ar2, **kwargs: np.isin(np.ravel(ar1), ar2, **kwargs),
    "mat": np.asmatrix,
    "msort": lambda a: np.sort(a, axis=0),
    "round_": np.round,
    "row_stack": np.vstack,
    "trapz": np.trapezoid,
    "ComplexWarning": np.exceptions.ComplexWarning,
    "RankWarning": np.exceptions.RankWarning,
    "VisibleDeprecationWarning": np.exceptions.VisibleDeprecationWarning,
    "complex": builtins.complex,
    "complex_": np.complex128,
    "float": builtins.float,
    "float_": np.float64,
    "int": builtins.int,
    "object": builtins.object,
    "str": builtins.str,
    "string_": np.bytes_,
    "unicode_": np.str_,
}

_STACKS = ("hstack", "vstack", "dstack", "column_stack", "stack", "row_stack")


def switch() -> None:
    """Give NumPy and Python those of them that they have not, and let stacks take generators."""
    for module, names in ((np, _NAMES), *_PYTHON.items()):
        for name, value in names.items():
            if name not in vars(module):
                setattr(module, name, value)
    for name in _STACKS:
        setattr(np, name, _taking_generators(getattr(np, name)))


def _taking_generators(stack: Any) -> Any:
    @wraps(stack)
    def stacked(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        listed = list(arrays) if isinstance(arrays, abc.Iterator) else arrays
        return stack(listed, *args, **kwargs)

    return stacked


def _getargspec(func: Any) -> Any:
    found = inspect.getfullargspec(func)
    return _ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


_ArgSpec = collections.namedtuple("_ArgSpec", "args varargs keywords defaults")

_PYTHON: dict[Any, dict[str, Any]] = {
    collections: {name: getattr(abc, name) for name in abc.__all__},
    fractions: {"gcd": math.gcd},
    inspect: {"getargspec": _getargspec},
    time: {"clock": time.process_time},
}

"""Names of `chainer` itself, and of small modules below it, that plugrad has no need of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import core
from core import Link, Variable
from core.arrays.backend import BACKENDS
from core.compat.cuda import should_use_cudnn, should_use_cudnn_tensor_core

__all__ = [
    "DeviceResident",
    "Fallback",
    "get_array_types",
    "get_compute_mode",
    "get_cpu_array_types",
    "is_arrays_compatible",
    "should_use_cudnn",
    "should_use_cudnn_tensor_core",
    "static_code",
    "static_graph",
]

DeviceResident = Link
"""What moves between devices: here links alone do."""


Fallback = object()
"""What a function's `forward_chainerx` returns where ChainerX cannot compute it: none is called."""


def get_array_types() -> tuple[type, ...]:
    """The types of arrays that a Variable may hold."""
    return tuple(BACKENDS)


def get_cpu_array_types() -> tuple[type, ...]:
    """The types of arrays in the memory of the host."""
    return tuple([kind for kind, backend in BACKENDS.items() if not backend.on_gpu])


def is_arrays_compatible(arrays: Any) -> bool:
    """Whether arrays, or None, are all of one backend."""
    types = {BACKENDS.get(type(core.as_array(x))) for x in arrays if x is not None}
    return len(types) <= 1 and None not in types


def get_compute_mode() -> None:
    """The mode of tensor cores that was set: never one, since plugrad sets none."""
    return None


def static_graph(*args: Any, **settings: Any) -> Any:
    """Chainer's decorator that records a graph once; the function stays what it is."""
    if len(args) == 1 and callable(args[0]) and not settings:
        return args[0]
    return _unchanged


def static_code(*args: Any, **settings: Any) -> Any:
    """Chainer's decorator of code inside a static graph; the function stays what it is."""
    return static_graph(*args, **settings)


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def variable_repr(var: Variable) -> str:
    """What `repr` gives for a Variable."""
    return repr(var)


def variable_str(var: Variable) -> str:
    """What `str` gives for a Variable."""
    return str(var)


class PerformanceWarning(Warning):
    """Warned of by Chainer where something is slow."""


def make_deprecation_message(module_name: str) -> str:
    """Say where hooks of optimizers stand."""
    return f"chainer.optimizer.{module_name} is deprecated. Use chainer.optimizer_hooks."

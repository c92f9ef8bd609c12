"""einops on Variables: its patterns become differentiable operations."""

from __future__ import annotations

from functools import cache
from typing import Any

from core import Variable, as_variable
from core.arrays.backend import to_host
from core.ops.namespace import namespace
from plugins.extras import need


@cache
def register_einops() -> type:
    """Let einops (`rearrange`, `reduce`, `repeat`, `einsum`, `pack`, ...) take Variables.

    Its `einops.array_api` needs no registration, as Variables speak the array standard.

    Returns:
        The class of the backend, by which einops finds it.

    Raises:
        ImportError: einops is not installed: `pip install 'plugrad[interop]'`.

    >>> import numpy as np, einops
    >>> backend = register_einops()
    >>> einops.rearrange(as_variable(np.zeros((2, 3, 4))), "a b c -> c (a b)").shape
    (4, 6)
    """
    # einops knows its backends by their base class, which has no public place.
    base: Any = need("einops._backends", "interop", "register_einops").AbstractBackend
    return type("VariableBackend", (_Words, base), {})


class _Words:
    """Variables, in einops's words."""

    framework_name = "core"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, Variable)

    def from_numpy(self, x: Any) -> Variable:
        return as_variable(x)

    def to_numpy(self, x: Any) -> Any:
        return to_host(x)

    def arange(self, start: int, stop: int) -> Any:
        return namespace.arange(start, stop)

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        return getattr(namespace, operation)(x, axis=tuple(axes))

    def stack_on_zeroth_dimension(self, tensors: Any) -> Any:
        return namespace.stack(tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return namespace.expand_dims(x, axis=new_position)

    def tile(self, x: Any, repeats: Any) -> Any:
        return namespace.tile(x, repeats)

    def concat(self, tensors: Any, axis: int) -> Any:
        return namespace.concat(tensors, axis=axis)

    def is_float_type(self, x: Any) -> bool:
        return x.backend.kind(x.dtype) in "fV"

    def einsum(self, pattern: str, *x: Any) -> Any:
        from core.functions import einsum

        return einsum(pattern, *x)

"""Copies, on this device or another."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_variable, choice, config
from core.arrays.backend import get_device, of, to_backend
from core.graph.variable import wrap
from core.typing import AnyArray, Array
from plugins.functions.array.cast import Cast


class Copy(FunctionNode):
    """x on another device; the gradient comes back to where x is.

    In the general form, because the result may belong to another backend than the input.
    """

    domain = Domain("(...)->(...)", x=anything(), settings={"out_device": choice(None)})

    def __init__(self, out_device: Any = None) -> None:
        self.out_device = out_device

    def forward(self, inputs: tuple[AnyArray, ...]) -> tuple[AnyArray, ...]:
        (x,) = inputs
        backend = of(x)
        self._source = backend.device_of(x)
        if self.out_device is None or get_device(self.out_device) == self._source:
            return (backend.copy(x),)
        return (to_backend(x, get_device(self.out_device)),)

    def backward(
        self, indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        return Copy(self._source).apply(grad_outputs)


def copy(x: Array, dst: Any) -> Variable:
    """Copy to a device; differentiable, also across backends.

    Args:
        x: Of any shape and dtype.
        dst: A device or its name, such as 'numpy' or 'cuda:1'; a GPU's number, or -1 for the host;
            None for the device of `x`.

    Returns:
        The shape and dtype of `x`.

    Raises:
        BackendError: There is no such device.

    >>> import core.functions as F, numpy as np
    >>> F.copy(np.ones(2, "f"), "numpy")
    variable([1., 1.], dtype=float32)
    """
    x = as_variable(x)
    recorded = x.requires_grad and config.enable_backprop
    if not recorded and (dst is None or get_device(dst) == x.device):
        return wrap(x.backend.copy(x.array))
    (y,) = Copy(dst).apply((x,))
    return y


def unshared(x: Variable) -> Variable:
    """A copy, which item assignment to x does not reach; differentiable."""
    return Cast.call(x, x.dtype) if x.requires_grad else wrap(x.backend.copy(x.array))

"""Moving a Variable to another device, and taking over what another one holds, or its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, SupportsIndex
from weakref import ref

from core.arrays.backend import DeviceSpec, get_device, gpu, host, to_backend
from core.arrays.spec import ensure_array
from core.errors.keywords import answering
from core.graph.accumulate import adds_in_place
from core.graph.fitting import check_grad
from core.graph.variable_node import NOBODY

if TYPE_CHECKING:
    from core.graph.variable import Variable


def become(x: Variable, result: Variable) -> None:
    """Let x take the place of a result that nobody else has: its array, and its history."""
    for source, variable in ((x._source, None), (result._source, x)):
        if source is not None and not source.is_function:
            source._variable = NOBODY if variable is None else ref(variable)
    x._array, x._spec, x._source = result._array, result._spec, result._source
    x._constant = x._shown = None


@answering()
class Moving:
    """The methods that write to the array, the gradient, or both."""

    __slots__ = ()

    def to_device(self, device: DeviceSpec, *, stream: Any = None) -> Self:
        """Move array and gradient to `device` ('numpy', 'cuda:1', ...), in place; gives itself."""
        if stream is not None:
            raise ValueError("Variable.to_device: moves on the current stream; leave stream out")
        moved: Any = self
        if moved.array is not None:
            there, gradient = get_device(device), moved.grad
            moved.array = to_backend(moved.array, there)
            source = moved._source or moved._constant
            if source is not None and source.data is not None:
                source.data = moved.array
            moved._grad = None if gradient is None else to_backend(gradient, there)
        return self

    def to_cpu(self) -> Self:
        """Move to the NumPy backend."""
        return self.to_device(host())

    def to_gpu(self, device: SupportsIndex | None = None) -> Self:
        """Move to the CUDA backend; `device` is a number, or None for the current one."""
        return self.to_device(gpu(device))

    def zerograd(self: Any) -> None:
        """Set the gradient to zeros."""
        self.grad = self.xp.zeros_like(self.array)
        self.loss_scale = None

    def addgrad(self: Any, var: Variable) -> None:
        """Add the gradient of `var`, which may be on any device, to this one's."""
        if (gradient := var.grad) is None:
            return
        gradient = check_grad(self._spec, self.name, to_backend(gradient, self.device))
        if self._grad is None:
            self.grad = self.backend.copy(gradient)
        elif adds_in_place(self._source or self._constant):
            self.grad = self.backend.add_in_place(self.grad, gradient)
        else:
            self.grad = ensure_array(self.grad + gradient, self._spec)

    def copydata(self: Any, var: Variable) -> None:
        """Copy the elements of `var`, which may be on any device, into this array."""
        if var.array is None:
            if self.array is not None:
                raise ValueError("Variable.copydata: the source has no array yet")
            return
        if self.array is None:
            raise ValueError("Variable.copydata: the target has no array yet; initialize it first")
        if self.shape != var.shape:
            raise ValueError(f"Variable.copydata: expected the shape {self.shape}, got {var.shape}")
        self.array = self.backend.copyto(self.array, to_backend(var.array, self.device))

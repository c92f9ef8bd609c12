"""PyTorch's functions and modules as functions on Variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core import Function, Variable, as_variable
from core.arrays import backend
from core.typing import Array
from plugins.extras import need
from plugins.tensors import array_of, tensor_of


class FromTorch(Function):
    """A function of PyTorch's, with PyTorch's own gradients."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._torch = need("torch", "torch", "functions.from_torch")
        self._function = function
        self._results: tuple[Any, ...] = ()

    def needing(self, inputs: tuple[Variable, ...]) -> Any:
        """Apply to Variables; gradients are kept for those that need one, and for the function's.

        Where a parameter of the function alone needs one, the call has an input more, of no
        elements, without which there would be no way back to it.
        """
        needs = [x.requires_grad for x in inputs]
        self._results = self._computed([x.array for x in inputs], needs)
        if any(needs) or not any(y.requires_grad for y in self._made):
            return self(*inputs)
        owner = inputs[0].backend
        none = owner.xp.reshape(inputs[0].array, (-1,))[:0]  # on their device
        return self(*inputs, Variable(owner.asarray(none, owner.dtype("float32"))))

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        results, self._results = self._results, ()
        return results

    def _computed(self, inputs: list[Any], needs: list[bool]) -> tuple[Any, ...]:
        torch, owner = self._torch, backend.of(inputs[0])
        with torch.inference_mode(False), torch.enable_grad():
            self._leaves = [tensor_of(torch, owner, x) for x in inputs]
            for leaf, needed in zip(self._leaves, needs, strict=True):
                leaf.requires_grad_(needed and (leaf.is_floating_point() or leaf.is_complex()))
            made = self._function(*self._leaves)
        self._several = isinstance(made, (tuple, list))
        self._made = tuple(made) if self._several else (made,)
        for y in self._made:
            if not isinstance(y, torch.Tensor):
                raise TypeError(
                    "from_torch: expected a function that gives tensors, got "
                    f"{type(y).__name__} from {self._function!r:.60}"
                )
        return tuple([array_of(torch, owner, y.contiguous()) for y in self._made])

    def backward(self, inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        torch, owner = self._torch, backend.of(inputs[0])
        pairs = [
            (y, tensor_of(torch, owner, g))
            for y, g in zip(self._made, grad_outputs, strict=True)
            if g is not None and y.requires_grad
        ]
        for leaf in self._leaves:
            leaf.grad = None
        if pairs:
            torch.autograd.backward([y for y, _ in pairs], [g for _, g in pairs], retain_graph=True)
        found = [
            None if leaf.grad is None else array_of(torch, owner, leaf.grad)
            for leaf in self._leaves
        ]
        return (*found, *[None] * (len(inputs) - len(found)))


def from_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function on Variables of one on PyTorch's tensors, a module for example.

    Arrays are shared, not copied, and gradients are PyTorch's. Those of a module's own parameters
    are added to their `.grad`, for an optimizer of PyTorch's. First derivatives only: a second one
    is refused.

    Args:
        function: Takes tensors and gives a tensor, or a tuple of them.

    Returns:
        A function that takes Variables or arrays, and gives a Variable, or a tuple of them.

    Raises:
        ImportError: PyTorch is not installed.
        TypeError: It is no function, or gives something else than tensors.

    >>> import core.functions as F, numpy as np
    >>> softsign = F.from_torch(lambda x: x / (1 + abs(x)))  # of tensors; needs PyTorch when called
    >>> callable(softsign)
    True
    """
    if not callable(function):
        raise TypeError(f"from_torch: expected a function or a module, got {function!r:.60}")

    def call(*inputs: Array) -> Any:
        if not inputs:
            raise TypeError("from_torch: expected one array at least, got none.")
        return FromTorch(function).needing(tuple(map(as_variable, inputs)))

    return call

"""Version 1's sets of parametric functions, and the parameters of those functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import core
from core import Chain, Link, Parameter


class Parametric(Link):
    """The parameters of a Function of one's own, by its `parameter_names` and `gradient_names`.

    Arrays and gradients are those of the function itself, which adds to the gradients in place.
    """

    def __init__(self, function: Any) -> None:
        super().__init__()
        with self.init_scope():
            names = zip(function.parameter_names, function.gradient_names, strict=True)
            for name, gradient_name in names:
                parameter = Parameter(getattr(function, name))
                parameter.grad = getattr(function, gradient_name)
                setattr(self, name, parameter)


class FunctionSet(Chain):
    """A chain whose links, or functions with parameters, are set as attributes.

    >>> import core.links as L
    >>> model = FunctionSet(l1=L.Linear(3, 2))
    >>> model.l2 = L.Linear(2, 1)
    >>> [p.shape for p in model.collect_parameters().params()]
    [(2, 3), (2,), (1, 2), (1,)]
    """

    def __init__(self, **functions: Any) -> None:
        super().__init__()
        for name, function in functions.items():
            setattr(self, name, function)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "parameters":
            self.copy_parameters_from(value)
            return
        if name == "gradients":
            for parameter, gradient in zip(self.params(), value, strict=True):
                parameter.grad = gradient
            return
        if isinstance(value, core.Function) and hasattr(value, "parameter_names"):
            object.__setattr__(self, name, value)
            with self.init_scope():
                super().__setattr__(f"{name}_parameters", Parametric(value))
            return
        if isinstance(value, Link):
            if name in self._children:
                delattr(self, name)
            with self.init_scope():
                super().__setattr__(name, value)
            return
        super().__setattr__(name, value)

    def collect_parameters(self) -> FunctionSet:
        """What optimizers are set up with: the set itself."""
        return self

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The arrays of all parameters."""
        return tuple([parameter.array for parameter in self.params()])

    @property
    def gradients(self) -> tuple[Any, ...]:
        """The gradients of all parameters."""
        return tuple([parameter.grad for parameter in self.params()])

    def copy_parameters_from(self, params: Iterable[Any]) -> None:
        """Copy arrays, in the order of `parameters`, into those of the set."""
        for parameter, source in zip(self.params(), params, strict=True):
            parameter.array[...] = parameter.device.send(source)


def gradient(self: Link, name: str) -> Any:
    """`link.gW`: the gradient of the parameter `W`, zeros where there is none yet."""
    if name[:1] == "g" and name[1:] in self.__dict__.get("_params", ()):
        parameter = self.__dict__[name[1:]]
        if parameter.grad is None or not parameter.xp.isfinite(parameter.grad).all():
            parameter.zerograd()
        return parameter.grad
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

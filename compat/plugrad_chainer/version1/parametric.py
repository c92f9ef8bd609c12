"""What functions and links with parameters of one's own had in version 1."""

from __future__ import annotations

from functools import wraps
from typing import Any

import core
from core import Link
from core.graph.fitting import is_array


class _Default:
    """A property that an attribute of the same name takes the place of."""

    def __init__(self, names: str) -> None:
        self.names = names

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        if owner is None:
            return self
        return tuple([getattr(owner, name) for name in getattr(owner, self.names, ())])


def switch() -> None:
    """Give functions their arrays and their flag, and links parameters without a shape."""
    function: Any = core.Function
    function.parameters = _Default("parameter_names")
    function.gradients = _Default("gradient_names")
    function.to_cpu, function.to_gpu = to_cpu, to_gpu
    function.type_check_enable = True
    function.__call__ = _checking(function.__call__)
    link: Any = Link
    link.add_uninitialized_param = add_uninitialized_param
    link.has_uninitialized_params = property(has_uninitialized_params)
    link.add_param = _adding(link.add_param)


def _checking(call: Any) -> Any:
    """The call of a function, without a check of types where `type_check_enable` is off."""

    @wraps(call)
    def __call__(self: Any, *inputs: Any) -> Any:
        if self.type_check_enable:
            return call(self, *inputs)
        with core.using_config("type_check", False):
            return call(self, *inputs)

    return __call__


def to_cpu(self: Any) -> Any:
    """Move the arrays of a function to the host, and return it."""
    return _moved(self, core.get_device("numpy"))


def to_gpu(self: Any, device: Any = None) -> Any:
    """Move the arrays of a function to a GPU, and return it."""
    return _moved(self, core.get_device(f"cuda:{device or 0}"))


def _moved(function: Any, device: Any) -> Any:
    for name, value in vars(function).items():
        if is_array(value):
            setattr(function, name, device.send(value))
    return function


def add_uninitialized_param(self: Any, name: str) -> None:
    """Announce a parameter that `add_param` makes once its shape is known."""
    if name in self.__dict__:
        raise AttributeError(f"{type(self).__name__} has an attribute {name!r} already")
    self.__dict__.setdefault("_announced", set()).add(name)


def has_uninitialized_params(self: Any) -> bool:
    """Whether parameters are still without arrays."""
    announced = any(link.__dict__.get("_announced") for link in self.links())
    return announced or any(not p.is_initialized for p in self.params())


def _adding(add: Any) -> Any:
    @wraps(add)
    def add_param(self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        self.__dict__.get("_announced", set()).discard(name)
        return add(self, name, *args, **kwargs)

    return add_param

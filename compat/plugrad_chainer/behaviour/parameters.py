"""Gradients of new and of frozen parameters, and attributes that programs give parameters."""

from __future__ import annotations

from functools import wraps
from typing import Any

from plugrad_chainer.marks import Marks

from core import Link, Parameter
from core.graph.fitting import is_array


def switch() -> None:
    """Let new parameters have gradients of NaN, frozen ones gradients, and all any attribute."""
    init, receive = Parameter.__init__, Parameter._receive

    @wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        given = args[0] if args else kwargs.get("initializer")
        shape = args[1] if len(args) > 1 else kwargs.get("shape")
        own = shape is None and is_array(given)  # an array that is given as it is
        if self._array is not None and self.requires_grad and not own:
            _nan(self)

    @wraps(receive)
    def _receive(self: Any, array: Any) -> None:
        cleared = _cleared.get(self)
        receive(self, array)
        if self.grad is None and self.requires_grad and not cleared:
            _nan(self)

    def cleargrad(self: Any) -> None:
        clear(self)
        if self._array is None:
            _cleared.set(self, True)

    clear = Parameter.cleargrad
    Parameter.__init__ = __init__  # type: ignore[method-assign]
    Parameter._receive = _receive  # type: ignore[method-assign]
    Parameter.cleargrad = wraps(clear)(cleargrad)  # type: ignore[method-assign]
    Link._set_update = _set_update  # type: ignore[method-assign]
    methods = {"__setattr__": _setattr, "__getattr__": _getattr, "__delattr__": _delattr}
    for name, method in methods.items():
        setattr(Parameter, name, method)


_cleared = Marks()  # before they had an array


def _nan(parameter: Any) -> None:
    array = parameter._array
    parameter.grad = parameter.xp.full_like(array, float("nan"))


def _set_update(self: Link, enabled: bool) -> None:
    for parameter in self.params():
        if parameter.update_rule is not None:
            parameter.update_rule.enabled = enabled


def _setattr(self: Any, name: str, value: Any) -> None:
    """Set what a parameter has; what a program adds, as a mask, is kept beside it."""
    try:
        object.__setattr__(self, name, value)
    except AttributeError:
        if hasattr(type(self), name):  # which cannot be set
            raise
        _others.set(self, {**(_others.get(self) or {}), name: value})


def _getattr(self: Any, name: str) -> Any:
    others = _others.get(self) or {}
    if name == "__dict__":  # which copies and pickles ask for
        return others
    if name in others:
        return others[name]
    refused: Any = next((vars(c)[name] for c in type(self).__mro__ if name in vars(c)), None)
    if hasattr(refused, "__get__"):  # what it said is said again
        return refused.__get__(self, type(self))
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name)


def _delattr(self: Any, name: str) -> None:
    others = dict(_others.get(self) or {})
    if name not in others:
        object.__delattr__(self, name)
        return
    del others[name]
    _others.set(self, others)


_others = Marks()

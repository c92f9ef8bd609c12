"""Gradients of new and of frozen parameters."""

from __future__ import annotations

from functools import wraps
from typing import Any

from plugrad_chainer.marks import Marks

from core import Link, Parameter
from core.graph.fitting import is_array


def switch() -> None:
    """Let new parameters have gradients of NaN, and frozen ones gradients at all."""
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


_cleared = Marks()  # before they had an array


def _nan(parameter: Any) -> None:
    array = parameter._array
    parameter.grad = parameter.xp.full_like(array, float("nan"))


def _set_update(self: Link, enabled: bool) -> None:
    for parameter in self.params():
        if parameter.update_rule is not None:
            parameter.update_rule.enabled = enabled

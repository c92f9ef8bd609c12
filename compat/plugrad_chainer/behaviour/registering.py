"""What Chainer lets programs register and set, and plugrad takes for a slip."""

from __future__ import annotations

from functools import wraps
from typing import Any

from core import ChainList, Variable
from core.errors import UnknownName
from core.errors.known_attributes import KnownAttributes
from core.link.chain import refuse_loop
from core.link.registering import Registering


def switch() -> None:
    """Take a link twice in a ChainList, `link.b += 1`, and unknown attributes of optimizers."""
    base: Any = KnownAttributes
    checked = base._checked_attribute

    @wraps(checked)
    def _checked_attribute(self: Any, name: str, value: Any) -> Any:
        try:
            return checked(self, name, value)
        except UnknownName:
            return value

    def _install(self: Any, children: list[Any]) -> None:
        for child in children:
            refuse_loop(self, child)
        self._children = children
        self._number()

    fill = Registering._fill

    @wraps(fill)
    def _fill(self: Any, name: str, value: Any) -> None:
        if isinstance(value, Variable):  # the parameter is one no more
            del self._params[name]
            object.__setattr__(self, name, value)
            return
        fill(self, name, value)

    Registering._fill = _fill  # type: ignore[method-assign]
    base._checked_attribute = _checked_attribute
    ChainList._install = _install  # type: ignore[method-assign]

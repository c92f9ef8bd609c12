"""Text that becomes a function: what the writers of calls and of gradients share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from core.ops.declaration import Declaration

_code = lru_cache(1024)(compile)  # written again after each change of kernels, most texts stay


class Writer:
    """Writes functions for calls of `declared` with `arity` inputs, from names in a scope.

    Of repeated inputs it is 1, and the text goes over `x_all`, `a_all`, ... of any number.
    """

    def __init__(self, declared: Declaration, arity: int, scope: dict[str, Any]) -> None:
        self.declared = declared
        self.cls: Any = declared.cls
        self.arity = arity
        self.many = declared.variadic
        self.all = (1 << arity) - 1
        self.names = declared.inputs_of(arity)
        self.scope = {"cls": self.cls, "default": declared.fields, **scope}

    def each(self, text: str) -> str:
        """The text for each input, with its number in the place of #."""
        if self.many:
            return "*" + text.replace("#", "_all")
        return ", ".join([text.replace("#", str(i)) for i in range(self.arity)])

    def expression(self, function: Callable[..., Any], texts: list[str]) -> str | None:
        """The body of a function of one line, with these texts for its arguments."""
        from core.ops.inline import expression  # not loaded before an operation is called

        return expression(function, texts)

    def compiled(self, name: str, lines: list[str], defined: str = "") -> Callable[..., Any]:
        """The function that the text defines, under `name` unless it says `defined`."""
        import linecache  # which has the text for tracebacks

        text = "\n".join(lines) + "\n"
        count = "repeated" if self.many else self.arity
        where = f"<{name} of {self.cls.__module__}.{self.cls.__qualname__} with {count} inputs>"
        linecache.cache[where] = (len(text), None, text.splitlines(True), where)
        scope = {"__name__": self.cls.__module__, **self.scope}
        exec(_code(text, where, "exec"), scope)
        made: Callable[..., Any] = scope[defined or name]
        made.__qualname__ = f"{self.cls.__qualname__}.{name}"
        return made

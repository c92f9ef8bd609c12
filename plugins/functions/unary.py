"""Functions of one array that an operation declares in full, their texts included."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

from core import Elementwise, Variable
from core.typing import Array

SECTIONS = {
    "Args": "    x: Floating, of any shape.",
    "Returns": "    The shape and dtype of `x`.",
    "Raises": "    InvalidType: `x` is not floating.",
}
"""What is so of every elementwise operation of floats, and said where its own text does not."""


def function_of(operation: type[Elementwise], name: str) -> Callable[[Array], Variable]:
    """The function of that name which calls an elementwise operation of one floating input.

    Its docstring is the operation's, with the sections that this leaves out.
    """
    op: Any = operation
    if op.declared.names != ("x",) or not op.domain.elementwise or not op.domain.value(0).real:
        raise TypeError(f"{name}: expected an elementwise operation of one floating input x")

    def function(x: Array) -> Variable:
        return op.call(x)

    # Code of its own, so that its look-up of the call is cached for this operation alone.
    code = function.__code__.replace(co_name=name, co_qualname=name)
    made: Any = FunctionType(code, function.__globals__, name, None, function.__closure__)
    made.__module__, made.__qualname__ = operation.__module__, name
    made.__signature__ = inspect.signature(function)
    made.__annotations__ = {"x": Array, "return": Variable}
    made.__doc__ = described(operation.__doc__ or "")
    made.__wrapped__ = made.template = operation
    return made


def described(text: str) -> str:
    r"""A docstring with all sections: what the text says, and what goes without saying.

    >>> described("Square each element.\n\n>>> square(2)").partition("Returns:")[0]
    'Square each element.\n\nArgs:\n    x: Floating, of any shape.\n\n'
    """
    head, mark, rest = re.split(r"^(Source:|>>>)", inspect.cleandoc(text), maxsplit=1, flags=re.M)
    start, *given = re.split(r"^(Args|Returns|Raises):\n", head, flags=re.M)
    sections = SECTIONS | dict(zip(given[::2], map(str.rstrip, given[1::2]), strict=True))
    said = "\n\n".join(f"{section}:\n{lines}" for section, lines in sections.items())
    return f"{start}{said}\n\n{mark}{rest}"

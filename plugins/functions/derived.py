"""Functions that an operation declares in full: arguments, texts, and what they once took."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial, wraps
from types import FunctionType
from typing import Any

from core import Variable, typing
from core.errors.kinds import Removed, written
from core.registry.signatures import of_call

SECTIONS = {
    "Args": "    x: Floating, of any shape.",
    "Returns": "    The shape and dtype of `x`.",
    "Raises": "    InvalidType: `x` is not floating.",
}
"""What is so of every elementwise operation of floats, and said where its own text does not."""


WIDER = {
    "Axis": "Axes",
    "Count": "int",
    "NotNegative": "float",
    "tuple[int, ...]": "Sequence[int]",
}
"""What a function takes for a setting of an operation, which makes one form of it."""


def function_of(
    operation: Any,
    name: str,
    *had: str,
    by_name: tuple[str, ...] = (),
    cures: Mapping[str, str] | None = None,
    renamed: Mapping[str, str] | None = None,
    doc: str = "",
) -> Callable[..., Any]:
    """The function of that name which calls an operation, with its inputs and then its settings.

    Its docstring is the operation's; if that is an elementwise one of a floating input, with the
    sections that go without saying. It belongs to the module that calls this.

    Args:
        operation: A class with a fixed number of inputs.
        name: What the function, and errors, are called.
        had: Arguments that it once had, as `core.errors.removed.removed` takes them.
        by_name: Settings that it takes by keyword alone.
        cures: What to write instead of arguments that it once had.
        renamed: What arguments are called that had another name.
        doc: The docstring, of a function whose operation stands in the core.
    """
    signature = _signature(operation, by_name)
    template = _template(operation, name, signature, sys._getframe(1).f_globals)
    text = doc or operation.__doc__
    template.__doc__ = text and _text(operation, text)  # `python -OO` has none
    removed = Removed(had, cures or {}, renamed or {})
    called = written(
        template,
        by_name=by_name,
        removed=removed,
        checks=False,
        calls="call",
        call=operation.call,
    )
    # Bound in its globals: to look up a class's static method takes longer than an addition.
    operation.bind(partial(called.__globals__.__setitem__, "call"))
    made: Any = wraps(template)(called)
    made.__annotations__ = template.__annotations__  # from Python 3.14 on `wraps` leaves them out
    made.__signature__ = signature
    made.__removed__ = removed
    made.__wrapped__ = made.template = operation
    return made


def _signature(operation: Any, by_name: tuple[str, ...]) -> inspect.Signature:
    declared = operation.declared
    if declared.variadic or declared.optional:
        raise TypeError(
            "function_of: expected an operation of a fixed number of inputs, got "
            f"{operation.__name__}"
        )
    call = of_call(operation)
    several = _is_elementwise(operation) and len(declared.names) > 1
    taken = "Operand" if several else "Array"  # beside an array a number will do
    parameters = [
        p.replace(
            kind=p.KEYWORD_ONLY if p.name in by_name else p.POSITIONAL_OR_KEYWORD,
            annotation=WIDER.get(p.annotation, taken if p.annotation == "Array" else p.annotation),
        )
        for p in call.parameters.values()
    ]
    gives = f"tuple[{', '.join(['Variable' for _ in declared.outputs])}]"
    return call.replace(
        parameters=parameters, return_annotation=gives if declared.outputs else "Variable"
    )


def _template(
    operation: Any, name: str, signature: inspect.Signature, scope: dict[str, Any]
) -> FunctionType:
    """A function of these arguments, named and placed as if it stood beside the operation."""
    code = compile(f"def {name}({', '.join(signature.parameters)}): ...", "", "exec")
    source = operation.compute.__code__
    body = next(c for c in code.co_consts if hasattr(c, "co_code")).replace(
        co_filename=source.co_filename, co_firstlineno=source.co_firstlineno
    )
    given = [p.default for p in signature.parameters.values() if p.default is not p.empty]
    made = FunctionType(body, scope, name, tuple(given))
    made.__module__ = scope["__name__"]
    said = {p.name: p.annotation for p in signature.parameters.values()}
    said["return"] = signature.return_annotation
    known = {**vars(typing), **vars(sys.modules[operation.__module__]), "Variable": Variable}
    made.__annotations__ = {
        each: eval(text, known) if isinstance(text, str) else text for each, text in said.items()
    }
    return made


def _text(operation: Any, doc: str) -> str:
    """The docstring; of an elementwise operation of one floating input with all sections."""
    alone = operation.declared.names == ("x",) and _is_elementwise(operation)
    return described(doc) if alone and operation.domain.value(0).real else inspect.cleandoc(doc)


def _is_elementwise(operation: Any) -> bool:
    return operation.domain is not None and operation.domain.elementwise


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

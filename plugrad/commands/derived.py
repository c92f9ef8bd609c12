"""What a class declares, written out for type checkers, which do not see it in the source.

The call of an operation becomes a function of its inputs and settings, an optimizer a class that
takes the hyper-parameters of its rule. A function that is made from a template is written out, and
one whose flag `return_NAME` makes the result a pair as what it gives with the flag and without,
unless its source says so.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from typing import Any, get_overloads

from core.optimizer import GradientMethod
from core.registry.signatures import Bare, of_call, operation_of

SHARED = ("Array", "Axes", "BackendArray", "Operand", "Pair", "Sizes", "Widths")
"""What annotations name of `core.typing`, besides builtin types."""

_KNOWN = {"Any", "Literal", "None", "True", "False", "Variable", *SHARED}
_KNOWN |= {"bool", "complex", "float", "int", "str", "tuple"}
_LITERAL = (bool, int, float, str, tuple, type(None))


def derived(name: str, value: Any) -> str:
    """The text of a stub for `value`, in which `_NAME` is the class itself; '' where none is due.

    >>> import core
    >>> class Scale(core.Elementwise):
    ...     factor: float = 2.0
    ...     def compute(self, xp, x):
    ...         return self.factor * x
    >>> print(derived("scale", Scale.call))
    def scale(x: Array, /, factor: float = 2.0) -> Variable: ...
    """
    operation = operation_of(value)
    if operation is not None:
        return _definition(name, of_call(operation), doc=operation.__doc__)
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        forms = [] if get_overloads(value) else _forms(signature)
        if forms:
            docs = [value.__doc__, None, None]
            texts = [
                _definition(name, form, doc=doc) for form, doc in zip(forms, docs, strict=True)
            ]
            first, *others = [f"@overload\n{text}" for text in texts]
            return "\n".join([first + "\n" * (value.__doc__ is not None), *others])
        if hasattr(value, "template"):
            return _definition(name, signature, doc=value.__doc__)
    if not isinstance(value, type) or not issubclass(value, GradientMethod):
        return ""
    if value.rule is None or value.__init__ is not GradientMethod.__init__:
        return ""
    taken = inspect.signature(value)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    made = taken.replace(parameters=[own, *taken.parameters.values()], return_annotation="None")
    fields = [f"    {p.name}: {_type(p.annotation)}\n" for p in taken.parameters.values()]
    return f"class {name}(_{name}):\n{''.join(fields)}{_definition('__init__', made, '    ')}\n"


def _forms(signature: inspect.Signature) -> list[inspect.Signature]:
    """What a call gives without a flag `return_NAME`, with it, and where that is not known.

    Nothing where there is no such flag, or where stubs do not know a type.
    """
    one, _, pair = str(signature.return_annotation).partition(" | ")
    taken = list(signature.parameters.values())
    told = [_type(p.annotation) for p in taken] + [_type(pair)]
    flags = [p for p in taken if p.name.startswith("return_") and p.default is False]
    if len(flags) != 1 or not pair.startswith("tuple[") or "Any" in told:
        return []
    off, on = [flags[0].replace(annotation=Bare(f"Literal[{flag}]")) for flag in (False, True)]
    on = on.replace(kind=on.KEYWORD_ONLY, default=on.empty)
    both = flags[0].replace(kind=on.KEYWORD_ONLY, default=on.empty)
    gives = {off: one, on: pair, both: f"{one} | {pair}"}
    return [
        signature.replace(
            parameters=[flag if p is flags[0] else p for p in taken], return_annotation=result
        )
        for flag, result in gives.items()
    ]


def uses(text: str, name: str) -> bool:
    """Whether a stub's text refers to `name`."""
    return re.search(rf"\b{name}\b", text) is not None


def _definition(
    name: str, signature: inspect.Signature, indent: str = "", doc: str | None = None
) -> str:
    """A stub's function, as formatters have it: on one line if that fits, else one a parameter."""
    shown = [
        p.replace(
            annotation=p.empty if p.name == "self" else Bare(_type(p.annotation)),
            default=p.default if p.default is p.empty else Bare(_default(p.default)),
        )
        for p in signature.parameters.values()
    ]
    of_kind = {kind: [p for p in shown if p.kind is kind] for kind in list(type(shown[0].kind))}
    positional, either, several, by_name, _ = [[*map(str, ps)] for ps in of_kind.values()]
    rows = [*positional, *["/"] * bool(positional), *either, *several]
    rows += [*["*"] * (bool(by_name) and not several), *by_name]
    gives = _type(signature.return_annotation)
    body = " ..." if doc is None else "\n" + textwrap.indent(_docstring(doc), f"{indent}    ")
    line = f"{indent}def {name}({', '.join(rows)}) -> {gives}:"
    if len(line) <= (96 if doc is None else 100):
        return line + body
    parts = "".join(f"{indent}    {row},\n" for row in rows)
    return f"{indent}def {name}(\n{parts}{indent}) -> {gives}:{body}"


def _default(value: Any) -> str:
    """A default as formatters have it, where it can be written."""
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value) if isinstance(value, _LITERAL) else "..."


def _docstring(text: str) -> str:
    """A docstring as formatters have it."""
    clean = inspect.cleandoc(text)
    return f'{"r" * (chr(92) in clean)}"""{clean}' + "\n" * ("\n" in clean) + '"""'


def _type(annotation: Any) -> str:
    """The text of an annotation where it speaks of builtin types alone, else `Any`."""
    text = annotation.__name__ if type(annotation) is type else str(annotation)
    return text if set(re.findall(r"[\w.]*[A-Za-z_]\w*", text)) <= _KNOWN else "Any"

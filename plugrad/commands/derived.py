"""What a class declares, written out for type checkers, which do not see it in the source.

The call of an operation becomes a function of its inputs and settings, an optimizer a class that
takes the hyper-parameters of its rule.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from core.optimizer import GradientMethod
from core.registry.signatures import Bare, of_call, operation_of

_KNOWN = {"Any", "Array", "None", "Variable", "bool", "complex", "float", "int", "str", "tuple"}
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
        return _definition(name, of_call(operation))
    if not isinstance(value, type) or not issubclass(value, GradientMethod):
        return ""
    if value.rule is None or value.__init__ is not GradientMethod.__init__:
        return ""
    taken = inspect.signature(value)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    made = taken.replace(parameters=[own, *taken.parameters.values()], return_annotation="None")
    fields = [f"    {p.name}: {_type(p.annotation)}\n" for p in taken.parameters.values()]
    return f"class {name}(_{name}):\n{''.join(fields)}{_definition('__init__', made, '    ')}\n"


def uses(text: str, name: str) -> bool:
    """Whether a stub's text refers to `name`."""
    return re.search(rf"\b{name}\b", text) is not None


def _definition(name: str, signature: inspect.Signature, indent: str = "") -> str:
    """A stub's function, as formatters have it: on one line if that fits, else one a parameter."""
    shown = [
        p.replace(
            annotation=p.empty if p.name == "self" else Bare(_type(p.annotation)),
            default=p.default
            if p.default is p.empty or isinstance(p.default, _LITERAL)
            else Bare("..."),
        )
        for p in signature.parameters.values()
    ]
    of_kind = {kind: [p for p in shown if p.kind is kind] for kind in list(type(shown[0].kind))}
    positional, either, several, by_name, _ = [[*map(str, ps)] for ps in of_kind.values()]
    rows = [*positional, *["/"] * bool(positional), *either, *several]
    rows += [*["*"] * (bool(by_name) and not several), *by_name]
    gives = _type(signature.return_annotation)
    line = f"{indent}def {name}({', '.join(rows)}) -> {gives}: ..."
    if len(line) <= 100:
        return line
    parts = "".join(f"{indent}    {row},\n" for row in rows)
    return f"{indent}def {name}(\n{parts}{indent}) -> {gives}: ..."


def _type(annotation: Any) -> str:
    """The text of an annotation where it speaks of builtin types alone, else `Any`."""
    text = annotation.__name__ if type(annotation) is type else str(annotation)
    return text if set(re.findall(r"[\w.]*[A-Za-z_]\w*", text)) <= _KNOWN else "Any"

"""Signatures as people read them: derived where a class declares them, and without quotes."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import FunctionType
from typing import Any

from core.errors.kinds import MISSING, annotations_of


class Bare(str):
    """The text of an annotation, which shows itself without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def annotation(classes: Iterable[type], name: str) -> Any:
    """What the first of the classes that annotates `name` says of it."""
    said = map(annotations_of, classes)
    return next((each[name] for each in said if name in each), inspect.Parameter.empty)


def operation_of(value: Any) -> Any:
    """The class of which `value` is the call, or None."""
    operation = getattr(value, "operation", None)
    return operation if hasattr(operation, "declared") else None


def of_call(operation: Any) -> inspect.Signature:
    """The signature of the call of a declared operation: its inputs, then its settings."""
    declared = operation.declared
    made = inspect.Parameter
    required = len(declared.names) - declared.optional
    one = made.VAR_POSITIONAL if declared.variadic else made.POSITIONAL_ONLY
    by_name = declared.variadic or declared.optional
    inputs = [made(name, one, annotation="Array") for name in declared.names]
    if not declared.variadic:
        for i in range(required, len(inputs)):
            inputs[i] = inputs[i].replace(default=None, annotation="Array | None")
    kind = made.KEYWORD_ONLY if by_name else made.POSITIONAL_OR_KEYWORD
    classes = operation.__mro__
    settings = [
        made(
            name,
            kind,
            default=made.empty if default is MISSING else default,
            annotation=annotation(classes, name),
        )
        for name, default in declared.fields.items()
    ]
    gives = "tuple[Variable, ...]" if declared.outputs else "Variable"
    return inspect.Signature([*inputs, *settings], return_annotation=gives)


def show(value: Any, name: str = "") -> None:
    """Let help() show `value`, a function or class, as it is meant.

    The call of an operation gets the name, signature and text of what it computes; annotations,
    which are texts here, lose their quotes.
    """
    for room in ("core", "core.training"):
        for one in list(getattr(sys.modules.get(room), "__dict__", {}).values()):
            if isinstance(one, (type, FunctionType)) and one not in _known:
                _known.add(one)
                if one.__module__.startswith("core."):
                    show(one)
    if isinstance(value, type):
        for base in value.__mro__:
            if base not in _shown and base.__module__ not in sys.stdlib_module_names:
                _shown.add(base)
                _bare_annotations(base)
                for function in _functions(base):
                    _bare(function)
        _bare_signature(value)
        return
    operation = operation_of(value)
    if operation is not None and not hasattr(value, "__signature__"):
        value.__signature__ = of_call(operation)
        value.__name__ = value.__qualname__ = name
        value.__doc__ = operation.__doc__
        _bare_signature(value)
    _bare(value)


def show_again(cls: type) -> None:
    """Show what a class was given since it was shown."""
    if cls in _shown:
        _shown.discard(cls)
        show(cls)


_shown: set[type] = {object}
_known: set[Any] = set()  # what stands in the rooms of the core, once it was shown


def _functions(cls: type) -> Iterator[Any]:
    """The functions that the body of a class defines."""
    for value in list(vars(cls).values()):
        if isinstance(value, property):
            yield from (f for f in (value.fget, value.fset) if f is not None)
        else:
            yield getattr(value, "__func__", value)


def _bare(function: Any) -> None:
    while inspect.isfunction(function):
        _bare_signature(function)
        _bare_annotations(function)
        function = getattr(function, "__wrapped__", None)


def _bare_annotations(value: Any) -> None:
    with suppress(Exception):  # Python 3.14 evaluates others' now, as far as it can
        said = value.__annotations__
        for name, text in said.items():
            if type(text) is str:
                said[name] = Bare(text)


def _bare_signature(value: Any) -> None:
    signature = vars(value).get("__signature__")
    if signature is not None:
        value.__signature__ = signature.replace(
            parameters=[
                p.replace(annotation=_bare_text(p.annotation))
                for p in signature.parameters.values()
            ],
            return_annotation=_bare_text(signature.return_annotation),
        )


def _bare_text(said: Any) -> Any:
    return Bare(said) if type(said) is str else said

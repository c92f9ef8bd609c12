"""Whether inputs fit an operation: there at all, in one place, and of fitting shapes and dtypes.

Checked when a plan is made; a plan found is a check passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from core.arrays.spec import Spec
from core.errors import BackendError, CoreError, GraphError, InvalidType
from core.ops import types
from core.ops.operation import Operation
from core.ops.types.values import Axes


def checked(f: Operation, specs: Sequence[Spec | None], types_too: bool) -> list[Spec]:
    """The specs, which fit in every respect; types are checked where `types_too` says so."""
    known = _initialized(f, specs)
    _refuse_mixing(f, known)
    if types_too:
        _check_types(f, known)
    return known


def _initialized(f: Operation, specs: Sequence[Spec | None]) -> list[Spec]:
    """The specs; GraphError where an input has no array yet."""
    for i, spec in enumerate(specs):
        if spec is None:
            raise GraphError(
                f"{f.label}: input {_named(f, len(specs))[i]} is uninitialized. Give its link an "
                "input first, or the parameter its shape: Parameter(1.0, ()) is one number."
            )
    return list(specs)  # type: ignore[arg-type]


def _refuse_mixing(f: Operation, specs: list[Spec]) -> None:
    """Raise BackendError where inputs live on several backends or devices."""
    places: dict[Any, int] = {}  # each with the first input that is there
    for i, spec in enumerate(specs):
        places.setdefault((spec.backend, spec.device), i)
    if len(places) > 1:
        there = {str(b.named(d)): _named(f, len(specs))[i] for (b, d), i in places.items()}
        named = " and ".join(f"{name} on {place}" for place, name in there.items())
        cures = " or ".join(f"to_device({place!r})" for place in there)
        raise BackendError(
            f"{f.label}: expected inputs of one backend and device, got {named}. "
            f"Move one of them first: {cures}."
        )


def _check_types(f: Operation, specs: list[Spec]) -> None:
    """The complete type check: the domain, then the class's own `check_type_forward`."""
    try:
        _check_declared(f, specs)
    except InvalidType as error:
        names = _named(f, len(specs))
        error.inputs = dict(zip(names, specs, strict=True))
        error.accepts = partial(_accepts, f, error.inputs)
        raise


def _check_declared(f: Operation, specs: list[Spec]) -> None:
    if f.domain is not None:
        names = f.domain.inputs if f.declared is None else f.declared.names
        f.domain.check(f.label, names or _named(f, len(specs)), specs, f)
    if f._checks_types:
        types.check_own(f, specs, f.label, _named(f, len(specs)))


def _named(f: Operation, count: int) -> Sequence[str]:
    names: Sequence[str] = ("in_types",)
    variadic = True
    if f.declared is not None:
        names, variadic = f.declared.names, f.declared.variadic
    elif f.domain is not None and f.domain.inputs:
        names, variadic = f.domain.inputs, f.domain.signature.variadic
    further = [f"{names[0]}[{i}]" if variadic else f"in_types[{i}]" for i in range(count)]
    return further if variadic else [*names, *further[len(names) :]][:count]  # too many are named


def _accepts(f: Operation, given: Mapping[str, Any], inputs: dict[str, Any]) -> bool:
    """Whether the operation would take inputs of these specs in the place of those given.

    Who names an axis of an input means one of those that there are: another shape is no answer.
    """
    first = next(iter(given))
    if tuple(inputs[first].shape) != given[first].shape and _names_axes(f):
        return False
    try:
        _check_declared(f, [inputs[name] for name in given])
    except (CoreError, ValueError, TypeError, IndexError):
        return False
    return True


def _names_axes(f: Operation) -> bool:
    """Whether a setting that its domain declares to be axes has been chosen."""
    if f.domain is None or f.declared is None:
        return False
    axes = [name for name, setting in f.domain.settings.items() if isinstance(setting, Axes)]
    return any([getattr(f, name) != f.declared.fields[name] for name in axes])

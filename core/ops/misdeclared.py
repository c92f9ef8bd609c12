"""What a declaration must not say, refused when the class is created."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from core.errors import DeclarationError, nearest
from core.ops.class_reading import is_engine, names, own_classes, returns_nothing
from core.ops.declaration import Declaration
from core.ops.types.domain import Domain

_PARTS = ("self", "backend", "compute", "gradient", "prepare", "operand", "with_scalar")


def refuse_strays(declared: Declaration) -> None:
    """Raise where a gradient rule is no input's, one of several, or where there is another."""
    if declared.rules and (declared.joint or declared.variadic):
        found = "repeated inputs, which only `gradient` serves" if declared.variadic else "both"
        wanted = "expected `gradient` or one `gradient_INPUT` an input"
        raise DeclarationError(f"{declared.label}: {wanted}, found {found}")
    rules = {n for b in own_classes(declared.cls) for n in vars(b) if n.startswith("gradient_")}
    for attribute in sorted(rules):
        name = attribute.removeprefix("gradient_")
        if name not in declared.names:
            raise DeclarationError(
                f"{declared.label}.{attribute}: compute has no input {name!r}; it has "
                f"{', '.join(declared.names)}.{nearest(name, declared.names)}"
            )


def refuse_displaced(declared: Declaration) -> None:
    """Raise where a gradient rule does not begin with (self, xp, g), which it is given."""
    for rule in filter(None, (declared.joint, *declared.rules.values())):
        _, xp, g = [*names(rule), "", "", ""][:3]
        known = {"", *declared.names, *(declared.outputs or ("out",)), *declared.saved}
        if xp in {*known, "g"} or g in known - {"g"}:
            raise DeclarationError(
                f"{declared.label}.{rule.__name__}: expected (self, xp, g) and then what forward "
                f"has to keep, found ({', '.join(names(rule))})"
            )


def refuse_other_domain(declared: Declaration) -> None:
    """Raise where the domain is none, or that of other inputs than those of `compute`.

    That of a base class may call them otherwise, and lack optional ones.
    """
    domain: Any = declared.cls.domain
    if domain is None:
        return
    if not isinstance(domain, Domain):
        raise DeclarationError(
            f"{declared.label}.domain: expected a Domain, such as Domain({declared.names[0]}="
            f"real(-3, 3)), got {domain!r:.60}"
        )
    inherited = "domain" not in vars(declared.cls) and declared.fits(len(domain.inputs))
    if domain.inputs not in ((), declared.names) and not inherited:
        raise DeclarationError(
            f"{declared.label}.domain: expected the inputs of compute(self, xp, ...), "
            f"{', '.join(declared.names)}, in this order; found {', '.join(domain.inputs)}"
        )


def refuse_empty(declared: Declaration) -> None:
    """Raise where `compute`, or a gradient rule, returns nothing."""
    for method in (declared.cls.compute, declared.joint, *declared.rules.values()):
        if isinstance(method, FunctionType) and returns_nothing(method):
            raise DeclarationError(
                f"{declared.label}.{method.__name__}: expected to return what it computes, and it "
                "returns nothing. An input without a gradient has no rule."
            )


def refuse_reserved(declared: Declaration) -> None:
    """Raise where a setting or saved intermediate would hide what every function node has."""
    engine = next(base for base in declared.cls.__mro__ if is_engine(base))
    for name in (*declared.fields, *declared.saved):
        if hasattr(engine, name) or name in _PARTS:
            raise DeclarationError(
                f"{declared.label}: {name!r} is a part of every function node; call the setting or "
                "saved intermediate something else"
            )
    for base in own_classes(declared.cls):
        for name, value in base.__dict__.items():
            if _is_private_method(name, value) and hasattr(engine, name):
                raise DeclarationError(f"{declared.label}.{name} hides the engine's own; rename it")


def _is_private_method(name: str, value: Any) -> bool:
    """Whether the author wrote it; what the engine gives classes is its own, or no file's."""
    if not isinstance(value, FunctionType) or not name.startswith("_") or name.endswith("__"):
        return False
    return value.__module__ != "core.ops.declaring" and value.__code__.co_filename[0] != "<"

"""What becomes of a declared class: its constructor, its call, and its gradients.

`declare` reads the class when it is made; the specialised functions are written when they are first
asked for. A class with optional inputs has a variant of them for each number of inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.ops.class_reading import is_engine
from core.ops.declaration import Declaration
from core.ops.misdeclared import (
    refuse_displaced,
    refuse_empty,
    refuse_other_domain,
    refuse_reserved,
    refuse_strays,
)
from core.ops.operation import Operation
from core.ops.settings import assigned, named, parameters
from core.ops.specialize import Variant
from core.ops.writer import Writer
from core.registry.once import publishing


def written_generally(cls: type[Operation]) -> bool:
    """Whether the class, or a base below the one with `compute`, writes forward and backward."""
    for base in cls.__mro__:
        if any(name in base.__dict__ for name in ("forward", "forward_cpu", "backward")):
            return not is_engine(base)
        if "compute" in base.__dict__:
            return False
    return False


def declare(cls: type[Operation]) -> None:
    """Read the declaration, derive what calls look at, and specialise."""
    if isinstance(cls.__dict__.get("outputs"), tuple):  # as the names were called at first
        cls.output_names = cls.__dict__["outputs"]
        del cls.outputs
    cls.declared = Declaration(cls, cls.output_names)
    refuse_strays(cls.declared)
    refuse_displaced(cls.declared)
    refuse_other_domain(cls.declared)
    refuse_empty(cls.declared)
    refuse_reserved(cls.declared)
    cls._plans, cls._gradient_kernels = {}, {}
    cls._single = not cls.declared.outputs
    cls._plan_by_settings = cls._checks_types or bool(cls.domain and cls.domain.reads_settings)
    cls._prepares = hasattr(cls, "prepare")
    if "__init__" not in cls.__dict__:
        cls.__init__ = _initializer(cls)  # type: ignore[method-assign]
    cls._bound = []
    cls._variants = {}
    cls._is_specialized = False
    cls.call = staticmethod(_first_call(cls))
    cls._run = _first_run


def _first_call(cls: type[Operation]) -> Callable[..., Any]:
    """The call until the class is specialised, which the first one asks for."""

    def call(*inputs: Any, **settings: Any) -> Any:
        return cls.ready_call()(*inputs, **settings)

    call.operation = cls  # type: ignore[attr-defined]
    return call


def _first_run(f: Operation, *inputs: Any) -> Any:
    type(f).ready_call()
    return f._run(*inputs)


def _without_settings(self: Operation) -> None:
    """`__init__` of operations that have none."""


def _initializer(cls: type[Operation]) -> Callable[..., None]:
    """`__init__` that takes the settings, in order or by name."""
    declared = cls.declared
    if not declared.fields and not cls._prepares:
        return _without_settings
    writer = Writer(declared, len(declared.names), {})
    head = f"def __init__(self{parameters(declared)}):"
    lines = [head, *assigned(declared, "self", writer.scope)]
    lines += ["  self.prepare()"] if cls._prepares else ["  pass"]
    return named(declared, writer.compiled("__init__", lines))  # type: ignore[no-any-return]


def specialize_class(cls: type[Operation]) -> None:
    """Write the call and gradients of a declared class, for each number of inputs it can have."""
    from core.ops.inline import expression  # not loaded before an operation is called

    declared = cls.declared
    texts = ["f", "xp", *declared.names]
    cls._inlined = cls.inline and expression(cls.compute, texts) is not None  # type: ignore[attr-defined]
    cls._variants = {}
    made = variant(cls, len(declared.names))
    raw, var, cls._run = made.raw, made.var, made.run
    if declared.optional:
        raw, var, cls._run = raw and _raw_by_arity, var and _var_by_arity, _run_by_arity
    set_rules(cls, raw, var)
    call: Any = made.call
    call.operation = cls
    cls.call = staticmethod(call)
    cls._is_specialized = True  # last, since who reads it asks for nothing else


def set_rules(cls: type[Operation], raw: Any, var: Any) -> None:
    """What the walk calls; only operations with a lone output take its short step."""
    cls._rules = cls._single and raw is not None, raw, var


def variant(cls: type[Operation], arity: int) -> Variant:
    """The specialised functions for calls with that many inputs, written when first needed."""
    arity = min(arity, 1) if cls.declared.variadic else arity
    made = cls._variants.get(arity)
    if made is None:
        if not cls.declared.fits(arity):
            raise TypeError(
                f"{cls.__name__}: expected the inputs {', '.join(cls.declared.names)}, "
                f"got {arity} inputs"
            )
        with publishing:
            made = cls._variants.get(arity)
            if made is None:
                made = cls._variants[arity] = Variant(cls.declared, arity)
    return made


def _run_by_arity(f: Operation, *inputs: Any) -> Any:
    return variant(type(f), len(inputs)).run(f, *inputs)


def _raw_by_arity(f: Operation, g: Any, needs_grad: int | None = None) -> tuple[Any, ...]:
    return variant(type(f), len(f._sources)).raw(f, g, needs_grad)  # type: ignore[no-any-return]


def _var_by_arity(f: Operation, g: Any, needs_grad: int | None = None) -> tuple[Any, ...]:
    return variant(type(f), len(f._sources)).var(f, g, needs_grad)  # type: ignore[no-any-return]

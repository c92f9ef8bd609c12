"""What stands around `compute` in uncommon cases; a plan has what its inputs need, and no more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from core.arrays.spec import Spec, spec_of
from core.ops.operands import refuse_unlike
from core.ops.operation import Operation
from core.ops.outputs import as_result

Compute = Callable[..., Any]
# Of gradients: whether inputs broadcast, in which dtype they are computed, if not in their own,
# whether the dtypes of inputs differ, and whether the plan has a kernel.
Form = tuple[bool, str | None, bool, bool]


def unless_declined(kernel: Compute, compute: Compute) -> Compute:
    """A backend's kernel, and `compute` for calls that it declines."""

    def overridden(f: Operation, xp: Any, *arrays: Any) -> Any:
        result = kernel(f, xp, *arrays)
        return compute(f, xp, *arrays) if result is NotImplemented else result

    return overridden


def with_rules(
    compute: Compute, cls: type[Operation], arity: int, form: Form, shapes: Any
) -> Compute:
    """Where inputs broadcast, or are widened, the gradients of a call are others than the class's.

    And where a kernel of them goes with that of the plan.

    `shapes` are those of inputs that broadcast, to which their gradients are summed back.
    """
    planned = cls.variant(arity).rules(form)

    def ruled(f: Operation, xp: Any, *arrays: Any) -> Any:
        # Calls with fewer or more inputs share the plan where all have one spec.
        raw, var = planned if len(arrays) == arity else cls.variant(len(arrays)).rules(form)
        f.shapes = shapes
        f._rules = f._rules[0], raw, var
        return compute(f, xp, *arrays)

    return ruled


def placed(compute: Compute, around: Callable[[], Any] | None) -> Compute:
    """Where a library has to be told on which device it computes; so are gradients."""
    if around is None:
        return compute

    def within(raw: Any, f: Operation, g: Any, needs_grad: int | None = None) -> Any:
        with around():
            return raw(f, g, needs_grad)

    def placed(f: Operation, xp: Any, *arrays: Any) -> Any:
        with around():
            y = compute(f, xp, *arrays)
        plain, raw, var = f._rules
        if raw is not None:
            f._rules = plain, partial(within, raw), var
        return y

    return placed


def ensured(compute: Compute, result: Spec) -> Compute:
    """Results without dimensions, of which some libraries make scalars, become arrays."""

    def ensured(f: Operation, xp: Any, *arrays: Any) -> Any:
        return as_result(f, compute(f, xp, *arrays), result)

    return ensured


def proved(compute: Compute, result: Spec, remember: Callable[[], None]) -> Compute:
    """The call that makes a plan proves the spec of its result, which later calls take for true."""

    def proved(f: Operation, xp: Any, *arrays: Any) -> Any:
        y = compute(f, xp, *arrays)
        found: Any = spec_of(as_result(f, y, result))
        if found.shape != result.shape or found.name != result.name:
            raise TypeError(
                f"{f.label}.compute: expected to give {result.name} of shape {result.shape}, as "
                f"elementwise operations do of these inputs, got {found.name} of {found.shape}. "
                "A class whose results have another dtype says keeps_dtype = False."
            )
        remember()
        return y

    return proved


def whole(compute: Compute, operand: str, dtype: Any) -> Compute:
    """Arithmetic of integers with a number, the setting `operand`, which has to be one of them."""

    def whole(f: Operation, xp: Any, x: Any) -> Any:
        x, number = x if x.dtype == dtype else xp.astype(x, dtype), getattr(f, operand)
        refuse_unlike(f.label, [number], x)
        if type(number) is bool:  # not every library takes True for 1
            setattr(f, operand, int(number))
        return compute(f, xp, x)

    return whole

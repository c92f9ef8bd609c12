"""From the specs of inputs to the function that computes: checked once, then looked up.

A plan is what an operation does for inputs of given specs: (function, namespace, result's spec).
Making one checks types completely, chooses between `compute` and a backend's kernel, and wraps the
uncommon cases (broadcasting, results without dimensions, 16-bit floats), so that calls test for
none of them. A plan found is a check passed.
"""

from __future__ import annotations

from math import prod
from typing import Any
from weakref import WeakSet

from core.arrays.backend import Backend
from core.arrays.spec import Spec, intern
from core.ops import operands
from core.ops.checking import checked
from core.ops.operation import Operation
from core.ops.types.shapes import broadcast_shapes
from core.ops.widening import widened, widening
from core.ops.wrappers import Compute, ensured, placed, proved, unless_declined, whole, with_rules
from core.registry.configuration import current_state
from core.registry.kernel_key import kernel_key
from core.registry.once import publishing

Plan = tuple[Compute | None, Any, Spec | None]

_LIMIT = 4096
_changes = 0  # of kernel tables; what was made before one is not kept after it
_planned: dict[str, Any] = {}  # sets of classes by the key of their kernels


# ---------------------------------------------------------------------- plans


def plan_for(f: Operation, key: Any, specs: tuple[Spec | None, ...]) -> Plan:
    """Check inputs of these specs and plan the operation on them; remembers what it found.

    A plan that tells the spec of the result is remembered when a call has proved it.
    """
    cls: Any = type(f)
    check = current_state().check
    known = checked(f, specs, check)
    plans, before = cls._plans, _changes
    key = key if check else ("unchecked", key)
    try:
        plan: Plan | None = plans.get(key)
    except TypeError:  # an unhashable setting: nothing to remember it by
        return _plan(cls, known)
    if plan is not None:
        return plan
    compute, xp, result = found = _plan(cls, known)

    def remember() -> None:
        with publishing:
            if len(plans) >= _LIMIT:
                plans.clear()
            if _changes == before:
                plans[key] = found

    if result is None or not check:  # unchecked inputs may make something else of it
        remember()
        return found
    return proved(compute or cls.compute, result, remember), xp, result


def _plan(cls: Any, specs: list[Spec]) -> Plan:
    backend, result = specs[0].backend, _result(cls, specs)
    kernel = _kernel(cls, backend, specs)
    compute: Compute = cls.compute if kernel is None else unless_declined(kernel, cls.compute)
    wide, narrow, mixed = widening(cls, specs)
    if wide is not None:
        compute = widened(compute, backend, wide, narrow)
        if not mixed and getattr(kernel, "takes_halves", False):  # it sees them as they are
            compute = unless_declined(kernel, compute)
    shapes = tuple([spec.shape for spec in specs])
    broadcasts = cls._elementwise and len(set(shapes)) > 1
    beside = kernel and backend.gradient_kernels.get(cls)
    planned = getattr(beside, "with_compute", False)
    if cls.declared.differentiable and (broadcasts or wide is not None or planned):
        form = broadcasts, wide, mixed, planned
        compute = with_rules(compute, cls, len(specs), form, shapes if broadcasts else None)
    xp = max(specs, key=lambda spec: prod(spec.shape)).xp
    if result is not None and result.kind in "iu" and _with_number(cls):
        compute = whole(compute, cls.operand, result.dtype)
    if result is not None and not result.shape:
        compute = ensured(compute, result)
    compute = placed(compute, backend.around(specs[0].device))
    return None if cls._inlined and compute is cls.compute else compute, xp, result


def _result(cls: Any, specs: list[Spec]) -> Spec | None:
    """What is known of the result: the dtype of the first input that is not a condition.

    Truth values with a number count as numbers of the library's own integers.
    """
    if not cls.keeps_dtype:
        return None
    lead = next((spec for spec in specs if spec.kind != "b"), specs[0])
    shape, dtype = broadcast_shapes([spec.shape for spec in specs]), lead.dtype
    if lead.kind == "b" and _with_number(cls):
        dtype = lead.backend.asarray(0).dtype
    return intern(lead.backend, shape, dtype, lead.device)


def _with_number(cls: Any) -> bool:
    return cls._elementwise and cls.operand is not None


def _kernel(cls: type[Operation], backend: Backend, specs: list[Spec]) -> Any:
    with publishing:
        _planned.setdefault(kernel_key(cls), WeakSet()).add(cls)
        before = _changes
    kernel = backend.kernels.get(cls)
    gradient = backend.gradient_kernels.get(cls)
    if gradient is not None and backend.array_type not in cls._gradient_kernels:
        with publishing:
            if _changes == before:
                cls._gradient_kernels[backend.array_type] = gradient
                cls.specialize()
    if prod(specs[0].shape) < getattr(kernel, "least", 0):
        return None
    if hasattr(kernel, "fits") and not kernel.fits(*specs):
        return None
    return getattr(kernel, "ready", lambda spec: kernel)(specs[0])


def forget_plans(backend: Backend, key: str | None = None) -> None:
    """Plan anew what operations do, after a change of the kernels of `backend` of that key."""
    global _changes
    with publishing:
        _changes += 1
        # The references are copied at once: where a class is let go meanwhile, its set changes.
        found = [c.data.copy() for k, c in _planned.items() if key in (None, k)]
        for cls in [cls for known in found for ref in known if (cls := ref()) is not None]:
            cls._plans.clear()
            if cls._gradient_kernels.pop(backend.array_type, None) is not None:
                cls.specialize()


def take_slow_path(f: Operation, inputs: tuple[Any, ...]) -> Any:
    """Apply a declared node that a call has begun to make, with hooks and in debug mode."""
    f._sources = f.data = f.spec = None
    f.needs_grad = f.sequence = 0
    return f.variant(len(inputs)).run_hooked(f, *operands.beside_traced(inputs, f))

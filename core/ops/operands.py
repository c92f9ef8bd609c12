"""Operands that are no Variables: raw arrays, numbers, and the scalars of libraries."""

from __future__ import annotations

from typing import Any

from core.arrays.backend import BACKENDS, current, host
from core.arrays.spec import Spec, spec_of
from core.errors import InvalidType
from core.errors.scalars import holds, is_number, is_scalar, python_number
from core.graph.fitting import is_array, no_array, taken
from core.graph.variable import Variable, as_array, wrap
from core.graph.variable_node import VariableNode
from core.ops.operation import Operation


def array_operand(x: Any, beside: Any = None) -> tuple[Any, Spec | None, None] | None:
    """Array, spec and no node of a raw array, in the dtype of a Variable `beside` it.

    None for what is none: a number, which needs its neighbours, or nothing for an operation.
    """
    if type(x) not in BACKENDS and is_number(x):
        return None
    array = taken(x if beside is None else in_dtype_of(beside, x))
    return None if array is None else (array, spec_of(array), None)


def beside_traced(inputs: tuple[Any, ...], f: Operation | None = None) -> tuple[Any, ...]:
    """The inputs of a call; where some are traced (`core.trace`), all of them are.

    So they are where a setting of `f` is traced, as an index may be, and where new arrays would be
    traced and the trace reads what is outside in each run.
    """
    for x in inputs:
        lift = getattr(type(getattr(x, "_array", x)), "_lift_beside", None)
        if lift is not None:
            return lift(inputs)  # type: ignore[no-any-return]
    lift = getattr(current().array_type, "_lift_alone", None)
    return inputs if lift is None else lift(inputs, f)


def in_dtype_of(variable: Any, x: Any) -> Any:
    """An operand of a Variable: a raw array takes the dtype of a Variable of real numbers.

    So `x * mask` and `x + numpy.random.normal(...)` stay in the precision of x. Variables of two
    dtypes are never cast silently.
    """
    beside = isinstance(variable, Variable) and not isinstance(x, Variable)
    if not beside or (spec := variable._spec) is None or not is_array(x):
        return x
    if BACKENDS[type(x)] is not spec.backend:
        variable, x = beside_traced((variable, x))
        spec = variable._spec
    backend, dtype = spec.backend, spec.dtype
    if spec.kind not in "fV" or BACKENDS[type(x)] is not backend or x.dtype == dtype:
        return x
    # The operation refuses complex numbers, and what is none: texts, dates, objects.
    return backend.asarray(x, dtype) if backend.kind(x.dtype) in "biufV" else x


def with_numbers(f: Operation, inputs: tuple[Any, ...]) -> Variable:
    """An elementwise operation some of whose inputs are numbers: arrays without dimensions."""
    scalar = f.with_scalar if f._elementwise and f._local_hooks is None else None  # type: ignore[attr-defined]
    number = python_number(inputs[-1])
    if scalar is not None and type(number) in (float, int) and isinstance(inputs[0], Variable):
        return scalar.call(inputs[0], number)  # type: ignore[no-any-return]
    for x in inputs:
        if not isinstance(x, Variable) and not is_number(x) and not is_array(x):
            raise no_array(f"{f.label}: expected a Variable or", x) from None
    arrays = [as_array(x) for x in inputs if not is_number(x)]
    numbers = [python_number(x) for x in inputs if is_number(x)]
    lead = next((a for a in arrays if BACKENDS[type(a)].kind(a.dtype) != "b"), None)
    if lead is None and arrays and all([_is_truth(n, f.keeps_dtype) for n in numbers]):
        lead = arrays[-1]
    if not f._elementwise or lead is None:
        raise TypeError(
            f"{f.label}: expected Variables or arrays, got "
            f"{', '.join(type(x).__name__ for x in inputs)}. Make arrays of the numbers first."
        )
    refuse_unlike(f.label, numbers, lead)
    if scalar is not None and is_number(inputs[1]):
        return scalar.call(inputs[0], number)  # type: ignore[no-any-return]
    operands = [as_operand(x, lead) if is_number(x) else x for x in inputs]
    return f._run(*operands) if f._local_hooks is None else f(*operands)  # type: ignore[no-any-return]


def _is_truth(number: Any, kept: bool) -> bool:
    """Whether a number stands for a truth value: where its dtype is not `kept`, 0 and 1 do, too."""
    return type(number) is bool or not kept and type(number) is int and holds("bool", number)


def refuse_unlike(label: str, numbers: list[Any], array: Any) -> None:
    """Raise for numbers that an array's dtype does not hold: real beside integers, or complex.

    And for whole ones out of the range of integers, which libraries would bring into it by taking
    bits away. Truth values count as numbers here: what is beside them may be any integer.
    """
    backend = BACKENDS[type(array)]
    kind = backend.kind(array.dtype)
    found = set(map(type, numbers))
    if kind in "biu" and not found.isdisjoint((float, complex)):
        raise unlike(label, "whole numbers", numbers, backend.dtype_name(array.dtype))
    if kind in "iu" and not all([holds(backend.dtype_name(array.dtype), n) for n in numbers]):
        raise unlike(label, "numbers in its range", numbers, backend.dtype_name(array.dtype))
    if kind != "c" and complex in found:
        raise unlike(label, "real numbers", numbers, backend.dtype_name(array.dtype))


def unlike(label: str, right: str, numbers: list[Any], dtype: str) -> InvalidType:
    """The refusal of numbers that are not the `right` ones beside arrays of a dtype."""
    came = ", ".join(map(repr, numbers))
    return InvalidType(f"{right} beside {dtype}", came, operation=label)


def scalar_as_array(x: Any) -> Any:
    """`x`, as an array if it is one of the scalars that NumPy's arithmetic makes of 0-d arrays."""
    return x if type(x) in BACKENDS or not is_scalar(x) else host().asarray(x)


def as_constant(value: Any) -> Any:
    """A saved intermediate for a rule on Variables: a constant as far as derivatives go."""
    value = scalar_as_array(value)
    return wrap(value) if is_array(value) else value


def as_operand(number: Any, like: Any) -> Any:
    """A number as an array without dimensions, in the dtype and on the device of `like`."""
    backend = BACKENDS[type(like)]
    return backend.asarray(python_number(number), like.dtype, backend.device_of(like))


def constant_node(x: Any, spec: Spec | None) -> VariableNode:
    """The node of an input that needs no gradient."""
    if isinstance(x, Variable):
        return x.node
    node = VariableNode(None, requires_grad=False)
    node.spec = spec
    return node

"""What operations say about the types of their inputs, and how a broken rule is reported.

An operation writes its rules in `check_type_forward(in_types)`:

    type_check.expect(in_types.size() == 2)
    x, W = in_types
    type_check.expect(x.dtype.kind == "f", x.shape[1] == W.shape[1])

The rules run first in light mode, on plain values, which costs little. Only when one of them fails
do they run again on expressions (`core.compat.expression`), to quote the rule in the error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from core.compat.expression import (
    Atom,
    BinaryOperator,
    BoolBinaryOperator,
    Call,
    Constant,
    Expr,
    GetAttr,
    GetItem,
    Testable,
    UnaryOperator,
    Variable,
    text,
    value,
)
from core.compat.expression import prod as _product
from core.errors import InvalidType
from core.registry.public import listing

__all__ = [
    "Atom",
    "BinaryOperator",
    "BoolBinaryOperator",
    "Call",
    "Constant",
    "DType",
    "Expr",
    "GetAttr",
    "GetItem",
    "InvalidType",
    "LightMode",
    "LightTypeInfoTuple",
    "Testable",
    "TypeInfo",
    "TypeInfoTuple",
    "UnaryOperator",
    "Variable",
    "argname",
    "check",
    "eval",
    "expect",
    "expect_broadcast_shapes",
    "get_function_check_context",
    "get_light_types",
    "get_types",
    "in_light_mode",
    "light_mode",
    "make_variable",
    "prod",
    "same_types",
]

__dir__ = listing(__name__)

_depth: ContextVar[int] = ContextVar("core.type_check.light", default=0)


class LightMode:
    """`with light_mode:` conditions are plain values, and a failed one has no text."""

    def __enter__(self) -> None:
        _depth.set(_depth.get() + 1)

    def __exit__(self, *exc: object) -> None:
        _depth.set(_depth.get() - 1)


light_mode = LightMode()


def in_light_mode() -> bool:
    """Whether conditions are plain values here."""
    return _depth.get() > 0


class DType:
    """A dtype of an array library whose dtypes do not say `kind` and `name` themselves.

    It equals whatever has its name: a string, another library's dtype, or a scalar class.

    >>> float32 = DType(object(), "f", "float32")
    >>> float32 == "float32", float32.kind
    (True, 'f')
    """

    __slots__ = ("dtype", "kind", "name")

    def __init__(self, dtype: Any, kind: str, name: str) -> None:
        self.dtype = dtype
        self.kind = kind
        self.name = name

    def __eq__(self, other: object) -> bool:
        if other is self.dtype or isinstance(other, str):
            return other is self.dtype or _SHORT.get(str(other), other) == self.name
        if isinstance(other, type):
            return other.__name__ == self.name
        name = getattr(other, "name", None)
        return (str(other) if name is None else name) == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


_SHORT = {
    "?": "bool",
    "b": "int8",
    "h": "int16",
    "i": "int32",
    "l": "int64",
    "B": "uint8",
    "e": "float16",
    "f": "float32",
    "d": "float64",
    "F": "complex64",
    "D": "complex128",
}


class TypeInfo:
    """Shape and dtype of one input, with the `ndim` and `size` that follow from the shape.

    >>> import numpy as np
    >>> info = TypeInfo((2, 3), np.dtype("float32"))
    >>> info.ndim, info.size, info.dtype.kind
    (2, 6, 'f')
    """

    __slots__ = ("dtype", "ndim", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ndim = len(shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"TypeInfo({self.shape}, {text(self.dtype)})"


class LightTypeInfoTuple(tuple[Any, ...]):
    """The types of all inputs, in light mode."""

    __slots__ = ()

    def size(self) -> int:
        """How many inputs there are."""
        return len(self)


class TypeInfoTuple(tuple[Any, ...]):
    """The types of all inputs as expressions, each with the name that error texts give it."""

    name: str = "in_types"

    def size(self) -> Variable:
        """How many inputs there are."""
        return Variable(len(self), f"{self.name}.size()")


class Typed(Protocol):
    """What a specification of an input tells."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...


class Checked(Protocol):
    """What has rules for the types of its inputs."""

    def check_type_forward(self, in_types: Any) -> None: ...


def check(
    function: Checked, in_specs: Sequence[Typed | None], label: str, names: Sequence[str] = ()
) -> None:
    """Run the rules of `function` on its inputs' types.

    `label` is the operation's name in the error; `names`, where given, are what the error calls
    the inputs, otherwise `in_types[0]` and so on. None stands for an input that has no shape yet.

    Raises `InvalidType` for a rule that does not hold, and whatever the rules raise themselves.

    >>> class Matrix:
    ...     def check_type_forward(self, in_types):
    ...         expect(in_types[0].ndim == 2)
    >>> from types import SimpleNamespace
    >>> spec = SimpleNamespace(shape=(3,), dtype="f", kind="f", name="float32")
    >>> try:
    ...     check(Matrix(), [spec], "Matrix", ["x"])
    ... except InvalidType as error:
    ...     print(error.operation, error.expect, error.actual, sep=", ")
    Matrix, x.ndim == 2, 1 != 2
    """
    types = [_of_spec(spec) for spec in in_specs]
    try:
        with light_mode:
            function.check_type_forward(LightTypeInfoTuple(types))
    except Exception as light:
        with get_function_check_context(label):
            function.check_type_forward(_named(types, names))
            raise light  # the rules differ between the two runs: the first one counts


def expect(*bool_exprs: Any) -> None:
    """Raise `InvalidType` for the first condition that does not hold.

    Conditions made of `in_types` are quoted in the error; of a plain bool only its place is known.
    """
    for place, condition in enumerate(bool_exprs, 1):
        if isinstance(condition, Testable):
            condition.expect()
        elif not eval(condition):
            raise InvalidType(f"condition {place} of the type check", f"{text(condition)} is false")


def eval(exp: Any) -> Any:
    """The plain value of an expression; a plain value is returned as it is."""
    return value(exp)


def prod(xs: Any) -> Any:
    """The product of the numbers in a shape, or in part of one.

    >>> prod((2, 3, 4))
    24
    """
    if isinstance(xs, Expr):
        return Call(Variable(_product, "prod"), (xs,))
    factors = tuple(xs)
    if any(isinstance(factor, Expr) for factor in factors):
        return Call(Variable(_product, "prod"), (factors,))
    return math.prod(factors)


def make_variable(value: Any, name: str) -> Any:
    """`value` to be used in conditions, where error texts call it `name`."""
    return value if in_light_mode() else Variable(value, name)


def same_types(*arrays: Any) -> bool:
    """Whether all arrays belong to one array backend."""
    from core.arrays import backend

    return len({backend.of(array) for array in arrays}) <= 1


def expect_broadcast_shapes(*shape_types: Any) -> None:
    """Raise `InvalidType` unless the shapes broadcast to a common one.

    >>> expect_broadcast_shapes((2, 1), (3,), ())
    >>> expect_broadcast_shapes((2, 3), (4,))
    Traceback (most recent call last):
    ...
    core.errors.InvalidType: Expect: shapes that broadcast: (2, 3) and (4,)
    Actual: (2, 3) and (4,)
    """
    shapes = [eval(shape) for shape in shape_types]
    width = max(map(len, shapes), default=0)
    aligned = [(1,) * (width - len(shape)) + tuple(shape) for shape in shapes]
    if any(len({*sizes} - {1}) > 1 for sizes in zip(*aligned, strict=True)):
        names = " and ".join(map(text, shape_types))
        raise InvalidType(f"shapes that broadcast: {names}", " and ".join(map(str, shapes)))


def argname(in_types: Sequence[Any], names: Sequence[str]) -> None:
    """Give the inputs the names that error texts use; also requires as many inputs as names."""
    if len(in_types) != len(names):
        raise InvalidType(f"{len(names)} inputs ({', '.join(names)})", f"{len(in_types)} inputs")
    for in_type, name in zip(in_types, names, strict=True):
        if isinstance(in_type, Variable):
            in_type._name = name


def get_light_types(
    data: Iterable[Any], *, shapes: Sequence[tuple[int, ...]] | None = None
) -> LightTypeInfoTuple:
    """The types of the arrays in `data`, for use inside `light_mode`.

    `shapes`, where given, replace those of the arrays.
    """
    return LightTypeInfoTuple(_of_arrays(data, shapes))


def get_types(
    data: Iterable[Any],
    name: str,
    accept_none: bool,
    *,
    shapes: Sequence[tuple[int, ...]] | None = None,
) -> TypeInfoTuple:
    """The types of the arrays in `data` as expressions called `name[0]`, `name[1]`, ...

    Raises `TypeError` for a None in `data` unless `accept_none`.
    """
    arrays = list(data)
    if not accept_none and any(array is None for array in arrays):
        place = next(i for i, array in enumerate(arrays) if array is None)
        raise TypeError(f"{name}[{place}]: expected an array, got None")
    return _named(_of_arrays(arrays, shapes), [f"{name}[{i}]" for i in range(len(arrays))], name)


@contextmanager
def get_function_check_context(f: Any) -> Iterator[None]:
    """Name `f` (a function, or its label) in every `InvalidType` that leaves the block."""
    try:
        yield
    except InvalidType as error:
        if not error.operation:
            error.operation = f if isinstance(f, str) else f.label
        raise


def _named(
    types: Sequence[TypeInfo | None], names: Sequence[str], whole: str = "in_types"
) -> TypeInfoTuple:
    called = [*names[: len(types)], *(f"{whole}[{i}]" for i in range(len(names), len(types)))]
    result = TypeInfoTuple(Variable(*pair) for pair in zip(types, called, strict=True))
    result.name = whole
    return result


def _of_spec(spec: Typed | None) -> TypeInfo | None:
    if spec is None:
        return None
    plain = getattr(spec.dtype, "kind", None) == spec.kind
    return TypeInfo(spec.shape, spec.dtype if plain else DType(spec.dtype, spec.kind, spec.name))


def _of_arrays(
    data: Iterable[Any], shapes: Sequence[tuple[int, ...]] | None
) -> list[TypeInfo | None]:
    arrays = list(data)
    if shapes is None:
        shapes = [() if array is None else tuple(array.shape) for array in arrays]
    return [
        None if array is None else TypeInfo(shape, _dtype_of(array))
        for array, shape in zip(arrays, shapes, strict=True)
    ]


def _dtype_of(array: Any) -> Any:
    dtype = array.dtype
    if hasattr(dtype, "kind"):
        return dtype
    from core.arrays import backend

    owner = backend.of(array)
    return DType(dtype, owner.kind(dtype), owner.dtype_name(dtype))

"""What a program is made of: values without elements, and the equations that give them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

from core.arrays.backend import BACKENDS, Backend, host
from core.errors.interval import first_outside
from core.programs import names


class Value:
    """One array of a program: an argument, a constant, or what an equation gives.

    `scalar` says that NumPy makes one of its scalars of it, as of the sum of all elements, `waits`
    that it is a gradient which a kernel has put off: no array yet.
    """

    __slots__ = ("dtype", "scalar", "shape", "waits")

    def __init__(
        self, shape: tuple[int, ...], dtype: Any, scalar: bool = False, waits: bool = False
    ) -> None:
        self.waits = waits
        self.shape = shape
        self.dtype = dtype
        self.scalar = scalar

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of its elements."""
        return self.size * int(self.dtype.itemsize)

    def __repr__(self) -> str:
        return f"<value {self.dtype}{list(self.shape)}>"


def value_like(array: Any) -> Value:
    """The value of an array of any library; its dtype is the host's of that name."""
    dtype = array.dtype
    if not isinstance(dtype, host().xp.dtype):
        dtype = host().dtype(BACKENDS[type(array)].dtype_name(dtype))
    return Value(tuple(array.shape), dtype)


def on_host(array: Any) -> Any:
    """The elements of an array of any library, or of a scalar of the host's, as an array there."""
    known = host()
    if not isinstance(array, (known.xp.ndarray, known.xp.generic)):
        array = BACKENDS[type(array)].to_host(array)
    return known.asarray(array)


class Origin(NamedTuple):
    """Where an equation comes from: the operation, its link, the line of the user's program."""

    operation: str = ""
    link: str = ""
    line: str = ""
    backward: bool = False

    def __str__(self) -> str:
        words = [self.operation + ", backward" * self.backward] if self.operation else []
        words += [f"in {self.link}"] if self.link else []
        return " ".join(words)


class Call(NamedTuple):
    """What an equation computes, by name, so that any backend can do it.

    `kind` says where the name is found: `xp` among the array functions of a backend (with the shape
    `of`, among those that operations on such arrays have), `operator` among Python's operators,
    `method` and `attribute` of arrays, `backend` among the methods of backends, `random` among its
    random numbers. `change` gives a changed copy where arrays are changed in place. A `kernel` is
    the `function` itself, which takes arrays and gives a tuple of them: what a backend has in the
    place of an operation, or what a pass has made of several equations.
    """

    kind: str
    name: str
    of: tuple[int, ...] | None = None
    function: Callable[..., tuple[Any, ...]] | None = None

    def found(self, backend: Backend) -> Callable[..., Any]:
        """The function that computes it with arrays of a backend."""
        if self.function is not None:
            return self.function
        if self.kind == "operator":
            return getattr(operator, self.name)  # type: ignore[no-any-return]
        if self.kind == "method":
            return _method(self.name, backend)
        if self.kind == "attribute":
            return operator.attrgetter(self.name)
        if self.kind == "change":
            return _change(self.name, backend)
        where: Any = backend
        if self.kind == "random":
            where = backend.random
        elif self.kind == "xp":
            where = backend.xp if self.of is None else backend.ops_xp(self.of)
        for part in self.name.split("."):
            where = getattr(where, part)
        return where  # type: ignore[no-any-return]

    @property
    def acts(self) -> bool:
        """Whether it may do more than give a value: draw, or refuse values."""
        return self.kind in ("random", "kernel") or self.name == "check_within"

    @property
    def views(self) -> bool:
        """Whether the result may show the memory of the first argument."""
        return self.name in names.SHARING and self.kind != "kernel"


class Equation:
    """One call: its arguments, in which values stand for arrays, and the values that it gives.

    `inputs` are the values among the arguments, in their order. `several` says that the call gives
    a sequence of arrays.
    """

    __slots__ = ("args", "call", "inputs", "kwargs", "origin", "outputs", "several")

    def __init__(
        self,
        call: Call,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outputs: tuple[Value, ...],
        several: bool,
        origin: Origin,
    ) -> None:
        self.call = call
        self.args = args
        self.kwargs = kwargs
        self.inputs = values_in((args, kwargs))
        self.outputs = outputs
        self.several = several
        self.origin = origin

    def with_values(self, put: Callable[[Value], Value]) -> Equation:
        """The same equation of other values."""
        args, kwargs = mapped(put, self.args), mapped(put, self.kwargs)
        return Equation(self.call, args, kwargs, self.outputs, self.several, self.origin)


_SIMPLE = frozenset((int, float, bool, str, type(None), type))


def values_in(tree: Any) -> list[Value]:
    """The values in tuples, lists, dicts and slices."""
    found: list[Value] = []
    _find_values((tree,), found)
    return found


def _find_values(tree: Any, found: list[Value]) -> None:
    for part in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(part, Value):
            found.append(part)
        elif isinstance(part, (tuple, list, dict)):
            _find_values(part, found)


def mapped(put: Callable[[Any], Any], tree: Any, kind: type | tuple[type, ...] = Value) -> Any:
    """The tree with `put(x)` for each object of a kind in its tuples, lists and dicts."""
    if isinstance(tree, kind):
        return put(tree)
    if isinstance(tree, (tuple, list)):
        parts = [  # most are no structures, which is told here at once
            put(part)
            if isinstance(part, kind)
            else part
            if type(part) in _SIMPLE
            else mapped(put, part, kind)
            for part in tree
        ]
        if isinstance(tree, list):
            return parts
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    if isinstance(tree, dict):
        return {key: mapped(put, part, kind) for key, part in tree.items()}
    return tree


def _method(name: str, backend: Backend) -> Callable[..., Any]:
    if backend is not host() and name == "copy":
        return lambda array, order="K": backend.copy(array)
    if backend is not host() and name == "astype":
        return backend.xp.astype  # type: ignore[no-any-return]

    def method(array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, name)(*args, **kwargs)

    return method


def _change(name: str, backend: Backend) -> Callable[..., Any]:
    """A change in place as a function: what it is given stays as it is."""
    in_place: Any = getattr(operator, name, None)

    def own(array: Any) -> Any:
        return backend.copy(array) if backend.mutable else array

    def operated(array: Any, other: Any) -> Any:
        return in_place(own(array), other)

    def set_item(array: Any, index: Any, value: Any) -> Any:
        return backend.put(own(array), index, value)

    def copyto(array: Any, value: Any) -> Any:
        if not backend.mutable:
            return backend.put(array, ..., value)
        return backend.copyto(own(array), value)

    def add_in_place(array: Any, other: Any) -> Any:
        return backend.add_in_place(own(array), other)

    def scatter_add(array: Any, index: Any, values: Any) -> Any:
        return backend.scatter_add(own(array), index, values)

    def check_within(numbers: Any, size: int, told: str) -> Any:
        from core.errors import OutOfRange

        if backend.outside(numbers, size):
            got = first_outside(backend.to_host(numbers), size)
            raise OutOfRange(f"{told}: expected numbers in [0, {size}), got {got}.")
        return numbers

    named: dict[str, Callable[..., Any]] = {
        "set_item": set_item,
        "copyto": copyto,
        "add_in_place": add_in_place,
        "scatter_add": scatter_add,
        "check_within": check_within,
    }
    return named.get(name, operated)


def draws(equation: Equation) -> bool:
    """Whether it may draw random numbers, which is done in the order of the function."""
    call = equation.call
    return call.kind == "random" or (
        call.kind == "kernel" and getattr(call.function, "draws", True)
    )

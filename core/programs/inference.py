"""What shape and dtype a call gives, from those of its arguments.

Most calls have a rule: they run on arrays of one element, which give the dtype (and say whether
NumPy makes a scalar of it), and the shape is worked out. Others run on the host on stand-ins of the
right shape that take the memory of one element (of one matrix, in linear algebra): a rule for each
of NumPy's functions would be endless, and views of a stand-in cost nothing. All elements of a
stand-in are alike, so nothing of the user's can be told from a result; and nothing but its shape
and dtype is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any, NamedTuple

from core.arrays.backend import host
from core.arrays.windows import unfolded
from core.ops.types.shapes import broadcast_shapes
from core.programs import names
from core.programs.equation import Call, Value, mapped, values_in


class Shaped(NamedTuple):
    """What is known of a result."""

    shape: tuple[int, ...]
    dtype: Any
    scalar: bool = False


class NoShape(Exception):
    """The shape of the result depends on the elements of the arguments."""


def infer(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], constants: Any) -> Any:
    """The result as `Shaped`, in a tuple where there are several.

    `constants` maps values to arrays that are known, which indexes may be.
    Raises NoShape, or what the call itself raises for such arguments.
    """
    name = call.name.rpartition(".")[2]
    if call.kind == "random":
        return _drawn(name, *args)
    if name == "fold":
        return _folded(*args, **kwargs)
    if name == "reshape" and call.kind == "xp":
        return _reshaped(*args, **kwargs)
    if name in names.UNSHAPED or (name == "where" and len(args) == 1):
        raise NoShape
    function = call.found(host())
    if not any([0 in value.shape for value in values_in((args, kwargs))]):
        if name == "getitem":
            _refuse_masks(args[1], constants)
        rule = _rule(call.kind, name, function)
        found = None if rule is None else rule(function, args, kwargs)
        if found is not None:
            return found
    stand_in = _known_or(constants, _matrix if call.name.startswith("linalg.") else _stand_in)
    with quiet():
        return _shapes(function(*mapped(stand_in, args), **mapped(stand_in, kwargs)))


def _rule(kind: str, name: str, function: Any) -> Callable[[Any, Any, Any], Any] | None:
    """How the shape that a function gives is worked out, if there is a rule for it."""
    operates = kind == "operator" and name != "getitem"
    elementwise = operates or (kind == "xp" and is_ufunc(function))
    return _RULES.get(name, _elementwise if elementwise else None)


def quiet() -> Any:
    """A context without NumPy's warnings: stand-ins may lie where a function has poles."""
    return host().xp.errstate(all="ignore")


def _drawn(name: str, *args: Any) -> Shaped:
    """Of random numbers: nothing is drawn."""
    place, dtype = _DRAWN[name] if name in _DRAWN else (0, args[1])
    return Shaped(_lengths(args[place]), host().dtype(dtype))


def _lengths(shape: Any) -> tuple[int, ...]:
    return (shape.__index__(),) if hasattr(shape, "__index__") else tuple(shape)


def _folded(windows: Value, size: Any, stride: Any = 1, pad: Any = 0, dilate: Any = 1) -> Shaped:
    unfolded(windows.shape, size, stride, pad, dilate)
    return Shaped((*windows.shape[:2], *size), windows.dtype)


def is_ufunc(function: Any) -> bool:
    """Whether it is one of NumPy's elementwise functions."""
    return isinstance(function, host().xp.ufunc) and function.signature is None


_PLACES_IN_C = {"concatenate": 2, "dot": 2}


@cache
def place_of_out(name: str) -> int | None:
    """Where among its arguments a function of the host's, or a method, has what it writes to."""
    where: Any = host().xp
    for part in name.split("."):
        where = getattr(where, part, None)
    if hasattr(where, "nin"):
        return int(where.nin)
    try:
        found = list(signature(where).parameters.values())
    except (TypeError, ValueError):  # of a method alone, or written in C: older NumPys tell none
        return _PLACES_IN_C.get(name)
    places = [i for i, x in enumerate(found) if x.name == "out" and x.kind < x.VAR_POSITIONAL]
    return places[0] if places else None


def _known_or(constants: Any, make: Callable[[Value], Any]) -> Callable[[Value], Any]:
    return lambda value: constants[value] if value in constants else make(value)


def _one(value: Value) -> Any:
    """An array of one element with as many axes, not to be written to; a scalar for a scalar."""
    one = host().xp.ones((1,) * len(value.shape), dtype=value.dtype)
    if value.scalar:
        return one[()]
    one.flags.writeable = False
    return one


def _stand_in(value: Value) -> Any:
    """An array of this shape, in the memory of one element: a one, or as an index a zero."""
    xp = host().xp
    made = (xp.zeros if value.dtype.kind in "iu" else xp.ones)((), dtype=value.dtype)
    return made[()] if value.scalar else xp.broadcast_to(made, value.shape)


def _matrix(value: Value) -> Any:
    """An array of this shape whose matrices have ones on their diagonals, and so an inverse."""
    if len(value.shape) < 2:
        return _stand_in(value)
    xp = host().xp
    return xp.broadcast_to(xp.eye(*value.shape[-2:], dtype=value.dtype), value.shape)


def _shapes(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return tuple([_shapes(part) for part in result])
    xp = host().xp
    if not isinstance(result, (xp.ndarray, xp.generic)):
        raise NoShape
    return Shaped(tuple(result.shape), result.dtype, isinstance(result, xp.generic))


def _with_shape(found: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(found, tuple) and not isinstance(found, Shaped):
        return tuple([part._replace(shape=shape) for part in found])
    return found._replace(shape=shape)


def _elementwise(function: Any, args: Any, kwargs: Any) -> Any:
    if "include_initial" in kwargs:  # one more than there are
        return None
    with quiet():
        found = _shapes(function(*mapped(_one, args), **mapped(_one, kwargs)))
    shapes = [value.shape for value in values_in((args, kwargs))]
    if any([not isinstance(part, (Value, int, float, complex, type(None))) for part in args[:1]]):
        return None  # of lists and the like
    if "shape" in kwargs:
        return _with_shape(found, _lengths(kwargs["shape"]))
    shape = broadcast_shapes(shapes)
    if isinstance(found, Shaped) and len(found.shape) != len(shape):
        return None  # of elements in a row, as by sort(axis=None), or a vector's triangle
    return _with_shape(found, shape)


def _reduction(function: Any, args: Any, kwargs: Any) -> Any:
    x = args[0]
    if not isinstance(x, Value) or len(list(values_in((args, kwargs)))) != 1:
        return None
    with quiet():
        found = _shapes(function(*mapped(_one, args), **mapped(_one, kwargs)))
    ndim = len(x.shape)
    axis = kwargs.get("axis", args[1] if len(args) > 1 else None)
    axes = range(ndim) if axis is None else (axis,) if not isinstance(axis, tuple) else axis
    reduced = {a % ndim for a in axes} if ndim else set()
    if len(found.shape) == ndim:
        return _with_shape(found, tuple([1 if i in reduced else n for i, n in enumerate(x.shape)]))
    return _with_shape(found, tuple([n for i, n in enumerate(x.shape) if i not in reduced]))


def _product(function: Any, args: Any, kwargs: Any) -> Any:
    a, b = args[:2]
    if kwargs or len(args) != 2 or not (isinstance(a, Value) and isinstance(b, Value)):
        return None
    inner = b.shape[-2:][0] if b.shape else None
    if not a.shape or not b.shape or a.shape[-1] != inner:
        return None  # which the function refuses
    found = _shapes(function(_one(a), _one(b)))
    lead = broadcast_shapes([a.shape[:-2], b.shape[:-2]])
    rows = a.shape[-2:-1] if len(a.shape) > 1 else ()
    return _with_shape(found, (*lead, *rows, *(b.shape[-1:] if len(b.shape) > 1 else ())))


def _taken(function: Any, args: Any, kwargs: Any) -> Any:
    x, index = args[:2]
    axis = kwargs.get("axis", args[2] if len(args) > 2 else None)
    known = isinstance(x, Value) and isinstance(index, Value) and x.shape
    if not known or type(axis) is not int or len(args) + len(kwargs) != 3:
        return None
    first = host().xp.zeros((1,) * len(index.shape), dtype=index.dtype)
    found = _shapes(function(_one(x), first[()] if index.scalar else first, axis=axis))
    before, after = x.shape[: axis % len(x.shape)], x.shape[axis % len(x.shape) + 1 :]
    return _with_shape(found, (*before, *index.shape, *after))


def _einsum(function: Any, args: Any, kwargs: Any) -> Any:
    text, *operands = args
    if not isinstance(text, str) or "->" not in text or "." in text:
        return None
    inputs, _, output = text.replace(" ", "").partition("->")
    sizes: dict[str, int] = {}
    for letters, operand in zip(inputs.split(","), operands, strict=True):
        if len(letters) != len(operand.shape):
            return None
        for letter, n in zip(letters, operand.shape, strict=True):
            if sizes.setdefault(letter, n) not in (n, 1) and n != 1:
                return None
            sizes[letter] = max(n, sizes[letter])
    found = _shapes(function(text, *mapped(_one, operands), **kwargs))
    return _with_shape(found, tuple([sizes[letter] for letter in output]))


def _reshaped(x: Value, shape: Any, **_: Any) -> Shaped:
    xp = host().xp
    made = xp.reshape(xp.broadcast_to(xp.ones((), dtype="bool"), x.shape), shape)
    return Shaped(tuple(made.shape), x.dtype)


def _refuse_masks(index: Any, constants: Any) -> None:
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, Value) and part.dtype.kind == "b" and part not in constants:
            raise NoShape


_DRAWN = {"bernoulli": (1, "bool"), "permutation": (0, "int64"), "integers": (2, "int64")}
"""Which argument is the shape, and the dtype, of random numbers that are given no dtype."""

_RULES: dict[str, Callable[[Any, Any, Any], Any]] = {
    **dict.fromkeys(names.REDUCTIONS, _reduction),
    **dict.fromkeys(names.SAME, _elementwise),
    "matmul": _product,
    "einsum": _einsum,
    "take": _taken,
}

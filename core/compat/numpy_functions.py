"""NumPy's own functions, called on Variables: their counterparts in the differentiable namespace.

One that has no counterpart is refused by name.
"""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import Any

from core import functions
from core.compat.numpy_compositions import COMPOSITIONS
from core.errors import nearest
from core.errors.scalars import is_number, python_number
from core.graph.methods import Methods
from core.graph.variable import Variable, as_variable
from core.ops.namespace import namespace
from core.ops.operands import in_dtype_of

# NumPy's names that differ from the standard's.
_RENAMED = {
    "true_divide": "divide",
    "absolute": "abs",
    "fabs": "abs",
    "power": "pow",
    "float_power": "pow",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arctan2": "atan2",
    "arccosh": "acosh",
    "arcsinh": "asinh",
    "arctanh": "atanh",
    "concatenate": "concat",
    "transpose": "permute_dims",
    "amax": "max",
    "amin": "min",
    "conjugate": "conj",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
}

_OF_FUNCTIONS = frozenset(
    ["average", "cumprod", "diagonal", "dstack", "einsum", "fix", "fliplr", "flipud", "fmod"]
    + ["hstack", "rollaxis", "vstack"]
)
"""Functions that the standard lacks, and that `core.functions` has as NumPy has them."""


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = as_variable(x)
    if ord is None:
        return namespace.linalg.vector_norm(x, axis=axis, keepdims=keepdims)
    if axis is None and x.ndim == 2:
        return namespace.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
    if isinstance(axis, tuple) or (axis is None and x.ndim != 1):
        raise TypeError(
            "numpy.linalg.norm: expected ord=None, one axis, or an array of one or two axes, got "
            f"ord={ord!r}, axis={axis!r} and {x.ndim} axes. Norms of stacks of matrices are "
            "x.__array_namespace__().linalg.matrix_norm."
        )
    return namespace.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


def _pad(x: Any, pad_width: Any, mode: str = "constant", **keywords: Any) -> Variable:
    return functions.pad(x, pad_width, mode, **keywords)


def _split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return list(functions.split_axis(x, indices_or_sections, axis))


def _take(x: Any, indices: Any, axis: int | None = None) -> Any:
    x, at = (functions.flatten(x), 0) if axis is None else (as_variable(x), axis)
    if not -x.ndim <= at < x.ndim:
        raise IndexError(f"numpy.take: expected an axis of {x.ndim} axes, got {axis}")
    indices = indices.array if isinstance(indices, Variable) else x.backend.asarray(indices)
    if not x.xp.isdtype(indices.dtype, "integral"):
        raise TypeError(f"numpy.take: expected integers as indices, got {indices.dtype}")
    return x[(*(slice(None),) * (at % x.ndim), indices)]


_OTHERWISE = COMPOSITIONS | {"norm": _norm, "pad": _pad, "split": _split, "take": _take}
"""Functions that are here in other words."""


def _counterpart(name: str) -> Any:
    name = _RENAMED.get(name, name)
    found = _OTHERWISE.get(name) or getattr(namespace, name, None)
    if found is not None:  # the namespace keeps what it found: listing all takes long
        return found
    if name in _OF_FUNCTIONS:
        return getattr(functions, name)
    if name in vars(Methods):  # numpy.dot(x, y) is x.dot(y)
        return lambda x, *args, **kwargs: getattr(as_variable(x), name)(*args, **kwargs)
    raise TypeError(
        f"numpy.{name} has no differentiable counterpart.{nearest(name, dir(namespace))} "
        "Call it on the .array if the gradient is not needed."
    )


_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
"""Before these, NumPy makes arrays of its scalars."""


def from_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy ufunc that was called with a Variable among its inputs."""
    name = ufunc.__name__
    if method != "__call__":
        raise TypeError(f"numpy.{name}.{method} is not differentiable on Variables; use the .array")
    if kwargs.get("out") is not None:
        raise TypeError(
            f"numpy.{name} with out= (or an in-place operator such as `array += variable`) would "
            "write a Variable into a plain array and lose its history. Write `array + variable`."
        )
    if kwargs:
        raise TypeError(f"numpy.{name} on Variables takes no {', '.join(map(repr, kwargs))}")
    counterpart = _counterpart(name)
    exact = getattr(counterpart, "exact", None)
    if exact is None:
        return counterpart(*inputs)
    # An operator beside a NumPy array: it casts and refuses as the Variable's own does.
    x, y = map(python_number, inputs) if name in _COMPARISONS else inputs
    with_constant, number = getattr(exact.operation, "from_scalar", None), python_number(x)
    if with_constant is not None and is_number(x) and type(number) in (int, float):
        return with_constant.call(y, number)
    return exact(in_dtype_of(y, x), in_dtype_of(x, y))


_LOOKING = frozenset(
    ["allclose", "array2string", "array_equal", "array_equiv", "array_repr", "array_str"]
    + ["histogram", "iscomplexobj", "isclose", "isrealobj", "may_share_memory", "save", "savetxt"]
    + ["savez", "savez_compressed", "shares_memory"]
)
"""NumPy's functions that only look at what they are given: they get the arrays."""


def looking(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function of the arrays of the Variables among its arguments, at the host."""
    return function(*map(_host, args), **{name: _host(x) for name, x in kwargs.items()})


def _host(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)([_host(part) for part in x])
    return x.backend.to_host(x.array) if isinstance(x, Variable) else x


_ARGUMENTS = {"a_min": "min", "a_max": "max", "ddof": "correction"}
"""NumPy's names of arguments, for which the standard has others."""


@cache
def _names(function: Any) -> tuple[str | None, ...]:
    """The names of optional arguments by position, None for those that have to be given."""
    try:
        taken = signature(function).parameters.values()
    except ValueError:  # of a function in C, which tells none
        return ()
    optional = [p.default is not p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in taken]
    return tuple([p.name if named else None for p, named in zip(taken, optional, strict=True)])


def _by_name(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Optional arguments by their names: the standard has some in another order."""
    names = _names(function)[: len(args)]
    first = next((i for i, name in enumerate(names) if name), len(args))
    named = {str(key): x for key, x in zip(names[first:], args[first:], strict=True)} | kwargs
    return args[:first], {_ARGUMENTS.get(key, key): x for key, x in named.items()}


def from_array_function(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any
) -> Any:
    """A NumPy function that was called, in `frame`, with a Variable among its arguments."""
    if function.__name__ in ("ndim", "shape", "size") and len(args) == 1 and not kwargs:
        return getattr(args[0], function.__name__)
    if function.__name__ in _LOOKING or only_looked_at(frame):
        return looking(function, args, kwargs)
    args, kwargs = _by_name(function, args, kwargs)
    if kwargs.pop("out", None) is not None:
        raise TypeError(f"numpy.{function.__name__} with out= is refused on Variables")
    if function.__name__ == "svd" and not kwargs.pop("compute_uv", True):
        return namespace.linalg.svdvals(*args)
    if function.__module__ == "numpy.linalg" and hasattr(namespace.linalg, function.__name__):
        return getattr(namespace.linalg, function.__name__)(*args, **kwargs)
    return _counterpart(function.__name__)(*args, **kwargs)


def as_numpy(x: Any, dtype: Any, copy: bool | None) -> Any:
    """What `numpy.asarray(x)` gives of a Variable: its elements on the host."""
    if x.array is None:
        x._lacking("__array__")
    host = x.backend.to_host(x.array)
    other = dtype is not None and dtype != host.dtype
    if copy is False and (host is not x.array or other):
        raise ValueError(
            "numpy.asarray(Variable): elements of another device or dtype are a copy; leave "
            "copy=False out"
        )
    made = host if dtype is None else host.astype(dtype, copy=False)
    return made.copy() if copy and made is host else made


LOOKING = ("matplotlib.", "numpy.testing.", "pandas.", "sklearn.")
"""Libraries that draw, tabulate, compare or fit, and get the array of what needs a gradient."""


def only_looked_at(frame: Any) -> bool:
    """Whether who asks NumPy for an array is one of the libraries that only look."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "") + "."
        if module.startswith(LOOKING):
            return True
        if not module.startswith("numpy."):
            return False
        frame = frame.f_back
    return False

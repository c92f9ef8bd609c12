"""The differentiable namespace: the array standard's names, on Variables.

Gradient rules are given it in place of a backend's namespace when the graph of the gradients is
needed, and `Variable.__array_namespace__()` returns that of the Variable's backend, in which new
arrays and dtypes are those of the backend. The names come from plugins (`register_namespace`).
NumPy's own functions, called on a Variable, arrive here as well, and are refused by name where they
have no counterpart.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from core.arrays.backend import Backend, using
from core.arrays.backend import current as current_backend
from core.errors import UnknownName, nearest
from core.graph.methods import Methods
from core.graph.variable import Variable, as_variable
from core.ops.namespace_info import DTYPES, NamespaceInfo
from core.ops.operands import in_dtype_of

VERSION = "2024.12"
"""The version of the array API standard whose names these are."""

_VERSIONS = ("2021.12", "2022.12", "2023.12", VERSION)


class Namespace:
    """The standard's functions by name, on Variables, differentiable; each is looked up once.

    Dtypes, and arrays made of numbers, are those of `backend`, or of the current one without it.
    """

    __array_api_version__ = VERSION
    __name__ = "core.ops.namespace"  # as libraries ask of what might have been a module
    newaxis = None

    def __init__(self, backend: Backend | None = None) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        if name in DTYPES:
            return (self._backend or current_backend()).dtype(name)
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._placed(_find(name))
        setattr(self, name, found)
        return found

    def __array_namespace_info__(self) -> NamespaceInfo:
        """Dtypes, devices, defaults and capabilities of the backend."""
        return NamespaceInfo(self._backend or current_backend())

    def _placed(self, function: Any) -> Any:
        """A function that asks for the current backend, such that this one's is current."""
        backend = self._backend
        if backend is None or not getattr(function, "asks_for_backend", False):
            return function

        @wraps(function)
        def placed(*args: Any, **kwargs: Any) -> Any:
            if current_backend() is backend:
                return function(*args, **kwargs)
            with using(backend):
                return function(*args, **kwargs)

        return placed

    def __dir__(self) -> list[str]:
        return _names()

    def __repr__(self) -> str:
        where = f" of backend {self._backend.name!r}" if self._backend else ""
        return f"<the differentiable namespace{where}>"

    def __reduce__(self) -> Any:
        return "namespace" if self._backend is None else (namespace_of, (self._backend,))


namespace = Namespace()
_by_backend: dict[Backend, Namespace] = {}


def namespace_of(backend: Backend, api_version: str | None = None) -> Namespace:
    """The differentiable namespace whose new arrays are those of a backend.

    Raises ValueError for a version of the standard that is not among those whose names are here.
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"__array_namespace__: expected api_version to be one of {', '.join(_VERSIONS)}, "
            f"got {api_version!r}"
        )
    found = _by_backend.get(backend)
    if found is None:
        found = _by_backend.setdefault(backend, Namespace(backend))
    return found


def asking_for_backend(function: Any) -> Any:
    """Mark a function of the namespace that makes arrays or reads dtypes of the current backend."""
    function.asks_for_backend = True
    return function


def _find(name: str) -> Any:
    from core import registry

    catalogue = registry.catalogue("namespace")
    if name in catalogue:
        found = catalogue.get(name)
        # An operation, or its first call, stands for the specialised call.
        operation = getattr(found, "operation", found)
        return operation.ready_call() if hasattr(operation, "ready_call") else found
    raise UnknownName(
        f"the differentiable namespace has no {name!r}.{nearest(name, _names())} "
        "On a plain array, compute with the array's own library."
    )


def _names() -> list[str]:
    from core import registry

    provided = registry.catalogue("namespace").names()
    return sorted({*provided, *DTYPES, "newaxis"})


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


def _counterpart(name: str) -> Any:
    name = _RENAMED.get(name, name)
    if name not in _names() or name in DTYPES:
        if name in vars(Methods):  # numpy.dot(x, y) is x.dot(y)
            return lambda x, *args, **kwargs: getattr(as_variable(x), name)(*args, **kwargs)
        raise TypeError(
            f"numpy.{name} has no differentiable counterpart.{nearest(name, _names())} "
            "Call it on the .array if the gradient is not needed."
        )
    return getattr(namespace, name)


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
    x, y = inputs
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


def from_array_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function that was called with a Variable among its arguments."""
    if function.__name__ in ("ndim", "shape", "size") and len(args) == 1 and not kwargs:
        return getattr(args[0], function.__name__)
    if function.__name__ in _LOOKING:
        return looking(function, args, kwargs)
    if kwargs.get("out") is not None:
        raise TypeError(f"numpy.{function.__name__} with out= is refused on Variables")
    if function.__module__ == "numpy.linalg" and hasattr(namespace.linalg, function.__name__):
        return getattr(namespace.linalg, function.__name__)(*args, **kwargs)
    return _counterpart(function.__name__)(*args, **kwargs)

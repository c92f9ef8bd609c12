"""The differentiable namespace: the array standard's names, on Variables.

Gradient rules are given it in place of a backend's namespace when the graph of the gradients is
wanted, and `Variable.__array_namespace__()` returns it. The names behind operators stand in
`core.intrinsics`; the rest come from plugins (`register_namespace`). NumPy's own functions, called
on a Variable, arrive here as well, and are refused by name where they have no counterpart.
"""

from __future__ import annotations

from typing import Any

from core.errors import UnknownName, nearest


class Namespace:
    """The standard's functions by name, on Variables, differentiable; each is looked up once."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = _find(name)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return _names()

    def __repr__(self) -> str:
        return "<the differentiable namespace>"

    def __reduce__(self) -> str:
        return "namespace"


namespace = Namespace()


def _find(name: str) -> Any:
    from core import intrinsics, registry

    found = intrinsics.standard.get(name)
    catalogue = registry.catalogue("namespace")
    if found is None and name in catalogue:
        found = catalogue.get(name)
    if found is not None:
        # An operation, or its first call, stands for the specialised call.
        operation = getattr(found, "operation", found)
        return operation.ready_call() if hasattr(operation, "ready_call") else found
    raise UnknownName(
        f"the differentiable namespace has no {name!r}.{nearest(name, _names())} "
        "On a plain array, compute with the array's own library."
    )


def _names() -> list[str]:
    from core import intrinsics, registry

    return sorted({*intrinsics.standard, *registry.catalogue("namespace").names()})


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
    if name not in _names():
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
    return _counterpart(name)(*inputs)


def from_array_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function that was called with a Variable among its arguments."""
    if function.__name__ in ("ndim", "shape", "size") and len(args) == 1 and not kwargs:
        return getattr(args[0], function.__name__)
    if kwargs.get("out") is not None:
        raise TypeError(f"numpy.{function.__name__} with out= is refused on Variables")
    return _counterpart(function.__name__)(*args, **kwargs)

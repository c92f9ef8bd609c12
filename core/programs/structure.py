"""Arguments and results: arrays and Variables in tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import Any, NamedTuple

from core.graph.fitting import is_array
from core.graph.variable import Variable, wrap


class Leaf(NamedTuple):
    """The place of an array in a structure; `kind` is what it stands for there."""

    number: int
    kind: str  # "array", "variable", or "variable with gradient"


# So that numbers of NumPy do not compare themselves with its parts: it has no place in the class.
Leaf.__array_ufunc__ = None  # type: ignore[attr-defined]

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def flattened(tree: Any) -> tuple[list[Any], Any]:
    """The arrays in a structure, and the structure with a `Leaf` for each of them."""
    arrays: list[Any] = []
    return arrays, _form(tree, partial(_array_leaf, arrays))


def separated(tree: Any) -> tuple[list[Any], Any]:
    """All that stands in a structure, whatever it is, and the structure with a `Leaf` for each.

    >>> separated({"x": 5, "rest": (None,)})[0]
    [5, None]
    """
    found: list[Any] = []
    return found, _form(tree, partial(_any_leaf, found))


def _form(part: Any, leaf: Callable[[Any], Any]) -> Any:
    """The structure with `leaf(x)` for what stands in it.

    No function within another one, which would refer to itself and keep arrays until Python looks
    for cycles.
    """
    if isinstance(part, tuple):
        parts = [_form(each, leaf) for each in part]
        return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
    if isinstance(part, (list, dict)):
        return filled(part, [_form(each, leaf) for each in _values(part)])
    return leaf(part)


def _array_leaf(arrays: list[Any], x: Any) -> Any:
    if isinstance(x, Variable):
        arrays.append(x.array)
        return Leaf(len(arrays) - 1, "variable with gradient" if x.requires_grad else "variable")
    if not isinstance(x, PLAIN) and is_array(x):
        arrays.append(x)
        return Leaf(len(arrays) - 1, "array")
    return x


def _any_leaf(found: list[Any], x: Any) -> Leaf:
    found.append(x)
    return Leaf(len(found) - 1, "array")


def rebuilt(form: Any, put: Callable[[Leaf], Any]) -> Any:
    """The structure with `put(leaf)` for each leaf."""
    if isinstance(form, Leaf):
        return put(form)
    if isinstance(form, tuple):
        parts = [rebuilt(each, put) for each in form]
        return type(form)(*parts) if hasattr(form, "_fields") else tuple(parts)
    if isinstance(form, (list, dict)):
        return filled(form, [rebuilt(each, put) for each in _values(form)])
    return form


def _values(part: Any) -> Any:
    return part.values() if isinstance(part, dict) else part


def filled(like: Any, values: list[Any]) -> Any:
    """A list or dict like another one, of its class, with other values.

    >>> from collections import OrderedDict
    >>> found = filled(OrderedDict(x=1, y=2), [3, 4])
    >>> type(found).__name__, *found.items()
    ('OrderedDict', ('x', 3), ('y', 4))
    """
    if type(like) is list:
        return values
    if type(like) is dict:
        return dict(zip(like, values, strict=True))
    made = copy(like)
    for key, value in zip(
        like if isinstance(like, dict) else range(len(like)), values, strict=True
    ):
        made[key] = value
    return made


def leaves(form: Any) -> Iterator[Any]:
    """What stands in a structure: each `Leaf`, and whatever else there is.

    >>> list(leaves({"x": Leaf(1, "array"), "rest": (None, [3])}))
    [Leaf(number=1, kind='array'), None, 3]
    """
    if isinstance(form, dict):
        form = tuple(form.values())
    if isinstance(form, (tuple, list)) and not isinstance(form, Leaf):
        for part in form:
            yield from leaves(part)
    else:
        yield form


def builder(form: Any) -> Callable[[Any], Any]:
    """A function of all arrays that gives the structure with them in their places.

    >>> builder({"x": Leaf(1, "array"), "rest": (Leaf(0, "array"), 3)})([5, 6])
    {'x': 6, 'rest': (5, 3)}
    """
    scope: dict[str, Any] = {"wrap": wrap, "filled": filled}
    return eval(f"lambda arrays: {_text(form, scope)}", scope)  # type: ignore[no-any-return]


def _text(part: Any, scope: dict[str, Any]) -> str:
    if isinstance(part, Leaf):
        array = f"arrays[{part.number}]"
        return array if part.kind == "array" else f"wrap({array})"
    if type(part) is dict:
        items = [f"{_bound(k, scope)}: {_text(v, scope)}" for k, v in part.items()]
        return "{" + ", ".join(items) + "}"
    if isinstance(part, (list, dict)):
        values = f"[{', '.join([_text(each, scope) for each in _values(part)])}]"
        return values if type(part) is list else f"filled({_bound(part, scope)}, {values})"
    if isinstance(part, tuple):
        inside = "".join([_text(each, scope) + ", " for each in part])
        named = hasattr(part, "_fields")
        return f"{_bound(type(part), scope)}({inside})" if named else f"({inside})"
    return _bound(part, scope)


def _bound(x: Any, scope: dict[str, Any]) -> str:
    name = f"k{len(scope)}"
    scope[name] = x
    return name


def described(form: Any) -> str:
    """A structure in words, for messages.

    >>> described({"x": Leaf(0, "array"), "rest": (Leaf(1, "variable"), 3)})
    "{'x': array, 'rest': (variable, 3)}"
    """
    if isinstance(form, Leaf):
        return form.kind
    if isinstance(form, dict):
        return "{" + ", ".join([f"{key!r}: {described(part)}" for key, part in form.items()]) + "}"
    if isinstance(form, (tuple, list)):
        parts = ", ".join([described(part) for part in form])
        return f"[{parts}]" if isinstance(form, list) else f"({parts})"
    return repr(form)


def alike(one: Any, other: Any) -> bool:
    """Whether two structures are the same; arrays and Variables may stand for each other."""
    if isinstance(one, Leaf) or isinstance(other, Leaf):
        return isinstance(one, Leaf) and isinstance(other, Leaf)
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all([alike(one[k], other[k]) for k in one])
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(alike, one, other))
    try:
        return one is other or bool(one == other or (one != one and other != other))  # no number
    except ValueError:  # objects that hold arrays
        return False

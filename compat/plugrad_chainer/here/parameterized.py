"""Test cases that become several, under decorators that may stand above each other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core import testing

__all__ = [
    "from_pytest_parameterize",
    "parameterize",
    "parameterize_pytest",
    "product",
    "product_dict",
]

product_dict = testing.product_dict


class Cases(list[type]):
    """What a test case has become, for the decorators above."""

    def each(self, decorate: Callable[[type], Any]) -> Cases:
        """What the cases become by another decorator."""
        found = Cases()
        for case in self:
            made = decorate(case)
            found += made if isinstance(made, Cases) else [made]
            if isinstance(made, Cases):  # the case gives way to them
                vars(sys.modules[case.__module__]).pop(case.__name__, None)
        return found


def parameterize(*params: Mapping[str, Any]) -> Callable[[Any], Cases]:
    """Run a test case once for each of the dicts, whose entries are attributes of the case."""

    def decorate(case: Any) -> Cases:
        if isinstance(case, Cases):
            return case.each(decorate)
        testing.parameterize(*params)(case)
        made = vars(sys.modules[case.__module__])
        return Cases([made[f"{case.__name__}_param_{i}"] for i in range(len(params))])

    return decorate


def from_pytest_parameterize(names: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    """The dicts of names with commas between, and a value, or a row, for each case.

    >>> from_pytest_parameterize("a,b", [(1, 2), (3, 4)])
    [{'a': 1, 'b': 2}, {'a': 3, 'b': 4}]
    """
    keys = [name.strip() for name in names.split(",")]
    rows = [row if len(keys) > 1 else (row,) for row in values]
    return [dict(zip(keys, row, strict=True)) for row in rows]


def parameterize_pytest(names: str, values: Sequence[Any]) -> Callable[[Any], Cases]:
    """`parameterize` with names and rows, as pytest writes them."""
    return parameterize(*from_pytest_parameterize(names, values))


def product(parameter: Any) -> list[dict[str, Any]]:
    """Every combination: of the values of each name or names, or of one dict of each list.

    >>> product({"a,b": [(1, 2), (3, 4)], "c": [5]})
    [{'a': 1, 'b': 2, 'c': 5}, {'a': 3, 'b': 4, 'c': 5}]
    >>> product([[{"a": 1}, {"a": 2}], [{"b": 3}]])
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    if isinstance(parameter, Mapping):
        rows = [from_pytest_parameterize(*item) for item in sorted(parameter.items())]
        return product_dict(*rows)
    if not isinstance(parameter, list):
        raise TypeError(f"product: expected a dict or a list of lists, got {parameter!r}")
    return product_dict(*parameter)

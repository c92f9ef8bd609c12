"""Test cases of `unittest` that run once for each set of parameters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import product as combinations
from types import FunctionType
from typing import Any
from unittest import TestCase


def product(parameter: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every combination of the values of each parameter.

    >>> product({"a": [1, 2], "b": ["x", "y"]})
    [{'a': 1, 'b': 'x'}, {'a': 1, 'b': 'y'}, {'a': 2, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    """
    return [
        dict(zip(parameter, values, strict=True)) for values in combinations(*parameter.values())
    ]


def product_dict(*parameters: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every combination of one dict of each sequence, merged.

    >>> product_dict([{"a": 1}, {"a": 2}], [{"b": 3}])
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    return [{k: v for each in row for k, v in each.items()} for row in combinations(*parameters)]


def parameterize(*params: Mapping[str, Any]) -> Callable[[type[TestCase]], None]:
    """Run a test case once for each of the dicts, whose entries are attributes of the case.

    The class gives way to one for each of them, called `NAME_param_0` and so on in its module.

        @parameterize(*product({"shape": [(3, 2), ()], "dtype": ["float32", "float64"]}))
        class TestMine(unittest.TestCase):
            def test_dtype(self):
                self.assertEqual(mine(np.zeros(self.shape, self.dtype)).dtype, self.dtype)

    Raises:
        TypeError: What it decorates is no `unittest.TestCase`.
    """

    def decorate(case: type[TestCase]) -> None:
        if not (isinstance(case, type) and issubclass(case, TestCase)):
            raise TypeError(f"parameterize: expected a unittest.TestCase, got {case!r}")
        for i, param in enumerate(params):
            name = f"{case.__name__}_param_{i}"
            setattr(sys.modules[case.__module__], name, _with(case, name, param))

    return decorate


def _with(case: type[TestCase], name: str, param: Mapping[str, Any]) -> type[TestCase]:
    def described(self: TestCase) -> str:
        return f"{case.__str__(self)}  parameter: {dict(param)}"

    # A function stays what it is, and becomes no method.
    own = {k: staticmethod(v) if isinstance(v, FunctionType) else v for k, v in param.items()}
    made = {"__module__": case.__module__, "__qualname__": name, "__str__": described}
    return type(name, (case,), {**made, **own})

"""The proof of a function of one array that NumPy has as well, as a test case of `unittest`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import isfunction, signature
from typing import Any
from unittest import TestCase

import numpy as np

from core.arrays.backend import available
from core.arrays.backend import get as get_backend
from core.graph.variable import Variable
from core.ops.function_node import FunctionNode
from core.testing.demand import demand
from core.testing.gradient_check import assert_allclose, check_backward, check_double_backward
from core.testing.parameterized import parameterize, product

_PARAMETERS = product({"shape": [(3, 2), ()], "dtype": ["float16", "float32", "float64"]})
_FORWARD = {"float16": 1e-3, "float32": 1e-5, "float64": 1e-9}


def unary_math_function_unittest(
    func: Any,
    func_expected: Callable[..., Any] | None = None,
    label_expected: str | None = None,
    make_data: Callable[..., tuple[Any, ...]] | None = None,
    is_linear: bool | None = None,
    forward_options: Mapping[str, Any] | None = None,
    backward_options: Mapping[str, Any] | None = None,
    double_backward_options: Mapping[str, Any] | None = None,
) -> Callable[[type[TestCase]], None]:
    """Fill a test case: values, gradients of two orders and the label of a function of one array.

        @unary_math_function_unittest(F.Sin())
        class TestSin(unittest.TestCase):
            pass

    The class gives way to one for each shape and dtype, as with `parameterize`.

    Args:
        func: A function, or an instance of its class, such as `F.sin` or `F.Sin()`.
        func_expected: The same on arrays; by default NumPy's function of the name in lower case.
            A function with an argument `dtype` is given that of the result as well.
        label_expected: What graphs call it; by default that name.
        make_data: Takes a shape and a dtype and returns an input, a gradient of the output and, if
            it likes, one of the input's gradient; by default all are between -1 and 1.
        is_linear: Of no effect: linear functions are like others.
        forward_options: Arguments of `assert_allclose`, in place of those by dtype.
        backward_options: The same of `check_backward`.
        double_backward_options: The same of `check_double_backward`.

    Raises:
        ValueError: NumPy has no function of that name, and `func_expected` is not given.
    """
    name = (getattr(func, "__name__", None) or type(func).__name__).lower()
    expected = func_expected or getattr(np, name, None)
    if expected is None:
        raise ValueError(
            f"unary_math_function_unittest: NumPy has no function {name!r}; give func_expected"
        )
    if not (isfunction(expected) and "dtype" in signature(expected).parameters):
        expected = partial(_without_dtype, expected)
    members = {
        "func": staticmethod(func),
        "expected": staticmethod(expected),
        "label": label_expected or name,
        "make_data": staticmethod(make_data or _uniform),
        "options": (forward_options or {}, backward_options or {}, double_backward_options or {}),
    }

    def decorate(case: type[TestCase]) -> None:
        made = type(case.__name__, (case, _Unary), {"__module__": case.__module__, **members})
        parameterize(*_PARAMETERS)(made)

    return decorate


def _without_dtype(expected: Callable[..., Any], x: Any, dtype: Any) -> Any:
    return expected(x)


def _uniform(shape: tuple[int, ...], dtype: str) -> tuple[Any, Any]:
    x, gy = np.random.uniform(-1, 1, (2, *shape)).astype(dtype)
    return np.asarray(x), np.asarray(gy)


class _Unary(TestCase):
    """The tests; `shape` and `dtype` are those of a parameterized case."""

    func: Any
    expected: Any
    label: str
    make_data: Any
    options: tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]
    shape: tuple[int, ...]
    dtype: str

    def setUp(self) -> None:
        super().setUp()
        made = self.make_data(self.shape, self.dtype)
        self.x, self.gy, self.ggx, *_ = [np.asarray(x) for x in (*made, made[-1])]

    def test_forward_cpu(self) -> None:
        """On NumPy."""
        self._check_forward("numpy")

    def test_forward_gpu(self) -> None:
        """On CUDA."""
        self._check_forward("cuda")

    def test_backward_cpu(self) -> None:
        """On NumPy."""
        self._check_backward("numpy")

    def test_backward_gpu(self) -> None:
        """On CUDA."""
        self._check_backward("cuda")

    def test_label(self) -> None:
        """What a graph calls the function."""
        y = self.func(Variable(self.x))
        label = self.func.label if isinstance(self.func, FunctionNode) else y.creator.label
        demand(label == self.label, f"expected the label {self.label!r}, got {label!r}")

    def _on(self, backend: str) -> tuple[Any, Any, Any]:
        missing = available().get(backend, "no such backend")
        if missing is not None:
            self.skipTest(f"{backend}: {missing}")
        asarray = get_backend(backend).asarray
        return asarray(self.x), asarray(self.gy), asarray(self.ggx)

    def _check_forward(self, backend: str) -> None:
        x, _, _ = self._on(backend)
        y = self.func(Variable(x))
        demand(y.dtype == self.x.dtype, f"expected the dtype {self.dtype}, got {y.dtype}")
        near = _FORWARD[np.dtype(self.dtype).name]
        exact = self.expected(self.x.astype("float64"), dtype=self.x.dtype).astype(self.dtype)
        options = {"atol": near, "rtol": near, **self.options[0]}
        assert_allclose(y, np.asarray(exact), **options)

    def _check_backward(self, backend: str) -> None:
        x, gy, ggx = self._on(backend)
        near: Any = {"dtype": "float64", "atol": 1e-4, "rtol": 1e-4}
        check_backward(self.func, x, gy, **{**near, **self.options[1]})
        squared = {**near, **self.options[2]}
        check_double_backward(lambda v: self.func(v) ** 2, x, gy, ggx, **squared)

"""What test suites written for Chainer take from its testing module."""

import sys
import unittest

import numpy as np
import pytest

import core.functions as F
from core.ops.function_node import FunctionNode
from core.testing import (
    condition,
    parameterize,
    product,
    product_dict,
    unary_math_function_unittest,
)


def positive(shape, dtype):
    return (np.random.uniform(0.5, 2, shape).astype(dtype), np.ones(shape, dtype))


@unary_math_function_unittest(F.Sin())
class TestSin(unittest.TestCase):
    pass


@unary_math_function_unittest(F.sqrt, make_data=positive)
class TestSqrt(unittest.TestCase):
    pass


@unary_math_function_unittest(
    F.rsqrt, lambda x: 1 / np.sqrt(x), label_expected="rsqrt", make_data=positive
)
class TestRsqrt(unittest.TestCase):
    pass


def run(*cases):
    """Results by what the tests are called: none where they passed."""
    suite = unittest.TestSuite()
    for case in cases:
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = unittest.TestResult()
    suite.run(result)
    return suite.countTestCases(), {str(t).split()[0] for t, _ in result.failures + result.errors}


def made(name):
    """The classes that a decorator left in this module in the place of one."""
    here = vars(sys.modules[__name__])
    return [here.pop(key) for key in list(here) if key.startswith(f"{name}_param_")]


def test_the_class_gives_way_to_one_for_each_shape_and_dtype():
    assert TestSin is None
    cases = [v for k, v in globals().items() if k.startswith("TestSin_param_")]
    parameters = {(case.shape, case.dtype) for case in cases}
    assert len(parameters) == len(cases) == 6
    assert all(case.__module__ == __name__ for case in cases)


class Bad(FunctionNode):
    """sin with another gradient, and no label."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (np.sin(inputs[0]),)

    def backward(self, indexes, grad_outputs):
        return (grad_outputs[0] * F.cos(self.get_retained_inputs()[0]) * 1.5,)


def widened(x):
    return F.cast(F.sin(x), "float64")


@pytest.mark.parametrize(
    ("func", "settings", "expected"),
    [
        (F.sin, {"func_expected": np.cos}, {"test_forward_cpu"}),
        (F.sin, {"label_expected": "sine"}, {"test_label"}),
        (widened, {"func_expected": np.sin}, {"test_forward_cpu", "test_label"}),
        (Bad(), {"func_expected": np.sin, "label_expected": "Bad"}, {"test_backward_cpu"}),
    ],
)
def test_what_is_wrong_fails(func, settings, expected):
    class Wrong(unittest.TestCase):
        pass

    unary_math_function_unittest(func, **settings)(Wrong)
    count, failed = run(*made("Wrong"))
    assert count == 30 and failed == expected


def test_a_function_that_numpy_has_not():
    with pytest.raises(ValueError, match="NumPy has no function 'relu'; give func_expected"):
        unary_math_function_unittest(F.relu)


def test_parameters_become_attributes():
    seen = []

    class Each(unittest.TestCase):
        def test(self):
            seen.append((self.a, self.b, self.f(2)))
            self.assertLess(self.a, 3, "of a")

    assert (
        parameterize({"a": 1, "b": "x", "f": abs}, {"a": 3, "b": "y", "f": lambda v: -v})(Each)
        is None
    )
    cases = made("Each")
    assert [case.__name__ for case in cases] == ["Each_param_0", "Each_param_1"]
    assert run(*cases) == (2, {"test"})
    assert seen == [(1, "x", 2), (3, "y", -2)]
    assert str(cases[0]("test")).endswith(
        "parameter: {'a': 1, 'b': 'x', 'f': <built-in function abs>}"
    )
    with pytest.raises(TypeError, match="parameterize: expected a unittest.TestCase"):
        parameterize({})(int)


def test_products():
    assert product({"a": [1, 2], "b": "xy"}) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]
    assert product_dict([{"a": 1}, {"a": 2}], [{"b": 3, "c": 4}]) == [
        {"a": 1, "b": 3, "c": 4},
        {"a": 2, "b": 3, "c": 4},
    ]


@pytest.mark.parametrize(
    ("decorate", "outcomes", "passes", "runs"),
    [
        (condition.retry(3), "FFS", True, 3),
        (condition.retry(3), "SFF", True, 1),
        (condition.retry(3), "FFF", False, 3),
        (condition.repeat(3), "SSS", True, 3),
        (condition.repeat(3), "SFS", False, 2),
        (condition.repeat_with_success_at_least(4, 2), "FSSF", True, 3),
        (condition.repeat_with_success_at_least(4, 2), "FFSF", False, 4),
    ],
)
def test_tests_that_may_fail_now_and_then(decorate, outcomes, passes, runs):
    ran = []

    @decorate
    def test(x):
        ran.append(x)
        assert outcomes[len(ran) - 1] == "S"

    if passes:
        test(1)
    else:
        with pytest.raises(AssertionError):
            test(1)
    assert ran == [1] * runs


def test_a_skipped_test_is_not_repeated():
    @condition.retry(3)
    def test():
        raise unittest.SkipTest("why")

    with pytest.raises(unittest.SkipTest, match="why"):
        test()

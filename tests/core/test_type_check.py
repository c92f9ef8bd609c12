"""The type-check language: what it says when a rule fails, and that both its modes agree."""

import pickle
import subprocess
import sys
import threading
from types import SimpleNamespace

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.utils.type_check as by_its_old_name
from core.compat import type_check
from core.compat.type_check import InvalidType, Variable, expect, prod
from core.errors import CoreError


class Rules:
    """A function that is nothing but its type check."""

    label = "Rules"

    def __init__(self, rules):
        self.check_type_forward = rules


def spec(shape, dtype="float32"):
    dtype = np.dtype(dtype)
    return SimpleNamespace(shape=shape, dtype=dtype, kind=dtype.kind, name=dtype.name)


def strict_spec(shape, name="float32", kind="f"):
    return SimpleNamespace(shape=shape, dtype=getattr(strict, name), kind=kind, name=name)


def failure(rules, *specs, names=()):
    with pytest.raises(InvalidType) as caught:
        type_check.check(Rules(rules), specs, "Rules", names)
    return caught.value


def test_the_three_parts_of_the_message():
    error = failure(lambda t: expect(t[0].shape[1] == t[1].shape[1]), spec((2, 3)), spec((5, 4)))
    assert str(error).startswith(
        "\nInvalid operation is performed in: Rules (Forward)\n\n"
        "Expect: in_types[0].shape[1] == in_types[1].shape[1]\n"
        "Actual: 3 != 4\n\n"
    )


def test_inputs_are_called_by_their_names():
    error = failure(lambda t: expect(t[1].ndim == 2), spec((2,)), spec((2,)), names=["x", "W"])
    assert error.expect == "W.ndim == 2"
    assert error.actual == "1 != 2"


def test_the_error_is_of_the_core_and_of_the_fitting_builtins():
    assert issubclass(InvalidType, (CoreError,))
    assert issubclass(InvalidType, TypeError)
    assert issubclass(InvalidType, ValueError)
    assert by_its_old_name.InvalidType is InvalidType


def test_the_error_survives_pickling():
    error = failure(lambda t: expect(t[0].ndim == 2), spec((2,)))
    duplicate = pickle.loads(pickle.dumps(error))
    assert (str(duplicate), duplicate.expect, duplicate.actual) == (
        str(error),
        error.expect,
        error.actual,
    )


def test_rules_that_hold_run_once_and_on_plain_values():
    seen = []

    def rules(in_types):
        seen.append((type_check.in_light_mode(), type(in_types[0].ndim)))
        expect(in_types.size() == 1, in_types[0].ndim == 2)

    type_check.check(Rules(rules), [spec((2, 3))], "Rules")
    assert seen == [(True, int)]
    assert not type_check.in_light_mode()


def test_rules_that_fail_run_again_on_expressions():
    modes = []

    def rules(in_types):
        modes.append(type_check.in_light_mode())
        expect(in_types[0].ndim == 3)

    failure(rules, spec((2, 3)))
    assert modes == [True, False]


def test_conditions_are_reported_in_order_even_where_light_values_do_not_exist():
    error = failure(lambda t: expect(t[0].ndim == 2, t[0].shape[1] == 3), spec(()))
    assert error.expect == "in_types[0].ndim == 2"


def test_a_value_that_does_not_exist_is_a_failed_condition():
    error = failure(lambda t: expect(t[0].shape[1] == 3), spec((2,)))
    assert error.expect == "in_types[0].shape[1] == 3"
    assert error.actual == "IndexError: tuple index out of range"


def test_errors_of_the_rules_themselves_come_through():
    def rules(in_types):
        raise RuntimeError("a slip")

    with pytest.raises(RuntimeError, match="a slip"):
        type_check.check(Rules(rules), [spec(())], "Rules")


def test_rules_that_fail_only_the_first_time_still_fail():
    def rules(in_types):
        if type_check.in_light_mode():
            expect(in_types[0].ndim == 5)

    error = failure(rules, spec((2,)))
    assert error.expect == "condition 1 of the type check"


def test_a_plain_bool_that_fails_is_named_by_its_place():
    error = failure(lambda t: expect(t[0].ndim == 1, 1 > 2), spec((2,)))
    assert error.expect == "condition 2 of the type check"


@pytest.mark.parametrize(
    ("rule", "expected", "actual"),
    [
        (lambda t: t.size() == 3, "in_types.size() == 3", "2 != 3"),
        (lambda t: t[0].dtype == t[1].dtype, "x.dtype == y.dtype", "float32 != int32"),
        (lambda t: t[0].dtype == np.float64, "x.dtype == float64", "float32 != float64"),
        (lambda t: t[0].dtype == np.dtype("i"), "x.dtype == int32", "float32 != int32"),
        (lambda t: t[0].dtype.kind == "i", "x.dtype.kind == 'i'", "'f' != 'i'"),
        (lambda t: t[0].dtype.name == "int8", "x.dtype.name == 'int8'", "'float32' != 'int8'"),
        (lambda t: t[0].shape[1:] == (4,), "x.shape[1:] == (4,)", "(3,) != (4,)"),
        (lambda t: t[0].shape[::-1] == (2, 3), "x.shape[::-1] == (2, 3)", "(3, 2) != (2, 3)"),
        (lambda t: t[0].shape[:-1] == (1,), "x.shape[:-1] == (1,)", "(2,) != (1,)"),
        (lambda t: t[0].size < 6, "x.size < 6", "6 >= 6"),
        (lambda t: t[0].ndim <= 1, "x.ndim <= 1", "2 > 1"),
        (lambda t: t[0].ndim > 2, "x.ndim > 2", "2 <= 2"),
        (lambda t: t[0].ndim >= 3, "x.ndim >= 3", "2 < 3"),
        (lambda t: t[0].ndim != 2, "x.ndim != 2", "2 == 2"),
        (lambda t: t[0].ndim + 1 == 2, "x.ndim + 1 == 2", "3 != 2"),
        (lambda t: 1 + t[0].ndim == 2, "1 + x.ndim == 2", "3 != 2"),
        (lambda t: 9 - t[0].ndim - 1 == 2, "9 - x.ndim - 1 == 2", "6 != 2"),
        (lambda t: 9 - (t[0].ndim - 1) == 2, "9 - (x.ndim - 1) == 2", "8 != 2"),
        (lambda t: (t[0].ndim + 1) * 2 == 2, "(x.ndim + 1) * 2 == 2", "6 != 2"),
        (lambda t: t[0].ndim + 1 * 2 == 2, "x.ndim + 2 == 2", "4 != 2"),
        (lambda t: t[0].shape[0] * t[0].shape[1] == 5, "x.shape[0] * x.shape[1] == 5", "6 != 5"),
        (lambda t: t[0].shape[1] % 2 == 0, "x.shape[1] % 2 == 0", "1 != 0"),
        (lambda t: 7 % t[0].shape[1] == 0, "7 % x.shape[1] == 0", "1 != 0"),
        (lambda t: t[0].shape[1] // 2 == 0, "x.shape[1] // 2 == 0", "1 != 0"),
        (lambda t: 7 // t[0].shape[1] == 0, "7 // x.shape[1] == 0", "2 != 0"),
        (lambda t: t[0].shape[1] / 2 == 0, "x.shape[1] / 2 == 0", "1.5 != 0"),
        (lambda t: 3 / t[0].shape[1] == 0, "3 / x.shape[1] == 0", "1.0 != 0"),
        (lambda t: -t[0].ndim == 2, "-x.ndim == 2", "-2 != 2"),
        (lambda t: (-t[0].ndim) ** 2 == 2, "(-x.ndim) ** 2 == 2", "4 != 2"),
        (lambda t: -(t[0].ndim ** 2) == 2, "-x.ndim ** 2 == 2", "-4 != 2"),
        (lambda t: 2 ** t[0].ndim ** 2 == 2, "2 ** x.ndim ** 2 == 2", "16 != 2"),
        (lambda t: (2 ** t[0].ndim) ** 2 == 2, "(2 ** x.ndim) ** 2 == 2", "16 != 2"),
        (lambda t: abs(t[0].ndim) == 1, "abs(x.ndim) == 1", "2 != 1"),
        (lambda t: t[0].shape.count(2) == 3, "x.shape.count(2) == 3", "1 != 3"),
        (lambda t: prod(t[0].shape) == 5, "prod(x.shape) == 5", "6 != 5"),
        (lambda t: prod(t[0].shape[1:]) == 5, "prod(x.shape[1:]) == 5", "3 != 5"),
        (lambda t: t[0].shape[t[1].ndim] == 5, "x.shape[y.ndim] == 5", "3 != 5"),
        (lambda t: t[0].shape + (1,) == (), "x.shape + (1,) == ()", "(2, 3, 1) != ()"),
    ],
)
def test_what_failed_conditions_say(rule, expected, actual):
    error = failure(lambda t: expect(rule(t)), spec((2, 3)), spec((1,), "int32"), names=["x", "y"])
    assert (error.expect, error.actual) == (expected, actual)


def test_numpy_scalars_and_classes_on_the_left_leave_the_comparison_to_the_expression():
    error = failure(lambda t: expect(np.int64(3) == t[0].ndim), spec((2,)))
    assert error.expect.startswith("in_types[0].ndim == ")
    error = failure(lambda t: expect(np.float64 == t[0].dtype), spec((2,)))
    assert error.expect == "in_types[0].dtype == float64"


def test_conditions_work_where_python_needs_plain_values():
    def rules(t):
        x, y = t
        if x.ndim == 2 and y.ndim == 1:
            for i in range(x.ndim):
                expect(x.shape[i] == i + 2)
        for size in y.shape:
            expect(size > 1)
        expect(1 < len(y.shape) < 3)

    error = failure(rules, spec((2, 3)), spec((4,)))
    assert error.expect == "condition 1 of the type check"
    error = failure(rules, spec((2, 4)), spec((4,)))
    assert error.expect == "in_types[0].shape[1] == 3"
    error = failure(rules, spec((2, 3)), spec((1,)))
    assert error.expect == "in_types[1].shape[0] > 1"


def test_and_between_conditions_reports_the_one_that_failed():
    error = failure(lambda t: expect(t[0].ndim == 1 and t[0].shape[0] == 3), spec((2,)))
    assert error.expect == "in_types[0].shape[0] == 3"


def test_eval_gives_plain_values_in_both_modes():
    seen = []

    def rules(t):
        seen.append(type_check.eval(t[0].shape[0] + 1))
        expect(t[0].ndim == 2)

    failure(rules, spec((4,)))
    assert seen == [5, 5]
    assert type_check.eval((1, Variable(2, "n"))) == (1, 2)


def test_make_variable_names_a_value():
    axis = 3

    def rules(t):
        expect(type_check.make_variable(axis, "axis") < t[0].ndim)

    error = failure(rules, spec((2,)))
    assert (error.expect, error.actual) == ("axis < in_types[0].ndim", "3 >= 1")
    with type_check.light_mode:
        assert type_check.make_variable(axis, "axis") == 3


def test_argname_names_inputs_and_counts_them():
    def rules(t):
        type_check.argname(t, ("x", "W"))
        expect(t[0].ndim == t[1].ndim)

    assert failure(rules, spec((2,)), spec((2, 3))).expect == "x.ndim == W.ndim"
    error = failure(rules, spec((2,)))
    assert (error.expect, error.actual) == ("2 inputs (x, W)", "1 inputs")


def test_light_mode_nests_and_is_left_by_an_error():
    with pytest.raises(RuntimeError), type_check.light_mode:
        with type_check.light_mode:
            assert type_check.in_light_mode()
        assert type_check.in_light_mode()
        raise RuntimeError
    assert not type_check.in_light_mode()


def test_light_mode_is_of_one_thread():
    seen = []
    with type_check.light_mode:
        thread = threading.Thread(target=lambda: seen.append(type_check.in_light_mode()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_broadcasting_shapes():
    def rules(t):
        type_check.expect_broadcast_shapes(t[0].shape, t[1].shape)

    type_check.check(Rules(rules), [spec((2, 1)), spec((3,))], "Rules")
    error = failure(rules, spec((2, 3)), spec((4,)), names=["x", "y"])
    assert error.expect == "shapes that broadcast: x.shape and y.shape"
    assert error.actual == "(2, 3) and (4,)"


@given(st.lists(st.lists(st.integers(0, 3), max_size=3).map(tuple), min_size=1, max_size=3))
def test_broadcasting_agrees_with_numpy(shapes):
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(InvalidType):
            type_check.expect_broadcast_shapes(*shapes)
    else:
        type_check.expect_broadcast_shapes(*shapes)


@given(st.lists(st.integers(-4, 4), min_size=3, max_size=3), st.data())
def test_the_text_of_an_expression_is_python_of_the_same_value(values, data):
    """Whatever is built from names and operators: its text, evaluated, has its value."""
    names = dict(zip("abc", values, strict=True))

    def grow(pieces):
        pair = st.tuples(pieces, pieces)
        return st.one_of(
            pieces.map(lambda x: -x),
            pair.map(lambda p: p[0] + p[1]),
            pair.map(lambda p: p[0] - p[1]),
            pair.map(lambda p: p[0] * p[1]),
            pieces.map(lambda x: x**2),
            pieces.map(abs),
            pair.map(lambda p: p[0] == p[1]),
            pair.map(lambda p: p[0] < p[1]),
        )

    leaves = st.sampled_from([Variable(value, name) for name, value in names.items()])
    expression = data.draw(st.recursive(leaves, grow, max_leaves=6))
    assert eval(str(expression), {"abs": abs}, names) == type_check.eval(expression)


# ---------------------------------------------------------------------- dtypes of other libraries


def test_dtypes_without_a_kind_get_one():
    def rules(t):
        expect(
            t[0].dtype.kind == "f",
            t[0].dtype == strict.float32,
            t[0].dtype == np.float32,
            t[0].dtype == np.dtype("float32"),
            t[0].dtype == "float32",
            t[0].dtype == "f",
            t[0].dtype == t[0].dtype,
            t[0].dtype != t[1].dtype,
            t[0].dtype != strict.float64,
            t[0].dtype != "d",
        )

    specs = [strict_spec((2,)), strict_spec((2,), "int32", "i")]
    type_check.check(Rules(rules), specs, "Rules")
    error = failure(lambda t: expect(t[0].dtype == t[1].dtype), *specs)
    assert error.actual == "float32 != int32"


def test_dtypes_of_numpy_stay_themselves():
    types = []
    type_check.check(Rules(types.append), [spec((2,))], "Rules")
    assert types[0][0].dtype is np.dtype("float32")


# ---------------------------------------------------------------------- from arrays


def test_types_of_arrays():
    arrays = [np.zeros((2, 3), "f"), None]
    light = type_check.get_light_types(arrays)
    assert (light.size(), light[0].shape, light[0].size, light[1]) == (2, (2, 3), 6, None)
    full = type_check.get_types(arrays, "inputs", True)
    assert str(full.size() == 2) == "inputs.size() == 2"
    with pytest.raises(InvalidType, match=r"inputs\[0\]\.ndim == 1"):
        expect(full[0].ndim == 1)
    with pytest.raises(TypeError, match=r"inputs\[1\]: expected an array, got None"):
        type_check.get_types(arrays, "inputs", False)


def test_types_of_strict_arrays_and_given_shapes():
    (info,) = type_check.get_light_types([strict.zeros((2, 3))], shapes=[(7,)])
    assert (info.shape, info.ndim, info.dtype.kind) == ((7,), 1, "f")


def test_same_types():
    a, b = np.zeros(2), strict.zeros(2)
    assert type_check.same_types(a, a)
    assert not type_check.same_types(a, b)
    assert type_check.same_types(core.Variable(a), a)


def test_the_context_names_the_function_by_its_label():
    named = pytest.raises(InvalidType, match=r"performed in: Rules \(Forward\)")
    with named, type_check.get_function_check_context(Rules(None)):
        raise InvalidType("this", "that")


def test_an_own_message_replaces_the_text():
    assert str(InvalidType("this", "that", "in my own words")) == "in my own words"


# ---------------------------------------------------------------------- in the engine


class Pair(core.FunctionNode):
    def check_type_forward(self, in_types):
        expect(in_types.size() == 2)
        x, y = in_types
        expect(x.dtype.kind == "f", x.shape == y.shape)

    def forward(self, inputs):
        return (inputs[0] + inputs[1],)


def test_functions_are_checked_when_applied():
    x = np.zeros((2, 3), "f")
    Pair().apply((x, x))
    with pytest.raises(InvalidType) as caught:
        Pair().apply((x, x[:1]))
    assert str(caught.value).startswith(
        "\nInvalid operation is performed in: Pair (Forward)\n\n"
        "Expect: in_types[0].shape == in_types[1].shape\n"
        "Actual: (2, 3) != (1, 3)\n\n"
        "Inputs: in_types[0] (2, 3) float32, in_types[1] (1, 3) float32\nLine: "
    )


def test_checks_can_be_switched_off():
    x = np.zeros((2, 3), "f")
    with core.using_config("type_check", False):
        (y,) = Pair().apply((x, x[:1]))
    assert y.shape == (2, 3)


def test_the_language_is_loaded_by_the_first_function_that_uses_it():
    program = """
import sys, numpy as np, core, core.functions as F
F.sum(np.ones((2, 3)), axis=1)
try:
    F.concat([np.ones((2, 3)), np.ones((2, 2))], 0)
except core.errors.InvalidType as error:
    assert "xs[1].shape[1] == xs[0].shape[1]" in str(error)
assert "core.compat.type_check" not in sys.modules

class Twice(core.FunctionNode):
    def check_type_forward(self, in_types):
        assert in_types.size() == 1 and in_types[0].ndim == 2
        self.checked = True
    def forward(self, inputs):
        return (2 * inputs[0],)

for _ in range(2):
    node = Twice()
    node.apply((np.ones((2, 3)),))
    assert node.checked and "core.compat.type_check" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)

"""Domains: the signature, what it accepts and refuses, and what a declaration may not say."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import core
from core.errors import DeclarationError, InvalidType
from core.ops.types.domain import Domain
from core.ops.types.shapes import broadcast_shapes
from core.ops.types.values import anything, axes, boolean, choice, integers, number, real

NAMES = ("x", "W", "b")


def spec(*shape, dtype="float32"):
    return SimpleNamespace(shape=shape, dtype=dtype, kind=np.dtype(dtype).kind, name=dtype)


def refusal(domain, *specs, names=NAMES):
    with pytest.raises(InvalidType) as caught:
        domain.check("Linear", names, specs)
    head, condition = str(caught.value).split("\n\n")[:2]
    assert head == "\nInvalid operation is performed in: Linear (Forward)"
    expect, actual = condition.split("\n")
    return expect.removeprefix("Expect: "), actual.removeprefix("Actual: ")


LINEAR = Domain("(n,k),(m,k),(m)?->(n,m)", x=real(-2, 2), W=real(-2, 2), b=real(-2, 2))


@given(mutually_broadcastable_shapes(num_shapes=3))
def test_broadcast_shapes_is_numpys(shapes):
    assert broadcast_shapes(shapes.input_shapes) == shapes.result_shape


def test_broadcast_shapes_refuses():
    with pytest.raises(ValueError, match=r"\(3,\), \(4,\) do not broadcast"):
        broadcast_shapes([(3,), (4,)])


def test_fitting_inputs_pass():
    LINEAR.check("Linear", NAMES, [spec(2, 3), spec(4, 3)])
    LINEAR.check("Linear", NAMES, [spec(2, 3), spec(4, 3), spec(4)])
    LINEAR.check("Linear", NAMES, [spec(0, 3), spec(4, 3), spec(4)])
    assert LINEAR.inputs == NAMES


@pytest.mark.parametrize(
    ("specs", "expect", "actual"),
    [
        ([spec(2, 3), spec(4, 5)], "x.shape[1] == W.shape[1]", "3 != 5"),
        ([spec(2, 3, 1), spec(4, 3)], "x.ndim == 2", "3 != 2"),
        ([spec(2, 3), spec(4, 3), spec(5)], "W.shape[0] == b.shape[0]", "4 != 5"),
        ([spec(2, 3)], "2 to 3 inputs", "1"),
        ([spec(2, 3), spec(4, 3, dtype="float64")], "x.dtype == W.dtype", "float32 != float64"),
        ([spec(2, 3, dtype="int32"), spec(4, 3)], "x.dtype is floating", "int32"),
    ],
)
def test_refusals_say_expect_and_actual(specs, expect, actual):
    assert refusal(LINEAR, *specs) == (expect, actual)


def test_elementwise_inputs_broadcast():
    add = Domain(x=real(-1, 1), y=real(-1, 1))
    assert str(add).startswith("(),()->(); x: real")
    assert add.elementwise and not LINEAR.elementwise
    add.check("Add", "xy", [spec(2, 1), spec(3)])
    got = refusal(add, spec(2), spec(3), names="xy")
    assert got == ("x.shape and y.shape broadcast", "(2,) and (3,)")


def test_a_check_is_left_out_once_for_derivatives_of_all_orders():
    whole = Domain(x=real(-1, 1), leave_out={"gradient": "integer-valued"})
    assert whole.leave_out == dict.fromkeys(("gradient", "double_gradient"), "integer-valued")
    once = Domain(x=real(-1, 1), leave_out={"double_gradient": "not differentiable"})
    assert list(once.leave_out) == ["double_gradient"]


def test_leading_dots_broadcast_and_others_are_equal():
    matmul = Domain("(...,n,k),(...,k,m)->(...,n,m)")
    matmul.check("MatMul", "ab", [spec(5, 1, 2, 3), spec(4, 3, 2)])
    got = refusal(matmul, spec(5, 2, 3), spec(4, 3, 2), names="ab")
    assert got == ("a.shape[:-2] and b.shape[:-2] broadcast", "(5,) and (4,)")
    loss = Domain("(n,c,...),(n,...)->()", x=real(-1, 1), t=integers(0, "c"))
    loss.check("Loss", "xt", [spec(2, 3, 4), spec(2, 4, dtype="int32")])
    got = refusal(loss, spec(2, 3, 4), spec(2, 1, dtype="int32"), names="xt")
    assert got == ("x.shape[2:] == t.shape[1:]", "(4,) != (1,)")
    got = refusal(loss, spec(2), spec(2, dtype="int32"), names="xt")
    assert got == ("x.ndim >= 2", "1 < 2")


def test_repeated_inputs():
    stack = Domain("(...)*->(...)", xs=anything())
    stack.check("Stack", ["xs"], [spec(2), spec(2), spec(2)])
    got = refusal(stack, spec(2), spec(3), names=["xs"])
    assert got == ("xs[0].shape == xs[1].shape", "(2,) != (3,)")
    assert refusal(stack, names=["xs"]) == ("at least 1 input", "0")
    concat = Domain("(...)*->(...)", xs=anything(), settings={"axis": axes("xs")}, differ="axis")
    concat.check("Concat", ["xs"], [spec(2, 3), spec(2, 4)])
    got = refusal(concat, spec(2, 3), spec(2), names=["xs"])
    assert got == ("len(xs[0].shape) == len(xs[1].shape)", "2 != 1")


def test_kinds_of_input():
    domain = Domain(
        "(n),(n),(n),(3)->(n)", x=real(0, 1), t=integers(0, 5), m=boolean(), r=anything()
    )
    names = domain.inputs
    fit = [spec(2), spec(2, dtype="int64"), spec(2, dtype="bool"), spec(3)]
    domain.check("Op", names, fit)
    assert refusal(domain, *fit[:1], fit[0], *fit[2:], names=names)[0] == "t.dtype is integral"
    assert refusal(domain, *fit[:2], fit[0], fit[3], names=names)[0] == "m.dtype is bool"
    assert refusal(domain, *fit[:3], spec(4), names=names) == ("3 == r.shape[0]", "3 != 4")


def test_ranges_may_end_with_numbers_of_numpys():
    values = real(np.float32(-1), np.float64(1))
    assert Domain("(n)->(n)", x=values).values["x"] == values
    assert Domain("(n)->(n)", x=integers(np.int64(0), "n")).values["x"].hi == "n"


def test_readable_text():
    domain = Domain(
        "(n,c)->(n)",
        x=real(-2, 2, distinct=True),
        settings={
            "axis": axes("x", many=True, none=True),
            "mode": choice("a", "b"),
            "p": number(0, 1),
        },
    )
    assert str(domain) == (
        "(n,c)->(n); x: real in [-2, 2], all different; "
        "axis: an axis or several axes or None of x; mode: one of 'a', 'b'; p: number in [0, 1]"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Domain("(n)"), "has no '->'"),
        (lambda: Domain("n->(n)"), "cannot read 'n'"),
        (lambda: Domain("(n-1)->(n)"), r"cannot read \(n-1\)"),
        (lambda: Domain("(...,...)->()"), "at most once"),
        (lambda: Domain("(n)?,(n)->(n)"), "optional inputs last"),
        (lambda: Domain("(n)*,(n)->(n)"), "Only the last may repeat"),
        (lambda: Domain("(n)->(n)?"), "mark inputs, not outputs"),
        (lambda: Domain("(n),(n)->(n)", x=real(0, 1)), "2 inputs, but 1 are declared"),
        (lambda: Domain("(n)->(n)", x=3), r"x=3 is not a declaration.*real\(lo, hi\)"),
        (lambda: Domain("(n)->(n)", x=real(1, 0)), "range of x, .* is empty"),
        (lambda: Domain("(n)->(n)", x=real(0, math.inf)), r"range of x, \[0, inf\], needs finite"),
        (lambda: Domain("(n)->(n)", x=real(math.nan, 1)), "range of x, .* needs finite"),
        (lambda: Domain("(n)->(n)", x=real("-1", 1)), "range of x, .* needs finite"),
        (lambda: Domain("(n)->(n)", x=integers("n", "n")), "range of x, .* needs finite"),
        (lambda: Domain("(n)->(n)", x=integers(0, "m")), "names 'm', which is no dimension"),
        (lambda: Domain("(n)->(n)", x=real(0, 1), kinks=("edge",)), "'edge', which is no setting"),
        (lambda: Domain("(hight)->(n)", dims={"height": (1, 2)}), "Did you mean 'hight'"),
        (lambda: Domain("(n)->(n)", dims={"n": 3}), r"Write a pair \(least, greatest\)"),
        (lambda: Domain("(n)->(n)", settings={"axis": 3}), "setting axis is 3"),
        (lambda: Domain("(n)->(n)", x=real(0, 1), settings={"axis": axes("y")}), "no input of it"),
        (lambda: Domain("(...)*->(...)", differ="axis"), "'axis', which is no setting"),
        (lambda: choice(), "at least one option"),
        (lambda: Domain("(n)->(n)", valid="m > 0"), "names 'm', which is no dimension, input or"),
        (lambda: Domain("(n)->(n)", valid="n >"), "'n >' is not an expression.*Write one in"),
        (lambda: Domain("(n),(m)->()", dims={"m": "2 * k"}), "names 'k'"),
    ],
)
def test_contradictions_fail_at_declaration(make, message):
    with pytest.raises(DeclarationError, match=message):
        make()


@pytest.mark.parametrize(
    ("leave_out", "message"),
    [
        ({"gradients": "random"}, "no check 'gradients'. Did you mean 'gradient'"),
        ({"gradient": "lazy"}, "no reason 'lazy'"),
    ],
)
def test_checks_are_left_out_by_name_and_for_a_reason(leave_out, message):
    class Twice(core.FunctionNode):
        domain = Domain("()->()", x=real(0, 1), leave_out=leave_out)

        def compute(self, xp, x):
            return 2 * x

    with pytest.raises(DeclarationError, match=message):
        core.testing.check_op(Twice)


# -- rules ----------------------------------------------------------------------------------------


def held(rules, *shapes, signature="(n,c),(m,...)->()", **settings):
    """Expect and actual of the refusal by a domain of these rules, or None."""
    domain = Domain(
        signature,
        x=anything(),
        y=anything(),
        settings=dict.fromkeys(settings, choice(None)),
        valid=rules,
    )
    op = SimpleNamespace(**settings)
    try:
        domain.check("Op", ["x", "y"], [spec(*shape) for shape in shapes], op)
    except InvalidType as error:
        assert error.operation == "Op"
        return error.expect, error.actual
    return None


@pytest.mark.parametrize(
    ("rule", "settings", "expect", "actual"),
    [
        ("n == m", {}, "x.shape[0] == y.shape[0]", "2 != 4"),
        ("c % g**2 == 1", {"g": 2}, "x.shape[1] % 4 == 1", "3 != 1"),
        ("x.shape[a] > y.ndim", {"a": -2}, "x.shape[-2] > y.ndim", "2 <= 2"),
        ("len(w) <= prod(y.shape[1:])", {"w": (1,) * 9}, "9 <= prod(y.shape[1:])", "9 > 5"),
        ("-n <= a <= n", {"a": 3}, "-x.shape[0] <= 3 <= x.shape[0]", "-2 <= 3 <= 2 is false"),
        ("mode == 'no' or n > 2", {"mode": "sum"}, "x.shape[0] > 2", "2 <= 2"),
        ("k is None or x.ndim == k", {"k": 3}, "x.ndim == 3", "2 != 3"),
        ("-1 not in w or prod(w) != 0", {"w": (-1, 0)}, "-1 not in w or prod(w) != 0", "w=(-1, 0)"),
        ("max(n, m) - 5 > x.size", {}, "max(x.shape[0], y.shape[0]) - 5 > x.size", "-1 <= 6"),
    ],
)  # fmt: skip
def test_a_rule_that_fails_is_quoted(rule, settings, expect, actual):
    assert held(rule, (2, 3), (4, 5), **settings) == (expect, actual)


def test_rules_that_hold_and_the_first_that_does_not():
    assert held(("n < c", "c < m"), (2, 3), (4, 5)) is None
    assert held(("n < c", "c > m", "n > m"), (2, 3), (4, 5))[0] == "x.shape[1] > y.shape[0]"


def test_of_an_input_that_was_left_out_rules_say_nothing():
    assert held("m == n", (2, 3), signature="(n,c),(m)?->()") is None
    assert held("m == n", (2, 3), (3,), signature="(n,c),(m)?->()") is not None


def test_a_size_that_follows_from_others_is_held_to():
    step = Domain("(n,u),(n,v)->(n,u)", h=real(-1, 1), x=real(-1, 1), dims={"v": "3 * u"})
    step.check("Step", ["h", "x"], [spec(2, 3), spec(2, 9)])
    got = refusal(step, spec(2, 3), spec(2, 8), names=["h", "x"])
    assert got[0] == "x.shape[1] == 3 * h.shape[1]" and got[1] == "8 != 9"
    assert "v == 3 * u" in str(step)


@pytest.mark.parametrize(
    ("rule", "reads"),
    [
        ("x.size == prod(shape)", True),
        ("x.shape[size] > 0", True),
        ("x.shape[0] == len(x.shape)", False),
    ],
)
def test_a_domain_knows_whether_it_reads_settings(rule, reads):
    settings = {"shape": choice(None), "size": choice(None)}
    assert Domain("(n,c)->()", x=anything(), settings=settings, valid=rule).reads_settings is reads
    assert Domain("(n)->()", x=anything(), settings={"a": axes("x")}).reads_settings


def test_reshape_is_checked_for_each_shape_asked_for():
    x = core.Variable(np.ones((2, 3), "f"))
    core.functions.reshape(x, (3, 2))
    with pytest.raises(InvalidType, match="x.size == 8"):
        core.functions.reshape(x, (4, 2))


def test_rules_that_text_cannot_say_are_functions_of_the_op_and_its_inputs():
    def longer(f, x, y):
        if len(x.shape) + f.more <= len(y.shape):
            raise InvalidType("a longer x", f"{x.name} {y.shape}")

    assert held(longer, (2, 3), (4, 5), more=1) is None
    assert held(("n == 2", longer), (2, 3), (4, 5), more=0) == ("a longer x", "float32 (4, 5)")


@pytest.mark.parametrize(
    ("settings", "axis", "shape", "expect", "actual"),
    [
        ({}, 2, (2, 3), "x.ndim > 2", "2 <= 2"),
        ({}, -3, (2, 3), "x.ndim >= 3", "2 < 3"),
        ({"beyond": 1}, 3, (2, 3), "x.ndim > 2", "2 <= 2"),
        ({"many": True}, (0, -2), (2, 3), "axes that differ", "(0, -2)"),
        ({"permutation": True}, (0, 0), (2, 3), "a permutation of 2 axes", "(0, 0)"),
        ({"permutation": True}, (0,), (2, 3), "x.ndim == 1", "2 != 1"),
        ({"nonempty": True}, -1, (2, 0), "x.shape[-1] > 0", "0 <= 0"),
        ({"nonempty": True, "none": True}, None, (0, 2), "x.shape[0] > 0", "0 <= 0"),
    ],
)
def test_axes_that_an_input_lacks(settings, axis, shape, expect, actual):
    domain = Domain("(...)->(...b)", x=anything(), settings={"axis": axes("x", **settings)})
    with pytest.raises(InvalidType) as caught:
        domain.check("Op", ["x"], [spec(*shape)], SimpleNamespace(axis=axis))
    assert (caught.value.expect, caught.value.actual) == (expect, actual)
    for fit in (0, None):
        if fit == 0 or settings.get("none"):
            named = (0, 1) if settings.get("permutation") else fit
            domain.check("Op", ["x"], [spec(1, 1)], SimpleNamespace(axis=named))


@pytest.mark.parametrize("differ", [0, "axis"])
def test_repeated_inputs_differ_along_one_axis(differ):
    domain = Domain("(...)*->()", xs=anything(), settings={"axis": axes("xs")}, differ=differ)
    op = SimpleNamespace(axis=0)
    domain.check("Op", ["xs"], [spec(2, 3), spec(4, 3)], op)
    with pytest.raises(InvalidType) as caught:
        domain.check("Op", ["xs"], [spec(2, 3), spec(4, 5)], op)
    assert caught.value.expect == "xs[1].shape[1] == xs[0].shape[1]"
    assert caught.value.actual == "5 != 3"


def test_mixed_inputs_of_any_dtype():
    mixed = Domain("()*->()", xs=anything(mixed=True))
    mixed.check("Op", ["xs"], [spec(2), spec(2, dtype="int64")])
    with pytest.raises(InvalidType, match=r"xs\[0\].dtype == xs\[1\].dtype"):
        Domain("()*->()", xs=anything()).check("Op", ["xs"], [spec(2), spec(2, dtype="int64")])

"""Domains: the signature, what it accepts and refuses, and what a declaration may not say."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from core.errors import DeclarationError, InvalidType
from core.ops.types.domain import (
    Domain,
    anything,
    axes,
    boolean,
    broadcast_shapes,
    choice,
    integers,
    number,
    real,
)

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
    add = Domain("(),()->()", x=real(-1, 1), y=real(-1, 1))
    assert add.elementwise and not LINEAR.elementwise
    add.check("Add", "xy", [spec(2, 1), spec(3)])
    got = refusal(add, spec(2), spec(3), names="xy")
    assert got == ("x.shape and y.shape broadcast", "(2,) and (3,)")


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
        (lambda: Domain("(n)->(n)", x=integers(0, "m")), "names 'm', which is no dimension"),
        (lambda: Domain("(n)->(n)", x=real(0, 1), kinks=("edge",)), "'edge', which is no setting"),
        (lambda: Domain("(hight)->(n)", dims={"height": (1, 2)}), "Did you mean 'hight'"),
        (lambda: Domain("(n)->(n)", dims={"n": 3}), r"Write a pair \(least, greatest\)"),
        (lambda: Domain("(n)->(n)", settings={"axis": 3}), "setting axis is 3"),
        (lambda: Domain("(n)->(n)", x=real(0, 1), settings={"axis": axes("y")}), "no input of it"),
        (lambda: Domain("(...)*->(...)", differ="axis"), "'axis', which is no setting"),
        (lambda: Domain("()->()", leave_out={"gradients": "random"}), "Did you mean 'gradient'"),
        (lambda: Domain("()->()", leave_out={"gradient": "lazy"}), "'lazy', which is no reason"),
        (lambda: choice(), "at least one option"),
    ],
)
def test_contradictions_fail_at_declaration(make, message):
    with pytest.raises(DeclarationError, match=message):
        make()

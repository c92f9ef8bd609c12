"""What is drawn from a domain: the shapes, settings and values that it declares, and only those."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Domain, FunctionNode, anything, axes, boolean, choice, integers, number, real
from core.errors import DeclarationError
from core.functions import relu
from core.testing import cases, check_op


def op_of(domain, *names, variadic=False):
    """An op class with this domain, the inputs named."""
    arguments = "*" + names[0] if variadic else ", ".join(names)
    space = {"Domain": Domain, "domain": domain}
    exec(f"def compute(self, xp, {arguments}): return {names[0]}", space)
    kinds = {"__annotations__": dict.fromkeys(domain.settings, "object")}
    return type("Op", (FunctionNode,), {"domain": domain, "compute": space["compute"], **kinds})


def shapes(case):
    return [value.shape for value in case.values]


LINEAR = op_of(
    Domain("(n,k),(m,k),(m)?->(n,m)", x=real(-2, 2), W=real(-2, 2), b=real(-2, 2)),
    "x",
    "W",
    "b=None",
)


@given(cases(LINEAR))
def test_named_dimensions_agree(case):
    (n, k), (m, k2), *rest = shapes(case)
    assert k == k2 and rest in ([], [(m,)])
    assert case.names == ("x", "W", "b")[: len(case.values)]


@given(cases(LINEAR, "empty"))
def test_an_empty_case_has_no_elements_somewhere(case):
    assert 0 in shapes(case)[0] + shapes(case)[1]


@given(st.data())
def test_cases_fit_their_own_domain(data):
    domain = data.draw(
        st.sampled_from(
            [
                Domain(x=real(-1, 1), y=real(-1, 1)),
                Domain("(...,n,k),(...,k,m)->(...,n,m)", x=real(-1, 1), y=real(-1, 1)),
                Domain("(n,c,...),(n,...)->()", x=real(-1, 1), y=integers(0, "c")),
                Domain("(...a),(...b)->()", x=real(-1, 1), y=boolean()),
            ]
        )
    )
    case = data.draw(cases(op_of(domain, "x", "y")))
    specs = [
        type("Spec", (), {"shape": v.shape, "kind": v.dtype.kind, "name": str(v.dtype)})
        for v in case.values
    ]
    domain.check("Op", case.names, specs)


def test_elementwise_cases_broadcast_and_do_not():
    seen = set()
    add = op_of(Domain(x=real(-1, 1), y=real(-1, 1)), "x", "y")

    @given(cases(add))
    def look(case):
        x, y = shapes(case)
        seen.add("equal" if x == y else "broadcast")
        seen.add("0-d" if () in (x, y) else "n-d")

    look()
    assert {"equal", "n-d"} <= seen


@given(st.data())
def test_settings(data):
    domain = Domain(
        "(...)->(...b)",
        x=real(-1, 1),
        settings={
            "axis": axes("x", many=True),
            "order": axes("x", permutation=True),
            "new": axes("x", beyond=1),
            "mode": choice("a", "b"),
            "shape": choice(lambda shapes: [(np.prod(shapes["x"]),)]),
            "p": number(0.0, 0.5),
            "n": number(1, 3),
        },
    )
    case = data.draw(cases(op_of(domain, "x")))
    (shape,) = shapes(case)
    ndim = len(shape)
    settings = case.settings
    named = settings["axis"] if isinstance(settings["axis"], tuple) else (settings["axis"],)
    assert len({a % ndim for a in named}) == len(named) and all(-ndim <= a < ndim for a in named)
    assert sorted(settings["order"]) == list(range(ndim))
    assert -ndim - 1 <= settings["new"] <= ndim
    assert settings["mode"] in "ab" and settings["shape"] == (np.prod(shape),)
    assert 0 <= settings["p"] <= 0.5 and settings["n"] in (1, 2, 3)


@given(st.data())
def test_values_lie_in_their_ranges_off_their_kinks(data):
    domain = Domain(
        x=real(0.5, 2, kinks=(1, "edge")),
        y=integers(-1, 4),
        z=boolean(),
        settings={"edge": choice(1.5)},
    )
    case = data.draw(cases(op_of(domain, "x", "y", "z")))
    x, y, z = case.values
    assert ((x >= 0.4995) & (x <= 2)).all()
    assert (np.abs(x - 1) > 0.07).all() and (np.abs(x - 1.5) > 0.07).all()
    assert ((y >= -1) & (y < 4)).all() and y.dtype.kind == "i" and z.dtype == bool
    assert (x == x.astype("float16")).all(), "float16 holds the values exactly"


@given(st.data())
def test_edges_are_the_ends_and_the_kinks(data):
    op = op_of(Domain(x=real(-2, 2, kinks=(1,))), "x")
    (x,) = data.draw(cases(op, "edges")).values
    assert set(x.ravel()) <= {-2, -0.0, 0, 1, 2}


@given(st.data())
def test_distinct_values_differ_within_and_between_inputs(data):
    domain = Domain("(n),(m)->()", x=real(-3, 3, distinct=True), y=real(-3, 3, distinct=True))
    x, y = data.draw(cases(op_of(domain, "x", "y"))).values
    values = np.concatenate([x, y])
    assert len(set(values)) == len(values)


@given(st.data())
def test_repeated_inputs_differ_along_the_axis_that_is_said(data):
    domain = Domain("(...)*->(...b)", xs=anything(), settings={"axis": axes("xs")}, differ="axis")
    case = data.draw(cases(op_of(domain, "xs", variadic=True)))
    axis = case.settings["axis"]
    rest = {shape[:axis] + shape[axis % len(shape) + 1 :] for shape in shapes(case)}
    assert len({np.delete(shape, axis).tobytes() for shape in shapes(case)}) == 1, rest
    assert 1 <= len(case.values) <= 3


@given(st.data())
def test_valid_and_computed_dimensions(data):
    domain = Domain(
        "(m,u),(n,v)->(m,u)",
        c=real(-1, 1),
        x=real(-1, 1),
        dims={"v": "4 * u", "u": (1, 3)},
        valid="n <= m",
    )
    (m, u), (n, v) = shapes(data.draw(cases(op_of(domain, "c", "x"))))
    assert v == 4 * u and n <= m and 1 <= u <= 3


@given(st.data())
def test_values_are_made_fit(data):
    domain = Domain("(n,n)->(n,n)", x=real(-1, 1, make=lambda xp, x: x @ x.T + 2 * xp.eye(len(x))))
    (x,) = data.draw(cases(op_of(domain, "x"))).values
    assert (np.linalg.eigvalsh(x) > 1).all()


@given(st.data())
def test_one_seed_makes_one_case(data):
    op = op_of(Domain("(n)->(n)", x=real(-1, 1), dims={"n": (3, 3)}), "x")
    one, other = data.draw(cases(op)), data.draw(cases(op))
    if one.seed == other.seed:
        np.testing.assert_array_equal(one.values, other.values)
    assert one.arrays("float32")[0].dtype == "float32"
    assert one.arrays("float32")[0] is not one.arrays("float32")[0]
    assert f"seed {one.seed}" in repr(one)


def test_an_op_without_a_domain_is_told_what_to_write():
    class Bare(FunctionNode):
        def compute(self, xp, x):
            return x

    @given(cases(Bare))
    def nothing(case):
        pass

    with pytest.raises(DeclarationError, match="Bare: has no domain.*\n?.*Declare one"):
        nothing()
    with pytest.raises(DeclarationError, match="the class of an operation.* got <function relu"):
        check_op(relu)

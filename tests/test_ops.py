"""Every registered op on every backend, proven from its own declaration."""

from collections import Counter

import pytest
from all_ops import CHECKED, KINDS, OPS, PROVEN_BY, REFERENCES
from hypothesis import settings

from core import FunctionNode
from core.arrays import backend
from core.ops.types.domain import Domain
from core.testing import check_op
from core.testing.leaving_out import REASONS

BACKENDS = ["numpy", "strict", pytest.param("cuda", marks=pytest.mark.cuda)]


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("op", CHECKED.values(), ids=CHECKED)
def test_op(op, name):
    reason = backend.available().get(name, "no such backend")
    if reason is not None:
        pytest.skip(f"{name}: {reason}")
    # The referee is slow, and what it refuses it refuses at once: it is shown half as many cases.
    few = settings().max_examples // 2 if name == "strict" else None
    kind = KINDS.get(op.__name__)
    check_op(op, REFERENCES.get(op.__name__), [name], kind=kind, examples=few)


def test_every_op_has_a_domain():
    without = [n for n, op in CHECKED.items() if not isinstance(op.domain, Domain)]
    assert not without, f"declare the domains of {', '.join(without)}"


def test_what_ops_take_stands_in_their_domains_alone():
    by_hand = FunctionNode.check_type_forward
    assert not [name for name, op in OPS.items() if op.check_type_forward is not by_hand]


def test_every_op_has_a_reference_or_is_random():
    without = [
        name
        for name, op in CHECKED.items()
        if name not in REFERENCES and op.domain.leave_out.get("forward") != "random"
    ]
    assert not without, f"write references of {', '.join(without)} in tests/references"


def test_every_reference_has_its_op():
    assert set(REFERENCES) <= set(OPS)
    assert set(KINDS) <= set(CHECKED)


def test_ops_inside_gradients_are_proven_by_ops_that_leave_nothing_out():
    for inner, outer in PROVEN_BY.items():
        assert inner in OPS
        assert not {"gradient", "double_gradient"} & set(CHECKED[outer].domain.leave_out)


def test_reasons_for_leaving_checks_out():
    """How many ops use each of the five reasons; whoever adds one says so here."""
    used = Counter(
        reason for op in CHECKED.values() for reason in set(op.domain.leave_out.values())
    )
    assert used == {
        "integer-valued": 16,
        "not differentiable": 5,
        "random": 6,
        "depends on values": 1,
    }
    assert set(used) <= set(REASONS)

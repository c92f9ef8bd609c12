"""The checks are checked: each op with a fault put in has to fail its own check."""

import pytest
from all_ops import CHECKED, KINDS, REFERENCES

from core.testing import check_op, mutants

EXAMPLES = 20  # a mutant is mostly found in the first; a fault that shows rarely gets some more


@pytest.mark.slow
@pytest.mark.parametrize("op", CHECKED.values(), ids=CHECKED)
def test_mutants_are_found(op):
    alive = [mutant.fault for mutant in mutants(op) if not _is_found(op, mutant)]
    assert not alive, f"the check of {op.__name__} did not notice: {', '.join(alive)}"


def _is_found(op, mutant):
    reference, kind = REFERENCES.get(op.__name__), KINDS.get(op.__name__)
    try:
        check_op(mutant.op, reference, ["numpy"], kind=kind, examples=EXAMPLES, shrink=False)
    except Exception as error:
        notes = getattr(error, "__notes__", [])
        assert any(note.startswith("check '") for note in notes), f"{mutant.fault}: {error!r}"
        return True
    return False

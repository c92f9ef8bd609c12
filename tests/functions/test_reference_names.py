"""Which names of Chainer's functions there are here, and which are still to come."""

from pathlib import Path

import core.functions as F

LIST = Path(__file__).parents[1] / "data" / "reference_functions.txt"

MISSING = {
    "Broadcast",
    *("NStepBiGRU", "NStepBiLSTM", "NStepBiRNNReLU", "NStepBiRNNTanh"),
    *("NStepGRU", "NStepLSTM", "NStepRNNReLU", "NStepRNNTanh"),
    *("Forget", "rrelu", "shift"),
}
"""What is still to come; whoever brings one takes it off here."""


def names():
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return {name for line in lines if not line.startswith("#") for name in line.split()}


def test_the_names_that_are_missing_are_these():
    there = set(dir(F))
    missing = names() - there
    assert not missing - MISSING, f"gone, or never here: {sorted(missing - MISSING)}"
    assert not MISSING - missing, f"take off the list: {sorted(MISSING - missing)}"


def test_every_name_can_be_had():
    for name in names() - MISSING:
        assert callable(getattr(F, name)), name

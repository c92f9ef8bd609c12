"""Every public name of Chainer's functions is here."""

from pathlib import Path

import core.functions as F

LIST = Path(__file__).parents[1] / "data" / "reference_functions.txt"


def names():
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return {name for line in lines if not line.startswith("#") for name in line.split()}


def test_no_name_is_missing():
    missing = names() - set(dir(F))
    assert not missing, f"gone: {sorted(missing)}"


def test_every_name_can_be_had():
    for name in names():
        assert callable(getattr(F, name)), name

"""Every name of plugrad in the tables for those who come from elsewhere is there."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import core

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("from_*.md"))
OF = {
    "F": "core.functions",
    "L": "core.links",
    "extensions": "core.training.extensions",
    "triggers": "core.training.triggers",
    "updaters": "core.training.updaters",
}
KINDS = [
    "links",
    "datasets",
    "initializers",
    "iterators",
    "link_hooks",
    "optimizer_hooks",
    "optimizers",
]
KINDS += ["serializers", "training", "function_hooks"]
VALUES = {
    "x": core.Variable,
    "loss": core.Variable,
    "model": core.Chain,
    "optimizer": core.GradientMethod,
    "Variable": core.Variable,
    "Link": core.Link,
    "core": core,
    "np": np,
}


def names(text):
    """What stands between backticks in the second column of the tables."""
    for row in re.findall(r"^\|(.*)\|$", text, re.M):
        second = re.split(r"(?<!\\)\|", row)[1]
        yield from re.findall(r"`([A-Za-z_][\w.]*)", second)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_are_there(page):
    found = list(names(page.read_text(encoding="utf-8")))
    assert len(found) >= 20
    missing = []
    for name in found:
        first, *rest = name.split(".")
        if first in ("print", "PLUGRAD_NUM_THREADS", "import", "from"):
            continue
        where = VALUES.get(first)
        if where is None:
            where = import_module(OF.get(first) or f"core.{first}")
            assert first in OF or first in KINDS, name
        for part in rest:
            if not hasattr(where, part):
                missing.append(name)
                break
            where = getattr(where, part)
    assert not missing

"""Every function of the reference takes its arguments in the same order, by the same defaults."""

import inspect

import pytest
from signatures import signatures

import core.functions as F
from plugins.functions.former import CURES

# Keyword arguments that plugrad adds.
MORE = {"layer_normalization": {"axis"}, "zoneout": {"mask"}}


def taken(signature):
    """Name, kind and default of each argument, without those that are refused by name."""
    return [
        (p.name, p.kind, p.default)
        for p in signature.parameters.values()
        if p.name != "former" and not (p.name in CURES and p.default is None)
    ]


@pytest.mark.parametrize(("name", "expected"), signatures().items())
def test_signature(name, expected):
    actual = taken(inspect.signature(getattr(F, name)))
    added = [p for p in actual if p[0] in MORE.get(name, ())]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for _, kind, _ in added)
    assert [p for p in actual if p not in added] == taken(expected)


def test_all_functions_are_listed_and_additions_are_there():
    assert len(signatures()) == 161 + 55
    for name, added in MORE.items():
        assert added <= set(inspect.signature(getattr(F, name)).parameters)

"""Every function of the reference takes its arguments in the same order, by the same defaults."""

import inspect
from inspect import Parameter
from pathlib import Path

import pytest

import core.functions as F
from plugins.functions.former import CURES

LIST = Path(__file__).parents[1] / "data" / "function_signatures.txt"

# Keyword arguments that plugrad adds.
MORE = {"layer_normalization": {"axis"}, "zoneout": {"mask"}}


def signatures():
    lines = LIST.read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    return {line.partition("(")[0]: line.partition("(")[2].removesuffix(")") for line in lines}


def taken(function):
    """Name, kind and default of each argument, without those that are refused by name."""
    return [
        (p.name, p.kind, p.default)
        for p in inspect.signature(function).parameters.values()
        if p.name != "former" and not (p.name in CURES and p.default is None)
    ]


@pytest.mark.parametrize(("name", "arguments"), signatures().items())
def test_signature(name, arguments):
    expected = taken(eval(f"lambda {arguments}: None"))
    actual = taken(getattr(F, name))
    added = [p for p in actual if p[0] in MORE.get(name, ())]
    assert all(kind is Parameter.KEYWORD_ONLY for _, kind, _ in added)
    assert [p for p in actual if p not in added] == expected


def test_all_functions_are_listed_and_additions_are_there():
    assert len(signatures()) == 161 + 55
    for name, added in MORE.items():
        assert added <= set(inspect.signature(getattr(F, name)).parameters)

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


# Classes that are made of something else, and why.
OTHER = {
    "AveragePoolingND": "the number of axes is that of the input",
    "MaxPoolingND": "the number of axes is that of the input",
    "UnpoolingND": "the number of axes is that of the input",
    "MatMul": "matrices are transposed by an operation of their own",
    "Pad": "one mode alone is an operation, the others are composed",
}


@pytest.mark.parametrize(("name", "expected"), signatures("function_class").items())
def test_signature_of_a_class(name, expected):
    actual = inspect.signature(getattr(F, name)).parameters.values()
    actual = [p for p in actual if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    wanted = list(expected.parameters.values())
    fits = [p.name for p in actual[: len(wanted)]] == [p.name for p in wanted] and all(
        q.default == p.default
        for p, q in zip(wanted, actual, strict=False)
        if p.default is not inspect.Parameter.empty
    )
    assert fits != (name in OTHER)
    assert all(p.default is not inspect.Parameter.empty for p in actual[len(wanted) :]) or not fits


def test_all_functions_are_listed_and_additions_are_there():
    assert len(signatures()) == 161 + 55
    assert len(signatures("function_class")) == 121 - 1  # without the bridge to Theano
    for name, added in MORE.items():
        assert added <= set(inspect.signature(getattr(F, name)).parameters)

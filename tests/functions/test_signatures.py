"""Every function of the reference takes its arguments in the same order, by the same defaults."""

import inspect

import pytest
from signatures import signatures

import core.functions as F

# Keyword arguments that plugrad adds.
MORE = {
    "accuracy": {"top_k"},
    "dropout": {"axis"},
    "layer_normalization": {"axis"},
    "logsumexp": {"keepdims"},
    "softmax_cross_entropy": {"label_smoothing"},
    "spatial_pyramid_pooling_2d": {"pooling_class"},
    "zoneout": {"mask"},
}


def taken(signature):
    """Name, kind and default of each argument."""
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


@pytest.mark.parametrize(("name", "expected"), signatures().items())
def test_signature(name, expected):
    actual = taken(inspect.signature(getattr(F, name)))
    added = [p for p in actual if p[0] in MORE.get(name, ())]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for _, kind, _ in added)
    assert [p for p in actual if p not in added] == taken(expected)


@pytest.mark.parametrize(("name", "expected"), signatures("function_class").items())
def test_signature_of_a_class(name, expected):
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    actual, wanted = (
        [p for p in signature.parameters.values() if p.kind not in variadic]
        for signature in (inspect.signature(getattr(F, name)), expected)
    )
    assert [p.name for p in actual[: len(wanted)]] == [p.name for p in wanted]
    for p, q in zip(wanted, actual, strict=False):
        assert p.default in (inspect.Parameter.empty, q.default)
    assert all(p.default is not inspect.Parameter.empty for p in actual[len(wanted) :])


def test_all_functions_are_listed_and_additions_are_there():
    assert len(signatures()) == 161 + 55
    assert len(signatures("function_class")) == 121 - 1  # without the bridge to Theano
    for name, added in MORE.items():
        assert added <= set(inspect.signature(getattr(F, name)).parameters)

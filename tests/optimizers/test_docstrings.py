"""What optimizers, hooks, initializers and link hooks say of themselves."""

import inspect

import pytest

import core

KINDS = ("optimizers", "optimizer_hooks", "initializers", "link_hooks")
CLASSES = [
    value
    for kind in KINDS
    for catalogue in [core.registry.catalogue(kind)]
    for value in map(catalogue.get, sorted(catalogue.names()))
    if isinstance(value, type) and not value.__module__.startswith("core.")
]
UNSOURCED = ("GradientHardClipping", "Identity", "NaN", "Normal", "One", "TimerHook")
UNSOURCED += ("Uniform", "Zero", "DownsamplingConvFilter")
PLAIN = ("NaN", "One", "TimerHook", "Zero")


@pytest.mark.parametrize("one", CLASSES, ids=lambda one: one.__name__)
def test_a_docstring_has_formula_arguments_source_and_example(one):
    text = inspect.getdoc(one)
    assert ">>>" in text
    if one.__name__ not in UNSOURCED:
        assert "Source" in text
    if one.__name__ in PLAIN:
        return
    assert ":math:" in text or ".. math::" in text
    if "Args: as for" not in " ".join(text.split()):
        for name in inspect.signature(one).parameters:
            assert f"\n    {name}: " in text

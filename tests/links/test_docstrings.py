"""What the docstring of every link says: a formula, shapes, its arguments, a source, an example."""

import inspect
import re

import pytest

import core.links as L
from core import registry

# Definitions of whole networks, which have layers in place of a formula.
NETWORKS = re.compile(r"ONNXModel|CaffeFunction|VGG|GoogLeNet|ResNet|Bottleneck|BuildingBlock")

# Older than any paper that one would name.
NO_SOURCE = {"Bias", "Classifier", "Linear", "Parameter", "Scale"}
NO_SOURCE |= {"Flatten", "LogSoftmax", "Sigmoid", "Softmax", "Tanh"}

NAMES = [name for name in registry.catalogue("links").names() if not NETWORKS.search(name)]


@pytest.mark.parametrize("name", NAMES)
def test_docstring(name):
    cls = getattr(L, name)
    text = cls.__doc__
    assert ".. math::" in text or re.search(r"formula|another name", text), "a formula"
    assert "Shapes:" in text, "shapes of inputs, parameters and results"
    assert name in NO_SOURCE or re.search(r"[Ss]ources?\b", text), "a source"
    assert ">>> " in text, "an example that runs as a test"
    refers = "other arguments are those" in text or "arguments are those of" in text
    missing = [
        p.name
        for p in inspect.signature(cls).parameters.values()
        if p.kind is not p.VAR_KEYWORD and f"{p.name}:" not in text and not refers
    ]
    assert not missing


@pytest.mark.parametrize("name", NAMES)
def test_public_methods_say_what_they_do(name):
    cls = getattr(L, name)
    for method, value in vars(cls).items():
        if not method.startswith("_") and callable(value):
            assert inspect.getdoc(value), method

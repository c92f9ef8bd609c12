"""The docstring of every public function says what it takes, gives and refuses, by example."""

import inspect
import re
import subprocess
import sys

import pytest

import core
import core.functions as F

NAMES = core.registry.catalogue("functions").names()
FUNCTIONS = [name for name in NAMES if not inspect.isclass(getattr(F, name))]
REFUSE_NOTHING = {"flatten", "identity"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_is_complete(name):
    function = getattr(F, name)
    text = inspect.getdoc(function)
    parts = ["Args:", "Returns:", ">>> "] + ["Raises:"] * (name not in REFUSE_NOTHING)
    assert not [part for part in parts if part not in text]
    described = text[text.index("Args:") : text.index("Returns:")]
    for parameter in inspect.signature(function).parameters:
        assert re.search(rf"^ +(\w+, )*\**{parameter}(, \w+)*:", described, re.MULTILINE), parameter


def test_all_names_are_found_without_docstrings():
    """As with `python -OO`, which has none to make others of."""
    code = (
        "from core import registry\n"
        "for kind in registry.KINDS:\n"
        "    for name in registry.catalogue(kind).names():\n"
        "        registry.catalogue(kind).get(name)\n"
    )
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True)
    assert not done.returncode, done.stderr

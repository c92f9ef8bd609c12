"""Functions are typed in full, but for compute and gradient rules: their arguments declare."""

import ast
import re
from pathlib import Path

import pytest

import plugins.functions

ROOT = Path(plugins.functions.__path__[0])
RULE = re.compile(r"compute|gradient(_\w+)?")


def untyped(text):
    """The functions that lack a type; `self` needs none, and rules are left out."""
    for outer in ast.walk(ast.parse(text)):
        in_class = isinstance(outer, ast.ClassDef)
        for node in ast.iter_child_nodes(outer):
            if not isinstance(node, ast.FunctionDef) or in_class and RULE.fullmatch(node.name):
                continue
            given = node.args
            taken = [*given.posonlyargs, *given.args][in_class:] + given.kwonlyargs
            taken += [each for each in (given.vararg, given.kwarg) if each]
            if (
                any(each.annotation is None for each in taken)
                or node.returns is None
                and not (node.name == "__init__" and taken)
            ):
                yield node.name


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: f"{p.relative_to(ROOT)}")
def test_all_but_rules_is_typed(path):
    assert not [*untyped(path.read_text("utf-8"))]


def test_what_lacks_a_type_is_found():
    text = (
        "class A:\n  def compute(self): ...\n  def part(self, x) -> int: ...\ndef f(*x: int): ..."
    )
    assert {*untyped(text)} == {"part", "f"}

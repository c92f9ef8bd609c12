"""How a rule that does not hold is quoted."""

from __future__ import annotations

import ast
from typing import Any, cast

from core.errors import InvalidType
from core.ops.types.rules import FUNCTIONS, Rule, Scope

_OPPOSITES = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def refusal(text: str, scope: Scope) -> InvalidType:
    """The error that says which condition was expected, and the values that came.

    >>> from core.ops.types.rules import Shaped
    >>> values = FUNCTIONS | {"x": Shaped((2, 5)), "c": 5, "groups": 2}
    >>> error = refusal("c % groups == 0", Scope(values, {"x": "x", "c": "x.shape[1]"}))
    >>> error.expect, error.actual
    ('x.shape[1] % 2 == 0', '1 != 0')
    """
    quotation = _Quotation(scope)
    tree: Any = ast.parse(text, mode="eval").body
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.Or):
        # Settings are as the user wants them: what inputs can do about it is what was expected.
        open_to_inputs = [part for part in tree.values if quotation.reads(part)]
        tree = open_to_inputs[0] if len(open_to_inputs) == 1 else tree
    if not quotation.reads(tree):
        return InvalidType(text, ", ".join([f"{n}={scope.values[n]!r}" for n in Rule(text).needs]))
    actual = "it does not hold"
    if isinstance(tree, ast.Compare):
        lone = len(tree.ops) == 1
        terms = (tree.left, *tree.comparators)
        left, *others = [cast("ast.expr", ast.Constant(quotation.value(t))) for t in terms]
        signs = [_OPPOSITES[type(tree.ops[0])]()] if lone else tree.ops
        actual = ast.unparse(ast.Compare(left, signs, others)) + ("" if lone else " is false")
    return InvalidType(ast.unparse(quotation.visit(tree)), actual)


class _Quotation(ast.NodeTransformer):
    """A condition with places in place of dimensions, and values in place of settings."""

    def __init__(self, scope: Scope) -> None:
        self._values, self._places = scope

    def reads(self, node: ast.AST) -> bool:
        """Whether it looks at inputs, and not at settings alone."""
        return any([isinstance(n, ast.Name) and n.id in self._places for n in ast.walk(node)])

    def value(self, node: ast.expr) -> Any:
        """What it comes to."""
        return eval(compile(ast.Expression(node), "<rule>", "eval"), self._values)

    def visit(self, node: ast.AST) -> Any:
        """The node as it is quoted."""
        if isinstance(node, ast.Name):
            known = self._places.get(node.id) or (node.id if node.id in FUNCTIONS else None)
            return ast.Name(known) if known else ast.Constant(self._values[node.id])
        if isinstance(node, ast.expr) and not isinstance(node, ast.Slice) and not self.reads(node):
            return ast.Constant(self.value(node))
        return self.generic_visit(node)

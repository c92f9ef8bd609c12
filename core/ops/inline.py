"""One-line functions as expressions, to be copied into generated text.

A Python call costs about as much as a quarter of a small array operation. The operations behind the
operators, and others whose class says `inline = True`, have bodies of one expression in nothing but
their arguments; it stands in the generated calls itself.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any


def expression(function: Callable[..., Any], arguments: Sequence[str]) -> str | None:
    """The body of `function` with the texts `arguments` for its parameters.

    None where the body is more than one returned expression, names anything but its parameters, or
    where the source is not to be had, as of a decorated function.

    >>> def area(self, width, height):
    ...     return width * height
    >>> expression(area, ["f", "a0", "a1"]) in ("(a0 * a1)", None)
    True
    """
    if hasattr(function, "__wrapped__"):  # the source would be that of the function inside
        return None
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    if not isinstance(tree, ast.FunctionDef) or not isinstance(tree.body[-1], ast.Return):
        return None
    value = tree.body[-1].value
    if len(tree.body) != 1 or value is None or tree.name != function.__name__:
        return None
    texts = dict(zip([a.arg for a in tree.args.args], arguments, strict=True))
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    if not names <= texts.keys() or _binds_names(value):
        return None
    return f"({ast.unparse(_Replace(texts).visit(value))})"


def _binds_names(value: ast.expr) -> bool:
    scopes = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)
    return any(isinstance(node, scopes) for node in ast.walk(value))


class _Replace(ast.NodeTransformer):
    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.parse(self.texts[node.id], mode="eval").body

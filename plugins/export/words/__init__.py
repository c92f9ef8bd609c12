"""The words of the array standard in ONNX's operators: one translation a call.

A translation takes the graph and an equation, and gives the names of the results. Together they
write every operation that is made of these words.
"""

from __future__ import annotations

from plugins.export.graph import Translation
from plugins.export.words import (
    arithmetic,
    elementary,
    indexing,
    linear_algebra,
    making,
    products,
    reductions,
    shapes,
)

WORDS: dict[str, Translation] = {
    **arithmetic.WORDS,
    **elementary.WORDS,
    **reductions.WORDS,
    **shapes.WORDS,
    **making.WORDS,
    **products.WORDS,
    **indexing.WORDS,
    **linear_algebra.WORDS,
}
"""Call -> translation."""

_NUMPY_NAMES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "bitwise_and": "and_",
    "bitwise_invert": "invert",
    "bitwise_or": "or_",
    "bitwise_xor": "xor",
    "conjugate": "conj",
    "divide": "truediv",
    "equal": "eq",
    "floor_divide": "floordiv",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "positive": "pos",
    "power": "pow",
    "rint": "round",
    "subtract": "sub",
}
"""What NumPy and the array standard call functions, for what operators are called otherwise."""

WORDS |= {name: WORDS[standard] for name, standard in _NUMPY_NAMES.items()}

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

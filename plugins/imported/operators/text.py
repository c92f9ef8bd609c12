"""Text, as arrays of strings on the host."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from plugins.imported.operators.common import Refused, plain, sized
from plugins.imported.operators.elementwise import OPERATORS as ELEMENTWISE


def _each(function: Any) -> Any:
    """A function of strings for arrays of them."""
    return np.frompyfunc(function, 1, 1)


@plain
def _joined(node: Any, x: Any, y: Any) -> Any:
    return [np.asarray(np.add(x, y), "O")]


def _equal(run: Any, node: Any, values: Any, x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return run.constant(np.asarray(x == y, bool))
    if isinstance(x, (np.ndarray, list)) or isinstance(y, (np.ndarray, list)):
        raise Refused("expected two arrays of numbers or two of text")
    return ELEMENTWISE["Equal"](run, node, values, x, y)


def _split(run: Any, node: Any, values: Any, x: Any) -> Any:
    between, most = node.get("delimiter") or None, node.get("maxsplit", -1)
    parts = [text.split(between, -1 if most is None else most) for text in x.reshape(-1)]
    counts = [len(each) for each in parts]
    longest = max(counts, default=0)
    sized((len(parts), longest))
    filled = [[*each, *[""] * (longest - len(each))] for each in parts]
    found = np.array(filled, "O").reshape((*x.shape, longest))
    return [found, run.constant(np.array(counts, "int64").reshape(x.shape))]


def _plain_letters(text: str) -> str:
    """The text without accents."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return "".join([c for c in apart if not unicodedata.combining(c)])


CASES: dict[str, Callable[[str], str]] = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}


@plain
def _normalized(node: Any, x: Any) -> Any:
    change = CASES[node.get("case_change_action", "NONE")]
    strict = node.get("is_case_sensitive", 0)
    stops = {word if strict else change(word) for word in node.get("stopwords") or ()}

    def normal(text: str) -> str:
        text = _plain_letters(text)
        words = [w for w in text.split(" ") if (w if strict else change(w)) not in stops]
        return change(" ".join(words) if stops else text)

    y = np.asarray(_each(normal)(x), "O")
    if y.ndim > 1 and y.shape[0] > 1:
        return [y]
    kept = [text for text in y.reshape(-1) if text] or [""]
    return [np.array(kept, "O").reshape((1, -1) if y.ndim > 1 else (-1,))]


OPERATORS: dict[str, Any] = {
    "Equal": _equal,
    "StringConcat": _joined,
    "StringNormalizer": _normalized,
    "StringSplit": _split,
}

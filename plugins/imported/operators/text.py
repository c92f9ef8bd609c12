"""Text, as arrays of strings on the host."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from plugins.imported.operators.common import Refused, host, plain, sized
from plugins.imported.operators.elementwise import OPERATORS as ELEMENTWISE


def _each(function: Any) -> Any:
    """A function of strings for arrays of them."""
    return np.frompyfunc(function, 1, 1)


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


def _grams(node: Any) -> dict[tuple[Any, ...], int]:
    """The pool's sequences of 1, 2, ... elements, by their numbers."""
    pool = node.get("pool_strings") or node.get("pool_int64s") or []
    starts = [*node.get("ngram_counts"), len(pool)]
    found: list[tuple[Any, ...]] = []
    for n, (a, b) in enumerate(itertools.pairwise(starts), 1):
        if not 0 <= a <= b <= len(pool) or (b - a) % n:
            raise Refused(f"expected places in a pool of {len(pool)}, got {starts[:-1]}")
        found += [tuple(pool[i : i + n]) for i in range(a, b, n)]
    return {gram: i for i, gram in enumerate(found)}


def _counts(run: Any, node: Any, values: Any, x: Any) -> Any:
    """How often each sequence of the pool is in a row, elements between its own skipped."""
    columns, grams = node.get("ngram_indexes"), _grams(node)
    if len(columns) != len(grams) or min(columns, default=0) < 0:
        raise Refused(f"expected {len(grams)} columns, got {columns}")
    a = x if isinstance(x, np.ndarray) else host(x)
    rows = a.reshape(1, -1) if a.ndim < 2 else a
    y = np.zeros(sized((len(rows), max(columns, default=-1) + 1)), "f")
    longest = max(map(len, grams), default=0)
    for row, counts in zip(rows.tolist(), y, strict=True):
        for n in range(
            max(1, node.get("min_gram_length")), min(node.get("max_gram_length"), longest) + 1
        ):
            skips = node.get("max_skip_count") if n > 1 else 0
            for step in range(1, min(skips + 1, len(row)) + 1):
                for i in range(len(row) - (n - 1) * step):
                    known = grams.get(tuple(row[i : i + (n - 1) * step + 1 : step]))
                    if known is not None:
                        counts[columns[known]] += 1
    mode, weights = node.get("mode"), np.ones(y.shape[1], "f")
    if node.get("weights") is not None:
        weights[columns] = node.get("weights")
    y = {"TF": y, "IDF": (y > 0) * weights, "TFIDF": y * weights}[mode]
    return run.constant(y[0] if a.ndim < 2 else y)


OPERATORS: dict[str, Any] = {
    "Equal": _equal,
    "StringConcat": plain(lambda node, x, y: [np.asarray(np.add(x, y), "O")]),
    "StringNormalizer": _normalized,
    "StringSplit": _split,
    "TfIdfVectorizer": _counts,
}

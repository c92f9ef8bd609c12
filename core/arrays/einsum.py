"""Sums of products over labelled axes, as a chain of pairwise matrix products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

from core.typing import AnyArray

LABELS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(xp: Any, subscripts: str, *operands: AnyArray) -> AnyArray:
    """What `numpy.einsum` means by `subscripts`: repeated labels, ellipsis, implied output.

    Operands are contracted from left to right; each contraction is one batched matrix product.
    """
    inputs, output = parse(subscripts, [x.ndim for x in operands])
    sizes = _sizes(subscripts, inputs, operands)
    result, labels = _diagonal(xp, operands[0], inputs[0])
    for i in range(1, len(operands)):
        other, theirs = _diagonal(xp, operands[i], inputs[i])
        needed = set(chain(output, *inputs[i + 1 :]))
        result, labels = _pair(xp, sizes, result, labels, other, theirs, needed)
    result, labels = _sum_out(xp, result, labels, set(output))
    return xp.permute_dims(result, tuple(labels.index(c) for c in output))


def parse(subscripts: str, ndims: Sequence[int]) -> tuple[list[str], str]:
    """The labels of each operand and of the result, ellipses spelt out.

    >>> parse('ij,jk', [2, 2])
    (['ij', 'jk'], 'ik')
    """
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ndims):
        raise ValueError(
            f"einsum {subscripts!r}: expected {len(inputs)} operands, got {len(ndims)}."
        )
    free = [c for c in LABELS if c not in text]
    spans = [n - len(t.replace("...", "")) for t, n in zip(inputs, ndims, strict=True)]
    dots = "".join(free[: max([0, *(s for t, s in zip(inputs, spans, strict=True) if "..." in t)])])
    inputs = [
        t.replace("...", dots[len(dots) - span :] if span > 0 else "")
        for t, span in zip(inputs, spans, strict=True)
    ]
    if not arrow:
        once = sorted(c for c in set("".join(inputs)) - set(dots) if "".join(inputs).count(c) == 1)
        output = "..." + "".join(once)
    output = output.replace("...", dots)
    _check(subscripts, inputs, output, ndims)
    return inputs, output


def _check(subscripts: str, inputs: list[str], output: str, ndims: Sequence[int]) -> None:
    for labels, ndim in zip(inputs, ndims, strict=True):
        if len(labels) != ndim:
            raise ValueError(
                f"einsum {subscripts!r}: expected {len(labels)} dimensions, got {ndim}."
            )
    known = set("".join(inputs))
    wrong = sorted(c for c in set(output) if c not in known or output.count(c) > 1)
    wrong += sorted(c for c in known if c not in LABELS)
    if wrong:
        raise ValueError(f"einsum {subscripts!r}: the label {wrong[0]!r} cannot stand there.")


def _sizes(subscripts: str, inputs: list[str], operands: Sequence[AnyArray]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for labels, x in zip(inputs, operands, strict=True):
        for label, n in zip(labels, x.shape, strict=True):
            if sizes.setdefault(label, n) == 1:
                sizes[label] = n
            elif n not in (1, sizes[label]):
                raise ValueError(
                    f"einsum {subscripts!r}: label {label!r} has sizes {sizes[label]} and {n}."
                )
    return sizes


def _diagonal(xp: Any, x: AnyArray, labels: str) -> tuple[AnyArray, str]:
    """Take the diagonal over labels that stand twice, so that each stands once."""
    unique = "".join(dict.fromkeys(labels))
    if unique == labels:
        return x, labels
    shape = tuple(x.shape[labels.index(c)] for c in unique)
    places = xp.zeros(shape, dtype=xp.int64, device=x.device)
    for i, c in enumerate(labels):
        step = math.prod(x.shape[i + 1 :])
        along = tuple(n if u == c else 1 for u, n in zip(unique, shape, strict=True))
        walk = xp.arange(x.shape[i], dtype=xp.int64, device=x.device) * step
        places = places + xp.reshape(walk, along)
    flat = xp.take(xp.reshape(x, (-1,)), xp.reshape(places, (-1,)), axis=0)
    return xp.reshape(flat, shape), unique


def _sum_out(xp: Any, x: AnyArray, labels: str, needed: set[str]) -> tuple[AnyArray, str]:
    gone = tuple(i for i, c in enumerate(labels) if c not in needed)
    if not gone:
        return x, labels
    kept = "".join(c for c in labels if c in needed)
    return xp.sum(x, axis=gone, dtype=x.dtype), kept


def _pair(
    xp: Any, sizes: dict[str, int], x: AnyArray, a: str, y: AnyArray, b: str, needed: set[str]
) -> tuple[AnyArray, str]:
    """Contract two operands over the labels that nobody needs afterwards."""
    x, a = _sum_out(xp, x, a, needed | set(b))
    y, b = _sum_out(xp, y, b, needed | set(a))
    batch = "".join(c for c in a if c in b and c in needed)
    inner = "".join(c for c in a if c in b and c not in needed)
    rows = "".join(c for c in a if c not in b)
    columns = "".join(c for c in b if c not in a)
    left = _arranged(xp, x, a, (batch, rows, inner), sizes)
    right = _arranged(xp, y, b, (batch, inner, columns), sizes)
    labels = batch + rows + columns
    return xp.reshape(xp.matmul(left, right), tuple(sizes[c] for c in labels)), labels


def _arranged(
    xp: Any, x: AnyArray, labels: str, groups: tuple[str, str, str], sizes: dict[str, int]
) -> AnyArray:
    """`x` with its axes in the order of the groups, each group made one axis."""
    order = "".join(groups)
    x = xp.permute_dims(x, tuple(labels.index(c) for c in order))
    x = xp.broadcast_to(x, tuple(sizes[c] for c in order))
    return xp.reshape(x, tuple(math.prod(sizes[c] for c in group) for group in groups))

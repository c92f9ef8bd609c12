"""Einstein's notation: a string of labels for the axes of each operand, and those of the result."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters


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
    free = [c for c in ascii_letters if c not in text]
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
    wrong += sorted(c for c in known if c not in ascii_letters)
    if wrong:
        raise ValueError(f"einsum {subscripts!r}: the label {wrong[0]!r} cannot stand there.")

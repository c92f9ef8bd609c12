"""Intervals of numbers, written as in mathematics: what a setting may be."""

from __future__ import annotations

import math
from typing import Any

from core.errors.exceptions import DeclarationError


class Interval:
    """The numbers between two, each end included by a square bracket, left out by a round one.

    >>> Interval("[0, 1)")
    [0, 1)
    >>> 0 in Interval("[0, 1)"), 1 in Interval("[0, 1)"), math.inf in Interval("(0, inf)")
    (True, False, False)
    """

    def __init__(self, text: str) -> None:
        try:
            self._low, self._high = (float(end) for end in text[1:-1].split(","))
            self._has_low = {"[": True, "(": False}[text[0]]
            self._has_high = {"]": True, ")": False}[text[-1]]
        except (ValueError, LookupError):
            raise DeclarationError(
                f"expected an interval such as '[0, 1)' or '(0, inf)', got {text!r}."
            ) from None
        self._text = text

    def __contains__(self, value: Any) -> bool:
        above = value >= self._low if self._has_low else value > self._low
        below = value <= self._high if self._has_high else value < self._high
        return bool(above and below) and not math.isnan(value)

    def test(self, name: str) -> str:
        """The text of a comparison that the numbers in it pass, and NaN does not.

        >>> Interval("[0, 1)").test("x"), Interval("(0, inf)").test("x")
        ('0.0 <= x < 1.0', '0.0 < x < 1e999')
        """
        low, high = (repr(end).replace("inf", "1e999") for end in (self._low, self._high))
        first, last = ("<=" if has_end else "<" for has_end in (self._has_low, self._has_high))
        return f"{low} {first} {name} {last} {high}"

    def __repr__(self) -> str:
        return self._text


def first_outside(numbers: Any, size: int) -> str:
    """Which of `numbers`, on the host, is not in [0, size), and where.

    >>> import numpy as np
    >>> first_outside(np.array([2, 7]), 3)
    '7 at (1,)'
    """
    wrong = (numbers < 0) | (numbers >= size)
    _, *at = [int(places[0]) for places in wrong[None].nonzero()]  # one number has no axis
    return f"{numbers[tuple(at)]} at {tuple(at)}"

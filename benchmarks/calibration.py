"""The yardstick of `benchmarks.instructions`: the least that any engine of this kind would do.

A bare tape on NumPy arrays: one slotted object per operation, a list, one dict, a walk back. It
is made of what an engine is made of (attribute reads, small tuples, calls, ufuncs on 4 elements),
so a Python or NumPy that makes these dearer moves both alike, and "so many times the yardstick"
travels between machines where a plain number of instructions does not. It must never change:
every recorded ratio is relative to it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float32]]
Arrays = tuple[Array, ...]
Back = Callable[[Array, Arrays], Arrays]


class Entry:
    """One operation: what it read, where its inputs and its output stand, how to go back."""

    __slots__ = ("back", "inputs", "number", "values")

    def __init__(self, back: Back, number: int, inputs: tuple[int, ...], values: Arrays):
        self.back = back
        self.number = number
        self.inputs = inputs
        self.values = values


def back_mul(g: Array, values: Arrays) -> Arrays:
    x, y = values
    return g * y, g * x


def back_add(g: Array, values: Arrays) -> Arrays:
    return g, g


def back_tanh(g: Array, values: Arrays) -> Arrays:
    (out,) = values
    return (g * (1 - out * out),)


def push(
    tape: list[Entry], back: Back, out: Array, inputs: tuple[int, ...], values: Arrays
) -> tuple[Array, int]:
    """Append an operation; return its output and number."""
    number = len(tape) + 1
    tape.append(Entry(back, number, inputs, values))
    return out, number


def calibration(repeat: int, length: int = 33) -> None:
    """Run the chain of mul, add, tanh on the tape, forward and back, `repeat` times."""
    x, w, b, g = (np.full(4, v, dtype=np.float32) for v in (0.1, 1.1, 0.2, 1.0))
    for _ in range(repeat):
        tape: list[Entry] = []
        h, number = x, 0
        for _ in range(length):
            h, number = push(tape, back_mul, h * w, (number, -1), (h, w))
            h, number = push(tape, back_add, h + b, (number, -2), ())
            h = np.tanh(h)
            h, number = push(tape, back_tanh, h, (number,), (h,))
        gradients = {number: g}
        for entry in reversed(tape):
            found = entry.back(gradients.pop(entry.number), entry.values)
            for source, gradient in zip(entry.inputs, found, strict=True):
                old = gradients.get(source)
                gradients[source] = gradient if old is None else old + gradient

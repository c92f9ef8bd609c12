"""Sequences rearranged from one for each example to one batch for each time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from core import Domain, FunctionNode, Variable, anything, as_variable, choice
from core.errors import InvalidType
from core.typing import Array
from plugins.functions.refusal import require


def _by_time(xp: Any, xs: Any, length: int) -> tuple[Any, ...]:
    """For each time: the element of every sequence that is long enough."""
    batches = list[Any]()
    for stop in dict.fromkeys([min(x.shape[0], length) for x in reversed(xs)]):
        # Up to there these sequences are all that go on: their elements are stacked at once.
        longer = [x[len(batches) : stop, ...] for x in xs if x.shape[0] >= stop]
        stacked = xp.stack(longer, axis=1)
        batches += [stacked[time, ...] for time in range(stacked.shape[0])]
    return (*batches, *[xs[0][:0, ...]] * (length - len(batches)))


def _not_rising(f: Any, *xs: Any) -> None:
    lengths = [x.shape[0] for x in xs]
    for i, (one, other) in enumerate(pairwise(lengths)):
        if one < other:
            raise InvalidType(f"xs[{i}].shape[0] >= xs[{i + 1}].shape[0]", f"{one} < {other}")


class TransposeSequence(FunctionNode):
    """Sequences (examples, not rising in length) to the batches of each time, and back."""

    length: int | None = None
    output_names = ("*batches",)
    domain = Domain(
        "(...)*->(...b)",
        xs=anything(),
        settings={"length": choice(None)},
        dims={"...": (1, 3)},
        differ=0,
        valid=_not_rising,
    )

    def compute(self, xp, *xs):
        return _by_time(xp, xs, xs[0].shape[0] if self.length is None else self.length)

    def gradient(self, xp, g):
        shapes = [self.input_shape(i) for i in range(len(self._sources))]
        known = next(step for step in g if step is not None)
        steps = []
        for time, step in enumerate(g):
            if step is None:
                shape = sum([s[0] > time for s in shapes]), *shapes[0][1:]
                step = xp.zeros(shape, dtype=known.dtype, device=known.device)
            steps.append(step)
        return _by_time(xp, steps, len(shapes))


def transpose_sequence(xs: Iterable[Array]) -> tuple[Variable, ...]:
    """Rearrange sequences of examples into batches, one for each time.

    Args:
        xs: An iterable of arrays or Variables (length, ...), of one dtype, and alike but for the
            lengths, which do not rise.

    Returns:
        A tuple of Variables, as many as the first of `xs` is long; the one at time t holds the
        elements at t of all sequences that are longer.

    Raises:
        InvalidType: Shapes or dtypes do not fit.

    >>> import core.functions as F, numpy as np
    >>> F.transpose_sequence([np.array([1, 2], "f"), np.array([3], "f")])
    (variable([1., 3.], dtype=float32), variable([2.], dtype=float32))
    """
    xs = list(xs)
    if not xs:
        return ()
    first = as_variable(xs[0])
    require("transpose_sequence", ("xs[0].ndim > 0", first.ndim > 0, True))
    return TransposeSequence.call(*xs, length=first.shape[0])

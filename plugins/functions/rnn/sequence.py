"""Recurrent cells over whole sequences, as one operation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from core import FunctionNode, choice
from core.errors import InvalidType
from core.typing import AnyArray


def _lengths(shapes: dict[str, Any]) -> list[tuple[int, ...]]:
    """For tests: by how much the last sequences may be shorter, for so many rows of x."""
    rows, n = shapes["x"][0], shapes["h_first"][0]
    if not rows or not n:
        return [()] if rows == n else []
    found = []
    for steps in range(-(-rows // n), min(rows, -(-rows // n) + 2) + 1):
        lengths = [max(0, min(steps, rows - i * steps)) for i in range(n)]
        found.append(tuple([steps - length for length in lengths if length < steps]))
    return found


def fits(f: Any, *inputs: Any) -> None:
    """Refuse rows of x that are not those of sequences of such lengths."""
    n, rows = inputs[0].shape[0], inputs[f.declared.names.index("x")].shape[0]
    shorter, total = f.shorter, rows + sum(f.shorter)
    if n < len(shorter):
        raise InvalidType(f"len(shorter) <= {n}", f"{len(shorter)}")
    if list(shorter) != sorted(shorter) or min(shorter, default=0) < 0:
        raise InvalidType("numbers of steps in shorter, which do not fall", f"{shorter}")
    if total % max(n, 1) or total < n * max((1, *shorter)) or (rows and not n):
        raise InvalidType(
            f"x.shape[0] == steps * {n} - sum(shorter), with a step at least, and as many as the "
            "last of shorter",
            f"{rows}, of {shorter} in shorter",
        )


SETTINGS = {"shorter": choice(_lengths), "reverse": choice(False, True)}


class _RecurrentSequence(FunctionNode):
    """Steps of a cell over rows of x, each with the product of W and the state before.

    The rows lie by time: first those of all sequences, then those of the sequences that have a
    second step, and so on. The longest sequences come first, and the last ones are `shorter`, by so
    many steps. Those steps are left out; with `reverse`, in which the last step is the first to be
    made, sequences begin later.

    A class says what its cell does with that product, and what follows from it for gradients. Of
    several states the first is the output. The gradient of W is one product over all steps, where
    steps by themselves would each make a matrix of its size.
    """

    shorter: tuple[int, ...] = ()
    reverse: bool = False
    wide = True

    def step(self, xp: Any, states: Any, x: Any, q: Any) -> tuple[list[Any], list[Any]]:
        """The next states, and what else its gradient asks for, from x and the product q."""
        raise NotImplementedError(f"{type(self).__name__} does not define step()")

    def step_back(
        self, xp: Any, g: Any, before: Any, after: Any, kept: Any
    ) -> tuple[list[Any], Any, Any]:
        """From the gradients of the states those of the ones before, of x and of q.

        Of the first state before it is what does not come through q; None is zero.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define step_back()")

    def blocks(self, n: int, rows: int) -> tuple[tuple[int, int], ...]:
        """Where the rows of each step begin, and how many there are, in the order of the steps."""
        return _blocks(n, rows, self.shorter, self.reverse)

    def before(self, xp: Any, first: Any, states: Any) -> Any:
        """The states before each row's step, by time, from those after it and the first ones."""
        found, at, made = [], 0, 0
        for start, size in self.blocks(first.shape[0], states.shape[0]):
            known = min(size, made)
            found.append([states[at : at + known, ...], first[known:size, ...]])
            at, made = start, size
        by_time = found[::-1] if self.reverse else found
        parts = [part for parts in by_time for part in parts if part.shape[0]]
        return xp.concat(parts or found[0], axis=0)

    def walk(
        self, xp: Any, states: Sequence[AnyArray], x: AnyArray, W: AnyArray, b: Any = None
    ) -> tuple[list[AnyArray], Sequence[AnyArray]]:
        """The states of all steps and what is kept of them, and the last; products begin with b."""
        found, transposed = [], xp.matrix_transpose(W)
        for start, size in self.blocks(states[0].shape[0], x.shape[0]):
            before = [_first(state, size) for state in states]
            q = xp.matmul(before[0], transposed)
            rows = x[start : start + size, ...]
            after, kept = self.step(xp, before, rows, q if b is None else q + b)
            found.append((*after, *kept))
            states = [_with_rest(xp, *each) for each in zip(after, states, strict=True)]
        by_time = found[::-1] if self.reverse else found
        return [xp.concat(each, axis=0) for each in zip(*by_time, strict=True)], states

    def walk_back(
        self, xp: Any, g: Sequence[Any], first: Sequence[Any], states: Any, kept: Any, W: Any
    ) -> tuple[list[Any], Any, Any, Any]:
        """The gradients of the first states, of x, W and the products.

        From those of all outputs and of the last states.
        """
        (g_all, *last), of_x, of_q = g, [], []
        through = [
            xp.zeros_like(state) if each is None else each
            for state, each in zip(first, last, strict=True)
        ]
        befores = [self.before(xp, *each) for each in zip(first, states, strict=True)]
        for start, size in reversed(self.blocks(first[0].shape[0], states[0].shape[0])):
            rows = slice(start, start + size)
            here = [_first(each, size) for each in through]
            if g_all is not None:
                here[0] = here[0] + g_all[rows, ...]
            of_step = [[each[rows, ...] for each in some] for some in (befores, states, kept)]
            (direct, *others), gx, gq = self.step_back(xp, here, *of_step)
            gh = xp.matmul(gq, W)
            new = (gh if direct is None else gh + direct, *others)
            through = [_with_rest(xp, *each) for each in zip(new, through, strict=True)]
            of_x.append(gx)
            of_q.append(gq)
        order = 1 if self.reverse else -1
        gx = xp.concat(of_x[::order], axis=0)
        gq = gx if of_q[0] is of_x[0] else xp.concat(of_q[::order], axis=0)
        return through, gx, xp.matmul(xp.matrix_transpose(gq), befores[0]), gq


@lru_cache
def _blocks(
    n: int, rows: int, shorter: tuple[int, ...], reverse: bool
) -> tuple[tuple[int, int], ...]:
    found, start = list[tuple[int, int]](), 0
    steps = (rows + sum(shorter)) // n if n else 1
    for step in range(steps):
        size = n - len(shorter) + bisect_left(shorter, steps - step)
        found.append((start, size))
        start += size
    return tuple(found[::-1] if reverse else found)


def _first(state: Any, size: int) -> Any:
    return state if size == state.shape[0] else state[:size, ...]


def _with_rest(xp: Any, new: Any, state: Any) -> Any:
    """New first rows of a state, and the others as they are."""
    size = new.shape[0]
    return new if size == state.shape[0] else xp.concat([new, state[size:, ...]], axis=0)

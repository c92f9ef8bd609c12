"""Recurrent cells over a whole sequence, as one operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core import FunctionNode
from core.typing import AnyArray


class _RecurrentSequence(FunctionNode):
    """Steps of a cell over the first axis of x, each with the product of W and the state before.

    A class says what its cell does with that product, and what follows from it for gradients. Of
    several states the first is the output. The gradient of W is one product over all steps, where
    steps by themselves would each make a matrix of its size.
    """

    wide = True

    def step(self, xp: Any, states: Any, x: Any, q: Any) -> tuple[list[Any], list[Any]]:
        """The next states, and what else its gradient asks for, from x and the product q."""
        raise NotImplementedError(f"{type(self).__name__} does not define step()")

    def step_back(
        self, xp: Any, g: Any, before: Any, after: Any, kept: Any
    ) -> tuple[list[Any], Any, Any]:
        """From the gradients of the states (or None) those of the ones before, of x and of q.

        Of the first state before it is what does not come through q; None is zero.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define step_back()")

    def walk(
        self, xp: Any, states: Sequence[AnyArray], x: AnyArray, W: AnyArray, b: Any = None
    ) -> list[AnyArray]:
        """The states of all steps, and what is kept of them; products begin with b."""
        found, transposed = [], xp.matrix_transpose(W)
        for step in range(x.shape[0]):
            q = xp.matmul(states[0], transposed)
            states, kept = self.step(xp, states, x[step, ...], q if b is None else q + b)
            found.append((*states, *kept))
        return [xp.stack(each, axis=0) for each in zip(*found, strict=True)]

    def walk_back(
        self, xp: Any, g: Sequence[Any], first: Sequence[Any], states: Any, kept: Any, W: Any
    ) -> tuple[list[Any], Any, Any, Any]:
        """The gradients of the first states, of x, W and the products.

        From those of all outputs and of the last other states.
        """
        (g_all, *others), through, of_x, of_q = g, None, [], []
        steps, n, units = states[0].shape
        for step in reversed(range(steps)):
            gh = through
            if g_all is not None:
                gh = g_all[step, ...] if gh is None else gh + g_all[step, ...]
            before = first if step == 0 else [each[step - 1, ...] for each in states]
            after, here = [[each[step, ...] for each in some] for some in (states, kept)]
            (direct, *others), gx, gq = self.step_back(xp, (gh, *others), before, after, here)
            through = xp.matmul(gq, W)
            through = through if direct is None else through + direct
            of_x.append(gx)
            of_q.append(gq)
        gx = xp.stack(of_x[::-1], axis=0)
        gq = gx if of_q[0] is of_x[0] else xp.stack(of_q[::-1], axis=0)
        h = xp.concat([xp.reshape(first[0], (1, n, units)), states[0][:-1, ...]], axis=0)
        columns = xp.matrix_transpose(xp.reshape(gq, (steps * n, gq.shape[2])))
        gW = xp.matmul(columns, xp.reshape(h, (steps * n, units)))
        return [through, *others], gx, gW, gq

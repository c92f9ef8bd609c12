"""Layers of recurrent units run over whole sequences, in one direction or both.

The products of a layer's inputs at all times are one matrix product; what is left to a step is the
product of its state. The batches of the steps may shrink: sequences are sorted by length, and the
last ones end first. Rows that are not in a batch keep their state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple

from core import Variable, as_variable
from plugins.functions.activation.relu import ReLU
from plugins.functions.activation.tanh import Tanh
from plugins.functions.array.concat import Concat
from plugins.functions.array.flip import flip
from plugins.functions.array.reshape import reshape
from plugins.functions.array.split_axis import separate, split_axis
from plugins.functions.array.stack import Stack
from plugins.functions.connection.linear import LinearFunction
from plugins.functions.noise.dropout import dropout
from plugins.functions.refusal import require
from plugins.functions.rnn.gru import GRUStep
from plugins.functions.rnn.gru_sequence import GRUSequence
from plugins.functions.rnn.lstm import LSTM
from plugins.functions.rnn.lstm_sequence import LSTMSequence
from plugins.functions.rnn.simple_sequence import ReLUSequence, TanhSequence

States = tuple[Variable, ...]
TOGETHER = 4  # steps of a batch that shrinks later, or has before: as many as are worth it


class Cell(NamedTuple):
    """A kind of recurrent unit.

    A layer has `weights` matrices, the first half for the input, the second half for the state.
    `join` makes one matrix (or vector) of a half. `step(states, x, W, b)` gives the new states, of
    which the first is the output, from `x`, the product of the input with its bias. `b` is the
    state's bias where the unit `keeps_bias` apart; otherwise it is in `x` as well. `sequence`, with
    the same arguments, makes all steps along the first axis of x at once: it gives the outputs and
    the last states.
    """

    weights: int
    join: Callable[[Sequence[Any]], Variable]
    step: Callable[[States, Variable, Variable, Any], States]
    sequence: Callable[[States, Variable, Variable, Any], tuple[Variable, States]]
    keeps_bias: bool = False


def _in_blocks(parts: Sequence[Any]) -> Variable:
    return Concat.call(*parts, axis=0)


def _dealt_out(parts: Sequence[Any]) -> Variable:
    """From i, f, a, o the rows of a, i, f, o in turn, as the LSTM cell takes them."""
    i, f, a, o = parts
    rows = Stack.call(a, i, f, o, axis=1)
    return reshape(rows, (4 * rows.shape[0], *rows.shape[2:]))


def _lstm(states: States, x: Variable, W: Variable, b: Any) -> States:
    h, c = states
    c, h = LSTM.call(c, LinearFunction.call(h, W) + x)
    return h, c


def _lstm_sequence(states: States, x: Variable, W: Variable, b: Any) -> tuple[Variable, States]:
    h, c = LSTMSequence.call(*states, x, W)
    return h, (h[-1], c)


def _gru(states: States, x: Variable, W: Variable, b: Any) -> States:
    (h,) = states
    return (GRUStep.call(h, x, LinearFunction.call(h, W, b)),)


def _gru_sequence(states: States, x: Variable, W: Variable, b: Any) -> tuple[Variable, States]:
    h = GRUSequence.call(*states, x, W, b)
    return h, (h[-1],)


def _simple(activation: Any, whole: Any) -> Cell:
    def step(states: States, x: Variable, W: Variable, b: Any) -> States:
        return (activation.call(LinearFunction.call(states[0], W) + x),)

    def sequence(states: States, x: Variable, W: Variable, b: Any) -> tuple[Variable, States]:
        h = whole.call(*states, x, W)
        return h, (h[-1],)

    return Cell(2, _in_blocks, step, sequence)


LSTM_CELL = Cell(8, _dealt_out, _lstm, _lstm_sequence)
GRU_CELL = Cell(6, _in_blocks, _gru, _gru_sequence, keeps_bias=True)
SIMPLE_CELLS = {"tanh": _simple(Tanh, TanhSequence), "relu": _simple(ReLU, ReLUSequence)}


def run(
    name: str,
    cell: Cell,
    directions: int,
    n_layers: int,
    dropout_ratio: float,
    states: Sequence[Any],
    ws: Any,
    bs: Any,
    xs: Any,
) -> Any:
    """The last states, stacked over layers and directions, and the outputs by time."""
    xs, states = [as_variable(x) for x in xs], [as_variable(s) for s in states]
    ranks, sizes = [x.ndim for x in xs], [x.shape[0] if x.ndim else 0 for x in xs]
    _check(name, cell, directions * n_layers, dropout_ratio, states, ws, bs, ranks, sizes)
    cuts = list(accumulate(sizes))[:-1]
    settings = cell, directions, n_layers, dropout_ratio
    *last, y = _layers(*settings, states, ws, bs, Concat.call(*xs, axis=0), cuts)
    return *last, split_axis(y, cuts, axis=0)


def run_together(
    name: str,
    cell: Cell,
    directions: int,
    n_layers: int,
    dropout_ratio: float,
    states: Sequence[Any],
    ws: Any,
    bs: Any,
    x: Variable,
) -> Any:
    """As `run`, for sequences of one length: x is (steps, n, in_size), and the outputs alike."""
    (steps, n), states = x.shape[:2], [as_variable(s) for s in states]
    _check(name, cell, directions * n_layers, dropout_ratio, states, ws, bs, [x.ndim - 1], [n])
    rows, cuts = reshape(x, (steps * n, x.shape[2])), range(n, steps * n, n)
    settings = cell, directions, n_layers, dropout_ratio
    *last, y = _layers(*settings, states, ws, bs, rows, list(cuts))
    return *last, reshape(y, (steps, n, y.shape[1]))


def together(function: Any, cell: Cell, directions: int) -> Any:
    """Give a function over sequences, as `n_step_lstm`, the one over those of one length."""
    name = getattr(function, "func", function).__name__
    function.together = partial(run_together, name, cell, directions)
    return function


def _layers(
    cell: Cell,
    directions: int,
    n_layers: int,
    dropout_ratio: float,
    states: Sequence[Any],
    ws: Any,
    bs: Any,
    x: Variable,
    cuts: list[int],
) -> Any:
    """The last states, and the outputs of all times in a row."""
    first, last = list(zip(*[separate(s, axis=0) for s in states], strict=True)), list[Any]()
    for layer in range(n_layers):
        outputs = []
        for i in range(layer * directions, (layer + 1) * directions):
            # Each direction drops elements of its own, as in Chainer.
            seen = dropout(x, dropout_ratio) if layer and dropout_ratio else x
            y, end = _run_once(cell, ws[i], bs[i], seen, cuts, first[i], i % directions == 1)
            outputs.append(y)
            last.append(end)
        x = outputs[0] if directions == 1 else Concat.call(*outputs, axis=1)
    return *[Stack.call(*each, axis=0) for each in zip(*last, strict=True)], x


def _run_once(
    cell: Cell, ws: Any, bs: Any, x: Variable, cuts: Any, states: States, reverse: bool
) -> tuple[Variable, list[Variable]]:
    """One layer in one direction: the outputs of all times in a row, and the last states."""
    half = cell.weights // 2
    W, U, b, c = [cell.join(part) for part in (ws[:half], ws[half:], bs[:half], bs[half:])]
    total = b if cell.keeps_bias else b + c
    z = LinearFunction.call(x, W, total)
    runs = _runs(cuts, z.shape[0])
    ends = list(accumulate([n * steps for n, steps in runs]))[:-1]
    parts = split_axis(z, ends, axis=0) if ends else (z,)
    waiting = list[States]()
    if reverse:
        states, waiting = _begun(states, sorted({n for n, _ in runs}))
    ys = []
    for (n, steps), part in list(zip(runs, parts, strict=True))[:: -1 if reverse else 1]:
        if n > states[0].shape[0]:
            states = _joined(states, waiting.pop())
        elif n < states[0].shape[0]:
            states, ended = zip(*[split_axis(s, [n], axis=0) for s in states], strict=True)
            waiting.append(ended)
        if steps == 1:
            states = cell.step(states, part, U, c)
            ys.append(states[0])
        else:
            part = reshape(part, (steps, n, part.shape[1]))
            y, states = cell.sequence(states, flip(part, 0) if reverse else part, U, c)
            ys.append(reshape(flip(y, 0) if reverse else y, (steps * n, y.shape[2])))
    last = list(_joined(states, *waiting[::-1]))
    y = Concat.call(*(ys[::-1] if reverse else ys), axis=0) if len(ys) > 1 else ys[0]
    return y, last


def _runs(cuts: Any, rows: int) -> list[tuple[int, int]]:
    """How many rows a batch has, and for how many steps, which are made together."""
    sizes = [stop - start for start, stop in pairwise([0, *cuts, rows])]
    alike = [(n, len(list(steps))) for n, steps in groupby(sizes)]
    if len(alike) == 1:
        return alike
    runs = list[tuple[int, int]]()
    for n, steps in alike:
        runs += [(n, 1)] * steps if steps < TOGETHER else [(n, steps)]
    return runs


def _begun(states: States, sizes: list[int]) -> tuple[States, list[States]]:
    """States of the sequences that go on the longest, and of others, those that join last first."""
    cuts = [n for n in sizes if n < states[0].shape[0]]
    if not cuts:
        return states, []
    first, *others = zip(*[split_axis(s, cuts, axis=0) for s in states], strict=True)
    return first, others[::-1]


def _joined(states: States, *others: States) -> States:
    """States with the rows of others after theirs."""
    if not others:
        return states
    return tuple([Concat.call(*each, axis=0) for each in zip(states, *others, strict=True)])


def _check(
    name: str,
    cell: Cell,
    count: int,
    dropout_ratio: float,
    states: Any,
    ws: Any,
    bs: Any,
    ranks: list[int],
    sizes: list[int],
) -> None:
    if not 0 <= dropout_ratio < 1:
        raise ValueError(f"{name}: expected a dropout_ratio in [0, 1), got {dropout_ratio}")
    if count < 1:
        raise ValueError(f"{name}: expected n_layers of at least 1, got {count}")
    if not sizes:
        raise ValueError(f"{name}: expected at least one time step in xs, got none")
    for what, given in (("ws", ws), ("bs", bs)):
        expected = f"{cell.weights} arrays in each of {count} {what}"
        require(name, (expected, [len(part) for part in given], [cell.weights] * count))
    require(
        name,
        ("hx.ndim == 3", states[0].ndim, 3),
        ("arrays of 2 axes in xs", ranks, [2] * len(ranks)),
        (f"hx.shape[0] == {count}", states[0].shape[:1], (count,)),
        *[("hx.shape == cx.shape", states[0].shape, state.shape) for state in states[1:]],
    )
    sizes = [states[0].shape[1], *sizes]
    falling = sorted(sizes, reverse=True)
    require(name, ("batches of hx and of xs that do not grow", sizes, falling))

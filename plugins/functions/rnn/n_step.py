"""Layers of recurrent units run over whole sequences, in one direction or both.

The products of a layer's inputs at all times are one matrix product; what is left to a step is the
product of its state. Rows lie by time, those of the longest sequences first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from core import Variable, as_variable
from plugins.functions.array.concat import Concat
from plugins.functions.array.reshape import reshape
from plugins.functions.array.split_axis import separate, split_axis
from plugins.functions.array.stack import Stack
from plugins.functions.connection.linear import LinearFunction
from plugins.functions.noise.dropout import dropout
from plugins.functions.refusal import require
from plugins.functions.rnn.gru_sequence import GRUSequence
from plugins.functions.rnn.lstm_sequence import LSTMSequence
from plugins.functions.rnn.simple_sequence import ReLUSequence, TanhSequence


class Cell(NamedTuple):
    """A kind of recurrent unit.

    A layer has `weights` matrices, the first half for the input, the second half for the state.
    `join` makes one matrix (or vector) of a half. `sequence` is the operation that makes all steps:
    it takes the first states, the products of the inputs with their bias, and the state's matrix;
    where the unit `keeps_bias` apart, the state's bias as well, which otherwise is in the products.
    """

    weights: int
    join: Callable[[Sequence[Any]], Variable]
    sequence: Any
    keeps_bias: bool = False


def _in_blocks(parts: Sequence[Any]) -> Variable:
    return Concat.call(*parts, axis=0)


def _dealt_out(parts: Sequence[Any]) -> Variable:
    """From i, f, a, o the rows of a, i, f, o in turn, as the LSTM cell takes them."""
    i, f, a, o = parts
    rows = Stack.call(a, i, f, o, axis=1)
    return reshape(rows, (4 * rows.shape[0], *rows.shape[2:]))


LSTM_CELL = Cell(8, _dealt_out, LSTMSequence)
GRU_CELL = Cell(6, _in_blocks, GRUSequence, keeps_bias=True)
SIMPLE_CELLS = {
    "tanh": Cell(2, _in_blocks, TanhSequence),
    "relu": Cell(2, _in_blocks, ReLUSequence),
}


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
    settings = cell, directions, n_layers, dropout_ratio
    *last, y = _layers(*settings, states, ws, bs, Concat.call(*xs, axis=0), sizes)
    return *last, split_axis(y, list(accumulate(sizes))[:-1], axis=0)


def run_packed(
    name: str,
    cell: Cell,
    directions: int,
    n_layers: int,
    dropout_ratio: float,
    states: Sequence[Any],
    ws: Any,
    bs: Any,
    x: Variable,
    sizes: list[int],
) -> Any:
    """As `run`, where x has the rows of all times, `sizes` of them, and the outputs alike."""
    states = [as_variable(s) for s in states]
    _check(name, cell, directions * n_layers, dropout_ratio, states, ws, bs, [x.ndim], sizes)
    return _layers(cell, directions, n_layers, dropout_ratio, states, ws, bs, x, sizes)


def _layers(
    cell: Cell,
    directions: int,
    n_layers: int,
    dropout_ratio: float,
    states: Sequence[Any],
    ws: Any,
    bs: Any,
    x: Variable,
    sizes: list[int],
) -> Any:
    """The last states, and the outputs of all times in a row."""
    first, last = list(zip(*[separate(s, axis=0) for s in states], strict=True)), list[Any]()
    shorter = _shorter(states[0].shape[1], sizes)
    for layer in range(n_layers):
        outputs = []
        for i in range(layer * directions, (layer + 1) * directions):
            # Each direction drops elements of its own, as in Chainer.
            seen = dropout(x, dropout_ratio) if layer and dropout_ratio else x
            settings = {"shorter": shorter, "reverse": i % directions == 1}
            y, *end = _run_once(cell, ws[i], bs[i], seen, first[i], settings)
            outputs.append(y)
            last.append(end)
        x = outputs[0] if directions == 1 else Concat.call(*outputs, axis=1)
    return *[Stack.call(*each, axis=0) for each in zip(*last, strict=True)], x


def _run_once(cell: Cell, ws: Any, bs: Any, x: Variable, states: Any, settings: Any) -> Any:
    """One layer in one direction: the outputs of all times in a row, and the last states."""
    half = cell.weights // 2
    W, U, b, c = [cell.join(part) for part in (ws[:half], ws[half:], bs[:half], bs[half:])]
    if cell.keeps_bias:
        return cell.sequence.call(*states, LinearFunction.call(x, W, b), U, c, **settings)
    return cell.sequence.call(*states, LinearFunction.call(x, W, b + c), U, **settings)


def _shorter(n: int, sizes: list[int]) -> tuple[int, ...]:
    """By how many steps the last of n sequences are shorter than there are, for batches by time."""
    found = list[int]()
    for steps, (before, size) in enumerate(zip([n, *sizes][-2::-1], sizes[::-1], strict=True), 1):
        found += [steps] * (before - size)
    return tuple(found)


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
        require(name, (expected, _lengths(given), [cell.weights] * count))
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


def _lengths(given: Any) -> Any:
    """How many arrays each part has; of what has no such parts, the type."""
    try:
        return [len(part) for part in given]
    except TypeError:
        return type(given).__name__

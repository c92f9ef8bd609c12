"""The common parts of layers of recurrent units over whole sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

from core import ChainList, Link, Parameter, Variable, as_variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Count, Ratio
from plugins.functions.rnn.n_step import Cell, run_packed
from plugins.links import arguments
from plugins.links.rnn.stateful import zeros


@dataclass(frozen=True)
class Held:
    """The weights and biases of a unit; no tuple, which summaries would show as its outputs."""

    weights: list[Any]
    biases: list[Any]


class Unit(Link):
    """The weights w0, w1, ... and biases b0, b1, ... of one layer in one direction.

    The first half of the weights is for the input, the second for the state.
    """

    @checked
    def __init__(self, count: int, in_size: int | None, out_size: int, W: Any, b: Any) -> None:
        super().__init__()
        self.count = count
        self.out_size = out_size
        with self.init_scope():
            for i in range(count):
                setattr(self, f"w{i}", Parameter(arguments.weight(W)))
            for i in range(count):
                setattr(self, f"b{i}", Parameter(arguments.bias(b), (out_size,)))
        if in_size is not None:
            self.initialize(in_size)

    def initialize(self, in_size: int) -> None:
        """Size the weights for inputs of `in_size` elements."""
        for i, w in enumerate(self.weights()):
            w.initialize((self.out_size, in_size if i < self.count // 2 else self.out_size))

    def weights(self) -> list[Parameter]:
        """All weights, in order."""
        return [getattr(self, f"w{i}") for i in range(self.count)]

    def biases(self) -> list[Parameter]:
        """All biases, in order."""
        return [getattr(self, f"b{i}") for i in range(self.count)]

    def forward(self) -> Held:
        """What the layers are run with: parameters, or what hooks of the unit put in their place.

        A call of the unit, since hooks see nothing else.
        """
        return Held(self.weights(), self.biases())


class NStep(ChainList):
    """Layers of recurrent units that run over a batch of sequences of any lengths.

    The sequences are a list, or an array where all have one length; so are the outputs. An array
    spares an operation for each sequence, and leaves the size of the batch open.

    Its children are the layers, in the order of the layers, and for each of them forward and then
    backward.
    """

    cell: ClassVar[Cell]
    rnn: ClassVar[Callable[..., Any]]  # the function of these layers, with given weights
    n_weights: ClassVar[int]
    n_cells: ClassVar[int] = 1
    use_bi_direction: ClassVar[bool] = False

    @checked
    def __init__(
        self,
        n_layers: Count,
        in_size: int | None,
        out_size: int,
        dropout: Ratio,
        *,
        initialW: InitializerSpec = None,
        initial_bias: InitializerSpec = None,
    ) -> None:
        directions = 2 if self.use_bi_direction else 1
        sizes = [in_size, *[directions * out_size] * (n_layers - 1)]
        super().__init__(
            *[
                Unit(self.n_weights, size, out_size, initialW, initial_bias)
                for size in sizes
                for _ in range(directions)
            ]
        )
        self.n_layers = n_layers
        self.in_size = in_size
        self.out_size = out_size
        self.dropout = dropout

    def init_hx(self, xs: Sequence[Any]) -> Variable:
        """Return the initial states of the sequences `xs`: zeros (layers, n, out_size)."""
        return zeros(xs[0], self.out_size, len(self), len(xs))

    def _run(self, states: Sequence[Any], xs: Any) -> tuple[Any, ...]:
        """The last states and the outputs of the sequences `xs`, in their order and form."""
        if getattr(xs, "ndim", 0) == 3:
            self._refuse_empty([xs.shape[1]] * xs.shape[0])
            *last, y = self._run_steps(states, xs, F.swapaxes(xs, 0, 1))
            return *last, F.swapaxes(y, 0, 1)
        if not isinstance(xs, (list, tuple)) or not xs:
            got = "none" if isinstance(xs, (list, tuple)) else type(xs).__name__
            raise TypeError(
                f"links.{type(self).__name__}: expected a list of sequences (length, in_size), or "
                f"an array (n, length, in_size) where all have one length, got {got}."
            )
        xs = [as_variable(x) for x in xs]
        lengths = [x.shape[0] for x in xs]
        self._refuse_empty(lengths)
        if min(lengths) == max(lengths) and xs[0].ndim == 2:
            *last, y = self._run_steps(states, xs, F.stack(xs, axis=1))
            return *last, list(F.separate(y, axis=1))
        order = sorted(range(len(xs)), key=lambda i: -lengths[i])
        places, sizes = _by_time(lengths, order)
        given = [_reordered(s, order, 1) for s in self._given(states, xs)]
        *last, y = self._run_rows(given, _reordered(F.concat(xs, axis=0), places, 0), sizes)
        back, y = _inverse(order), _reordered(y, _inverse(places), 0)
        ends = list(accumulate(lengths))[:-1]
        return *[_reordered(s, back, 1) for s in last], list(F.split_axis(y, ends, axis=0))

    def _run_steps(self, states: Sequence[Any], xs: Any, steps: Variable) -> Any:
        """The last states, and the outputs as the sequences `xs` are: steps first."""
        (length, n), given = steps.shape[:2], self._given(states, xs)
        rows = F.reshape(steps, (length * n, *steps.shape[2:]))
        *last, y = self._run_rows(given, rows, [n] * length)
        return *last, F.reshape(y, (length, n, y.shape[1]))

    def _given(self, states: Sequence[Any], xs: Any) -> list[Any]:
        """The first states; weights have their sizes then."""
        self._size_for(xs[0])
        start = self.init_hx(xs) if any([s is None for s in states]) else None
        return [start if s is None else as_variable(s) for s in states]

    def _run_rows(self, states: Sequence[Any], rows: Variable, sizes: list[int]) -> Any:
        """The last states, and the outputs of all rows, of which each time has so many."""
        name, directions = type(self).__name__, 2 if self.use_bi_direction else 1
        held = [unit() for unit in self]
        weights, biases = [unit.weights for unit in held], [unit.biases for unit in held]
        numbers = directions, self.n_layers, self.dropout
        return run_packed(name, self.cell, *numbers, states, weights, biases, rows, sizes)

    def _refuse_empty(self, lengths: list[int]) -> None:
        if not lengths or 0 in lengths:
            at = f"at place {lengths.index(0)}" if lengths else "at all"
            raise ValueError(
                f"links.{type(self).__name__}: expected sequences of one element at least, got "
                f"none {at}. Leave empty sequences out."
            )

    def _size_for(self, x: Any) -> None:
        """Size the first layer by the first sequence."""
        if self.in_size is None:
            self.in_size = x.shape[1]
        for unit in self:
            if not unit.weights()[-1].is_initialized:
                unit.initialize(self.in_size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The sizes, and the dropout between layers."""
        yield "n_layers", self.n_layers, 0
        yield "in_size", self.in_size, 0
        yield "out_size", self.out_size, 0
        yield "dropout", self.dropout, None


class NStepOfOneState(NStep):
    """Layers whose units have one state, their output."""

    def forward(self, hx: Any, xs: Any) -> tuple[Variable, Any]:
        """Run the layers.

        Args:
            hx: First states (S, n, out_size), S layers in all directions; None for zeros.
            xs: A list of n sequences (length, in_size), or an array (n, length, in_size).

        Returns:
            The last states, as `hx`, and a list of the outputs of the last layer, (length, u) for
            each sequence, u being out_size for each direction; of an array (n, length, u).
        """
        hy, ys = self._run([hx], xs)
        return hy, ys


def _by_time(lengths: list[int], order: list[int]) -> tuple[list[int], list[int]]:
    """Where the rows of each time lie in sequences that are joined, and how many there are."""
    starts = [0, *accumulate(lengths)]
    places, sizes, size = list[int](), list[int](), len(order)
    for time in range(lengths[order[0]]):
        while lengths[order[size - 1]] <= time:
            size -= 1
        places += [starts[i] + time for i in order[:size]]
        sizes.append(size)
    return places, sizes


def _inverse(order: list[int]) -> list[int]:
    found = [0] * len(order)
    for place, i in enumerate(order):
        found[i] = place
    return found


def _reordered(x: Variable, order: list[int], axis: int) -> Variable:
    """The array in this order along an axis."""
    if order == sorted(order):
        return x
    indices = x.backend.asarray(order, device=x.device)
    return F.permutate(x, indices, axis=axis)

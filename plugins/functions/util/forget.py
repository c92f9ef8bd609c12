"""Less memory for more time: part of the graph is discarded, and computed again for gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar, overload

from core import FunctionNode, Variable, as_variable, config, grad, using_config
from core.arrays.backend import random_state, set_random_state
from core.errors import GraphError
from core.errors.kinds import checked
from core.graph.graph_node import next_sequence
from core.graph.history import history_of
from core.link.replays import Met
from core.tracing import Draws, taken_by, what_is_around
from core.typing import AnyArray, Array

Func = Callable[..., Any]
Outputs = TypeVar("Outputs", bound=tuple[Variable, ...])


class _Replay:
    """Calls of a function that all go as the first one: random numbers, statistics, its mode."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.state = random_state()
        self.train = config.train
        self.around = what_is_around()
        self.draws = Draws()
        self.met = Met()

    def within(self, xs: Sequence[Variable]) -> AbstractContextManager[None]:
        """A context in which derivatives that `func` takes are differentiable, where it matters."""
        return taken_by([*self.around, *xs]) if self.around else nullcontext()

    def run(self, xs: Sequence[Variable]) -> tuple[Variable, ...]:
        """The outputs, with their graph; the state of random numbers stays what it is."""
        now = random_state()
        set_random_state(self.state)
        try:
            with (
                self.within(xs),
                self.draws.again(),
                self.met.again(),
                using_config("enable_backprop", True),
                using_config("train", self.train),
                using_config("in_recomputing", True),
            ):
                outputs = _as_tuple(self.func(*xs))
        finally:
            set_random_state(now)
        return outputs


class Forget(FunctionNode):
    """A function whose arguments alone are kept.

    In the general form: the inputs are the arguments, and after them the leaves that the function
    reads from elsewhere, such as the parameters of a link.
    """

    def __init__(self, func: Func) -> None:
        self.func = func

    def apply(self, inputs: Iterable[Any]) -> tuple[Variable, ...]:
        """The outputs of the function."""
        if self._sources is not None:
            return self.again().apply(inputs)
        xs = tuple([as_variable(x) for x in inputs])
        self.replay, self.count, start = _Replay(self.func), len(xs), next_sequence()
        apart = _apart(xs)
        with self.replay.within(apart), self.replay.met.first():
            outputs = self._computed(apart)
        self.replay.draws.end()
        leaves = _leaves(outputs, apart, start)
        if not outputs or not (leaves or any([x.requires_grad for x in xs])):
            return outputs
        self.results = tuple([y.array for y in outputs])
        del outputs, apart  # and with them the graph of the function
        return super().apply((*xs, *leaves))

    def _computed(self, xs: tuple[Variable, ...]) -> tuple[Variable, ...]:
        return _as_tuple(self.func(*xs))

    def forward(self, inputs: tuple[AnyArray, ...]) -> tuple[AnyArray, ...]:
        self.retain_inputs(range(len(inputs)))
        results, self.results = self.results, ()
        return results

    def backward(
        self, indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        inputs = self.get_retained_inputs()
        pull = _Pull(self.replay, indexes, inputs[self.count :], grad_outputs)
        given = (*inputs[: self.count], *[g for g in grad_outputs if g is not None])
        if config.enable_backprop:
            return pull.spread(Forget(pull).apply(given))
        return pull.spread(pull(*_apart(given)))


class _Pull:
    """Gradients of a replayed function, itself a function of its arguments and their gradients."""

    def __init__(
        self,
        replay: _Replay,
        indexes: Sequence[int],
        leaves: Sequence[Variable],
        grad_outputs: Sequence[Variable | None],
    ) -> None:
        self.replay = replay
        self.indexes = indexes
        self.leaves = leaves
        self.present = [i for i, g in enumerate(grad_outputs) if g is not None]
        self.reached: list[bool] = []

    def __call__(self, *given: Variable) -> tuple[Variable, ...]:
        count = len(given) - len(self.present)
        xs, gradients = given[:count], given[count:]
        outputs = self.replay.run(xs)
        inputs = (*xs, *self.leaves)
        found = grad(
            [outputs[i] for i in self.present],
            [inputs[i] for i in self.indexes],
            list(gradients),
            enable_double_backprop=config.enable_backprop,
        )
        self.reached = [g is not None for g in found]
        return tuple([g for g in found if g is not None])

    def spread(self, found: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        """A gradient an index, None where the outputs do not depend on that input."""
        rest = iter(found)
        return tuple([next(rest) if reached else None for reached in self.reached])


@overload  # a tuple of one comes as its element
def forget(  # type: ignore[overload-overlap]
    func: Callable[..., Variable | tuple[Variable]], *xs: Array
) -> Variable: ...
@overload
def forget(func: Callable[..., Outputs], *xs: Array) -> Outputs: ...
@checked
def forget(func: Func, *xs: Array) -> Variable | tuple[Variable, ...]:
    """Call a function without keeping its intermediate results; backward computes them again.

    Only the arguments are kept. When gradients are asked for, of any order, `func` runs once more
    on them, with the same random numbers and the same `core.config.train`, so it must compute the
    same whenever it is called. Parameters that it reads, as links do, get their gradients. Running
    statistics of links move in the first run alone; what else is to be changed once asks
    `core.config.in_recomputing`, which is True in the others.

    Args:
        func: Takes Variables and returns a Variable or a tuple of them.
        *xs: Variables or arrays.

    Returns:
        What `func` returns; the Variable itself where that is a tuple of one.

    Raises:
        TypeError: `func` returns something else.
        GraphError: `func` reads a Variable that was computed from others outside, and is not among
            its arguments.
        TraceError: In the backward, within a trace: `func` draws other random numbers than in its
            first call, or made that outside of the trace.

    Source: Chen, Xu, Zhang and Guestrin 2016, "Training deep nets with sublinear memory cost"
    (arXiv:1604.06174).

    >>> import core, core.functions as F, numpy as np
    >>> x = core.Variable(np.array([1.0, 2.0]))
    >>> y = F.forget(lambda x: F.exp(x) * x, x)
    >>> F.sum(y).backward()
    >>> np.allclose(x.grad, np.exp(x.array) * (1 + x.array))
    True
    """
    return Forget(func)(*xs)


def _apart(xs: Sequence[Variable]) -> tuple[Variable, ...]:
    """New Variables of the same arrays, without a graph behind them."""
    return tuple([Variable(x.array, requires_grad=x.requires_grad) for x in xs])


def _as_tuple(result: Any) -> tuple[Variable, ...]:
    outputs = result if isinstance(result, tuple) else (result,)
    for y in outputs:
        if not isinstance(y, Variable):
            raise TypeError(
                "forget: expected func to return a Variable or a tuple of them, "
                f"got {type(y).__name__}{' in a tuple' if result is outputs else ''}"
            )
    return outputs


def _leaves(
    outputs: Sequence[Variable], arguments: Sequence[Variable], start: int
) -> list[Variable]:
    """The leaves that outputs made since `start` depend on, beside the arguments."""
    found = {y.node: None for y in outputs if y.requires_grad and y.creator_node is None}
    for creator in history_of([y.creator_node for y in outputs]):
        if creator.sequence < start:
            raise GraphError(
                f"forget: func reads a Variable that {creator.label} computed outside. "
                "Make it an argument, forget(func, ..., x), so that its gradient is known."
            )
        found |= {n: None for n in creator.inputs if n.requires_grad and n.creator_node is None}
    given = {x.node for x in arguments}
    return [node.get_variable() for node in found if node not in given]

"""Differentiable functions whose arguments and results are on several ranks.

The gradient of each is its adjoint, which is one of them as well: receiving for sending, a sum of
what is gathered for a broadcast. So derivatives of every order go from rank to rank. All ranks that
take part compute backward, too; what one rank alone knows to need a gradient, the others are told.

Where a rank gets no value, as that which sends, it gets a *delegate*: an array of one number that
stands for it in the graph. Call `backward()` on it, or on what `pseudo_connect` made of it. A rank
that only receives may give a delegate, one that needs a gradient: for derivatives of higher order,
its gradient is the delegate that the loss of these has to be connected to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

from core import FunctionNode, Variable, as_variable, config
from core.arrays import backend
from core.arrays.spec import spec_of
from core.errors import CommunicatorError
from core.training import Communicator


class _Across(FunctionNode):
    """A function of an anchor, which puts it into the graph of this rank, and of what it has.

    `values` gives the arrays of the results; `adjoint`, of the gradients of all of them, those of
    the inputs beside the anchor.
    """

    def __init__(self, values: Callable[..., Any], adjoint: Callable[..., Any]) -> None:
        super().__init__()
        self._values, self._adjoint = values, adjoint

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The results on this rank; a delegate where there are none."""
        found = self._values(inputs[1:])
        results = (inputs[0],) if found is None else tuple(found)
        self._specs: list[Any] = [spec_of(each) for each in results]
        self.retain_outputs((0,))
        return tuple([backend.of(each).copy(each) for each in results])

    def backward(self, indexes: tuple[int, ...], grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Gradients of the inputs, which come from other ranks."""
        filled = [
            Variable(spec.xp.zeros(spec.shape, dtype=spec.dtype)) if g is None else g
            for g, spec in zip(grads, self._specs, strict=True)
        ]
        if config.enable_backprop:  # a backward of this one passes here on all ranks, or on none
            connected = pseudo_connect(self.get_retained_outputs()[0], *filled)
            filled = [connected] if len(filled) == 1 else list(connected)
        found = (None, *(self._adjoint(*filled) or ()))
        return tuple([found[i] for i in indexes])


def _across(
    inputs: Sequence[Any], needs: bool, values: Callable[..., Any], adjoint: Callable[..., Any]
) -> tuple[Variable, ...]:
    arrays = [as_variable(x) for x in inputs]
    device = arrays[0].device if arrays else backend.current_device()
    zero = device.xp.zeros((1,), dtype=device.backend.dtype("float32"))
    anchor = Variable(device.send(zero), requires_grad=needs)
    return _Across(values, adjoint).apply((anchor, *arrays))


def _needed(*inputs: Any) -> bool:
    """Whether a gradient will be asked for."""
    return bool(config.enable_backprop) and any(
        [isinstance(x, Variable) and x.requires_grad for x in inputs]
    )


def _anywhere(comm: Communicator, what: str, *inputs: Any) -> bool:
    return any(comm.tell(what, int(_needed(*inputs))))


def _delegates(x: Any) -> list[Variable]:
    """The delegate that a rank without a value gives, if it gives one."""
    return [x] if isinstance(x, Variable) and x.shape == (1,) else []


# ---------------------------------------------------------------------- from one rank to another


def send(x: Any, communicator: Communicator, rank: int, tag: int = 0) -> Variable:
    """Send a Variable, or a tuple of them, to `rank`; returns a delegate.

    The gradient is received from that rank.

    >>> from core.communicators import create_communicator
    >>> try:
    ...     send(Variable(), create_communicator("local"), 1)
    ... except RuntimeError as error:
    ...     print(error)
    send: expected a rank from 0 to 0, got 1.
    """
    communicator._peer("send", rank)
    several = isinstance(x, (tuple, list))
    xs = [as_variable(each) for each in (x if several else (x,))]
    if not xs:
        raise CommunicatorError(
            "send: expected a Variable, or a tuple of one at least, got an empty one. Objects "
            "travel by communicator.send_obj."
        )
    needs = _needed(*xs)
    communicator.send_obj((needs, several, len(xs)), rank, tag)

    def values(arrays: tuple[Any, ...]) -> None:
        communicator.send(arrays, rank, tag)

    def adjoint(delegate: Any) -> Any:
        cure = f"Rank {rank} has to call backward() on what it has computed of what was sent to it"
        what = f"backward of functions.send to rank {rank}"
        communicator.doing = f"in {what}. {cure}"
        try:
            return recv(communicator, rank, delegate, tag, force_tuple=True)
        except CommunicatorError as error:
            raise CommunicatorError(f"{what}: no gradient has come. {cure}. {error}") from None
        finally:
            communicator.doing = ""

    return _across(xs, needs, values, adjoint)[0]


def recv(
    communicator: Communicator,
    rank: int,
    delegate_variable: Variable | None = None,
    tag: int = 0,
    force_tuple: bool = False,
) -> Any:
    """What `rank` sends next: a Variable, or a tuple of them if it sent one, or `force_tuple`.

    The gradient is sent to that rank. Backward comes to `delegate_variable`, which an earlier
    `send` has given, after it has passed here.
    """
    needs, several, _ = communicator.recv_obj(rank, tag)

    def values(arrays: tuple[Any, ...]) -> Any:
        return communicator.recv(rank, tag)

    def adjoint(*grads: Any) -> Any:
        return [send(grads, communicator, rank, tag)] * (delegate_variable is not None)

    before = [] if delegate_variable is None else [delegate_variable]
    ys = _across(before, needs, values, adjoint)
    return ys if several or force_tuple else ys[0]


class _PseudoConnect(FunctionNode):
    """The inputs after the first one, which gets a gradient of zeros."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Copies, so that nobody changes what another has."""
        self._first: Any = spec_of(inputs[0])
        return tuple([backend.of(x).copy(x) for x in inputs[1:]])

    def backward(self, indexes: tuple[int, ...], grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients as they come."""
        first = self._first
        zeros = Variable(first.xp.zeros(first.shape, dtype=first.dtype))
        known = [g for g in grads if g is not None]
        found = (_PseudoConnect().apply((known[0], zeros))[0] if known else zeros, *grads)
        return tuple([found[i] for i in indexes])


def pseudo_connect(delegate_variable: Variable, *actual_variables: Any) -> Any:
    """The variables as they are, in a graph through which backward comes to the delegate as well.

    >>> import core, numpy as np
    >>> delegate, x = core.Variable(np.zeros((), "f")), core.Variable(np.full((), 2, "f"))
    >>> y = pseudo_connect(delegate, x * x)
    >>> y.backward()
    >>> x.grad, delegate.grad
    (array(4., dtype=float32), array(0., dtype=float32))
    """
    if delegate_variable is None:
        return actual_variables[0] if len(actual_variables) == 1 else actual_variables
    ys = _PseudoConnect().apply((delegate_variable, *actual_variables))
    return ys[0] if len(ys) == 1 else ys


# ---------------------------------------------------------------------- between all ranks


def allgather(comm: Communicator, x: Any) -> tuple[Variable, ...]:
    """A tuple of what all ranks have; the gradient is the sum of what all ranks have for this."""

    def adjoint(*grads: Any) -> Any:
        return (reduce(add, alltoall(comm, grads)),)

    needs = _anywhere(comm, "functions.allgather", x)
    return _across([x], needs, lambda arrays: comm.allgather(arrays[0]), adjoint)


def alltoall(comm: Communicator, xs: Sequence[Any]) -> tuple[Variable, ...]:
    """What every rank has for this one in its tuple; gradients go back the same way."""
    needs = _anywhere(comm, "functions.alltoall", *comm._one_each("alltoall", xs))
    return _across(xs, needs, comm.alltoall, lambda *grads: alltoall(comm, grads))


def allreduce(comm: Communicator, x: Any) -> Variable:
    """The sum over all ranks, on all of them; the gradient is the sum of the gradients of all."""
    needs = _anywhere(comm, "functions.allreduce", x)
    return _across(
        [x],
        needs,
        lambda arrays: (comm.allreduce(arrays[0]),),
        lambda grad: (allreduce(comm, grad),),
    )[0]


def weighted_sum(comm: Communicator, x: Any, weight: float) -> Variable:
    """The sum over all ranks, whose gradient weights those of the ranks by their weights.

    It is that of the loss of all ranks together, over the weight of this one; one of weight 0 has
    nothing that a gradient could be for.
    """
    needs = _anywhere(comm, "functions.weighted_sum", x)
    return _across(
        [x],
        needs,
        lambda arrays: (comm.allreduce(arrays[0]),),
        lambda grad: (allreduce(comm, grad * weight) / (weight or 1.0),),
    )[0]


def bcast(comm: Communicator, x: Any, root: int = 0) -> Variable:
    """The value that `root` has, on all ranks; its gradient is the sum of the gradients of all.

    The others give None, or a delegate; a value of their own is not looked at.
    """

    def adjoint(grad: Any) -> Any:
        found = gather(comm, grad, root)
        return (reduce(add, found),) if comm.rank == root else [found] * len(own)

    own = [x] if comm.rank == root and x is not None else _delegates(x)
    if comm.rank == root and x is None:
        raise CommunicatorError(f"functions.bcast: expected an array on rank {root}, got None.")
    needs = _anywhere(comm, f"functions.bcast from {root}", *own)

    def values(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        return (comm.bcast(arrays[0] if comm.rank == root else None, root),)

    return _across(own, needs, values, adjoint)[0]


def gather(comm: Communicator, x: Any, root: int = 0) -> Any:
    """A tuple of what all ranks have on `root`, a delegate on the others.

    Gradients are scattered.
    """

    def adjoint(*grads: Any) -> Any:
        return (scatter(comm, grads if comm.rank == root else grads[0], root),)

    needs = _anywhere(comm, f"functions.gather to {root}", x)
    ys = _across([x], needs, lambda arrays: comm.gather(arrays[0], root), adjoint)
    return ys if comm.rank == root else ys[0]


def scatter(comm: Communicator, xs: Any, root: int = 0) -> Variable:
    """The part that `root` has for this rank in its tuple; gradients are gathered.

    The others give None, or a delegate; values of their own are not looked at.
    """

    def adjoint(grad: Any) -> Any:
        found = gather(comm, grad, root)
        return found if comm.rank == root else [found] * len(own)

    own = comm._one_each("scatter", xs) if comm.rank == root else _delegates(xs)
    needs = _anywhere(comm, f"functions.scatter from {root}", *own)

    def values(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        return (comm.scatter(arrays if comm.rank == root else None, root),)

    return _across(own, needs, values, adjoint)[0]

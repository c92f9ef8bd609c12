"""Links that are divided among ranks, or see the examples of all of them."""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

import core
from core import Chain, ChainList, Link, Variable
from core import functions as F
from core.errors import CommunicatorError
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.training import NARROW, Communicator
from core.typing import Axis, DType, Positive, Probability
from plugins.communicators.argument import refuse_no_communicator, refuse_other
from plugins.communicators.functions import pseudo_connect, recv, send, weighted_sum
from plugins.functions.normalization.batch_normalization import expanded, move_all, reduced_axes
from plugins.links.arguments import running
from plugins.links.normalization.batch_normalization import BatchNormalization


def _ranks(comm: Communicator, what: str, given: Any) -> list[int]:
    several = given if isinstance(given, (list, tuple)) else [given]
    return [comm._peer(what, rank, itself=True) for rank in several]


class MultiNodeChainList(ChainList):
    """A model whose parts are on several ranks: each adds those that it computes.

    In a call the parts are computed in the order in which they were added. One with `rank_in` takes
    what those ranks send, one without takes the arguments; the result goes to `rank_out`, or is
    that of the call. A rank whose parts all send gets a delegate as its result: call `backward()`
    on it as others do on the loss.

    >>> import core.links as L, numpy as np
    >>> from core.communicators import create_communicator
    >>> model = MultiNodeChainList(create_communicator("local"))
    >>> model.add_link(L.Linear(3, 2), rank_out=0)
    >>> model.add_link(L.Linear(2, 1), rank_in=0)
    >>> model(np.ones((4, 3), "f")).shape
    (4, 1)
    """

    def __init__(self, comm: Communicator) -> None:
        super().__init__()
        refuse_no_communicator("MultiNodeChainList", comm)
        self._comm = comm
        self._ways: list[tuple[list[int] | None, list[int] | None]] = []

    @checked
    def add_link(
        self,
        link: Link,
        rank_in: int | list[int] | tuple[int, ...] | None = None,
        rank_out: int | list[int] | tuple[int, ...] | None = None,
    ) -> None:
        """Add a part of this rank."""
        ways = [
            None if rank is None else _ranks(self._comm, "add_link", rank)
            for rank in (rank_in, rank_out)
        ]
        super().add_link(link)
        self._ways.append((ways[0], ways[1]))

    def forward(self, *inputs: Any) -> Any:
        """Compute the parts of this rank; the result, or a delegate."""
        if not len(self):
            raise CommunicatorError(
                f"MultiNodeChainList: rank {self._comm.rank} has no part; add one by add_link()."
            )
        comm, result, delegate = self._comm, None, None
        within: deque[Any] = deque()  # from a part to another one of this rank
        for link, (rank_in, rank_out) in zip(self, self._ways, strict=True):
            given: list[Any] = []
            for rank in rank_in or ():
                if rank == comm.rank:
                    given.append(within.popleft())
                else:
                    given.append(recv(comm, rank, delegate))
                    delegate = None if given[-1].requires_grad else delegate
            xs = inputs if rank_in is None else tuple(given)
            if delegate is not None and xs:
                connected = pseudo_connect(delegate, *xs)
                xs, delegate = connected if len(xs) > 1 else (connected,), None
            y = link(*xs)
            if rank_out is None:
                if result is not None:
                    raise CommunicatorError(
                        "MultiNodeChainList: expected one part without rank_out on a rank, which "
                        "gives the result; there are two."
                    )
                result = y
            for rank in rank_out or ():
                if rank == comm.rank:
                    within.append(y)
                else:
                    delegate = send(_connected(delegate, y), comm, rank)
        return delegate if result is None else _connected(delegate, result)


def _connected(delegate: Variable | None, y: Any) -> Any:
    if delegate is None:
        return y
    return pseudo_connect(delegate, *(y if isinstance(y, tuple) else (y,)))


class MultiNodeBatchNormalization(BatchNormalization):
    """Batch normalization by the mean and variance of the batches of all ranks.

    The arguments after `comm` are those of `BatchNormalization`. The gradients are right for a loss
    that is a mean over the examples of each rank, averaged as `create_multi_node_optimizer` does,
    also where the batches are of different sizes. A rank without examples takes part in the
    forward and the backward with its empty batch.
    """

    is_collective = True
    """Whether all ranks compute each forward in training together, those without examples too."""

    _comm: Communicator

    @checked
    def __init__(
        self,
        size: int | tuple[int, ...] | None,
        comm: Communicator,
        decay: Probability = 0.9,
        eps: Positive = 2e-5,
        dtype: DType = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerSpec = None,
        initial_beta: InitializerSpec = None,
        communication_backend: str = "auto",
        *,
        axis: Axis = None,
    ) -> None:
        refuse_no_communicator("MultiNodeBatchNormalization", comm)
        super().__init__(
            size, decay, eps, dtype, use_gamma, use_beta, initial_gamma, initial_beta, axis
        )
        self._comm = comm

    def _normalized(self, x: Any, gamma: Any, beta: Any, decay: float) -> Variable:
        x = core.as_variable(x)
        if x.backend.dtype_name(x.dtype) in NARROW:  # in which sums over a batch overflow
            wide, gamma, beta = [F.cast(each, "float32") for each in (x, gamma, beta)]
            return F.cast(self._normalized(wide, gamma, beta, decay), x.dtype)
        axis = reduced_axes(self.axis, x.ndim, gamma.ndim)
        shape, own = expanded(x.shape, axis), x.size // max(gamma.size, 1)
        count = sum(self._comm.tell("MultiNodeBatchNormalization", own))
        mean = self._mean(F.sum(x, axis=axis, keepdims=True), own, count)
        centred = x - F.broadcast_to(mean, x.shape)
        var = self._mean(F.sum(centred * centred, axis=axis, keepdims=True), own, count)
        scale = F.reshape(gamma, shape) / F.sqrt(var + self.eps)
        y = centred * F.broadcast_to(scale, x.shape)
        unbiased = F.reshape(var, gamma.shape).array * (count / max(count - 1, 1))
        with running(self, "avg_mean", "avg_var") as (average, average_var):
            new = F.reshape(mean, gamma.shape).array
            move_all((average, new), (average_var, unbiased), decay=decay)
        return core.as_variable(y + F.broadcast_to(F.reshape(beta, shape), x.shape))

    def _mean(self, part: Any, own: int, count: int) -> Variable:
        """The mean over all examples, of the sum over those of this rank.

        Its gradient is that of the weighted mean of the losses of all ranks, over the weight of
        this one.
        """
        mean: Variable = weighted_sum(self._comm, part, own) / float(count)
        return mean


@checked
def create_mnbn_model(link: Link, comm: Communicator, communication_backend: str = "auto") -> Link:
    """A copy of a model in which every `BatchNormalization` takes the statistics of all ranks.

    >>> import core.links as L
    >>> from core.communicators import create_communicator
    >>> model = core.Sequential(L.Linear(3, 2), L.BatchNormalization(2))
    >>> type(create_mnbn_model(model, create_communicator("local"))[1]).__name__
    'MultiNodeBatchNormalization'
    """
    refuse_other("create_mnbn_model", "link", link, Link, "a link")
    refuse_no_communicator("create_mnbn_model", comm)
    made = copy.deepcopy(link)
    for each in made.links():
        if type(each) is BatchNormalization:
            changed: Any = each
            changed.__class__ = MultiNodeBatchNormalization
            changed._comm = comm
    return made


class MultiNodeNStepRNN(Chain):
    """What `create_multi_node_n_step_rnn` makes."""

    def __init__(self, link: Any, comm: Communicator, rank_in: Any, rank_out: Any) -> None:
        super().__init__()
        self._comm, self._rank_in, self._rank_out = comm, rank_in, rank_out
        with self.init_scope():
            self.actual_rnn = link

    def forward(self, *inputs: Any) -> tuple[Any, ...]:
        """Run the layers: the states, the outputs, and a delegate where the states are sent on."""
        states: tuple[Any, ...] = (None,) * self.actual_rnn.n_cells
        if self._rank_in is not None:
            states = recv(self._comm, self._rank_in, force_tuple=True)
        *last, ys = self.actual_rnn(*states, *inputs)
        delegate = None
        if self._rank_out is not None:
            delegate = send(tuple(last), self._comm, self._rank_out)
        return (*last, ys, delegate)


@checked
def create_multi_node_n_step_rnn(
    actual_link: Link,
    communicator: Communicator,
    rank_in: int | None = None,
    rank_out: int | None = None,
) -> MultiNodeNStepRNN:
    """Layers of recurrent units over sequences that are divided among ranks.

    Called with this rank's part of the sequences, without states: the first ones come from
    `rank_in`, the last ones go to `rank_out`. It returns what `actual_link` does, and a delegate,
    None without `rank_out`; call `backward` on that of `pseudo_connect(delegate, loss)`.
    """
    refuse_no_communicator("create_multi_node_n_step_rnn", communicator)
    for rank in (rank_in, rank_out):
        if rank is not None:
            communicator._peer("create_multi_node_n_step_rnn", rank)
    if not hasattr(actual_link, "n_cells"):
        raise TypeError(
            "create_multi_node_n_step_rnn: expected a link such as links.NStepLSTM, got "
            f"{type(actual_link).__name__}."
        )
    return MultiNodeNStepRNN(actual_link, communicator, rank_in, rank_out)

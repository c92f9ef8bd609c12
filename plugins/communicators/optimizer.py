"""Optimizers that make one step on all ranks, by the gradient of the global batch.

The gradients are packed into buffers in the order in which the backward pass completes them, and
summed while the rest is still computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from core.arrays.backend import to_host
from core.errors import TraceError, UpdateError
from core.errors.kinds import checked
from core.errors.scalars import is_number
from core.graph.backprop import backward_from
from core.graph.history import history_of
from core.link import Link, Parameter
from core.link.serializer import Deserializer
from core.optimizer import GradientMethod, Step, UpdateRule
from core.training import Buckets, Communicator, reporter
from plugins.communicators.argument import refuse_again, refuse_copies, refuse_other
from plugins.communicators.completed import Completed
from plugins.communicators.draws import DrawingStep, Draws, FromRankZero
from plugins.communicators.gradients import Gradients
from plugins.communicators.no_examples import examples_of, is_collective, size_parameters
from plugins.communicators.sharding import Shards

_UNCOUNTED = -1  # examples of gradients that were computed before `update()`


@checked
def create_multi_node_optimizer(
    actual_optimizer: GradientMethod,
    communicator: Communicator,
    double_buffering: bool = False,
    zero_fill: bool = True,
    *,
    shard_state: bool = False,
) -> Any:
    """Make an optimizer whose step is that of the batches of all ranks together.

    It has the state, hyper-parameters and hooks of `actual_optimizer`, and is used like it. Before
    the first step all ranks take the parameters of rank 0. In each step the gradients of the ranks
    are weighted by their numbers of examples (the length of the first argument of the loss), so
    that the result is the mean over all examples, for a loss that is a mean over those of its own
    batch; a rank without examples takes part with none, and computes a loss only where a link of
    the model has `is_collective`, as batch normalization over all ranks does. Losses are scaled,
    gradients clipped, and steps with NaN left out, by what all ranks have alike.

    `update(lossfun, *args)` sums gradients while others are still computed; with `loss.backward()`
    and `update()` afterwards each rank counts alike, and nothing is hidden. Once `core.seed` has
    been called, what a rank draws from the first step on (for dropout, say) is its own.

    Args:
        actual_optimizer: What makes the steps.
        communicator: That of this rank.
        double_buffering: Take the gradients of the step before, which travel while those of this
            one are computed. The first update then changes nothing.
        zero_fill: Whether a parameter that has a gradient on some ranks alone counts as zeros on
            the others; else it is an error.
        shard_state: Keep the state of each parameter, and its float32 master, on one rank alone,
            which makes its steps: gradients are summed there, and the parameter is sent to all.
            What is trained is the same, to the bit. Saving is then something that all ranks do
            together; the file is the same as without, and loads on any number of ranks.

    Raises CommunicatorError, on every rank, where models or hyper-parameters differ, or a rank
    makes no step while the others do.

    >>> import core.links as L, numpy as np
    >>> from core import optimizers
    >>> from core.communicators import create_communicator
    >>> optimizer = create_multi_node_optimizer(optimizers.SGD(0.1), create_communicator("local"))
    >>> model = L.Classifier(L.Linear(2, 2))
    >>> optimizer.setup(model).update(model, np.ones((3, 2), "f"), np.zeros(3, "i"))
    >>> optimizer
    MultiNodeSGD(lr=0.1)
    """
    who = "create_multi_node_optimizer"
    refuse_other(who, "actual_optimizer", actual_optimizer, GradientMethod, "an optimizer")
    refuse_other(who, "communicator", communicator, Communicator, "a communicator")
    refuse_again(who, actual_optimizer, MultiNodeOptimizer)
    own = type(actual_optimizer)
    derived: Any = type(f"MultiNode{own.__name__}", (MultiNodeOptimizer, own), {})
    made = object.__new__(derived)
    made.__dict__ = vars(actual_optimizer)  # the two are one optimizer in what they have
    made._start(actual_optimizer, communicator, double_buffering, zero_fill, shard_state)
    return made


class MultiNodeOptimizer(GradientMethod):
    """What `create_multi_node_optimizer` puts before the class of an optimizer."""

    _communicator: Communicator
    _actual: GradientMethod
    _of_gradients = ("_parts", "_counted")
    __reduce_ex__ = refuse_copies
    share = 1.0
    """The share of this rank in the examples of the latest step."""

    def _start(
        self,
        actual: GradientMethod,
        comm: Communicator,
        double_buffering: bool,
        zero_fill: bool,
        shard_state: bool,
    ) -> None:
        self._actual, self._communicator, self._zero_fill = actual, comm, zero_fill
        self._shards = Shards(comm) if shard_state else None
        self._known: Any = None  # of the parameters that were broadcast
        self._config = comm.get_config()  # by which buffers are laid out
        self._counted = 0  # examples of the parts that have been accumulated
        self._sums = [Buckets(comm, [])] * (2 if double_buffering else 1)
        self._watches = self._begun = False  # a backward, whose gradients are packed as they come
        self._earlier: Gradients | None = None  # those of the step before, with double buffering
        self._scaled_by: float | None = None  # the loss scale of those of the step under way
        self._draws = Draws()
        self._unordered: dict[str, Any] = {}  # parameters whose gradients have no order yet
        self._unsized: list[Parameter] = []  # those that get their sizes in the forward
        self._is_new = True  # what the gradients are of

    @property
    def communicator(self) -> Communicator:
        """That of this rank."""
        return self._communicator

    @property
    def actual_optimizer(self) -> GradientMethod:
        """What was given, which has the same state."""
        return self._actual

    def setup(self, link: Any) -> Any:
        """Set `link` as the target; the next update takes its parameters from rank 0."""
        self._known = self._earlier = None
        super().setup(link)
        if self._shards is not None:
            self._shards = Shards(self._communicator)
            self._told_of_nothing = True  # where other ranks have all that is trained
        return self

    # ------------------------------------------------------------------ the step

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Make one step on all ranks; see `create_multi_node_optimizer`."""
        target, record = self._target(), self._recording()
        if record is not None:
            self._record(record, lossfun, args, kwds)
            return
        counts = self._counts(lossfun, args, kwds)
        self._begun = False
        if lossfun is not None:
            self._compute(lossfun, args, kwds)
        self._begin_sums(None)
        self._sums[-1].pack_rest(in_place=self._zero_fill)
        everywhere = None if self._zero_fill else sum(map(bool, counts))
        found: Gradients | None = Gradients(self._loss_scale, self._sums[-1], everywhere)
        if len(self._sums) == 2:  # the sums of the step before are there by now
            self._sums.reverse()
            found, self._earlier = self._earlier, found
        if found is None:
            target.cleargrads()
            return
        if found.sums is not None:
            found.sums.unpack(found.everywhere)
        else:
            self._take(found.loaded)
        self._scaled_by = found.scale
        with self._draws.alike(self.t):
            super().update()

    def _counts(self, lossfun: Callable[..., Any] | None, args: Any, kwds: Any) -> list[int]:
        """The examples of all ranks, or 1 each of gradients that were there before `update()`."""
        if lossfun is not None:
            self._refuse_uncallable("update", lossfun)
            count = examples_of(args, kwds)
        else:
            count, self._counted = (self._counted if self._parts else _UNCOUNTED), 0
        self._agree()
        # With these, ranks that have another rate for themselves would go apart.
        settings = f"{self!r}{[*self.groups] or ''}{self._hooks.settings() or ''}"
        changed = dict(self._communicator.get_config().items() - self._config.items())
        settings += f"{changed or ''}"
        note, of = self._draws.noted(count), f"update of an optimizer, {settings}"
        counts = self._draws.heard(self._communicator.tell(of, note))
        if _UNCOUNTED in counts:
            self._refuse_other_ways(counts)
            count, counts = 1, [1] * len(counts)
        if not any(counts):
            raise UpdateError(
                f"{type(self).__name__}.update: expected examples on one rank at least, but the "
                "batches of all ranks are empty."
            )
        self.share = count / sum(counts)
        return counts

    def _compute(self, lossfun: Callable[..., Any], args: Any, kwds: Any) -> None:
        """Compute the gradients; without examples only what the other ranks wait for."""
        if self.share or is_collective(self._target()):
            self._watches = True
            try:
                with self._sizing(), nullcontext() if self.share else reporter.unobserved():
                    self._differentiate(lossfun, *args, **kwds)
            except Exception as error:
                self._communicator.give_up(f"its loss raised {error!r}.")
                raise
            finally:
                self._watches = False
        else:
            self._size(lossfun, args, kwds)
        if not self.share:
            self._target().cleargrads()

    def _refuse_other_ways(self, counts: list[int]) -> None:
        """Refuse a step of gradients that some ranks have counted examples for, and some not."""
        counted = [rank for rank, count in enumerate(counts) if count != _UNCOUNTED]
        if counted:
            raise UpdateError(
                f"{type(self).__name__}.update: expected the same on all ranks, but rank "
                f"{counts.index(_UNCOUNTED)} gives neither a loss nor parts, and rank {counted[0]} "
                "does. On a rank without examples give the loss and its empty batch, to update() "
                "or to accumulate()."
            )

    def _record(self, record: Callable[[Any], None], lossfun: Any, args: Any, kwds: Any) -> None:
        """Let a captured step compute gradients; replays call `update()` with them."""
        if len(self._sums) == 2 or self._shards is not None:
            raise TraceError(
                f"capture: {type(self).__name__} with double_buffering or shard_state has other "
                "gradients after its update than before. Leave these out, or update outside."
            )
        if lossfun is not None:
            self._refuse_uncallable("update", lossfun)
            self._counted = examples_of(args, kwds)
            if self._counted or is_collective(self._target()):
                self._differentiate(lossfun, *args, **kwds)
            else:
                self._target().cleargrads()
            self._parts = 1
        record(self)
        self._parts = 0

    def accumulate(
        self, share: float, lossfun: Callable[..., Any], *args: Any, **kwds: Any
    ) -> None:
        """Add the gradients of a part of this rank's batch, the shares of which sum to 1.

        A part without examples adds nothing, whatever its share.
        """
        self._refuse_uncallable("accumulate", lossfun)
        count = examples_of(args, kwds)
        if not self._parts:
            self._counted = 0
            if self._recording() is None:
                self._agree()
        if not count:
            if not self._parts:
                self._target().cleargrads()
            self._size(lossfun, args, kwds)
            self._parts += 1
            return
        with self._sizing():
            super().accumulate(share, lossfun, *args, **kwds)
        self._counted += count

    def _size(self, lossfun: Callable[..., Any], args: Any, kwds: Any) -> None:
        """Let parameters that other ranks size have a size here as well, of no examples."""
        if self._unsized:
            with self._sizing():
                size_parameters(lossfun, args, kwds)

    def _walk_back(self, loss: Any, loss_scale: float | None, free_graph: bool) -> None:
        if not self._watches or self._parts:
            super()._walk_back(loss, loss_scale, free_graph)
            return
        self._begin_sums(loss)
        gradients = Completed(loss, self._sums[-1], self.share > 0)
        backward_from([loss], loss_scale=loss_scale, free_graph=free_graph, gradients=gradients)
        gradients.forget()

    def _begin_sums(self, loss: Any) -> None:
        """Make ready for gradients; in the first step, agree on their order as well."""
        if self._begun:
            return
        self._begun = True
        has_changed = self._config != self._communicator.get_config()
        if self._is_new or has_changed or any([p.is_initialized for p in self._unsized]):
            self._lay_out()
        if self._unordered:
            found = self._communicator.allgather_obj(None if loss is None else self._order(loss))
            order = next(filter(None, found), [*self._unordered])
            chosen = [self._unordered[path] for path in order]
            owners = None if self._shards is None else self._shards.by_id()
            if self._earlier is not None and self._earlier.sums is not None:
                self._earlier.wait()  # for sums of other parameters
                self._earlier = None
            self._sums = [Buckets(self._communicator, chosen, owners) for _ in self._sums]
            self._config = self._communicator.get_config()
            self._unordered = {}
        self._sums[-1].begin(self.share)

    def _order(self, loss: Any) -> list[str]:
        """The paths of the parameters in the order in which a backward completes gradients."""
        last = {p._source: 0 for p in self._unordered.values()}
        for f in sorted(history_of([loss.creator_node]), key=lambda f: -f.sequence):
            last.update((source, -f.sequence) for source in f._sources if source in last)
        return sorted(self._unordered, key=lambda path: last[self._unordered[path]._source] or 1)

    # ------------------------------------------------------------------ before the first one

    def _agree(self) -> None:
        """Take the parameters of rank 0, in the first step and where some have come since."""
        named = self._named()
        if _as_known(named) == self._known:
            return
        comm = self._communicator
        if self._known is None:
            comm.compare("create_multi_node_optimizer", self._settings())
        comm.compare("parameters of an optimizer", _trained(named))
        comm.bcast_data(self._target())
        self._draws.agree(comm, [p.update_rule for _, p in named])
        self._unsized = [p for _, p in named if not p.is_initialized]
        self._known, self._is_new = _as_known(named), True

    def _named(self) -> list[tuple[str, Parameter]]:
        return sorted(self._target().namedparams())

    def _lay_out(self) -> None:
        """Take note of the parameters that have gradients, once all that get a size have one."""
        named = self._named()
        once = {id(p): path for path, p in named if p.is_initialized and not p.frozen}
        self._unordered = {path: p for path, p in named if once.get(id(p)) == path}
        if self._shards is not None:
            self._shards.assign(self._unordered)
        self._unsized = [p for _, p in named if not p.is_initialized]
        self._known, self._is_new = _as_known(named), False

    @contextmanager
    def _sizing(self) -> Iterator[None]:
        """Let parameters that are made in a forward have the values of rank 0 from the start.

        So a forward that is to be computed once, as where parts of a model on other ranks answer
        it, is computed once.
        """
        unsized = self._unsized
        for parameter in unsized:
            parameter.initializer = FromRankZero(self._communicator, parameter)
        try:
            yield
        finally:
            for parameter in unsized:
                parameter.initializer = parameter.initializer.own
            if any([p.is_initialized for p in unsized]):
                self._known = _as_known(self._named())

    def _settings(self) -> list[str]:
        """What has to be the same on all ranks from the first step on."""
        hooks = f"hooks {', '.join(self._hooks) or 'none'}"
        how = f"shard_state={self._shards is not None}, double_buffering={len(self._sums) == 2}"
        scale, groups = f"loss scale {self.loss_scale}", [repr(each) for each in self.groups]
        return [repr(self), hooks, how, f"{self._communicator.get_config()}", scale, *groups]

    # ------------------------------------------------------------------ with state in parts

    def _make(self, steps: list[Step], prepared: Any = None) -> None:
        """Make the steps, of gradients that may have another loss scale than those to come."""
        coming, self._loss_scale = self._loss_scale, self._scaled_by
        try:
            self._make_own(steps, prepared)
        finally:
            self._loss_scale = coming

    def _make_own(self, steps: list[Step], prepared: Any) -> None:
        """Make the steps of this rank, and take the parameters of the others."""
        if self._shards is None:
            super()._make(steps, prepared)
            return
        for hook in self._hooks.at("pre"):
            by_itself = getattr(hook, "call_for_each_param", False)
            if not (by_itself or getattr(hook, "works_on_parts", False)):
                raise UpdateError(
                    f"{type(self).__name__}: the hook {getattr(hook, 'name', hook)!r} looks at all "
                    "gradients together, of which each rank has a part with shard_state=True. Let "
                    "it combine its numbers by optimizer.everywhere(...), and say so by "
                    "works_on_parts = True; or leave shard_state out."
                )
        if self._shards.are_whole:
            self._shards.keep_own()
        super()._make(steps, prepared)
        self._shards.spread()

    def everywhere(self, numbers: Iterable[Any]) -> list[Any]:
        """Numbers about the parameters of a step, of all ranks where these are divided."""
        if self._shards is None:
            return list(numbers)
        own = [x if is_number(x) else to_host(x).item() for x in numbers]
        parts = self._communicator.allgather_obj(own)
        return [number for part in parts for number in part]

    def check_nan_in_grads(self) -> bool:
        """Whether any gradient of the target contains NaN or infinity, on any rank."""
        return any(self.everywhere([super().check_nan_in_grads()]))

    def serialize(self, serializer: Any) -> None:
        """Save or load as one process does; with `shard_state`, all ranks save at once."""
        loading, shards = isinstance(serializer, Deserializer), self._shards
        if shards is not None and not loading and not shards.are_whole:
            self._communicator.tell("saving of an optimizer with shard_state=True, by all ranks")
        super().serialize(serializer)
        part = serializer.optional("accumulated")  # gradients of this rank
        if loading:
            self._counted = int(part.optional_value("examples", 0))
        elif self._parts:
            part.optional_value("examples", self._counted)
        if shards is not None and loading:
            shards.are_whole = True
        if len(self._sums) == 2:
            self._serialize_earlier(serializer.optional("step_before"), loading)

    def _serialize_earlier(self, serializer: Any, loading: bool) -> None:
        """Save or load the gradients that the next step takes, and their loss scale."""
        named, earlier = dict(self._named()), self._earlier
        if loading:
            if earlier is not None:
                earlier.wait()
            loaded = {path: serializer.optional_value(path, None) for path in named}
            scale = float(serializer.optional_value("scale", 0.0))
            self._earlier = Gradients(scale, loaded=loaded) if scale else None
        elif earlier is not None:
            serializer.optional_value("scale", earlier.scale or 1.0)
            shown = earlier.shown(named)
            are_parts = self._shards is not None and earlier.sums is not None
            for part in self._communicator.allgather_obj(shown) if are_parts else [shown]:
                for path, grad in part.items():
                    serializer.optional_value(path, grad)

    def _take(self, loaded: Mapping[str, Any]) -> None:
        """Let the parameters have gradients that were loaded, where their steps are this rank's."""
        self._target().cleargrads()
        for path, parameter in self._named():
            grad, shards = loaded.get(path), self._shards
            is_own = shards is None or shards.owners.get(path) == self._communicator.rank
            if grad is not None and is_own:
                parameter.grad = parameter.device.send(grad)

    def _serialize_rule(self, path: str, rule: UpdateRule, serializer: Any) -> None:
        if self._shards is None or isinstance(serializer, Deserializer):
            rule.serialize(serializer)
        else:
            self._shards.save(path, rule, serializer)

    # ------------------------------------------------------------------ random numbers of hooks

    def working(self) -> Iterator[tuple[Any, Parameter]]:
        """The rules and what they work on in the step under way: parameters or float32 masters."""
        self._draws.go_on()
        for rule, work in super().working():
            self._draws.begin(rule, self.t)
            yield rule, work

    def _steps_of(self, target: Link) -> list[Step]:
        steps = super()._steps_of(target)
        return [DrawingStep.of_step(self, s) if len(s.rule._hooks) else s for s in steps]


def _trained(named: list[tuple[str, Parameter]]) -> list[str]:
    """How each parameter is trained: whether it is, and by which numbers and hooks of its own."""
    found = []
    for path, p in named:
        rule, own = p.update_rule, ""
        if rule is not None:
            own = f", {rule.hyperparam!r}, hooks {rule._hooks.settings() or 'none'}"
        found.append(f"{path}, {'frozen' if p.frozen else 'trained'}{own}")
    return found


def _as_known(named: list[tuple[str, Parameter]]) -> list[Any]:
    return [(path, id(p), p.is_initialized, p.frozen) for path, p in named]

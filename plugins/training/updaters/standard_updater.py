"""One batch, one update."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from core.arrays.backend import DeviceSpec
from core.dataset import Iterator, concat_examples
from core.errors import GraphError, nearest, place
from core.errors.kinds import checked
from core.errors.set_by_init import set_by_init
from core.link import Link
from core.link.recurrent_state import serialize_carried
from core.link.serializer import AbstractSerializer, Deserializer
from core.optimizer import Optimizer
from core.training import Updater
from plugins.training.calling import call_with
from plugins.training.updaters.accumulation import in_parts, sizes

if TYPE_CHECKING:
    from core.capturing import Captured


class StandardUpdater(Updater):
    """Takes a batch, computes the loss on it, and lets the optimizer update its target.

    `iterator` and `optimizer` are one each, or dicts with at least 'main'. The loss is
    `loss_func`, or the main optimizer's target, called with the arrays that `converter(batch,
    device)` makes: several for a tuple, keywords for a dict; plain arrays, not Variables. Its graph
    belongs to the update and is freed while backward goes.

    `device`, where given, is where the batches and all targets are moved. `loss_scale` multiplies
    the loss for 16-bit training, and the optimizer divides the gradients again. The main optimizer,
    if there is one, is notified when the main iterator begins a new pass (`auto_new_epoch`).

    With `accumulate` an update takes so many batches, and makes one step by the mean of their
    gradients, weighted by the examples: that of one batch of all, if the loss is a mean over its
    examples, in the memory of a single one. What is reported is averaged likewise. Layers that
    look at a whole batch, such as `BatchNormalization`, see the batches one by one.

    With `capture` the update is recorded and replayed, as `core.capture` says; `captured` is the
    step then, with its `report`. Its options are given as `capture=core.capture(fuse=True)`.

    Override `update_core` for other ways of updating; where it does not call this one,
    `accumulate` and `capture` have no effect, which a warning says.

    >>> import core.links as L, numpy as np
    >>> from core import iterators, optimizers
    >>> examples = [(np.ones(2, "f"), 0), (np.zeros(2, "f"), 1)]
    >>> optimizer = optimizers.SGD(0.1).setup(L.Classifier(L.Linear(2, 2)))
    >>> updater = StandardUpdater(iterators.SerialIterator(examples, 2), optimizer)
    >>> updater.update()
    >>> updater.iteration, updater.epoch, updater.is_new_epoch
    (1, 1, True)
    """

    _iterators: dict[str, Iterator] = set_by_init()
    _optimizers: dict[str, Any] = set_by_init()

    @checked
    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        optimizer: Optimizer | dict[str, Optimizer],
        converter: Callable[[list[Any], Any], Any] = concat_examples,
        device: DeviceSpec | None = None,
        loss_func: Callable[..., Any] | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
        *,
        accumulate: int = 1,
        capture: bool | Callable[..., Any] = False,
        input_device: DeviceSpec | None = None,
    ) -> None:
        self._iterators = iterator if isinstance(iterator, dict) else {"main": iterator}
        self._optimizers = optimizer if isinstance(optimizer, dict) else {"main": optimizer}
        self.converter = converter
        self.loss_func = loss_func
        self.loss_scale = loss_scale
        self.auto_new_epoch = auto_new_epoch
        self.accumulate = accumulate
        self.capture = capture
        self.captured: Captured | None = None
        self._captured_step: Any = None
        self._unused = capture is not False or accumulate != 1  # until update_core has seen them
        self.iteration = 0
        self._began_at: float | None = None  # epoch_detail when the last of several batches began
        self._fetched: list[Any] = []  # of the step under way, for which more are to come
        self._device = device
        self._input_device = device if input_device is None else input_device
        self._check()
        for each in self.get_all_optimizers().values():
            if device is not None:
                each.target.to_device(device)
            if loss_scale is not None:
                each.set_loss_scale(loss_scale)

    def _check(self) -> None:
        """Refuse what is not an iterator or an optimizer before it is asked for anything."""
        if self.accumulate < 1:
            raise ValueError(
                f"{type(self).__name__}: expected accumulate to be 1 or more, "
                f"got {self.accumulate!r}."
            )
        for name, iterator in self._iterators.items():
            if not hasattr(iterator, "next"):
                raise TypeError(
                    f"{type(self).__name__}: expected an iterator, such as "
                    f"iterators.SerialIterator(dataset, batch_size), for {name!r}; got "
                    f"{type(iterator).__name__}."
                )
        for name, optimizer in self._optimizers.items():
            if not hasattr(optimizer, "target"):
                raise TypeError(
                    f"{type(self).__name__}: expected an optimizer, such as "
                    f"optimizers.Adam().setup(model), for {name!r}; got {type(optimizer).__name__}."
                )
            if optimizer.target is None:
                raise ValueError(
                    f"{type(self).__name__}: expected an optimizer that has something to train; "
                    f"{name!r} has not. Call optimizer.setup(model)."
                )

    @property
    def device(self) -> DeviceSpec | None:
        """Where the targets were moved; None where they were left alone."""
        return self._device

    @property
    def input_device(self) -> DeviceSpec | None:
        """Where the batches go."""
        return self._input_device

    @property
    def epoch(self) -> int:
        """Passes completed by the main iterator."""
        return int(self._counted("epoch"))

    @property
    def epoch_detail(self) -> float:
        """Passes completed by the main iterator, with their fraction."""
        return float(self._counted("epoch_detail"))

    @property
    def previous_epoch_detail(self) -> float | None:
        """`epoch_detail` before the last update; None before the first."""
        before: float | None = self._counted("previous_epoch_detail")
        return before if self.accumulate == 1 else self._began_at

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last update completed a pass."""
        if self.accumulate == 1:
            return bool(self._counted("is_new_epoch"))
        return self._began_at is not None and self.epoch > int(self._began_at)

    def _passes(self) -> Any:
        """The iterator that counts the epochs."""
        if "main" not in self._iterators:
            raise AttributeError(
                f"{type(self).__name__}: expected an iterator called 'main' to count epochs by, "
                "there is none. Give triggers in iterations, as (100, 'iteration')."
            )
        return self._iterators["main"]

    def _counted(self, name: str) -> Any:
        passes = self._passes()
        try:
            return getattr(passes, name)
        except AttributeError as error:
            raise AttributeError(
                f"{type(self).__name__}: expected an iterator that counts epochs, by epoch, "
                "epoch_detail, previous_epoch_detail and is_new_epoch; "
                f"{type(passes).__name__} has no {name}. Give triggers in iterations, as (100, "
                "'iteration')."
            ) from error

    def get_all_iterators(self) -> dict[str, Any]:
        """Name -> iterator."""
        return dict(self._iterators)

    def get_iterator(self, name: str) -> Any:
        """The iterator called `name`."""
        return _named("iterator", name, self._iterators)

    def get_optimizer(self, name: str) -> Any:
        """The optimizer called `name`."""
        return _named("optimizer", name, self._optimizers)

    def get_all_optimizers(self) -> dict[str, Any]:
        """Name -> optimizer."""
        return dict(self._optimizers)

    def update(self) -> None:
        """Make one update and count it."""
        self.update_core()
        self.iteration += 1
        if self._unused:
            self._unused = False
            place.warn(
                f"{type(self).__name__}: accumulate and capture have no effect, for its "
                "update_core is one of its own. Let that call optimizer.accumulate for each part, "
                "and a step that core.capture has made."
            )

    def count(self) -> None:
        """Count a step that somebody else has made with a batch of the main iterator."""
        if "main" in self._iterators:
            self.count_epoch()
        self.iteration += 1

    def count_epoch(self) -> None:
        """Tell the main optimizer, if any, of each pass over the data that has been completed."""
        is_new = self.auto_new_epoch and getattr(self, "is_new_epoch", False)  # where they count
        if is_new and "main" in self.get_all_optimizers():
            before = getattr(self, "previous_epoch_detail", None)  # which iterators may lack
            passes = 1 if before is None else self.epoch - int(before)
            for _ in range(max(1, passes)):
                self.get_optimizer("main").new_epoch(auto=True)

    def update_core(self) -> None:
        """Take a batch, or as many as are accumulated; compute the loss, update."""
        self._unused = False
        optimizer = self.get_optimizer("main")
        if self.accumulate == 1 and self.capture:
            call_with(self._captured(), self.converter(self.next_batch(), self._input_device))
        elif self.accumulate == 1:
            self._apply(optimizer.update, self.next_batch())
        else:
            batches = self._next_batches()
            counts = sizes(batches, self.converter)
            shares = [count / max(sum(counts), 1) for count in counts]
            calls = [
                partial(self._accumulate, share, batch)
                for share, batch in zip(shares, batches, strict=True)
            ]
            try:
                in_parts(zip(counts, calls, strict=True))
            except BaseException:
                optimizer.drop_accumulated()  # the next update begins a step of its own
                raise
            optimizer.update()
        self.count_epoch()

    def _captured(self) -> Captured:
        """What is done with each batch, captured; anew where the loss is another one by now."""
        optimizer = self.get_optimizer("main")
        loss = self.loss_func or optimizer.target
        step = optimizer, loss, self.accumulate == 1
        if self.captured is None or step != self._captured_step:
            from core.capturing import capture

            self._captured_step = step

            def update(*args: Any, **kwargs: Any) -> None:
                optimizer.update(loss, *args, **kwargs)

            def accumulate(share: float, *args: Any, **kwargs: Any) -> None:
                optimizer.accumulate(share, loss, *args, **kwargs)

            made: Any = capture if self.capture is True else self.capture
            self.captured = made(update if self.accumulate == 1 else accumulate)
        return self.captured

    def __getstate__(self) -> dict[str, Any]:
        """What is copied: not the captured step, which is one of this optimizer."""
        return {**vars(self), "captured": None, "_captured_step": None}

    def _accumulate(self, share: float, batch: Any) -> None:
        """Add the gradients of one of several batches."""
        if self.capture:
            call_with(self._captured(), self.converter(batch, self._input_device), share)
        else:
            self._apply(partial(self.get_optimizer("main").accumulate, share), batch)

    def _apply(self, function: Callable[..., None], batch: Any) -> None:
        """Hand the loss and the arrays of a batch to a method of the main optimizer."""
        arrays = self.converter(batch, self._input_device)
        loss = self.loss_func or self.get_optimizer("main").target
        try:
            call_with(function, arrays, loss)
        except (GraphError, TypeError) as error:
            if not self.iteration:
                error.add_note(_called(type(self).__name__, loss, arrays))
            raise

    def _next_batches(self) -> list[Any]:
        """The batches of a step; fewer, where the iterator comes to its end within them.

        Where the dataset raises within them, those before stay for the update that is tried again.
        """
        if not self._fetched:
            began_at = getattr(self, "epoch_detail", None)
            self._fetched.append(self.next_batch())
            self._began_at = began_at
        with suppress(StopIteration):
            while len(self._fetched) < self.accumulate:
                self._fetched.append(self.next_batch())
        batches, self._fetched = self._fetched, []
        return batches

    def next_batch(self) -> Any:
        """Return the next batch of the main iterator; StopIteration if there is none."""
        try:
            return self.get_iterator("main").next()
        except StopIteration:
            raise StopIteration(
                f"{type(self).__name__}: the iterator ended after {self.iteration} "
                "iterations. Make it with repeat=True, or let a stop trigger end training before."
            ) from None

    def finalize(self) -> None:
        """Let the iterators release what they hold."""
        for iterator in self._iterators.values():
            iterator.finalize()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the iterators, the optimizers, their targets and the count of updates.

        Of the targets also what they carry from call to call: `core.Link.carried`.
        """
        for name, iterator in self._iterators.items():
            iterator.serialize(serializer["iterator:" + name])
        for name, optimizer in self._optimizers.items():
            optimizer.target.serialize(serializer["model:" + name])
            serialize_carried(optimizer.target, serializer.optional("carried:" + name))
            optimizer.serialize(serializer["optimizer:" + name])
        self.iteration = serializer("iteration", self.iteration)
        if self.accumulate != 1:
            self._began_at = serializer.optional_value("began_at", self._began_at)
        if isinstance(serializer, Deserializer):
            self._fetched = []


def _named(kind: str, name: str, known: dict[str, Any]) -> Any:
    if name in known:
        return known[name]
    raise KeyError(
        f"StandardUpdater: expected the name of an {kind}, one of {', '.join(map(repr, known))}; "
        f"got {name!r}.{nearest(name, known)}"
    )


def _called(who: str, loss: Any, arrays: Any) -> str:
    """What the first step was to find, as a note of the error that it met."""
    called = (
        type(loss).__name__ if isinstance(loss, Link) else getattr(loss, "__name__", repr(loss))
    )
    count = len(arrays) if isinstance(arrays, (tuple, dict)) else 1
    cure = "Where a model returns predictions, train L.Classifier(model), or give a loss."
    return (
        f"{who} calls {called} with the {count} part{'s' * (count > 1)} of a batch, and takes what "
        f"it returns for the loss, one number. {cure if isinstance(loss, Link) else ''}".rstrip()
    )

"""Evaluation on a dataset that is not used for training."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import core
from core.arrays.backend import DeviceSpec
from core.dataset import Iterator, concat_examples
from core.errors import InvalidType, nearest
from core.errors.kinds import checked
from core.errors.place import warn
from core.errors.removed import removed
from core.errors.set_by_init import set_by_init
from core.link import Link
from core.link.recurrent_state import keeping_carried, serialize_carried
from core.link.serializer import AbstractSerializer
from core.training import PRIORITY_WRITER, Extension
from core.training.reporter import DictSummary, Reporter, report, report_scope
from plugins.training.calling import call_with, examples_in
from plugins.training.extensions.terminal import Terminal

if TYPE_CHECKING:
    from core.capturing import Captured


class Evaluator(Extension):
    """Compute what the target reports over a whole dataset, and report means over the examples.

    `iterator` (without `repeat`) and `target`, a link, are one each or dicts with at least 'main';
    with an `eval_func` there need be no target 'main'. It is called with plain arrays, as
    StandardUpdater does, with `config.train` off and without a graph. `device` is where batches
    go. `eval_hook(evaluator)` is called before each evaluation. With `progress_bar=True` a terminal
    shows how far it is. With `capture` the function is recorded and replayed, as `core.capture`
    says, whose options are given as `capture=core.capture(fuse=True)`; `captured` has its `report`.

    Values appear under the extension's name: 'validation/main/loss'. A value is taken for the mean
    over its batch and counts as often as the batch has examples, so that a short last batch counts
    for less, also where an iterator of your own gives a tuple or dict of arrays; a pair that is
    reported, (value, weight), brings its own weight. With `weigh_batches=False` every batch counts
    alike, as in Chainer. Without a trainer, `Evaluator(...)()` evaluates and returns the means.
    What recurrent links of the trainer's own model carry is there again afterwards; a copy of it
    goes on from evaluation to evaluation, unless the hook resets it.

    >>> import core, core.links as L, numpy as np
    >>> from core import iterators
    >>> class Model(L.Linear):
    ...     def forward(self, x):
    ...         core.report({"mean": super().forward(x).array.mean()}, self)
    >>> batches = iterators.SerialIterator(np.eye(4, dtype="f"), 3, repeat=False, shuffle=False)
    >>> means = Evaluator(batches, Model(4, 1, initialW=np.array([[1, 2, 3, 4]], "f")))()
    >>> {name: float(mean) for name, mean in means.items()}
    {'main/mean': 2.5}
    """

    trigger = (1, "epoch")
    priority = PRIORITY_WRITER
    default_name = "validation"

    _has_told: bool = False  # that nothing is reported
    _weights: dict[str, float]  # of the means

    _iterators: dict[str, Any] = set_by_init()
    _targets: dict[str, Any] = set_by_init()

    @checked
    @removed(renamed={"input_device": "device"})
    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        target: Any,
        converter: Callable[[list[Any], Any], Any] = concat_examples,
        device: DeviceSpec | None = None,
        eval_hook: Callable[[Any], Any] | None = None,
        eval_func: Callable[..., Any] | None = None,
        *,
        progress_bar: bool = False,
        weigh_batches: bool = True,
        capture: bool | Callable[..., Any] = False,
    ) -> None:
        self.capture = capture
        self.captured: Captured | None = None
        self._shows_progress = self._shows_here = progress_bar
        self._weighs_batches = weigh_batches
        self._iterators = iterator if isinstance(iterator, dict) else {"main": iterator}
        self._targets = target if isinstance(target, dict) else {"main": target}
        for name, each in self._iterators.items():
            if not hasattr(each, "__next__"):
                raise TypeError(
                    f"Evaluator: expected an iterator, such as iterators.SerialIterator(dataset, "
                    f"batch_size, repeat=False), for {name!r}; got {type(each).__name__}."
                )
        for name, each in self._targets.items():
            if not isinstance(each, Link):
                raise TypeError(
                    f"Evaluator: expected a link, such as L.Classifier(model), as the target "
                    f"{name!r}; got {each!r:.60}. A function that computes something else is given "
                    "as eval_func, beside the link that reports."
                )
        self.converter = converter
        self.device = device
        self.eval_hook = eval_hook
        self.eval_func = eval_func

    def get_iterator(self, name: str) -> Any:
        """Return the iterator called `name`."""
        return _named("iterator", name, self._iterators)

    def get_all_iterators(self) -> dict[str, Any]:
        """Return name -> iterator."""
        return dict(self._iterators)

    def get_target(self, name: str) -> Any:
        """Return the target called `name`."""
        return _named("target", name, self._targets)

    def get_all_targets(self) -> dict[str, Any]:
        """Return name -> target."""
        return dict(self._targets)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load what targets, samplers and iterators carry from one evaluation on."""
        for name, target in self._targets.items():
            serialize_carried(target, serializer.optional("carried:" + name))
        for name, iterator in self._iterators.items():  # whose position begins anew each time
            sampler: Any = getattr(iterator, "order_sampler", None)
            if hasattr(sampler, "serialize"):
                sampler.serialize(serializer.optional("order_sampler:" + name))
            if hasattr(iterator, "resets"):  # what a dataset draws in the next pass depends on it
                iterator.resets = int(serializer.optional_value("resets:" + name, iterator.resets))

    def __call__(self, trainer: Any = None) -> Mapping[str, Any]:
        """Evaluate, report the means to the current reporter, and return them."""
        comm = getattr(trainer, "communicator", None)
        self._shows_here = self._shows_progress and (comm is None or comm.rank == 0)
        reporter = Reporter()
        prefix = "" if self.name is None else self.name + "/"
        for name, target in self._targets.items():
            reporter.add_observer(prefix + name, target)
            reporter.add_observers(prefix + name, target.namedlinks(skipself=True))
        trained = keeping_carried(self._trained(trainer))
        with reporter, core.using_config("train", False), trained:
            means = found_by(f"{type(self).__name__}.evaluate", self.evaluate())
        report(means)
        return means

    def _trained(self, trainer: Any) -> list[Link]:
        """Links of the targets that the trainer trains: what they carry is the training's."""
        updater = getattr(trainer, "updater", None)
        optimizers = {} if updater is None else updater.get_all_optimizers()
        models = [getattr(each, "target", None) for each in optimizers.values()]
        known = {id(link) for model in models if model is not None for link in model.links()}
        own = [link for target in self._targets.values() for link in target.links()]
        return [link for link in own if id(link) in known]

    def evaluate(self) -> dict[str, Any]:
        """Return the means of what is reported in one pass; may be overridden."""
        if self.eval_hook is not None:
            self.eval_hook(self)
        function = self._captured() if self.capture else self._function()
        summary, arrays = DictSummary(), None
        for batch in self._watched(self._fresh(self.get_iterator("main"))):
            observation: dict[str, Any] = {}
            is_first, arrays = arrays is None, self.converter(batch, self.device)
            with report_scope(observation), core.no_backprop_mode():
                try:
                    call_with(function, arrays)
                except TypeError as error:
                    if is_first and not isinstance(error, InvalidType):
                        error.add_note(self._called(arrays))
                    raise
            count = examples_in(batch, self.converter) if self._weighs_batches else None
            weight = 1 if count is None else count
            summary.add(
                {k: v if isinstance(v, tuple) else (v, weight) for k, v in observation.items()}
            )
        means, self._weights = summary.compute_mean(), summary.weights()
        if arrays is not None and not means and not self._has_told:
            self._has_told = True
            warn(f"Nothing has been reported. {self._called(arrays)}")
        return means

    def _called(self, arrays: Any) -> str:
        """What the first batch was to find."""
        called = self._function()
        called = type(called).__name__ if isinstance(called, Link) else repr(called)
        count = len(arrays) if isinstance(arrays, (tuple, dict)) else 1
        return (
            f"Evaluator calls {called} with the {count} part{'s' * (count > 1)} of a batch, and "
            "takes means of what that reports, as by core.report({'loss': loss}, self). Where a "
            "model returns predictions, evaluate L.Classifier(model), or give an eval_func."
        )

    def _function(self) -> Any:
        return self.eval_func or self.get_target("main")

    def _captured(self) -> Captured:
        """The function that is called with batches, captured."""
        if self.captured is None or self.captured.function is not self._function():
            from core.capturing import capture

            made: Any = capture if self.capture is True else self.capture
            self.captured = made(self._function())
            self.captured.evaluates = True
        return self.captured

    def _watched(self, iterator: Any) -> Any:
        """The batches, beside a bar that goes away with the last one."""
        screen = Terminal("Evaluator", None)
        if not (self._shows_here and screen.is_terminal):
            yield from iterator
            return
        from tqdm import tqdm  # type: ignore[import-untyped]

        total = len(iterator.dataset) if hasattr(iterator, "dataset") else None
        bar = tqdm(total=total, desc=self.name, leave=False, file=screen.out, unit=" examples")
        with bar:
            for batch in iterator:
                yield batch
                bar.update(examples_in(batch, self.converter) or 1)

    def _fresh(self, iterator: Any) -> Any:
        if getattr(iterator, "repeat", False):
            raise ValueError(
                "Evaluator: expected an iterator that ends after one pass, got one that repeats. "
                "Make it with repeat=False."
            )
        if hasattr(iterator, "reset"):
            iterator.reset()
            return iterator
        return copy.copy(iterator)

    def finalize(self) -> None:
        """Let the iterators release what they hold."""
        for iterator in self._iterators.values():
            iterator.finalize()


def found_by(method: str, found: Any) -> Mapping[str, Any]:
    """What an overridden method has returned. Raises TypeError for what holds no values."""
    if not isinstance(found, Mapping):
        raise TypeError(
            f"{method}: expected a dict of values by their names to be returned, got "
            f"{type(found).__name__}. It ends with `return {{name: value}}`."
        )
    return found


def _named(kind: str, name: str, known: dict[str, Any]) -> Any:
    if name in known:
        return known[name]
    raise KeyError(
        f"Evaluator: expected the name of a known {kind}, one of {', '.join(map(repr, known))}; "
        f"got {name!r}.{nearest(name, known)}"
    )

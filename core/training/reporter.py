"""Reporting: links and functions report values, and a reporter gathers them.

    reporter = Reporter()
    reporter.add_observer("main", model)
    with reporter.scope(observation):          # a dict
        report({"loss": loss}, model)          # -> observation["main/loss"]

The trainer and the evaluator keep reporters of their own; without one, `report` does nothing.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from numbers import Number
from typing import Any

from core.arrays import backend
from core.errors import CoreError
from core.errors.scalars import is_scalar, python_number
from core.graph.variable import Variable
from core.link.serializer import AbstractSerializer, Serializer
from core.registry.configuration import config
from core.registry.public import listing

__dir__ = listing(__name__)


class UnknownObserver(CoreError, KeyError):
    """Raised if the object that reports a value has no name in the current reporter."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class NoReporter(CoreError, RuntimeError):
    """Raised if there is no current reporter."""


_local = threading.local()


def _stack() -> list[Reporter]:
    if not hasattr(_local, "reporters"):
        _local.reporters = []
    stack: list[Reporter] = _local.reporters
    return stack


class Reporter:
    """Gather reported values under the names of their observers.

    A reporter is made current with `with reporter:` or, together with a fresh observation, with
    `reporter.scope(observation)`. Each thread has a current reporter of its own.

    >>> reporter, observer, seen = Reporter(), object(), {}
    >>> reporter.add_observer("main", observer)
    >>> with reporter.scope(seen):
    ...     report({"loss": 0.5}, observer)
    ...     report({"step": 3})
    >>> seen
    {'main/loss': 0.5, 'step': 3}
    """

    def __init__(self) -> None:
        self.observation: dict[str, Any] = {}
        # The observers themselves are kept as well: an id alone could come back as another object.
        self._observers: dict[int, tuple[str, Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_observers": [*self._observers.values()]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        named = state.pop("_observers")  # a copy knows those of the observers, by their own ids
        vars(self).update(state, _observers={id(each[1]): each for each in named})

    def __enter__(self) -> Reporter:
        _stack().append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _stack().pop()

    @contextmanager
    def scope(self, observation: dict[str, Any]) -> Iterator[None]:
        """Make this reporter current within a block; it fills the dict `observation`."""
        with self, _observing(self, observation):
            yield

    def add_observer(self, name: str, observer: Any) -> None:
        """Put `name/` before what `observer` reports; a later name replaces the earlier."""
        self._observers[id(observer)] = (name, observer)

    def add_observers(self, prefix: str, observers: Iterable[tuple[str, Any]]) -> None:
        """Add (name, observer) pairs, as `namedlinks()` gives them, under `prefix + name`."""
        for name, observer in observers:
            self.add_observer(prefix + name, observer)

    def report(self, values: Mapping[str, Any], observer: Any = None) -> None:
        """Store `values` in the observation, under the name of `observer` if one is given.

        A Variable is stored as a copy that shares the array and knows no graph, so that the graph
        can be freed; with `config.keep_graph_on_report` it is stored as it is.
        Raises UnknownObserver where the observer has no name here.
        """
        prefix = "" if observer is None else self._name(observer) + "/"
        keep = config.keep_graph_on_report
        for key, value in values.items():
            self.observation[prefix + key] = value if keep else _purged(value)

    def _name(self, observer: Any) -> str:
        if id(observer) in self._observers:
            return self._observers[id(observer)][0]
        names = ", ".join(repr(name) for name, _ in self._observers.values()) or "none"
        raise UnknownObserver(
            f"report: expected an observer that the current reporter knows ({names}), got a "
            f"{type(observer).__name__} that was never added. Add it with "
            "reporter.add_observer(name, observer), make it part of the optimizer's target, "
            "or report without an observer."
        )


def _purged(value: Any) -> Any:
    if not isinstance(value, Variable):
        return value
    return Variable(value.array, name=value.name, requires_grad=value.requires_grad)


@contextmanager
def _observing(reporter: Reporter, observation: dict[str, Any]) -> Iterator[None]:
    before, reporter.observation = reporter.observation, observation
    try:
        yield
    finally:
        reporter.observation = before


def get_current_reporter() -> Reporter:
    """Return the innermost reporter of this thread; raises NoReporter if there is none."""
    if not _stack():
        raise NoReporter(
            "get_current_reporter: no reporter is current in this thread. "
            "Make one with `with core.Reporter() as reporter:`."
        )
    return _stack()[-1]


def report(values: Mapping[str, Any], observer: Any = None) -> None:
    """Report `values` (name -> number, array or Variable) to the current reporter, if any.

    `observer`, usually a link reporting about itself, gives the names their prefix.

    >>> report({"loss": 1.0})        # nobody listens: nothing happens
    """
    if _stack():
        _stack()[-1].report(values, observer)


@contextmanager
def report_scope(observation: dict[str, Any]) -> Iterator[None]:
    """Make the current reporter fill `observation` within a `with` block."""
    with _observing(get_current_reporter(), observation):
        yield


@contextmanager
def unobserved() -> Iterator[None]:
    """Let nothing that is reported within a `with` block be observed, by any reporter there is.

    >>> seen = {}
    >>> with Reporter().scope(seen), unobserved():
    ...     report({"loss": 1.0})
    >>> seen
    {}
    """
    stack = _stack()
    with _observing(stack[-1], {}) if stack else nullcontext():
        yield


# -- summaries --------------------------------------------------------------------------------


def _bare(value: Any) -> Any:
    """The array of a Variable, the Python number in one of a library's scalars."""
    value = value.array if isinstance(value, Variable) else value
    return value.item() if is_scalar(value) else value


def _measured(value: Any) -> Any:
    """What is summed: a float for numbers and for single values in host memory, otherwise the
    array.

    A value on another device stays there, so that summing never waits for it; 16-bit floats go on
    as float32. Device type 1 is DLPack's word for host memory.
    """
    value = _bare(value)
    if isinstance(value, Number) or (value.ndim == 0 and value.__dlpack_device__()[0] == 1):
        return float(value)
    owner = backend.of(value)
    short = owner.dtype_name(value.dtype) in ("float16", "bfloat16")
    return owner.xp.astype(value, owner.xp.float32) if short else value


def saved_observation(observation: Mapping[str, Any]) -> str:
    """The single values of an observation as text, exact to the bit; a pair has its weight.

    >>> saved_observation({"loss": 0.5, "accuracy": (1, 32), "note": "text"})
    '{"loss": 0.5, "accuracy": [1.0, 32]}'
    """
    import json

    singles = {key: entry for key, entry in observation.items() if _weighed(entry) is not None}
    return json.dumps({key: _plain(entry) for key, entry in singles.items()})


def loaded_observation(text: str) -> dict[str, Any]:
    """What `saved_observation` was given, with numbers for the arrays and Variables.

    >>> loaded_observation('{"loss": 0.5, "accuracy": [1.0, 32]}')
    {'loss': 0.5, 'accuracy': (1.0, 32)}
    """
    import json

    found = json.loads(text)
    return {key: tuple(v) if isinstance(v, list) else v for key, v in found.items()}


def _weighed(entry: Any) -> tuple[Any, Any] | None:
    """A single number and its weight, which is a number in Python; None for anything else."""
    value, weight = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, 1)
    if not (_is_single(value) and _is_single(weight)):
        return None
    return value, python_number(_bare(weight))


def _plain(entry: Any) -> Any:
    if isinstance(entry, tuple):
        return _as_float(_measured(entry[0])), python_number(_bare(entry[1]))
    return _as_float(_measured(entry))


class Summary:
    """Mean and standard deviation of a stream of values: numbers, or arrays of one shape.

    The variance follows the recurrence of West (1979, doi:10.1145/359146.359153), which loses no
    digits where the mean is large.

    >>> summary = Summary()
    >>> for value in (1, 2, 6):
    ...     summary.add(value)
    >>> summary.compute_mean()
    3.0
    """

    def __init__(self) -> None:
        self._weight = 0.0
        self._sum: Any = 0.0
        self._squares: Any = 0.0  # sum of squared distances from the mean

    def add(self, value: Any, weight: float = 1) -> None:
        """Add a value, `weight` times: with 0 nothing, whatever the value is."""
        if not weight:
            return
        value = _measured(value)
        mean = self._sum / self._weight if self._weight else value
        self._weight += weight
        self._sum = self._sum + value * weight
        self._squares = self._squares + weight * (value - mean) * (value - self._sum / self._weight)

    def merge(self, other: Summary) -> None:
        """Add all that another one has summed (Chan et al., 1979)."""
        if self._weight and other._weight:
            weight = self._weight + other._weight
            apart = self._sum / self._weight - other._sum / other._weight
            self._squares = self._squares + apart * apart * (self._weight * other._weight / weight)
        self._weight += other._weight
        self._sum = self._sum + other._sum
        self._squares = self._squares + other._squares

    def compute_mean(self) -> Any:
        """Return the mean; raises ValueError if nothing was added."""
        if not self._weight:
            raise ValueError("Summary: expected at least one value before its mean, got none.")
        return self._sum / self._weight

    def make_statistics(self) -> tuple[Any, Any]:
        """Return the mean and the standard deviation (divided by the number of values).

        >>> summary = Summary()
        >>> summary.add(1), summary.add(3)
        (None, None)
        >>> summary.make_statistics()
        (2.0, 1.0)
        """
        mean = self.compute_mean()
        variance = self._squares / self._weight
        if isinstance(variance, float):
            return mean, math.sqrt(max(variance, 0.0)) if variance == variance else variance
        return mean, backend.of(variance).xp.sqrt(variance)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load what has been summed."""
        saving = isinstance(serializer, Serializer)
        self._weight = serializer("weight", self._weight)
        # None asks for whatever shape was summed.
        self._sum = _as_float(serializer("sum", self._sum if saving else None))
        self._squares = _as_float(serializer("squares", self._squares if saving else None))


def _as_float(value: Any) -> Any:
    """A single value as a float, which joins with arrays of any backend and dtype."""
    return value if getattr(value, "ndim", 0) else float(value)


class DictSummary:
    """A `Summary` for every key of a stream of dicts; other values than numbers are ignored.

    >>> summary = DictSummary()
    >>> summary.add({"loss": 1.0, "note": "text"})
    >>> summary.add({"loss": 2.0, "accuracy": 0.5})
    >>> summary.compute_mean()
    {'loss': 1.5, 'accuracy': 0.5}
    """

    def __init__(self) -> None:
        self._summaries: dict[str, Summary] = {}

    def add(self, d: Mapping[str, Any]) -> None:
        """Add the values of `d`; a pair counts as (value, weight), one of weight 0 not at all."""
        for key, entry in d.items():
            weighed = _weighed(entry)
            if weighed is not None and weighed[1]:
                self._summaries.setdefault(key, Summary()).add(*weighed)

    def compute_mean(self) -> dict[str, Any]:
        """Return key -> mean, over the dicts that had the key."""
        return {key: summary.compute_mean() for key, summary in self._summaries.items()}

    def weights(self) -> dict[str, float]:
        """Return key -> the sum of the weights of its values.

        >>> summary = DictSummary()
        >>> summary.add({"loss": 1.0}), summary.add({"loss": (2.0, 3)})
        (None, None)
        >>> summary.weights()
        {'loss': 4.0}
        """
        return {key: summary._weight for key, summary in self._summaries.items()}

    def make_statistics(self) -> dict[str, Any]:
        """Return key -> mean, and `key.std` -> standard deviation.

        >>> summary = DictSummary()
        >>> summary.add({"loss": 1.0})
        >>> summary.make_statistics()
        {'loss': 1.0, 'loss.std': 0.0}
        """
        statistics = {}
        for key, summary in self._summaries.items():
            statistics[key], statistics[key + ".std"] = summary.make_statistics()
        return statistics

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load all summaries, as one entry: the names in a file depend on no state."""
        import json

        text = serializer("summaries", json.dumps(self.state()))
        self._summaries = {}
        self.merge(json.loads(text))

    def state(self) -> dict[str, dict[str, float]]:
        """All that has been summed, in plain numbers."""
        return {
            key: {name: _as_float(value) for name, value in vars(summary).items()}
            for key, summary in self._summaries.items()
        }

    def merge(self, state: Mapping[str, Mapping[str, float]]) -> None:
        """Add the `state` of another one, as of another rank.

        >>> here, there = DictSummary(), DictSummary()
        >>> here.add({"loss": 1.0}), there.add({"loss": 4.0}), there.add({"loss": 4.0})
        (None, None, None)
        >>> here.merge(there.state())
        >>> here.make_statistics()
        {'loss': 3.0, 'loss.std': 1.4142135623730951}
        """
        for key, numbers in state.items():
            other = Summary()
            other.__dict__.update(numbers)
            self._summaries.setdefault(key, Summary()).merge(other)


def _is_single(value: Any) -> bool:
    value = _bare(value)
    if hasattr(value, "__dlpack__"):  # numbers of 8 bits and less have the kind V in NumPy
        return value.ndim == 0 and getattr(value.dtype, "kind", "f") in "biufV"
    return isinstance(value, Number) and not isinstance(value, complex)

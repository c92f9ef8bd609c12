"""Statistics of parameters and gradients, in the observation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from core import Link, report
from core.arrays import backend
from core.errors.kinds import checked
from core.link.serializer import AbstractSerializer
from core.training import PRIORITY_WRITER, Extension, TriggerSpec
from plugins.training.extensions.distribution import SIGMAS, check_names, flat, percentiles
from plugins.training.extensions.observed import Observed

if TYPE_CHECKING:
    from core.training import Loop

Statistic = Callable[[Any], Any]


def _of_array_api(name: str, x: Any) -> Any:
    return getattr(backend.of(x).xp, name)(x)


def _zeros(x: Any) -> Any:
    xp = backend.of(x).xp
    return xp.sum(xp.astype(x == 0, xp.int64))


def _percentile(x: Any) -> Any:
    return percentiles(x, SIGMAS)


class ParameterStatistics(Extension):
    """Report statistics of the parameters of `links`, one link or several, and of their gradients.

    They are taken at every call, and their means reported whenever `trigger` fires, under names as
    'l1/W/data/mean' and 'l1/W/grad/percentile/3', after the link's name and `prefix` if it has any.

    `statistics` maps names to functions of a flat array of the parameter's backend, which give one
    number or several; 'default' takes `default_statistics`: mean, std, min, max, zeros (how many)
    and percentile (at -3 ... 3 standard deviations of a normal distribution). With
    `skip_nan_params`, every statistic of what holds a NaN is a single NaN, and no function is
    called. Parameters that have no values yet, or no gradient, are passed over. Raises ValueError
    where parameters of two links would have one name, TypeError for what is no link.

    In your own loop:

    >>> import core, core.links as L, numpy as np
    >>> from core.training import extensions
    >>> take = extensions.ParameterStatistics(
    ...     L.Linear(2, 2, initialW=3), {"mean": np.mean}, trigger=lambda trainer: True
    ... )
    >>> with core.Reporter() as reporter:
    ...     take(None)
    >>> {name: float(mean) for name, mean in reporter.observation.items()}
    {'/W/data/mean': 3.0, '/b/data/mean': 0.0}
    """

    ranks = "together"
    default_name = "parameter_statistics"
    priority = PRIORITY_WRITER
    report_key_template = "{prefix}{link_name}{param_name}/{attr_name}/{function_name}"
    default_statistics: Mapping[str, Statistic] = MappingProxyType(
        {
            "mean": partial(_of_array_api, "mean"),
            "std": partial(_of_array_api, "std"),
            "min": partial(_of_array_api, "min"),
            "max": partial(_of_array_api, "max"),
            "zeros": _zeros,
            "percentile": _percentile,
        }
    )

    @checked
    def __init__(
        self,
        links: Link | Iterable[Link],
        statistics: Mapping[str, Statistic] | str | None = "default",
        report_params: bool = True,
        report_grads: bool = True,
        prefix: str | None = None,
        trigger: TriggerSpec = (1, "epoch"),
        skip_nan_params: bool = False,
    ) -> None:
        one = isinstance(links, Link) or not isinstance(links, Iterable)
        listed: Any = [links] if one else links
        self._links: list[Link] = list(listed)
        check_names("ParameterStatistics", self._links)
        self._statistics = _chosen(statistics, self.default_statistics)
        self._attributes = [
            name for name, wanted in (("data", report_params), ("grad", report_grads)) if wanted
        ]
        self._prefix = prefix
        self._observed = Observed("ParameterStatistics", None, trigger)
        self._skip_nan_params = skip_nan_params

    def register_statistics(self, name: str, function: Statistic) -> None:
        """Add `function` of a flat array as a statistic, or replace the one of that name."""
        self._statistics[name] = function

    def __call__(self, trainer: Loop) -> None:
        """Take the statistics; when it is time, report their means."""
        summary = self._observed.take(dict(self._taken()), trainer)
        if summary is not None:
            report(summary.compute_mean())

    def initialize(self, trainer: Loop) -> None:
        """Let the means be those over all ranks, of which some may have no gradients."""
        self._observed.begin(trainer, self.communicator)

    def collect(self) -> None:
        """Let the first rank have what was taken on all since the last report."""
        self._observed.collect()

    def _taken(self) -> Iterator[tuple[str, Any]]:
        for link in self._links:
            for path, parameter in link.namedparams(include_uninit=False):
                for attribute in self._attributes:
                    array = getattr(parameter, attribute)
                    if array is not None and 0 not in array.shape:
                        yield from self._of_one(link, path, attribute, flat(array))

    def _of_one(self, link: Link, path: str, attribute: str, x: Any) -> Iterator[tuple[str, Any]]:
        home = backend.of(x)
        with home.beside(x):
            skip = self._skip_nan_params and bool(home.xp.any(home.xp.isnan(x)))
        name = link.name or ""
        for statistic, function in self._statistics.items():
            key = self.report_key_template.format(
                prefix="" if self._prefix is None else self._prefix + "/" * bool(name),
                link_name=name,
                param_name=path,
                attr_name=attribute,
                function_name=statistic,
            )
            with home.beside(x):
                found = float("nan") if skip else function(x)
            yield from _numbered(key, found)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load what was taken since the last report."""
        self._observed.serialize(serializer)


def _chosen(given: Any, default: Mapping[str, Statistic]) -> dict[str, Statistic]:
    if given == "default":
        return dict(default)
    if isinstance(given, str):
        raise ValueError(
            "ParameterStatistics: expected statistics 'default' or names and functions as "
            f"{{'mean': function}}, got {given!r}."
        )
    return dict(given or {})


def _numbered(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The value under its key; of several, each under the key and its number."""
    shape = getattr(value, "shape", None)
    if isinstance(value, list | tuple):
        shape = (len(value),)
    if not shape:
        yield key, value
        return
    for i in range(shape[0]):
        yield f"{key}/{i}", value[i]

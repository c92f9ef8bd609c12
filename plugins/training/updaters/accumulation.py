"""One step from the gradients of several batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import reduce
from operator import add
from typing import Any

from core import Variable, config
from core.training import reporter
from plugins.training.calling import examples_in


def sizes(batches: Sequence[Any], converter: Callable[..., Any]) -> list[int]:
    """How many examples each batch has, where all tell; else all count alike.

    >>> sizes([[1, 2], [3]], print), sizes([{"x": 1}, {"x": 2}], print)
    ([2, 1], [1, 1])
    """
    found = [examples_in(batch, converter) for batch in batches]
    return [1 if None in found or count is None else count for count in found]


def in_parts(parts: Iterable[tuple[int, Callable[[], None]]]) -> None:
    """Call each function, and report the means of what they report, weighted by the numbers.

    What is reported as a pair of a value and its own weight stays one; of what is not a number the
    last is reported. With `config.keep_graph_on_report` means of Variables have a graph, of all
    parts.

    >>> import core
    >>> with core.Reporter().scope({}) as nothing, core.report_scope(seen := {}):
    ...     in_parts((n, lambda n=n: core.report({"n": n})) for n in (1, 3))
    >>> seen
    {'n': 2.5}
    """
    try:
        observation = reporter.get_current_reporter().observation
    except reporter.NoReporter:
        observation = None
    summary, weights = reporter.DictSummary(), dict[str, float]()
    keep, graphs = config.keep_graph_on_report, dict[str, list[tuple[int, Variable]]]()
    for size, part in parts:
        seen: dict[str, Any] = {}
        with nullcontext() if observation is None else reporter.report_scope(seen):
            part()
        if observation is not None:
            tuples = {key: entry for key, entry in seen.items() if isinstance(entry, tuple)}
            pairs = {key: entry[1] for key, entry in tuples.items() if len(entry) == 2}
            weights |= {key: weights.get(key, 0) + weight for key, weight in pairs.items()}
            summary.add({key: seen[key] if key in pairs else (seen[key], size) for key in seen})
            observation |= seen
            for key, value in seen.items() if keep else ():
                if isinstance(value, Variable) and value.creator is not None:
                    graphs.setdefault(key, []).append((size, value))
    if observation is not None:
        means = summary.compute_mean()
        observation |= {k: (v, weights[k]) if k in weights else v for k, v in means.items()}
        observation |= {k: _mean(graphs[k]) for k in means if k in graphs}


def _mean(values: list[tuple[int, Variable]]) -> Variable:
    total = sum([size for size, _ in values])
    return reduce(add, [value * (size / total) for size, value in values])

"""How many threads work is divided among: one number for BLAS, compiled loops and loaders.

It is `config.num_threads`, at first what PLUGRAD_NUM_THREADS says; None stands for a thread for
each processor. Each thread of a program may have its own, as of every entry of the configuration.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

from core.registry import control_groups
from core.registry.backends import known
from core.registry.configuration import current_state, global_config, using_config

_allowed = cache(control_groups.processors)  # once: results repeat for a number of threads


def processors() -> int:
    """How many processors this process may keep busy.

    Those that it may run on (from Python 3.13 on, what PYTHON_CPU_COUNT says), or as many of them
    as a container lets it have the time of.
    """
    if sys.version_info >= (3, 13):
        count = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return min(count, _allowed() or count)


def num_threads() -> int:
    """How many threads work is divided among here.

    >>> with using_threads(3):
    ...     num_threads()
    3
    """
    number: int | None = current_state().get("num_threads")
    return processors() if number is None else number


@contextmanager
def using_threads(number: int) -> Iterator[None]:
    """Divide work among `number` threads within a `with` block, or in a decorated function.

    That is `using_config("num_threads", number)`, which matrix products, compiled loops and loaders
    made in the block go by, and a limit to the own threads of the libraries in use. That of NumPy's
    BLAS, as in `numpy.linalg`, is one for the whole process: the lowest that is open holds.
    Results repeat to the bit for a number of threads.

    Raises ValueError for a number that is no whole one of at least 1.

    >>> import core
    >>> with core.using_threads(1):
    ...     core.config.num_threads
    1
    """
    if number is None:
        raise ValueError("using_threads: expected a whole number of at least 1, got None.")
    with using_config("num_threads", number), _limits(number):
        yield


def _limits(number: int) -> ExitStack:
    """Limits to the own threads of all libraries in use, until they are closed."""
    with ExitStack() as entered:
        for backend in known.in_use():
            entered.enter_context(backend.limited_threads(number))
        return entered.pop_all()


_whole_process = ExitStack()


def set_threads(number: int) -> None:
    """Divide work among `number` threads from now on, in the whole process."""
    global_config.num_threads = number
    _whole_process.close()
    _whole_process.enter_context(_limits(number))

"""Where the time of a program goes: its equations are timed one by one, in runs of it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

from core.programs.equation import Equation
from core.programs.execution import compiled
from core.programs.group import Group
from core.programs.recorded import Recorded
from core.programs.tables import table, totals

RUNS = 10


class Line(NamedTuple):
    """The least time of one equation, and where it comes from."""

    call: str
    operation: str
    link: str
    seconds: float


class Profile:
    """Seconds of a run, in all, and by what is called, by operation and by link.

    Of each equation it is the least of some runs. A loop of several equations counts as one call,
    of the operation and link of its last.
    """

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines

    @property
    def seconds(self) -> float:
        """Seconds of all equations."""
        return sum([line.seconds for line in self.lines])

    def by_call(self) -> dict[str, tuple[float, int]]:
        """Seconds, and how many calls, by the name of what is called; of loops together."""
        return totals([(line.call, line.seconds, 1) for line in self.lines])

    def by_operation(self) -> dict[str, tuple[float, int]]:
        """The same by the name of the operation; of its gradients apart."""
        return totals([(line.operation, line.seconds, 1) for line in self.lines])

    def by_link(self) -> dict[str, tuple[float, int]]:
        """The same by the path and class of the link."""
        return totals([(line.link, line.seconds, 1) for line in self.lines])

    def __repr__(self) -> str:
        """A table, the longest first."""
        head = [("", "microseconds", "calls"), ("in all", *_shown(self.seconds, len(self.lines)))]
        parts = {"call": self.by_call(), "operation": self.by_operation(), "link": self.by_link()}
        return table(head, parts, _shown)


def _shown(seconds: float, count: int) -> tuple[str, str]:
    return f"{seconds * 1e6:,.1f}", f"{count:,}"


def profiled(owner: Any, program: Recorded, call: Callable[[], Any], live: bool) -> Profile:
    """The profile of a program whose owner runs it, by `_run`, in each call.

    Each equation is waited for: a device may still be computing when its call returns.
    """
    least = [inf] * len(program.equations)
    last, device, backend = 0.0, None, program.backend

    def tick(i: int) -> None:
        nonlocal last
        backend.synchronize(device)
        least[i] = min(least[i], perf_counter() - last)
        last = perf_counter()

    run = compiled(program, live, tick)

    def timed(*arrays: Any) -> tuple[Any, ...]:
        nonlocal last, device
        device = backend.device_of(arrays[0]) if arrays else None
        backend.synchronize(device)
        last = perf_counter()
        return run(*arrays)

    before, owner._run = owner._run, timed
    try:
        for _ in range(RUNS):
            call()
    finally:
        owner._run = before
    return Profile([_line(*each) for each in zip(program.equations, least, strict=True)])


def _line(equation: Equation, seconds: float) -> Line:
    origin = equation.origin
    operation = origin.operation + ", backward" * origin.backward if origin.operation else ""
    call = "loops" if isinstance(equation.call.function, Group) else equation.call.name
    return Line(call, operation, origin.link, seconds)

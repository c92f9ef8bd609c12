"""What a set of measured slices says: which of them were disturbed, medians, ratios.

Pure functions on plain data. A *slice* is one timed run of one case in one worker; a *round* is
one slice of every worker, run in turn, so that a change of the machine hits all of them alike.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median, quantiles

WAITED = 1.03
"""A slice whose wall time exceeds its CPU time by more than this was interrupted."""

SLOWED = 1.2
"""A calibration loop this much slower than the worker's calm ones means a busy machine."""


@dataclass(frozen=True)
class Slice:
    """One timed run: its length and the calibration loop's time before and after it."""

    repeat: int
    wall: float
    cpu: float
    before: float
    after: float
    waited: float | None = None
    """Seconds that its threads waited for a processor; None is what the clock shows of one."""


@dataclass(frozen=True)
class Spread:
    """A median between its quartiles."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """What the undisturbed rounds of one case say."""

    kept: int
    disturbed: dict[str, int]
    times: dict[str, Spread]
    ratios: dict[str, Spread]


def spread(values: Sequence[float]) -> Spread:
    """Return the median and the quartiles of one or more values."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Spread(median(values), low, high)


def calm(slices: Iterable[Slice]) -> tuple[float, float]:
    """Return the times of a worker's calibration loops on the undisturbed machine.

    The one before and the one after a slice are apart: what ran before a loop has filled the
    caches for it, or not. Each is the lower quartile and not the minimum: one lucky run must not
    condemn all others.
    """
    slices = list(slices)
    return spread([s.before for s in slices]).low, spread([s.after for s in slices]).low


def on_processor(s: Slice) -> Slice:
    """The slice by processor time, which waiting does not disturb."""
    return replace(s, wall=s.cpu, waited=0, before=0, after=0)


def disturbance(s: Slice, calm_times: tuple[float, float]) -> str | None:
    """Say what disturbed a slice, or None."""
    ran = s.cpu if s.waited is None else s.wall - s.waited
    if s.wall > WAITED * ran:
        return "waited for a processor"
    if s.before > SLOWED * calm_times[0] or s.after > SLOWED * calm_times[1]:
        return "calibration slowed"
    return None


def summarise(
    rounds: Sequence[dict[str, Slice]],
    operations: int,
    subject: str,
    clock: str = "wall",
    every: bool = False,
) -> Summary:
    """Summarise the rounds of one case: seconds per operation, and subject / peer ratios.

    A round counts only if none of its slices was disturbed (`every` lets all count), and a ratio
    is always taken within a round: drift between rounds cancels out of it. By the clock "cpu",
    processor time counts, and no round is disturbed.
    """
    timed = [{n: s if clock == "wall" else on_processor(s) for n, s in r.items()} for r in rounds]
    names = list(rounds[0])
    calms = {name: calm(r[name] for r in timed) for name in names}
    found, disturbed = [], Counter[str]()
    for r in timed:
        reasons = [why for n in names if (why := disturbance(r[n], calms[n]))]
        disturbed.update(reasons[:1])
        if every or not reasons:
            found.append({n: s.wall / (s.repeat * operations) for n, s in r.items()})
    return Summary(
        kept=len(rounds) - disturbed.total(),
        disturbed=dict(disturbed),
        times={n: spread([r[n] for r in found]) for n in names if found},
        ratios={
            n: spread([r[subject] / r[n] for r in found]) for n in names if found and n != subject
        },
    )

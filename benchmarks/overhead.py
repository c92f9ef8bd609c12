"""What an operation costs beyond its arithmetic, against other frameworks in one run.

Arrays of 4 float32 and a chain of 100 mul, add, tanh: the arithmetic is next to nothing, so the
time is the framework's own. All frameworks run in one go, a slice of each in turn.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from benchmarks import BenchmarkError
from benchmarks.machine import build, machine, processor
from benchmarks.peers import environment
from benchmarks.process import Worker
from benchmarks.rounds import Slice, Spread, Summary, summarise
from benchmarks.table import table
from benchmarks.workers.protocol import OPERATIONS

SUBJECT = "plugrad"
OPPONENTS = ("torch", "chainer")
"""Frameworks that run one operation after another; compiled, the chain would be one."""

CASES = {
    "forward": "forward",
    "forward_backward": "forward + backward",
    "no_gradients": "forward without gradients",
    "recording": "forward + backward that records its graph",
}
GOALS = {
    ("forward", "torch"): 0.55,
    ("forward_backward", "torch"): 0.45,
    ("forward_backward", "chainer"): 0.04,
}
"""Highest ratio to a peer that the project allows itself."""

BATCHES = 3
"""Times that all workers are started anew: where a process happens to lie in memory matters."""

PATIENCE = 5
"""How many times the rounds asked for are run at most, where many are disturbed."""

SLICE = 0.02
"""Seconds that a slice should take: long for the clock, short against the scheduler's turns."""

Rounds = dict[str, list[dict[str, Slice]]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--against",
        type=names_among(OPPONENTS),
        default=["torch"],
        metavar="PEER,...",
        help=f"frameworks to measure in the same run: {', '.join(OPPONENTS)} (default: torch)",
    )
    parser.add_argument(
        "--rounds",
        type=positive,
        default=30,
        metavar="N",
        help="undisturbed rounds wanted of each case; up to 5 N are run for them (default: 30)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there as well")
    parser.add_argument(
        "--gc",
        choices=["off", "on"],
        default="off",
        help="Python's cyclic garbage collector while the clock runs, in all workers alike",
    )


def names_among(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what reads a list of peers; none is legal and measures plugrad alone."""

    def read(text: str) -> list[str]:
        names = [name for name in text.split(",") if name]
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"no peer {name!r}; there are: {', '.join(known)}")
        return list(dict.fromkeys(names))

    return read


def positive(text: str) -> int:
    """Read a whole number above zero."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number above zero, got {text!r}")
    return int(text)


def main(options: argparse.Namespace) -> int:
    """Measure, print and write; 1 if the machine was too busy to say anything."""
    pythons = {SUBJECT: Path(sys.executable)}
    pythons.update({name: environment(name) for name in options.against})
    rounds, versions = measure(pythons, options.rounds, options.gc)
    summaries = summarise_all(rounds)
    print(report(summaries, versions))
    if options.json:
        settings = {"rounds": options.rounds, "gc": options.gc, "operations": OPERATIONS}
        write(options.json, settings, versions, summaries, rounds)
    if any(s.kept == 0 for s in summaries.values()):
        print("no undisturbed round: run again with a calmer machine or more --rounds")
        return 1
    return 0


def measure(
    pythons: dict[str, Path], count: int, collector: str
) -> tuple[Rounds, dict[str, dict[str, str]]]:
    """Run rounds, in batches of fresh processes, until enough are undisturbed; say what ran.

    A busy machine gets up to `PATIENCE` times the rounds asked for.
    """
    rounds: Rounds = {case: [] for case in CASES}
    versions: dict[str, dict[str, str]] = {}
    share = -(-count // BATCHES)
    for batch in range(PATIENCE * BATCHES):
        if batch >= BATCHES and enough(rounds, count):
            break
        with ExitStack() as stack:
            workers = [stack.enter_context(Worker(n, p)) for n, p in pythons.items()]
            versions = {worker.name: worker.versions for worker in workers}
            run_batch(workers, share, collector, rounds)
    return rounds, versions


def summarise_all(rounds: Rounds) -> dict[str, Summary]:
    """Summarise every case."""
    return {case: summarise(rounds[case], OPERATIONS, SUBJECT) for case in rounds}


def enough(rounds: Rounds, count: int) -> bool:
    """Whether every case has as many undisturbed rounds as were asked for."""
    return all(summary.kept >= count for summary in summarise_all(rounds).values())


def run_batch(workers: Sequence[Worker], count: int, collector: str, rounds: Rounds) -> None:
    """Add `count` rounds of every case; each round starts with another worker."""
    repeats = {(w.name, case): repeat_for(w, case, collector) for w in workers for case in CASES}
    for number in range(count):
        first = number % len(workers)
        turn = [*workers[first:], *workers[:first]]
        for case in CASES:
            slices = {w.name: w.measure(case, repeats[w.name, case], collector) for w in turn}
            rounds[case].append(slices)


def repeat_for(worker: Worker, case: str, collector: str) -> int:
    """Warm a case up and return how often it runs in a slice."""
    worker.measure(case, 2, collector)
    trial = worker.measure(case, 2, collector)
    return max(1, round(SLICE * trial.repeat / trial.wall))


def report(summaries: dict[str, Summary], versions: dict[str, dict[str, str]]) -> str:
    """Return what is printed: the versions, the table and what was left out."""
    header = ["", "", "us per operation", f"{SUBJECT} takes", "goal", "rounds"]
    rows = [row for case, s in summaries.items() for row in rows_of(case, s, list(versions))]
    lines = [f"{processor()}; interpreter: {build()}"]
    lines += [_versions(name, found) for name, found in versions.items()]
    lines += ["", table(header, rows), ""]
    lines.append("Medians (quartiles) of the undisturbed rounds; one thread each.")
    return "\n".join(lines)


def rows_of(case: str, summary: Summary, names: Sequence[str]) -> list[list[str]]:
    """Return a case's lines of the table, one a framework."""
    microseconds = with_spread(summary.times, scale=1e6)
    ratio = with_spread(summary.ratios, scale=1)
    total = summary.kept + sum(summary.disturbed.values())
    rows = []
    for name in names:
        goal = GOALS.get((case, name))
        aim = "" if goal is None else f"{goal:g}"
        rows.append(["", name, microseconds(name), ratio(name), aim, ""])
    rows[0] = [CASES[case], SUBJECT, microseconds(SUBJECT), "", "", f"{summary.kept} of {total}"]
    return rows


def with_spread(values: dict[str, Spread], scale: float) -> Callable[[str], str]:
    """Return a function that writes the median and quartiles of a name, "-" if it has none."""

    def text(name: str) -> str:
        if name not in values:
            return "-"
        middle, low, high = (scale * v for v in asdict(values[name]).values())
        digits = 1 if middle >= 20 else 2 if middle >= 0.1 else 3
        return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"

    return text


def write(
    path: Path,
    settings: dict[str, object],
    versions: dict[str, dict[str, str]],
    summaries: dict[str, Summary],
    rounds: Rounds,
) -> None:
    """Write everything, every slice included, so that the figures can be worked out again."""
    result = {
        "machine": machine(),
        "settings": settings,
        "versions": versions,
        "cases": {case: asdict(summary) for case, summary in summaries.items()},
        "rounds": {
            case: [{name: asdict(s) for name, s in r.items()} for r in rounds[case]]
            for case in rounds
        },
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=1) + "\n")
    except OSError as error:
        raise BenchmarkError(f"could not write {path}: {error}") from error


def _versions(name: str, found: dict[str, str]) -> str:
    others = [f"{k} {v}" for k, v in found.items() if k != name]
    return f"{name} {found[name]} ({', '.join(others)})"

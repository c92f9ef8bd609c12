"""Measure workloads against other frameworks: ratios of times, taken within rounds.

Every framework is a process of its own. A round is a slice of each in turn; whoever begins
changes. All compute the same from the same initial values, which is checked before anything is
timed. Ratios come first: the share of a peer's time that plugrad takes, the median of undisturbed
rounds between its quartiles.
"""

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Any

from benchmarks import BenchmarkError, isa, results
from benchmarks.contestants import COMPILED, FRAMEWORKS, PLAINER, SUBJECT, Contestant, chosen
from benchmarks.machine import machine
from benchmarks.overhead import names_among, positive
from benchmarks.process import Worker
from benchmarks.roofline import roofline
from benchmarks.rounds import Slice, spread, summarise
from benchmarks.rows import ROWS
from benchmarks.workloads import WORKLOADS, Workload

PATIENCE = 3
"""How many times the rounds asked for are run at most, where many are disturbed, by default."""

SLICE = 0.1
"""Seconds that a slice takes, or one step if that takes longer."""

PARALLEL = 0.3
"""The same of several threads, or where other processes make batches: ticks are long."""

TOGETHER = 2
"""Processes that start and warm up at a time."""

LOOKS = 5
"""Times that memory is looked at most, each in new processes: a round is one of them."""

STEPS = 3
"""Steps in which all frameworks have to compute the same."""

TOLERANCE = {"float32": 1e-3, "tf32": 1e-2, "bfloat16": 5e-2}
"""How far what they compute may differ: products are summed in different orders."""

Rounds = list[dict[str, Slice]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "workload",
        nargs="*",
        type=workload,
        default=[],
        metavar="workload",
        help=f"what to measure, all by default: {', '.join(WORKLOADS)}",
    )
    parser.add_argument(
        "--against",
        type=names_among(FRAMEWORKS),
        default=["torch"],
        metavar="PEER,...",
        help=f"frameworks to measure in the same run: {', '.join(FRAMEWORKS)} (default: torch)",
    )
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="of all alike")
    parser.add_argument(
        "--rounds",
        type=positive,
        default=10,
        metavar="N",
        help="undisturbed rounds wanted (default: 10)",
    )
    parser.add_argument(
        "--patience",
        type=positive,
        default=PATIENCE,
        metavar="N",
        help=f"at most so many times the rounds are run for them (default: {PATIENCE})",
    )
    parser.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="cpu: processor time of one thread, where the machine is busy with other things",
    )
    parser.add_argument(
        "--isa",
        choices=isa.ISAS,
        help="instructions that all are limited to (default: what the processor has)",
    )
    results.add_arguments(parser)


def workload(name: str) -> Workload:
    """Find a workload by its name."""
    known = WORKLOADS | ROWS | WORKLOADS  # in this order, and by those of the first
    if name not in known:
        raise argparse.ArgumentTypeError(f"no workload {name!r}; there are: {', '.join(known)}")
    return known[name]


def main(options: argparse.Namespace) -> int:
    """Measure, print and write; 1 if the machine was too busy to say anything of some workload."""
    if options.clock == "cpu" and options.threads > 1:
        raise BenchmarkError("--clock cpu needs --threads 1: processors of several threads add up")
    device = getattr(options, "device", "")
    result: dict[str, Any] = {
        "command": " ".join(["python -m benchmarks", *sys.argv[1:]]),
        "machine": limited(options.isa, options.against) if options.isa else machine(),
        "threads": options.threads,
        "clock": options.clock,
        "device": device,
        "roofline": {} if device else roofline(options.threads),
        "versions": {},
        "rows": {},
    }
    print(results.heading(result), flush=True)
    for w in options.workload or WORKLOADS.values():
        row, versions = measure(w, options)
        result["versions"].update(versions)
        result["rows"][w.name] = row
        print(results.block(row, result), flush=True)
        results.keep(result, options)  # an interrupted run has measured something
    print(results.footing(result))
    results.write(result, options)
    return int(any(row["kept"] == 0 for row in result["rows"].values()))


def limited(name: str, against: Sequence[str]) -> dict[str, str | int]:
    """Have all processes that are started from here on compute with fewer instructions.

    Returns:
        The machine as it is then.
    """
    deaf = [peer for peer in against if peer not in isa.FRAMEWORKS]
    if deaf:
        raise BenchmarkError(
            f"--isa {name}: nothing tells {', '.join(deaf)} so. Leave it out of --against."
        )
    os.environ.update(isa.ISAS[name])
    found = machine()
    return {**found, "processor": f"{found['processor']} limited to {name.upper()}"}


def measure(
    w: Workload, options: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """One row of the table, and the versions of what took part."""
    asked = {"captured": "captured", "backend": "on", "device": "device"}
    settings = {k: getattr(options, name, "") for k, name in asked.items()}
    taking = chosen(options.against, **settings)
    contestants = {c.name: c for c in taking if c.takes_part(w)}
    if w.mode == "memory":
        return peaks(w, contestants, options)
    with started(w, contestants, options.threads) as workers:
        labels = {v.name: contestants[v.name].describe(w) for v in workers}
        versions = {v.name: v.versions for v in workers}
        given = [contestants[v.name].setting for v in workers]
        with ThreadPoolExecutor(TOGETHER) as pool:
            steps = dict(zip(labels, pool.map(first_steps, workers, given), strict=True))
        refused = {labels.pop(n): why for n, why in steps.items() if isinstance(why, str)}
        workers = [v for v in workers if v.name in labels]
        values: dict[str, Any] = {n: steps[n] for n in labels}
        agree(w, values)
        held = {v.name: v.ask("held") for v in workers} if settings["device"] else {}
        row = described(w, labels, run(workers, w, options), options.clock)
        more = {
            "work": workers[0].ask("amount"),
            "values": values[SUBJECT],
            "warming": {v.name: v.ask("warming") for v in workers},
            "refused": refused,
            "held": held,
        }
        return row | more, versions


def peaks(
    w: Workload, contestants: dict[str, Contestant], options: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """The same where memory is measured, of processes that are new each time."""
    looks = list[dict[str, Any]]()
    for _ in range(min(options.rounds, LOOKS)):
        with started(w, contestants, options.threads) as workers:
            looks.append({v.name: v.ask("peak", steps=2) for v in workers})
            versions = {v.name: v.versions for v in workers}
    return remembered(w, {n: contestants[n].describe(w) for n in versions}, looks), versions


@contextmanager
def started(
    w: Workload, contestants: dict[str, Contestant], threads: int
) -> Iterator[list[Worker]]:
    """A process for each contestant that can run it."""
    with ExitStack() as stack:
        workers = [stack.enter_context(c.start(w, threads)) for c in contestants.values()]
        with ThreadPoolExecutor(TOGETHER) as pool:
            able = list(pool.map(lambda v: v.ask("able"), workers))
        yield [v for v, is_able in zip(workers, able, strict=True) if is_able]


def first_steps(worker: Worker, setting: str) -> list[float] | str:
    """What the first steps give; of who compiles them and cannot, why."""
    try:
        found: list[float] = worker.ask("values", steps=STEPS)
        return found
    except BenchmarkError as error:
        if setting != COMPILED:
            raise
        lines = [line for line in str(error).splitlines() if line and not line.startswith(" ")]
        return lines[-1]


def agree(w: Workload, values: dict[str, list[float]]) -> None:
    """Refuse to time frameworks that compute different things."""
    ours = values[SUBJECT]
    for name, theirs in values.items():
        same = [
            math.isclose(a, b, rel_tol=TOLERANCE[w.numbers])
            for a, b in zip(ours, theirs, strict=True)
        ]
        if not all(same):
            raise BenchmarkError(
                f"{w.name}: {name} computes something else than {SUBJECT}: {theirs} in its first "
                f"steps, {ours} here. Nothing was timed."
            )


def run(workers: Sequence[Worker], w: Workload, options: argparse.Namespace) -> Rounds:
    """Run rounds until enough are undisturbed, or patience ends."""
    device = getattr(options, "device", "")
    parallel = bool(options.threads > 1 or w.mode == "load" or device)

    def slice_of(worker: Worker, repeat: int) -> Slice:
        worker.ask("settle")
        return worker.measure(w.name, repeat, "off", parallel)

    length = PARALLEL if parallel else SLICE
    repeats = {v.name: max(1, round(length / slice_of(v, 1).wall)) for v in workers}
    rounds: Rounds = []
    for number in range(options.patience * options.rounds):
        if number >= options.rounds and kept(rounds, options.clock) >= options.rounds:
            break
        first = number % len(workers)
        turn = [*workers[first:], *workers[:first]]
        rounds.append({v.name: slice_of(v, repeats[v.name]) for v in turn})
    return rounds


def kept(rounds: Rounds, clock: str) -> int:
    return summarise(rounds, 1, SUBJECT, clock).kept


def described(w: Workload, labels: dict[str, str], rounds: Rounds, clock: str) -> dict[str, Any]:
    """What the rounds say, in the form of a result file.

    If all were disturbed, all of them count, and the row is flagged by its 0 undisturbed rounds.
    """
    every = kept(rounds, clock) == 0
    summary = summarise(rounds, 1, SUBJECT, clock, every)
    second = next((n for n in PLAINER if n in labels), "")
    plain = summarise(rounds, 1, second, clock, every).ratios if second else {}
    plain.pop(SUBJECT, None)
    return {
        "title": w.title,
        "labels": labels,
        "goals": w.goals,
        "kept": summary.kept,
        "disturbed": summary.disturbed,
        "ratios": {n: asdict(s) for n, s in summary.ratios.items()},
        "plain": {n: asdict(s) for n, s in plain.items()},
        "times": {n: asdict(s) for n, s in summary.times.items()},
        "processors": {n: spread([r[n].cpu / r[n].wall for r in rounds]).median for n in labels},
        "rounds": [{n: asdict(s) for n, s in r.items()} for r in rounds],
    }


def remembered(
    w: Workload, labels: dict[str, str], looks: list[dict[str, dict[str, Any]]]
) -> dict[str, Any]:
    """The same for memory, of which each look is at processes of its own.

    Where arrays happen to lie in them, and which of them lie in the room of others, is chance.
    """
    for found in looks:
        agree(w, {n: peak["values"] for n, peak in found.items()})
    taken = {n: [found[n]["bytes"] for found in looks] for n in labels}

    def ratios(subject: str) -> dict[str, dict[str, float]]:
        others = set(taken) - {subject, SUBJECT} if subject in taken else ()
        return {
            n: asdict(spread([a / b for a, b in zip(taken[subject], taken[n], strict=True)]))
            for n in taken
            if n in others
        }

    return {
        "title": w.title,
        "labels": labels,
        "goals": w.goals,
        "kept": len(looks),
        "disturbed": {},
        "ratios": ratios(SUBJECT),
        "plain": ratios(next((n for n in PLAINER if n in taken), "")),
        "memory": {n: spread(each).median for n, each in taken.items()},
        "values": looks[0][SUBJECT]["values"],
    }

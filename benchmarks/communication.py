"""What many processes cost: exchange, overlap and scaling beside PyTorch's, and a model of more.

Ranks have one thread each. An exchange of gradients is compared with a bare `Allreduce` of one flat
buffer of as many bytes; steps of an MLP (784-1000-1000-10, momentum, 128 examples in all or for
each rank) with those of DistributedDataParallel on gloo, both jobs in turn. Times fitted to what
was measured predict up to 4,096 ranks on networks. Run in parts where time is short:
`--ranks 2 --json two.json`, then `--measured one.json two.json four.json`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import BenchmarkError, peers, picture, results
from benchmarks.alpha_beta import NETWORKS, RANKS, SIMULATED, Fit, fit, gradient_sizes, predicted
from benchmarks.machine import machine
from benchmarks.overhead import positive
from benchmarks.process import WORKERS, environment
from benchmarks.table import table

BYTES = (1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24)
PIECES = 16  # arrays of each of these
STEPS = 5
GOAL = 1.3
CASES = ("strong", "weak")
MEMORY = (1000, 12)  # width and number of the layers whose memory is measured


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ranks", type=positive, nargs="*", default=[1, 2, 4], metavar="N")
    parser.add_argument("--rounds", type=positive, default=9, metavar="N", help="default: 9")
    parser.add_argument("--measured", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it, also as FILE-dark")


def main(options: argparse.Namespace) -> int:
    """Measure, or read what was; print, draw and write."""
    found: dict[str, Any] = {"machine": machine(), "ranks": {}}
    for path in options.measured:
        part = json.loads(path.read_text())
        found["ranks"] |= part["ranks"]
    if not options.measured:
        for count in options.ranks:
            found["ranks"][str(count)] = measured(count, options)
    print(report(found))
    if options.json:
        results.save(options.json, json.dumps(found, indent=1) + "\n")
    if options.plot:
        picture.draw_communication(drawn(found), options.plot)
    return 0


# ---------------------------------------------------------------------- measuring


def measured(count: int, options: argparse.Namespace) -> dict[str, Any]:
    """What jobs of so many ranks take."""
    cases = [*CASES, *(["weak, no exchange", "weak, simulated"] if count > 1 else [])]
    times: dict[str, list[float]] = {name: [] for name in cases}
    others: dict[str, list[float]] = {name: [] for name in CASES}
    with ExitStack() as stack:
        own = stack.enter_context(own_job(count))
        peer = stack.enter_context(torch_job(count, peers.environment("torch")))
        for _ in range(options.rounds):
            for name in cases:
                times[name].append(own("steps", name, STEPS))
                if name in others:
                    others[name].append(peer("steps", name, STEPS))
        found: dict[str, Any] = {"plugrad": times, "torch": others}
        if count > 1:
            found["exchange"] = {
                str(size): own("exchange", [size // 4 // PIECES] * PIECES, options.rounds)
                for size in BYTES
            }
            found["step"] = own("exchange", gradient_sizes(), options.rounds)
            found["memory"] = [own("memory", *MEMORY, sharded) for sharded in (False, True)]
    return found


class Job:
    """Processes, the first of which is asked, and answers, line by line."""

    def __init__(self, first: subprocess.Popen[str]) -> None:
        self._first = first

    def __call__(self, *question: Any) -> Any:
        """The answer."""
        if self._first.stdin is None or self._first.stdout is None:
            raise BenchmarkError("the first rank has no standard streams")
        self._first.stdin.write(json.dumps(question) + "\n")
        self._first.stdin.flush()
        line = self._first.stdout.readline()
        if not line:
            raise BenchmarkError(f"the ranks ended with {self._first.wait()}; see above")
        return json.loads(line)


def started(command: Sequence[str], name: str, **streams: Any) -> subprocess.Popen[str]:
    """A process in an environment of one thread."""
    allowed = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    surroundings = environment(name) | allowed
    return subprocess.Popen(command, env=surroundings, text=True, cwd=WORKERS, **streams)


@contextmanager
def own_job(count: int) -> Iterator[Job]:
    """Ranks of plugrad's, started by the `mpiexec` beside this Python."""
    beside = Path(sys.executable).parent / "mpiexec"
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        raise BenchmarkError("there is no mpiexec: pip install 'plugrad[mpi]'")
    command = [mpiexec, "-n", str(count), sys.executable, str(WORKERS / "ranks_worker.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started(command, "plugrad", **pipes) as job:
        yield Job(job)


@contextmanager
def torch_job(count: int, python: Path) -> Iterator[Job]:
    """Ranks of PyTorch's, in the environment that all benchmarks have for it."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        jobs = []
        for rank in range(count):
            pipe = subprocess.PIPE if rank == 0 else subprocess.DEVNULL
            command = [str(python), str(WORKERS / "ranks_torch_worker.py")]
            command += [str(rank), str(count), os.path.join(folder, "meeting")]
            jobs.append(stack.enter_context(started(command, "torch", stdin=pipe, stdout=pipe)))
        yield Job(jobs[0])
        jobs[0].communicate()  # the first one's end is that of all


# ---------------------------------------------------------------------- telling


def report(found: dict[str, Any]) -> str:
    """Tables of all of it, and what the model says."""
    parts = [scaling(found["ranks"])]
    several = {n: each for n, each in found["ranks"].items() if "exchange" in each}
    if several:
        parts += [exchanges(several), hidden(several), kept(several)]
        parts.append(prediction(drawn(found)))
    return "\n\n".join(parts)


def scaling(ranks: dict[str, Any]) -> str:
    rows = []
    for case in CASES:
        for count, each in ranks.items():
            own, peer = (median(each[who][case]) for who in ("plugrad", "torch"))
            ratio = median(a / b for a, b in zip(*(each[w][case] for w in ("plugrad", "torch")),
                                                 strict=True))  # fmt: skip
            rows.append([case, count, f"{own * 1e3:.2f}", f"{peer * 1e3:.2f}", f"{ratio:.2f}"])
    head = ["scaling", "ranks", "plugrad, ms a step", "PyTorch DDP on gloo", "ratio (goal: 1)"]
    return str(table(head, rows))


def exchanges(ranks: dict[str, Any]) -> str:
    sizes = gradient_sizes()
    rows = [
        [count, kib, f"{bare * 1e3:.3f}", f"{own * 1e3:.3f}", f"{own / bare:.2f}"]
        for count, each in ranks.items()
        for kib, (bare, own) in [
            *((f"{int(size) >> 10:,}", took) for size, took in each["exchange"].items()),
            (f"{sum(sizes) >> 8:,}, a step's {len(sizes)}", each["step"]),
        ]
    ]
    head = [
        "ranks",
        f"KiB, in {PIECES} arrays",
        "bare Allreduce, ms",
        "exchange, ms",
        f"ratio (goal: {GOAL})",
    ]
    return str(table(head, rows))


def hidden(ranks: dict[str, Any]) -> str:
    """The share of the exchange that the backward pass hides."""
    lines = []
    for count, each in ranks.items():
        shown, alone = exposed(each), each["step"][1]
        lines.append(
            f"{count} ranks: an exchange of {4e-6 * sum(gradient_sizes()):.1f} MB takes "
            f"{alone * 1e3:.2f} ms by itself and adds {shown * 1e3:.2f} ms to a step: "
            f"{max(0.0, 1 - shown / alone):.0%} hidden"
        )
        ranks_, name = SIMULATED
        compute = median(each["plugrad"]["weak, no exchange"])
        step = predicted(ranks_, compute, NETWORKS[name])
        shown, alone = exposed(each, "weak, simulated"), step.exchange
        lines.append(
            f"{count} ranks, with sums that end when those of {ranks_} ranks on {name} would: "
            f"{alone * 1e3:.2f} ms, of which a step shows {shown * 1e3:.2f} ms: "
            f"{1 - shown / alone:.0%} hidden; the model says {(step.step - compute) * 1e3:.2f} ms"
        )
    return "\n".join(lines)


def exposed(each: dict[str, Any], case: str = "weak") -> float:
    """Seconds that the exchange adds to a step."""
    with_it, without = each["plugrad"][case], each["plugrad"]["weak, no exchange"]
    return median(a - b for a, b in zip(with_it, without, strict=True))


def kept(ranks: dict[str, Any]) -> str:
    lines = []
    for count, each in ranks.items():
        (all_of_it, parameters), (parts, _) = each["memory"]
        lines.append(
            f"{count} ranks, Adam, {parameters / 1e6:.0f} MB of parameters: a step holds at most "
            f"{all_of_it / 1e6:.0f} MB on a rank, with shard_state=True {parts / 1e6:.0f} MB"
        )
    return "\n".join(lines)


def drawn(found: dict[str, Any]) -> dict[str, Any]:
    """What the picture shows: measured points, the fits, and predictions."""
    several = {n: each for n, each in found["ranks"].items() if "exchange" in each}
    cores = int(found["machine"]["cores"])
    points = [(int(count), int(size), own) for count, each in several.items()
              for size, (_, own) in each["exchange"].items()]  # fmt: skip
    fits: dict[str, Fit] = {shape: fit(points, shape, cores) for shape in ("ring", "tree")}
    one = found["ranks"].get("1") or next(iter(several.values()))
    compute = median(one["plugrad"]["weak"])
    ahead = {
        name: [predicted(ranks, compute, network) for ranks in RANKS]
        for name, network in NETWORKS.items()
    }
    return {"machine": found["machine"], "points": points, "fits": fits, "cores": cores,
            "compute": compute, "ranks": RANKS, "ahead": ahead}  # fmt: skip


def prediction(shown: dict[str, Any]) -> str:
    lines = []
    for shape, each in shown["fits"].items():
        off = [
            f"{kind}: {median(errors):.0%} (median), {max(errors):.0%} at most"
            for kind, errors in each.errors.items()
            if errors
        ]
        lines.append(
            f"{shape}: alpha {each.alpha * 1e6:.1f} us, {1e-9 / each.beta:.2f} GB/s, wait for a "
            f"core {each.wait * 1e3:.2f} ms; off the measured by {'; '.join(off)}"
        )
    rows = [
        [name, *[f"{ms.step * 1e3:.1f} ({ms.shape})" for ms in each]]
        for name, each in shown["ahead"].items()
    ]
    lines += ["", str(table(["ms a step, weak", *map(str, shown["ranks"])], rows))]
    return "\n".join(lines)

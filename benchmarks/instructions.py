"""Instructions per operation of the chain, counted by callgrind: the same on a busy machine.

A count is compared with the one recorded for the same interpreter build, NumPy and architecture.
Where none was recorded, the count relative to a fixed yardstick counted alongside
(`benchmarks.calibration`) is compared with the recorded ones, more loosely.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TypedDict

from benchmarks import ONE_THREAD, ROOT, BenchmarkError
from benchmarks.table import table
from benchmarks.workers.protocol import OPERATIONS

RECORDED = Path(__file__).with_name("recorded.json")
SCRIPT = Path(__file__).with_name("counted.py")
REPEATS = {
    "forward": 12,
    "forward_backward": 8,
    "no_gradients": 16,
    "recording": 6,
    "calibration": 10,
}
"""Repetitions counted of each case: some 20 million instructions, which repeat to the last one."""

Counts = dict[str, float]


class Recorded(TypedDict):
    """The form of recorded.json."""

    same: float
    other: float
    counts: dict[str, Counts]


@dataclass(frozen=True)
class Comparison:
    """One case against what was recorded: both as a number in the same unit."""

    case: str
    measured: float
    recorded: float
    tolerance: float

    @property
    def change(self) -> float:
        """How much dearer the case became; negative if it became cheaper."""
        return self.measured / self.recorded - 1

    @property
    def verdict(self) -> str:
        if self.change > self.tolerance:
            return "DEARER"
        return "cheaper: record it" if self.change < -self.tolerance else "ok"


def check() -> int:
    """Compare with what was recorded; 1 if a case became dearer than its tolerance."""
    recorded, here = read(), key()
    counts = count()
    exact = here in recorded["counts"]
    comparisons = compare(counts, recorded, here)
    print(report(comparisons, here, exact))
    dearer = [c.case for c in comparisons if c.verdict == "DEARER"]
    if dearer:
        print(
            f"\n{', '.join(dearer)} became dearer. If that is the price of something wanted, "
            f"record it: python -m benchmarks --record"
        )
    return 1 if dearer else 0


def record() -> int:
    """Count and keep the result for this interpreter, NumPy and architecture."""
    recorded, here, counts = read(), key(), count()
    recorded["counts"][here] = {case: round(n) for case, n in counts.items()}
    RECORDED.write_text(json.dumps(recorded, indent=2, sort_keys=True) + "\n")
    rows = [[case, f"{n:,.0f}"] for case, n in counts.items()]
    print(f"recorded for {here}\n\n{table(['instructions per operation', 'count'], rows)}")
    return 0


def compare(counts: Counts, recorded: Recorded, here: str) -> list[Comparison]:
    """Compare counts of the same interpreter directly, others by way of the yardstick."""
    known = recorded["counts"]
    cases = [case for case in counts if case != "calibration"]
    if here in known:
        same = known[here]
        return [Comparison(c, counts[c], same[c], recorded["same"]) for c in cases if c in same]
    if not known:
        raise BenchmarkError(
            "nothing was ever recorded: run python -m benchmarks --record once and commit "
            "benchmarks/recorded.json"
        )
    nearest = [known[k] for k in nearest_keys(here, list(known))]
    return [
        Comparison(
            c,
            counts[c] / counts["calibration"],
            median(n[c] / n["calibration"] for n in nearest),
            recorded["other"],
        )
        for c in cases
        if all(c in n for n in nearest)
    ]


def nearest_keys(here: str, known: list[str]) -> list[str]:
    """Return the recorded keys most like this one: the same Python minor version, if any."""

    def minor(name: str) -> str:
        return ".".join(name.split()[0].split(".")[:2])

    alike = [k for k in known if minor(k) == minor(here)]
    return alike or known


def report(comparisons: list[Comparison], here: str, exact: bool) -> str:
    """Return the table, and with an unknown interpreter how to make it a known one."""
    unit = "instructions per operation" if exact else "times the yardstick"
    digits = 0 if exact else 2
    rows = [
        [c.case, f"{c.measured:,.{digits}f}", f"{c.recorded:,.{digits}f}"]
        + [f"{c.change:+.1%}", f"{c.tolerance:.0%}", c.verdict]
        for c in comparisons
    ]
    lines = [here, "", table([unit, "now", "recorded", "change", "allowed", ""], rows)]
    if not exact:
        lines += [
            "",
            "This interpreter and NumPy were never recorded: compared relative to the yardstick.",
            "Record them with: python -m benchmarks --record",
        ]
    return "\n".join(lines)


def read() -> Recorded:
    """Read recorded.json."""
    recorded: Recorded = json.loads(RECORDED.read_text())
    return recorded


def key() -> str:
    """Name what a count depends on. Two builds of one Python differ by a quarter, so the
    compiler and its flags count as well.
    """
    flags = [sysconfig.get_config_var(v) for v in ("CONFIG_ARGS", "PY_CFLAGS", "PY_LDFLAGS")]
    build = hashlib.sha256(repr((platform.python_compiler(), flags)).encode()).hexdigest()[:8]
    python = f"{sys.implementation.name}-{platform.python_version()}"
    return f"{python} build-{build} numpy-{version('numpy')} {platform.machine()}"


def count() -> Counts:
    """Return instructions per operation of every case.

    Start-up costs 600 million instructions and cancels out: each case is the difference of a run
    that repeats it twice as often and one that does not.
    """
    if shutil.which("valgrind") is None:
        raise BenchmarkError("valgrind was not found. Install it: apt-get install valgrind")
    _run([])  # bytecode is compiled and cached here, not in one of the counted runs
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        base = pool.submit(instructions, REPEATS)
        more = {
            case: pool.submit(instructions, {**REPEATS, case: 2 * repeat})
            for case, repeat in REPEATS.items()
        }
        return {
            case: (more[case].result() - base.result()) / (repeat * OPERATIONS)
            for case, repeat in REPEATS.items()
        }


def instructions(repeats: dict[str, int]) -> int:
    """Count one run's instructions."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    text = _run(valgrind, [f"{case}={repeat:06}" for case, repeat in repeats.items()])
    found = re.search(r"Collected : (\d+)", text)
    if found is None:
        raise BenchmarkError(f"callgrind gave no count:\n{text[-2000:]}")
    return int(found[1])


def _run(prefix: list[str], arguments: list[str] | None = None) -> str:
    command = [*prefix, sys.executable, str(SCRIPT), *(arguments or [])]
    result = subprocess.run(
        command, env=_environment(), cwd=ROOT, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise BenchmarkError(f"{' '.join(command)} failed:\n{result.stderr[-3000:]}")
    return result.stderr


def _environment() -> dict[str, str]:
    # A fresh environment: nothing that a user exported may change what is counted.
    kept = {k: os.environ[k] for k in ("PATH", "HOME", "LD_LIBRARY_PATH") if k in os.environ}
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return kept | ONE_THREAD | {"PYTHONHASHSEED": "0", "PYTHONPATH": path}

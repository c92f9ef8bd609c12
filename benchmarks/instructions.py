"""Instructions of the chain and of small steps, by callgrind: the same on a busy machine.

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
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypedDict

from benchmarks import ONE_THREAD, ROOT, BenchmarkError
from benchmarks.table import table
from benchmarks.workers.protocol import OPERATIONS

RECORDED = Path(__file__).with_name("recorded.json")
SCRIPT = Path(__file__).with_name("counted.py")
MARK = "getloadavg"
"""A C function that Python reaches as os.getloadavg and nothing measured calls."""

REPEATS = {
    "forward": 6,
    "forward_backward": 4,
    "no_gradients": 6,
    "recording": 2,
    "calibration": 4,
    "link": 100,
    "inference": 30,
    "cleargrads": 60,
    "loss_backward": 10,
    "sgd_step": 10,
    "sgd_update": 20,
    "adam_step": 10,
    "adam_update": 20,
}
"""Repetitions counted of each case, and then twice as many: a count repeats to a few in 10 000."""

CHAIN = ("forward", "forward_backward", "no_gradients", "recording", "calibration")
"""Cases whose count is of one operation of the chain; that of the others is of one call."""

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
    unit = "instructions per operation or call"
    print(f"recorded for {here}\n\n{table([unit, 'count'], rows)}")
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
    unit = "instructions per operation or call" if exact else "times the yardstick"
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
    """Return instructions per operation, or call, of every case.

    Each is counted with N and with 2 N repetitions, and the difference taken: what comes with a
    case once, however often it is repeated, cancels out.
    """
    if shutil.which("valgrind") is None:
        raise BenchmarkError("valgrind was not found. Install it: apt-get install valgrind")
    arguments = [f"{case}={repeat}" for case, repeat in REPEATS.items()]
    _run([], arguments)  # bytecode is compiled and cached here, not in the counted run
    found = instructions(arguments)
    return {
        case: (found[2 * i + 1] - found[2 * i]) / (repeat * operations(case))
        for i, (case, repeat) in enumerate(REPEATS.items())
    }


def operations(case: str) -> int:
    """How many parts a repetition of a case is counted as."""
    return OPERATIONS if case in CHAIN else 1


def instructions(arguments: list[str]) -> list[int]:
    """Return the instructions between the marks of one run."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        marks = [f"--dump-before={MARK}", f"--callgrind-out-file={out}"]
        _run(["valgrind", "--tool=callgrind", *marks], arguments)
        # counts.1 ends at the first mark, counts.2 at the second, and so on; what follows the
        # last mark is in the file without a number.
        files = [Path(f"{out}.{i}") for i in range(2, 2 + 2 * len(arguments))]
        if not all(file.exists() for file in files):
            raise BenchmarkError(f"callgrind saw no call of {MARK}: has this C library another?")
        return [total(file.read_text()) for file in files]


def total(text: str) -> int:
    """Read the sum out of a file that callgrind wrote."""
    found = re.search(r"^totals: (\d+)", text, re.MULTILINE)
    if found is None:
        raise BenchmarkError(f"callgrind wrote no totals: {text[-500:]!r}")
    return int(found[1])


def _run(prefix: list[str], arguments: list[str]) -> None:
    command = [*prefix, sys.executable, str(SCRIPT), *arguments]
    result = subprocess.run(
        command, env=_environment(), cwd=ROOT, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise BenchmarkError(f"{' '.join(command)} failed:\n{result.stderr[-3000:]}")


def _environment() -> dict[str, str]:
    # A fresh environment: nothing that a user exported may change what is counted.
    kept = {k: os.environ[k] for k in ("PATH", "HOME", "LD_LIBRARY_PATH") if k in os.environ}
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    # Loops of numba are left out: whether it is installed would change the count.
    own = {"PLUGRAD_COMPILED": "0", "PYTHONHASHSEED": "0", "PYTHONPATH": path}
    return kept | ONE_THREAD | own

"""Show results that were written before: as text, in a document, as a picture.

Parts of one table can be measured one after another, each with `--json FILE`, and shown together.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks import BenchmarkError, results
from benchmarks.rows import ROWS
from benchmarks.workloads import WORKLOADS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="+", type=Path, help="written by --json")
    results.add_outputs(parser)


def main(options: argparse.Namespace) -> int:
    """Print, and write what was asked for."""
    result = merged([read(path) for path in options.file])
    print(results.heading(result))
    for row in result["rows"].values():
        print(results.block(row, result))
    print(results.footing(result))
    results.write(result, options)
    return 0


def read(path: Path) -> dict[str, Any]:
    """Read one file."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        found["rows"], found["roofline"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BenchmarkError(f"{path}: expected what --json writes: {error!r}") from error
    return found


def merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One result of several parts, the later ones first choice; all from the same machine.

    The limit of the machine is the highest that was measured: what disturbs can only lower it.
    """
    first, *others = parts
    for part in others:
        for what in ("processor", "cores", "python", "build"):
            if part["machine"][what] != first["machine"][what]:
                raise BenchmarkError(f"the parts are from different machines: {what}")
        for what in ("threads", "clock", "device"):
            if part.get(what, "") != first.get(what, ""):
                raise BenchmarkError(f"the parts have different {what}: show each by itself")
    found = {name: row for part in parts for name, row in part["rows"].items()}
    limits = [part["roofline"] for part in parts]
    return {
        **parts[-1],
        "command": "\n".join(part["command"] for part in parts),
        "roofline": {kind: max(limit[kind] for limit in limits) for kind in limits[0]},
        "versions": {n: v for part in parts for n, v in part["versions"].items()},
        "rows": {name: found[name] for name in sorted(found, key=[*WORKLOADS, *ROWS].index)},
    }

"""What was measured, as text for a terminal, as a file, and as a section of a document."""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import BenchmarkError
from benchmarks.contestants import ALL, EAGER, PLAIN, PLAINER, SUBJECT
from benchmarks.table import table

UNITS = {
    "flop": ("GFLOP/s", 1e9),
    "bytes": ("GB/s", 1e9),
    "images": ("images/s", 1),
    "operations": ("million/s", 1e6),
}
START = "<!-- workloads: written by `python -m benchmarks show` -->"
END = "<!-- end of workloads -->"
COLUMNS = {"torch-best": "PyTorch, best setting"}

OVERUSED = 1.15
"""A framework that keeps more than so many times its threads' processors busy is flagged."""

Row = dict[str, Any]
Result = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")
    add_outputs(parser)


def add_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write the table into a document, between its two marks",
    )
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw the ratios, as FILE and, for a dark page, as FILE with -dark in its name",
    )


def heading(result: Result) -> str:
    """The machine, and what it can do at most."""
    m, limit = result["machine"], result["roofline"]
    clock = "" if result["clock"] == "wall" else "; processor time"
    most = f"; arrays on {result.get('device')}"
    if limit:
        most = (
            f"; at most {limit['flop'] / 1e9:.0f} GFLOP/s (product of matrices) and "
            f"{limit['bytes'] / 1e9:.1f} GB/s (copy)"
        )
    return (
        f"{m['processor']}, {m['cores']} cores, {m['system']}; {m['python']} ({m['build']})\n"
        f"{count(result['threads'], 'thread')} for all{clock}{most}\n"
    )


def footing(result: Result) -> str:
    """The versions, and how to read the table."""
    versions = [
        f"{name}: {', '.join(f'{k} {v}' for k, v in found.items())}"
        for name, found in result["versions"].items()
    ]
    commands = [f"$ {line}" for line in result["command"].splitlines()]
    return "\n".join([*versions, "", *legend(result), *commands])


def legend(result: Result) -> list[str]:
    busy = unsure(result)
    lines = ["Ratios: plugrad's time over theirs. Medians (quartiles) of undisturbed rounds."]
    if busy:
        lines.append(f"NO UNDISTURBED ROUND (figures of disturbed ones): {'; '.join(busy)}")
    return lines


def block(row: Row, result: Result) -> str:
    """A workload's part of the text: a line for each contestant."""
    plain = [PLAINER[n] for n in PLAINER if n in row["labels"]][:1]
    header = [row["title"], "plugrad takes", "goal", *plain, *measures(row)]
    lines = [
        [
            f"  {label}",
            spread_text(row["ratios"].get(name)),
            f"{row['goals'][name]:g}" if name in row["goals"] else "",
            *[spread_text(row["plain"].get(name)) for _ in plain],
            *figures(row, name, result["roofline"]),
        ]
        for name, label in row["labels"].items()
    ]
    return "\n".join([table(header, lines), *notes(row, result), ""])


def measures(row: Row) -> list[str]:
    """The units of what was measured."""
    if "memory" in row:
        return ["MB"]
    held = ["MB held"] if row.get("held") else []
    return ["ms", UNITS[next(iter(row["work"]))][0], "of limit", *held]


def figures(row: Row, name: str, limits: dict[str, float]) -> list[str]:
    """What was measured of a contestant, in those units."""
    if "memory" in row:
        return [f"{row['memory'][name] / 1e6:.0f}"]
    ((kind, amount),) = row["work"].items()
    rate = amount / row["times"][name]["median"]
    share = f"{100 * rate / limits[kind]:.0f} %" if kind in limits else ""
    held = [f"{row['held'][name] / 1e6:.0f}"] if row.get("held") else []
    return [spread_text(row["times"][name], 1e3), f"{rate / UNITS[kind][1]:.3g}", share, *held]


def notes(row: Row, result: Result) -> list[str]:
    """How many rounds count, and who used more processors than it was given."""
    if "memory" in row:
        return []
    total = len(row["rounds"])
    left_out = ", ".join(f"{n} {why}" for why, n in row["disturbed"].items())
    lines = [f"  {row['kept']} of {count(total, 'round')}" + (f" ({left_out})" if left_out else "")]
    if warming := row.get("warming"):
        seconds = [f"{row['labels'][n]} {s:.2f} s" for n, s in warming.items()]
        lines.append(f"  first steps: {', '.join(seconds)}")
    lines += [f"  {label} cannot: {why}" for label, why in row.get("refused", {}).items()]
    for name, used in row["processors"].items():
        if used > OVERUSED * result["threads"]:
            lines.append(f"  {row['labels'][name]} kept {used:.1f} processors busy")
    return lines


def spread_text(found: dict[str, float] | None, scale: float = 1) -> str:
    """A median and its quartiles, which one value does not have."""
    if found is None:
        return ""
    middle, low, high = (scale * found[k] for k in ("median", "low", "high"))
    digits = 1 if middle >= 20 else 2 if middle >= 0.1 else 3
    around = "" if low == high else f" ({low:.{digits}f}-{high:.{digits}f})"
    return f"{middle:.{digits}f}{around}"


def count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def keep(result: Result, options: argparse.Namespace) -> None:
    """Write everything, if that was asked for."""
    if options.json:
        save(options.json, json.dumps(result, indent=1) + "\n")


def write(result: Result, options: argparse.Namespace) -> None:
    """Write the document and the pictures that were asked for."""
    if options.markdown:
        insert(options.markdown, document(result))
    if options.plot:
        from benchmarks import picture

        picture.draw(result, options.plot)


def save(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BenchmarkError(f"could not write {path}: {error}") from error


def insert(path: Path, text: str) -> None:
    """Put text between the marks of a document, in place of what stands there."""
    try:
        before, start, rest = path.read_text(encoding="utf-8").partition(START)
    except OSError as error:
        raise BenchmarkError(f"could not read {path}: {error}") from error
    _, end, after = rest.partition(END)
    if not end:
        raise BenchmarkError(f"{path} has no lines {START} and {END} to put the table between")
    save(path, f"{before}{start}\n{text}\n{end}{after}")


def document(result: Result) -> str:
    """The table and how it was measured, in Markdown: a line for each workload."""
    rows = [*result["rows"].values()]
    columns = [*compared(rows)]
    header = ["plugrad takes of the time of", *[name for name, _ in columns]]
    header += ["plugrad", "in a second", "of the limit"]
    lines = [header, ["---"] * len(header)]
    for row in rows:
        title = row["title"] + ("" if row["kept"] else " *")
        lines.append([title, *[cell(row) for _, cell in columns], *absolute(row, result)])
    table = ["| " + " | ".join(cells) + " |" for cells in lines]
    return "\n".join(["", *table, "", *told(result), "", "```sh", result["command"], "```", ""])


def compared(rows: list[Row]) -> Iterator[tuple[str, Callable[[Row], str]]]:
    """The columns that any row has something for: what they are called, and the cell of a row."""
    for n, other in ALL.items():
        if n not in (SUBJECT, PLAIN) and any(n in row["labels"] for row in rows):
            name = COLUMNS.get(n, other.label)
            yield name, lambda row, n=n: with_goal(row, row["ratios"].get(n), n)
    second = next((text for n, text in PLAINER.items() if any(n in r["labels"] for r in rows)), "")
    label = ALL["torch"].label
    if any("torch" in row["plain"] for row in rows):
        goal = f"{EAGER}/torch"
        yield f"{second}: {label}", lambda row: with_goal(row, row["plain"].get("torch"), goal)
    if any("torch" in row.get("held", {}) for row in rows):
        name = f"{second}: memory of {label}"
        yield name, lambda row: with_goal(row, share_held(row, "torch"), "held/torch")


def share_held(row: Row, name: str) -> dict[str, float] | None:
    """What plugrad's eager steps hold of the memory that another holds."""
    found = row.get("held", {})
    if EAGER not in found or not found.get(name):
        return None
    return dict.fromkeys(("median", "low", "high"), found[EAGER] / found[name])


def with_goal(row: Row, ratio: dict[str, float] | None, name: str) -> str:
    """A ratio, in bold where its goal is met; the goal behind it."""
    goal = row["goals"].get(name)
    text = spread_text(ratio)
    if ratio is None or goal is None:
        return text
    met = row["kept"] and ratio["median"] <= goal
    return f"{f'**{text}**' if met else text}, goal {goal:g}"


def absolute(row: Row, result: Result) -> list[str]:
    """What plugrad takes, does in a second, and reaches of the machine's limit."""
    found = figures(row, SUBJECT, result["roofline"])
    units = measures(row)
    return [
        f"{found[0]} {units[0]}",
        f"{found[1]} {units[1]}" if found[1:] else "",
        *found[2:3],
    ] + [""] * (len(found) < 3)


def told(result: Result) -> list[str]:
    """Everything that a reader needs to repeat the table, as sentences."""
    m = result["machine"]
    versions = {k: v for found in result["versions"].values() for k, v in found.items()}
    lines = [
        f"Measured {m['time'][:10]}: {heading(result).strip()}.".replace("\n", "; "),
        "Versions: " + ", ".join(f"{k} {v}" for k, v in versions.items()) + ".",
        "Medians (quartiles) of rounds; a goal that is met is bold."
        + (" Every round of a row with * was disturbed." if unsure(result) else ""),
    ]
    best = {
        row["labels"][n] for row in result["rows"].values() for n in row["labels"] if "best" in n
    }
    if best:
        lines.append(f"Best settings: {'; '.join(sorted(best))}.")
    return lines


def unsure(result: Result) -> list[str]:
    """Titles of the rows that had no undisturbed round."""
    return [row["title"] for row in result["rows"].values() if row["kept"] == 0]

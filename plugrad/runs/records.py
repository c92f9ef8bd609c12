"""What a run was made with, and how it ended: the last record of `RunRecord`, as tables."""

from __future__ import annotations

from typing import Any

from plugrad.runs.texts import shown

MOST_ROWS = 400


def is_record(value: Any) -> bool:
    """Whether the content of a file is what `RunRecord` writes."""
    return isinstance(value, dict) and "started" in value and "command" in value


def tables(record: dict[str, Any]) -> list[list[Any]]:
    """The record's groups, each a name and its rows of two texts; single values come first.

    >>> tables({"command": ["python", "a b.py"], "seed": 3, "versions": {"numpy": "2.4"}})
    [['run', [['command', "python 'a b.py'"], ['seed', '3']]], ['versions', [['numpy', '2.4']]]]
    """
    single: list[list[str]] = []
    groups: list[list[Any]] = [["run", single]]
    for name, value in record.items():
        if name == "command" and isinstance(value, list):
            single.append([name, shown(_command(value), 2000)])
        elif isinstance(value, dict):
            rows: list[list[str]] = []
            _flatten("", value, rows, 0)
            groups.append([shown(name), rows])
        else:
            single.append([shown(name), shown(value, 2000)])
    return [group for group in groups if group[1]]


def _command(words: list[Any]) -> str:
    import shlex

    return shlex.join(map(str, words))


def _flatten(prefix: str, value: dict[str, Any], rows: list[list[str]], depth: int) -> None:
    for name, inner in value.items():
        if len(rows) >= MOST_ROWS:
            return
        if isinstance(inner, dict) and inner and depth < 4:
            _flatten(f"{prefix}{name}.", inner, rows, depth + 1)
        else:
            rows.append([shown(prefix + name), shown(inner, 2000)])


def state(records: list[dict[str, Any]]) -> tuple[str, str]:
    """Whether the run goes on, and what to say of it: 'ended', 'failed' or 'running'."""
    last = records[-1]
    if last.get("ended") is None:
        return "running", ""
    if last.get("error"):
        return "failed", shown(last["error"])
    return "ended", ""

"""All that is known of the runs in some folders, as data for the page.

A run is a folder with a log or a record. Pictures, histograms and graphs belong to the run whose
folder they lie in or below. What a file is, its content says, since logs may have any name.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from plugrad.runs import curves, graphs, records
from plugrad.runs.files import MOST_BYTES, Found, Tree, read, walk
from plugrad.runs.texts import documents, shown

PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}
MOST_RUNS, MOST_SERIES, MOST_FRAMES = 100, 400, 500
POINTS_OF_ALL, POINTS_OF_ONE = 400_000, 2000
MOST_HISTOGRAMS, MOST_BINS = 100, 200
_USUAL = ("", ".json", ".jsonl", ".log")
_NUMBER = re.compile(r"\d+")


class Picture(NamedTuple):
    """A picture that the page may ask for."""

    path: Path
    type: str


class Content:
    """What one file holds, read once for each state of it."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.problem: str | None = None
        self.graph: dict[str, Any] | None = None
        self.log: list[dict[str, Any]] = []
        self.records: list[dict[str, Any]] = []
        self.histograms: list[dict[str, Any]] = []
        self.looked_into = True
        try:
            self._read()
        except OSError as error:  # rights, or gone meanwhile
            self.problem = f"cannot be read: {error.strerror or error}"

    def _read(self) -> None:
        suffix = self.found.path.suffix.lower()
        if suffix == ".mmd":
            self._read_graph()
        elif suffix in PICTURES or not self._begins_as_log():
            self.looked_into = False
        elif self.found.stamp[2] > MOST_BYTES:
            size = self.found.stamp[2] // 2**20
            self.problem = f"of {size} MB is too large to be read: log more rarely"
        else:
            self._read_log()
            if not (self.log or self.records or self.histograms):
                self.looked_into = False
                if suffix not in _USUAL:  # it just begins like one
                    self.problem = None

    def _begins_as_log(self) -> bool:
        head = read(self.found.path, 64).lstrip(b"\xef\xbb\xbf \t\r\n")
        return head[:1] in (b"[", b"{")

    def _text(self) -> str:
        return read(self.found.path).decode("utf-8", "replace")

    def _read_graph(self) -> None:
        graph = graphs.parse(self._text())
        if graph is not None:
            try:
                self.graph = graphs.placed(graph)
            except ValueError as error:
                self.problem = str(error)

    def _read_log(self) -> None:
        values, self.problem = documents(self._text())
        if len(values) == 1 and isinstance(values[0], list):  # a list in a line of its own
            values = values[0]
        for value in values:
            if records.is_record(value):
                self.records.append(value)
            elif isinstance(value, dict) and isinstance(value.get("histograms"), dict):
                self.histograms.append(value)
            elif isinstance(value, dict) and ("iteration" in value or "epoch" in value):
                self.log.append(value)

    @cached_property
    def series(self) -> dict[str, list[curves.Point]]:
        """The curves of a log."""
        return curves.series(self.log)


class Reader:
    """Read the runs below some folders again and again, and each file when it has changed."""

    def __init__(self, roots: list[Path]) -> None:
        self.roots = roots
        self.pictures: dict[str, Picture] = {}
        self._contents: dict[Path, Content] = {}
        self._trees: list[Tree] = []
        self._data: dict[str, Any] = {"title": "", "runs": [], "problems": []}
        self._lock = threading.Lock()

    def read(self) -> dict[str, Any]:
        """The data for the page: the same object as long as no file has changed."""
        with self._lock:
            trees = [walk(root) for root in self.roots]
            if trees != self._trees:
                self._data = self._everything(trees)
                self._trees = trees
            return self._data

    def _everything(self, trees: list[Tree]) -> dict[str, Any]:
        titles = _titles(self.roots)
        runs: list[tuple[str, Path, list[Found]]] = []
        problems: list[str] = []
        contents: dict[Path, Content] = {}
        for root, title, tree in zip(self.roots, titles, trees, strict=True):
            problems += [shown(f"{title}: {problem}") for problem in tree.problems]
            for found in tree.files:
                before = self._contents.get(found.path)
                fresh = before is not None and before.found == found
                contents[found.path] = before if fresh and before else Content(found)
            first = title if len(titles) > 1 else ""
            runs += [(first, root, files) for files in _divided(tree.files, contents)]
        if len(runs) > MOST_RUNS:
            problems.append(f"Of {len(runs)} runs the {MOST_RUNS} that changed last are shown.")
            runs.sort(key=lambda run: -max(found.changed for found in run[2]))
            del runs[MOST_RUNS:]
        self._contents = contents
        count = sum([len(contents[f.path].series) for _, _, files in runs for f in files])
        most = max(50, min(POINTS_OF_ONE, POINTS_OF_ALL // max(1, count)))
        pictures: dict[str, Picture] = {}
        told = [_Run(title, root, files, contents, pictures, most) for title, root, files in runs]
        self.pictures = pictures
        return {
            "title": shown(", ".join(titles)),
            "runs": sorted([run.told() for run in told], key=lambda run: _natural(run["name"])),
            "problems": problems,
        }


def _titles(roots: list[Path]) -> list[str]:
    return [root.resolve().name or str(root) for root in roots]


def _natural(name: str) -> list[Any]:
    """A key to sort by, such that `run-10` comes after `run-9`."""
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.split(r"(\d{1,18})", name)]


def _divided(files: list[Found], contents: dict[Path, Content]) -> Iterator[list[Found]]:
    """The files of each run: those in a folder with a log or a record, and below it."""
    own = {f.folder for f in files if contents[f.path].log or contents[f.path].records}
    damaged = {f.folder for f in files if contents[f.path].problem}
    own |= {folder for folder in damaged if not any(_below(folder, other) for other in own)}
    if not own and any(_is_shown(f, contents[f.path]) for f in files):
        own = {""}
    divided: dict[str, list[Found]] = {}
    for found in files:
        homes = [folder for folder in own if _below(found.folder, folder)]
        if homes:
            divided.setdefault(max(homes, key=len), []).append(found)
    yield from divided.values()


def _below(folder: str, other: str) -> bool:
    return not other or folder == other or folder.startswith(other + "/")


class _Run:
    """One run, being put together."""

    def __init__(
        self,
        title: str,
        root: Path,
        files: list[Found],
        contents: dict[Path, Content],
        pictures: dict[str, Picture],
        most: int,
    ) -> None:
        self.contents = [contents[found.path] for found in files]
        self.folder = min([f.folder for f in files], key=len)
        logs = [f.folder for f in files if contents[f.path].log or contents[f.path].records]
        if logs:
            self.folder = min(logs, key=len)
        self.name = shown(f"{title}/{self.folder}".strip("/") or _titles([root])[0])
        self.id = _id(str(root.resolve()), self.folder)
        self.pictures = pictures
        self.most = most

    def told(self) -> dict[str, Any]:
        """The data of the run."""
        record = [each for content in self.contents for each in content.records]
        state, said = records.state(record) if record else ("unknown", "")
        used = [c for c in self.contents if c.looked_into or _is_picture(c.found)]
        return {
            "id": self.id,
            "name": self.name,
            "state": state,
            "said": said,
            "changed": max([content.found.changed for content in used], default=0),
            **self._curves(),
            "pictures": self._pictures(),
            "histograms": self._histograms(),
            "graphs": [
                {"name": shown(self._path(content)), **content.graph}
                for content in self.contents
                if content.graph
            ],
            "record": records.tables(record[-1]) if record else [],
            "starts": len(record),
            "problems": [
                shown(f"{self._path(content)} {content.problem}.")
                for content in self.contents
                if content.problem
            ],
        }

    def _path(self, content: Content) -> str:
        found = content.found
        return f"{found.folder}/{found.name}"[len(self.folder) :].lstrip("/")

    def _curves(self) -> dict[str, Any]:
        logs = _whole([content for content in self.contents if content.log])
        names = [name for content in logs for name in content.series]
        told, last = [], dict[str, Any]()
        for content in logs:
            for name, points in content.series.items():
                label = f"{name} ({self._path(content)})" if names.count(name) > 1 else name
                thin = curves.thinned(points, self.most)
                told.append(
                    {
                        "name": shown(label),
                        "total": len(points),
                        "points": [[*point[:3], jsonable(point[3])] for point in thin],
                    }
                )
            last.update(curves.texts(content.log))
        left = len(told) - MOST_SERIES
        if left > 0:
            del told[MOST_SERIES:]
            last[f"{left} more values"] = "are not shown"
        words = [[shown(name), shown(value, 500)] for name, value in last.items()]
        return {"series": told, "texts": words}

    def _pictures(self) -> list[dict[str, Any]]:
        """Pictures whose names differ by their last number are frames of one."""
        groups: dict[str, list[tuple[list[Any], dict[str, Any]]]] = {}
        for content in self.contents:
            found = content.found
            if not _is_picture(found):
                continue
            path = self._path(content)
            numbers = list(_NUMBER.finditer(found.path.stem))
            label = numbers[-1][0].lstrip("0") or "0" if numbers else ""
            stem, ending = path[: -len(found.path.suffix)], found.path.suffix
            if numbers:
                stem = stem[: len(stem) - len(found.path.stem) + numbers[-1].start()]
                stem = stem.rstrip("_-./") or stem
            key = _id(self.id, path)
            type = PICTURES[ending.lower()]
            self.pictures[key] = Picture(found.path, type)
            stamp = "-".join(map(str, found.stamp))
            frame = {"label": shown(label), "name": shown(path), "picture": key, "stamp": stamp}
            groups.setdefault(stem + ending, []).append((_natural(path), frame))
        told = []
        for name in sorted(groups, key=_natural):
            frames = [frame for _, frame in sorted(groups[name], key=lambda pair: pair[0])]
            told.append({"name": shown(name), "frames": frames[-MOST_FRAMES:]})
        return told

    def _histograms(self) -> list[dict[str, Any]]:
        found: dict[str, list[list[Any]]] = {}
        for content in self.contents:
            for each in content.histograms:
                for name, histogram in each["histograms"].items():
                    told = _histogram(each.get("iteration"), histogram)
                    if told is not None:
                        found.setdefault(name, []).append(told)
        names = list(found)[:MOST_HISTOGRAMS]
        return [{"name": shown(name), "records": found[name][-MOST_FRAMES:]} for name in names]


def _is_shown(found: Found, content: Content) -> bool:
    """Whether it is something to look at also where there is no log."""
    return _is_picture(found) or content.graph is not None or bool(content.histograms)


def _is_picture(found: Found) -> bool:
    return found.path.suffix.lower() in PICTURES


def _histogram(iteration: Any, given: Any) -> list[Any] | None:
    """Iteration, range, counts and how many values were not finite, where all are what they say."""
    try:
        low, high = float(given["low"]), float(given["high"])
        counts = [float(count) for count in given["counts"]]
        odd = int(given.get("nonfinite", 0))
        when = float(iteration)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        return None
    fine = [math.isfinite(value) for value in (low, high, when, *counts)]
    if not all(fine) or low > high or not 0 < len(counts) <= MOST_BINS or min(counts) < 0:
        return None
    return [when, low, high, counts, odd]


def _whole(logs: list[Content]) -> list[Content]:
    """Logs without those that only are the beginning of another, as `log_{epoch}` leaves them."""
    logs = sorted(logs, key=lambda content: -len(content.log))
    kept: list[Content] = []
    for content in logs:
        ends = _ends(content.log, len(content.log))
        if not any(_ends(other.log, len(content.log)) == ends for other in kept):
            kept.append(content)
    return kept


def _ends(log: list[dict[str, Any]], length: int) -> list[str]:
    """The first record and the one in the place of the last, as text: NaN equals NaN."""
    return [shown(log[i], 100_000) for i in (0, length - 1)]


def jsonable(value: float) -> float | str:
    """A number as JSON has it; what JSON has no number for, by its name in JavaScript."""
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def as_json(data: Any) -> str:
    """Text that may stand in a page too: no sign in it can end the script that it stands in."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _id(*parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:20]

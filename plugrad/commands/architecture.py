"""`plugrad architecture`: who imports whom, and how much code there is, in docs/architecture.md.

Every import counts, those in functions and those for type checkers alone as well. An arrow that
follows from others is left out, so that what remains can be read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache, partial
from graphlib import TopologicalSorter
from pathlib import Path

from core.errors import CoreError
from core.registry.kinds import FACADES
from core.registry.paths import place
from core.show.report import Report
from plugrad.commands import sizes
from plugrad.commands.sizes import ROOT

PACKAGES = ("core", "backends", "plugins", "plugrad")

Arrows = dict[str, list[str]]
"""Group of modules -> the other groups that it imports."""


def architecture(output: str | None, check: bool) -> Report:
    """Draw the pictures into the page, or with `check` say whether they are as they would be."""
    page = Path(output) if output else ROOT / "docs" / "architecture.md"
    try:
        drawn = text = page.read_text(encoding="utf-8")
    except OSError as error:
        raise CoreError(f"no page to draw into, such as --output FILE names: {error}") from error
    for name, group in PICTURES.items():
        drawn = _replaced(drawn, name, picture(reduced(arrows(group))))
    drawn = _replaced(drawn, "sizes", sizes.table())
    fresh = drawn == text
    if check:
        stale = f"The pictures in {page} are stale. Run `plugrad architecture`."
        said = "The pictures are fresh." if fresh else stale
        return Report({"page": str(page), "fresh": fresh}, said, int(not fresh))
    page.write_text(drawn, encoding="utf-8")
    said = f"Nothing to draw, {page} is fresh." if fresh else f"Drawn into {page}."
    return Report({"page": str(page), "written": not fresh}, said)


@cache
def imports(path: Path) -> list[tuple[int, str]]:
    """What a file imports from this repository: the line, and the dotted name of each thing."""
    found = []
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
    return [(line, name) for line, name in found if name.partition(".")[0] in PACKAGES]


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All that stand in a node; expressions, which hold none, are passed over."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from _statements(child)


def arrows(group: Callable[[str], str | None]) -> Arrows:
    """Which groups of modules import which others."""
    found: dict[str, set[str]] = {}
    for path in [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        source = group(module.removesuffix(".__init__"))
        if source is not None:
            names = {group(place(name) or name) for _, name in imports(path)}
            found.setdefault(source, set()).update(each for each in names if each)
    return {source: sorted(found[source] - {source}) for source in sorted(found)}


def reduced(graph: Arrows) -> Arrows:
    """The arrows that do not follow from others; a circle raises `graphlib.CycleError`.

    >>> reduced({"a": ["b", "c"], "b": ["c"], "c": []})
    {'c': [], 'b': ['c'], 'a': ['b']}
    """
    below: dict[str, set[str]] = {}
    kept = {}
    for name in TopologicalSorter(graph).static_order():
        implied = {far for near in graph[name] for far in below[near]}
        below[name] = {*graph[name], *implied}
        kept[name] = [near for near in graph[name] if near not in implied]
    return kept


def picture(graph: Arrows) -> str:
    """A graph as Mermaid draws it, those first that others do not import.

    >>> print(picture({"plugins.extras": [], "plugins.interop": ["plugins.extras"]}))
    ```mermaid
    flowchart TD
        interop --> extras
    ```
    """
    lines = [f"{name} --> {' & '.join(graph[name])}" for name in reversed(graph) if graph[name]]
    lines += sorted(set(graph).difference(*graph.values(), [n for n in graph if graph[n]]))
    drawn = [f"    {line.replace('plugins.', '')}" for line in lines]
    return "\n".join(["```mermaid", "flowchart TD", *drawn, "```"])


def _room(name: str) -> str | None:
    """The room of a module or name of the core, or the package outside of it."""
    if not name.startswith("core."):
        return name.partition(".")[0]
    room = _part_of("core", name)
    return "facades" if room in FACADES.values() else room or "core"


def _part_of(package: str, name: str) -> str | None:
    """The module or package, right below a package, that a module or name belongs to."""
    inner = name.removeprefix(f"{package}.")
    part = inner.partition(".")[0]
    there = ROOT / package.replace(".", "/") / part
    found = inner != name and (there.is_dir() or there.with_suffix(".py").exists())
    return f"{package}.{part}" if found else None


PICTURES: dict[str, Callable[[str], str | None]] = {
    "rooms": _room,
    "plugins": partial(_part_of, "plugins"),
    "functions": partial(_part_of, "plugins.functions"),
}
"""What stands in the page's markers -> the group of a module, None where it is in no picture."""


def _replaced(text: str, name: str, drawn: str) -> str:
    """The page with what stands between the markers of a picture replaced."""
    begin, end = f"<!-- {name}: drawn by `plugrad architecture` -->", f"<!-- end of {name} -->"
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise CoreError(f"architecture: the page needs the lines '{begin}' and '{end}'")
    return f"{before}{begin}\n{drawn}\n{end}{after}"

"""The reference: a page for each family of names that plugins give, and one for the core itself.

The pages are written before the site is read, from what is installed, and hold the names, in front
with the summaries of their docstrings: signatures and texts come from these too.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from docstrings import escaped

import core
from core.registry.kinds import FACADES, KINDS
from plugrad.commands.reference import bundled

GENERATED = "reference/api"


def write(app: Any) -> None:
    """Write all pages that have changed."""
    root = Path(app.srcdir, GENERATED)
    cores = _core()
    pages = {"core": _page("core", cores, _overview(cores))}
    for kind, facade in FACADES.items():
        entries = sorted(bundled(kind), key=lambda entry: (entry[0], entry[1].lower(), entry[1]))
        families = {name: list(group) for name, group in groupby(entries, key=lambda e: e[0])}
        if len(families) == 1:
            names = [(name, value) for _, name, value in entries]
            named = [(facade, *pair) for pair in names]
            pages[kind] = _page(KINDS[kind].meaning, named, _overview(named))
            continue
        lines = []
        for family, group in families.items():
            named, page = [(facade, name, value) for _, name, value in group], f"{kind}.{family}"
            pages[page] = _page(family.replace("_", " ").capitalize(), named)
            lines += [*_heading(f":doc:`{page}`", "-"), *_overview(named)]
        inside = [f"{kind}.{family}" for family in families]
        pages[kind] = _contents(KINDS[kind].meaning, inside, "hidden:", lines)
    pages["index"] = _contents("Reference", ["core", *FACADES], "maxdepth: 1")
    root.mkdir(parents=True, exist_ok=True)
    for old in root.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = root / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _core() -> list[tuple[str, str, Any]]:
    public = [name for name in dir(core) if not name.startswith("_")]
    values = [(name, getattr(core, name)) for name in sorted(public, key=str.lower)]
    return [("core", name, value) for name, value in values if not inspect.ismodule(value)]


def _heading(title: str, line: str = "=") -> list[str]:
    return [title, line * len(title), ""]


def _contents(title: str, pages: list[str], option: str, lines: Sequence[str] = ()) -> str:
    tree = [".. toctree::", f"   :{option}", "", *[f"   {page}" for page in pages], ""]
    return "\n".join([*_heading(title), *tree, *lines])


def _overview(entries: list[tuple[str, str, Any]]) -> list[str]:
    """What each name does, in the words of its docstring."""
    lines = []
    for module, name, value in entries:
        place = f"{'core' if _is_cores(module, name, value) else module}.{name}"
        said = "" if isinstance(value, bool | int | str) else inspect.getdoc(value) or ""
        (text,) = escaped([" ".join(said.partition("\n\n")[0].split("\n"))])
        lines.append(f"- :py:obj:`{name} <{place}>`{': ' * bool(text)}{text}")
    return [*lines, ""]


def _is_cores(module: str, name: str, value: Any) -> bool:
    """Whether a name of a kind is documented on the page of the core."""
    return module != "core" and getattr(core, name, None) is value


def _page(title: str, entries: list[tuple[str, str, Any]], overview: Sequence[str] = ()) -> str:
    lines = [*_heading(title), *overview]
    for module, name, value in entries:
        index = ["   :no-index:"] * _is_cores(module, name, value)
        if inspect.isclass(value):
            lines += [f".. autoclass:: {module}.{name}", "   :members:", *index, ""]
        elif callable(value):
            lines += [f".. autofunction:: {module}.{name}", ""]
        else:
            lines += [f".. autodata:: {module}.{name}", "   :no-value:", ""]
    return "\n".join(lines)


def setup(app: Any) -> dict[str, bool]:
    """Write the pages when a build begins."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

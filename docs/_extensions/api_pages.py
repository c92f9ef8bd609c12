"""The reference: a page for each family of names that plugins give, and one for the core itself.

The pages are written before the site is read, from what is installed, and hold nothing but the
names: signatures and texts come from the docstrings.
"""

from __future__ import annotations

import inspect
from itertools import groupby
from pathlib import Path
from typing import Any

import core
from core.registry.kinds import FACADES, KINDS
from plugrad.commands.reference import bundled

GENERATED = "reference/api"


def write(app: Any) -> None:
    """Write all pages that have changed."""
    root = Path(app.srcdir, GENERATED)
    pages = {"core": _page("core", _core())}
    for kind, facade in FACADES.items():
        entries = sorted(bundled(kind), key=lambda entry: (entry[0], entry[1].lower(), entry[1]))
        families = {name: list(group) for name, group in groupby(entries, key=lambda e: e[0])}
        if len(families) == 1:
            names = [(name, value) for _, name, value in entries]
            pages[kind] = _page(KINDS[kind].meaning, [(facade, *pair) for pair in names])
            continue
        for family, group in families.items():
            named = [(facade, name, value) for _, name, value in group]
            pages[f"{kind}.{family}"] = _page(f"{family.replace('_', ' ').capitalize()}", named)
        inside = [f"{kind}.{family}" for family in families]
        pages[kind] = _contents(KINDS[kind].meaning, inside)
    pages["index"] = _contents("Reference", ["core", *FACADES])
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


def _heading(title: str) -> list[str]:
    return [title, "=" * len(title), ""]


def _contents(title: str, pages: list[str]) -> str:
    return "\n".join([*_heading(title), ".. toctree::", "", *[f"   {page}" for page in pages], ""])


def _page(title: str, entries: list[tuple[str, str, Any]]) -> str:
    lines = _heading(title)
    for module, name, value in entries:
        index = ["   :no-index:"] * (module != "core" and getattr(core, name, None) is value)
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

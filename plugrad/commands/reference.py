"""`plugrad reference`: pages that list every bundled name by family, made from the docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from core import registry
from core.errors import CoreError
from core.ops.function_node import FunctionNode
from core.registry import hookspecs
from core.registry.kinds import FACADES, HOOKS, KINDS
from core.show.report import Report
from plugrad.commands.made_files import made

ROOT = Path(__file__).resolve().parents[2]


def reference(output: str | None, check: bool) -> Report:
    """Write the pages, or with `check` say which are not as they would be written."""
    root = Path(output) if output else ROOT / "docs" / "reference"
    if not output and not root.is_dir():  # plugrad is installed: nothing is written beside it
        raise CoreError(f"expected --output DIR, for plugrad's own pages are not here: {root}")
    pages = {f"{kind}.md": _page(kind) for kind in FACADES}
    pages["README.md"] = _index()
    command = "plugrad reference" + (f" --output {output}" if output else "")
    return made(root, pages, "pages", command, check)


def _index() -> str:
    """A table of the kinds, and of the hooks that give them."""
    lines = ["# Reference", "", "Written by `plugrad reference` from the docstrings.", ""]
    lines += ["| what | hook | each is | found in |", "|---|---|---|---|"]
    for hook, kind in HOOKS.items():
        meaning = f"[{kind.meaning}]({kind.name}.md)" if kind.facade else kind.meaning
        arguments = ", ".join(inspect.signature(getattr(hookspecs, hook)).parameters)
        where = f"`{kind.facade}`" if kind.facade else ""
        lines += [f"| {meaning} | `{hook}({arguments})` | {kind.expected} | {where} |"]
    return "\n".join(lines) + "\n"


def _page(kind: str) -> str:
    entries = sorted(bundled(kind), key=lambda entry: (entry[0], entry[1].lower(), entry[1]))
    lines = [f"# {KINDS[kind].meaning}", ""]
    lines += [f"In `{FACADES[kind]}`. Written by `plugrad reference`.", ""]
    for family, group in groupby(entries, key=lambda entry: entry[0]):
        lines += [f"## {family}", ""]
        for _, name, value in group:
            lines += [f"- `{_signature(name, value)}`: {_summary(value)}"]
        lines += [""]
    return "\n".join(lines)


def bundled(kind: str) -> Iterator[tuple[str, str, Any]]:
    """Family, name and value of every bundled name; of functions, those that compute."""
    catalogue = registry.catalogue(kind)
    for name in catalogue.names():
        claim = catalogue.claim(name)
        if not claim.plugin.bundled:
            continue
        value = claim.resolve()
        if kind == "functions" and isinstance(value, type) and issubclass(value, FunctionNode):
            continue
        module = getattr(value, "__module__", "") or ""
        parts = module.split(".")
        yield (parts[2] if len(parts) > 3 else kind), name, value


def _signature(name: str, value: Any) -> str:
    """The call."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    plain = [
        p.replace(annotation=inspect.Parameter.empty, default=_shown(p.default))
        for p in signature.parameters.values()
    ]
    text = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return name + (text if " at 0x" not in text else "(...)")


class _Name:
    """Shows itself as a name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def _shown(default: Any) -> Any:
    """A default; a function by its name, where its own text would say where in memory it lies."""
    named = default is not inspect.Parameter.empty and hasattr(default, "__name__")
    return _Name(default.__name__) if named else default


def _summary(value: Any) -> str:
    """The first paragraph; a formula as the sites that show Markdown take it."""
    text = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return re.sub(":math:(`[^`]+`)", r"$\1$", text)

"""What leads somewhere in the repository leads somewhere on the site too.

Pages link to files that are no pages, to the lists of docs/reference, of which the site has whole
pages, to what stands in the root, and to pages in folders, which their README lists.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

ROOT = Path(__file__).parents[2]
FOLDERS = re.compile(r"\[([^\]]+)\]\((\.\./[^)#\s]+)\)")
LISTS = re.compile(r"reference/(\w+)\.md")
LINKS = re.compile(r"\]\((?!https?:|#)(docs/)?([^)\s]+)")
ROOTS = re.compile(r"\]\(\.\./(CONTRIBUTING|CHANGELOG)\.md")
CONTENTS = "\n```{{toctree}}\n:hidden:\n\n{}\n```\n"


def outside(app: Any, env: Any, node: addnodes.pending_xref, shown: Any) -> nodes.Node | None:
    """A reference to a file that is there, though no page."""
    name = node.get("reftarget", "").partition("#")[0]
    page = Path(env.doc2path(node["refdoc"])).parent
    target = (page / name).resolve()
    if not name or not target.exists() or not target.is_relative_to(ROOT):
        return None
    return nodes.literal(text=str(target.relative_to(ROOT)))


def _named(match: re.Match[str], page: Path) -> str:
    """A folder by its path, which a site does not lead to."""
    words, target = match[1], (page.parent / match[2]).resolve()
    return f"{words} (`{target.relative_to(ROOT)}`)" if target.is_dir() else match[0]


def led(app: Any, name: str, content: list[str]) -> None:
    """The text of a page as the site reads it."""
    text = content[0]
    if name in ("changelog", "contributing"):
        page = ROOT / f"{name.upper()}.md"
        app.env.note_dependency(page)  # so that it is read again when that changes
        text = page.read_text(encoding="utf-8")
        text = LINKS.sub(lambda match: f"]({'' if match[1] else '../'}{match[2]}", text)
    page = Path(app.env.doc2path(name))
    text = FOLDERS.sub(lambda match: _named(match, page), text)
    text = text.replace("reference/README.md", "reference/index.md")
    text = LISTS.sub(r"reference/api/\1.rst", text)
    text = ROOTS.sub(lambda match: f"]({match[1].lower()}.md", text)
    if name.endswith("/README"):
        beside = sorted(path.stem for path in page.parent.glob("*.md"))
        text += CONTENTS.format("\n".join(each for each in beside if each != "README"))
    content[0] = text


def setup(app: Any) -> dict[str, bool]:
    """Change what is read, and answer references that nothing else knows."""
    app.connect("source-read", led)
    app.connect("missing-reference", outside, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

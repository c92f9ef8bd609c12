"""The site builds without a warning, needs no other host, and can be searched as a folder."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from core.registry.kinds import FACADES
from plugrad.commands.reference import bundled

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """What a page loads, where it leads, and what it can be led to by."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: set[str] = set()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.title = ""
        self._in_title = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.anchors.add(found.get("id", ""))
        self._in_title = tag == "title"
        if tag == "a":
            self.links.add(found.get("href", ""))
        elif tag == "link" and found.get("rel") not in ("canonical", "index", "search"):
            self.loads.add(found.get("href", ""))
        elif "src" in found:
            self.loads.add(found["src"])

    def handle_data(self, data: str) -> None:
        self.title += data * self._in_title


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="needs plugrad[docs]")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q"]
    done = subprocess.run(
        [*command, "-d", str(folder / "trees"), str(ROOT / "docs"), str(folder / "html")],
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_nothing_comes_from_another_host(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert not [name for name in page.loads if urlsplit(name).netloc], path
    for style in {p for path in pages for p in path.parent.rglob("*.css")}:
        assert not re.search(r"(url\(|@import )['\"]?https?:", style.read_text(encoding="utf-8"))


def test_links_inside_lead_somewhere(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link in ("", "#"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{path.name}: {link}"


@pytest.mark.parametrize("kind", sorted(FACADES))
def test_every_bundled_name_has_its_text(kind: str, site: Path) -> None:
    text = "".join([path.read_text("utf-8") for path in (site / "reference/api").glob("*.html")])
    names = [name for _, name, _ in bundled(kind)]
    assert names
    places = (f'id="{FACADES[kind]}.{{}}"', 'id="core.{}"')  # core's own stand on its page
    assert not [n for n in names if not any([place.format(n) in text for place in places])]


def test_search_needs_no_server(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    assert "convolut" in index


def test_pages_have_titles(pages: dict[Path, Page]) -> None:
    titles = [page.title.strip() for path, page in pages.items() if path.name != "search.html"]
    assert all(titles)

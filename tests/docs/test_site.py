"""The site builds without a warning, needs no other host, and can be searched as a folder."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from core.registry.kinds import FACADES
from plugrad.commands.reference import bundled

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "tests"), str(ROOT / "docs" / "_extensions")]

from browser import PROGRAM, Browser  # noqa: E402
from reference_pictures import SAME, SCHEDULES, WINDOWS  # noqa: E402

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """What a page loads, where it leads, and what it can be led to by."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: set[str] = set()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.headings: list[int] = []
        self.unsaid: list[str] = []
        self.title = ""
        self._in_title = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.anchors.add(found.get("id", ""))
        self._in_title = tag == "title"
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if (tag == "img" and not found.get("alt", "").strip()) or (
            tag == "svg" and found.get("role") == "img" and not found.get("aria-label")
        ):
            self.unsaid.append(str(self.get_starttag_text()))
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
    found = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    return {path: Page(path) for path in found}


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


def test_what_is_returned_has_no_type_made_of_its_words(site: Path) -> None:
    text = "".join([path.read_text("utf-8") for path in (site / "reference/api").glob("*.html")])
    assert "Returns<" in text and "Return type<" not in text


def test_links_show_the_arguments_that_they_take(site: Path) -> None:
    """Not those of the `__new__` that they share."""
    text = (site / "reference/api/links.connection.html").read_text("utf-8")
    shown = re.sub("<[^>]+>", "", text)
    assert "Linear(in_size, out_size=None, nobias=False," in shown and "**given)" not in shown


def test_formulas_are_drawn(site: Path) -> None:
    """Lines as lines, and no sign that means something in LaTeX alone."""
    for page in ("optimizers", "links.rnn"):
        text = (site / f"reference/api/{page}.html").read_text("utf-8")
        assert "<mtable" in text
        assert not re.search("<m[a-z]+>(&(amp;)?|_|&#x0005F;)<", text), page


def test_search_needs_no_server(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    assert "convolut" in index


def test_all_pictures_are_said_in_words(pages: dict[Path, Page]) -> None:
    assert not {path.name: page.unsaid for path, page in pages.items() if page.unsaid}


def test_headings_are_in_order(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        if path.name == "search.html":  # a script writes its heading
            continue
        assert page.headings.count(1) == 1 and page.headings[0] == 1, path
        for one, next in pairwise(page.headings):
            assert next <= one + 1, path


PICTURES = {
    "functions.activation": ("relu", "sigmoid", "softplus", "tanh"),
    "functions.connection": tuple(each for each in WINDOWS if "convolution" in each),
    "functions.pooling": tuple(each for each in WINDOWS if "pooling" in each),
    "links.connection": tuple(SAME),
    "initializers": ("GlorotUniform", "HeNormal", "LeCunNormal", "Orthogonal"),
    "extensions": tuple(SCHEDULES),
}


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_the_reference_has_its_pictures(name: str, site: Path) -> None:
    text = (site / "reference" / "api" / f"{name}.html").read_text(encoding="utf-8")
    entries = re.split(r'<dt class="sig[^"]*" id="core\.[\w.]*\.(\w+)">', text)
    drawn = {
        n for n, entry in zip(entries[1::2], entries[2::2], strict=True) if "<figure>" in entry
    }
    assert set(PICTURES[name]) <= drawn


LOOKED_AT = [
    "index",
    "tour",
    "examples",
    "performance",
    "measurements/products",
    "architecture",
    "reference/api/initializers",
]


@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium or Chrome on the PATH")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_can_be_read_narrow_and_wide_and_by_keys(site: Path, dark: bool) -> None:
    with Browser() as browser:
        for name in LOOKED_AT:
            for width in (320, 1440):
                browser.open((site / f"{name}.html").as_uri(), width=width, dark=dark)
                assert browser.run("document.documentElement.scrollWidth") <= width, name
                assert browser.poor_contrasts("article *, nav *, aside *", 4.5) == [], name
            browser.press("Tab")
            assert "skip" in browser.run("document.activeElement.className"), name
            outline = "getComputedStyle(document.activeElement).outlineStyle"
            for _ in range(8):
                browser.press("Tab")
                assert browser.run(outline) != "none", name
        outside = [url for url in browser.requests if not url.startswith(("file:", "data:"))]
        assert not outside


def test_pages_have_titles(pages: dict[Path, Page]) -> None:
    titles = [page.title.strip() for path, page in pages.items() if path.name != "search.html"]
    assert all(titles)

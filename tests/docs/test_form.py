"""Pages lead where they say, and the changelog has the form that it says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
HEADINGS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def anchors(path):
    """What the headings of a page are linked by, as on GitHub."""
    titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in links:
        if not link.startswith(("http:", "https:")):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def test_versions_of_the_changelog_have_known_headings_in_order():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, *versions = re.split(r"^## ", text, flags=re.M)
    assert versions[0].startswith("[Unreleased]")
    for version in versions:
        found = re.findall(r"^### (.+)$", version, re.M)
        assert found
        assert found == [heading for heading in HEADINGS if heading in found]

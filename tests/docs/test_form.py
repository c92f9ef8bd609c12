"""Pages lead where they say; the changelog and the decisions have the form that they say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
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


def test_decisions_are_numbered_and_listed():
    rows = []
    for number, path in enumerate(DECISIONS, 1):
        text = path.read_text(encoding="utf-8")
        title, status, date = re.match(
            r"# \d+\. (.+)\n\n- Status: (.+)\n- Date: (\d{4}-\d\d-\d\d)\n", text
        ).groups()
        assert path.name.startswith(f"{number:04}-")
        assert text.startswith(f"# {number}. ")
        assert re.findall(r"^## (.+)$", text, re.M) == [
            "Context",
            "Decision",
            "Consequences",
            "What was measured",
            "Alternatives, and what speaks against them",
        ]
        rows.append(f"| [{number:04}]({path.name}) | {title} | {status} | {date} |")
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[.*$", index, re.M) == rows


def test_the_first_page_leads_to_every_page():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"^(?!:)([\w/]+)$", "".join(re.findall(r"```{toctree}(.*?)```", text, re.S)), re.M
    )
    led_to = {name.removesuffix(".md") for name in re.findall(r"\]\(([^)#\s]+)\)", text)}
    assert {name for name in listed if name != "reference/api/index"} <= led_to
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= set(listed)

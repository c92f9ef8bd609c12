"""`plugrad info --ops`, `plugrad reference` and `plugrad architecture`."""

import json
from graphlib import CycleError

import pytest

from core.testing.leaving_out import CHECKS
from plugrad.commands import architecture, reference, sizes
from plugrad.commands.main import main
from plugrad.commands.ops import ops


def test_ops_counts_what_it_lists(capsys):
    assert main(["info", "--ops", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert sum(data["families"].values()) == len(data["operations"]) > 100
    for check in CHECKS:
        assert data["checks"][check] == sum(check in got for got in data["operations"].values())
    assert set(data["operations"]["ReLU"]) == set(CHECKS)


def test_an_op_without_derivative_carries_no_gradient_check():
    carried = ops().data["operations"]
    assert "gradient" not in carried["ArgMax"]
    assert "forward" in carried["ArgMax"]


@pytest.mark.slow
def test_the_pages_in_the_repository_are_fresh(capsys):
    assert main(["reference", "--check"]) == 0, capsys.readouterr().out


def test_pages_are_written_where_asked_and_then_fresh(tmp_path, capsys):
    target = str(tmp_path / "pages")
    assert main(["reference", "--output", target, "--check"]) == 1
    assert main(["reference", "--output", target]) == 0
    assert main(["reference", "--output", target, "--check"]) == 0
    page = (tmp_path / "pages" / "functions.md").read_text()
    assert "## activation" in page and "`relu(x)`" in page
    capsys.readouterr()


def test_nothing_is_written_beside_an_installed_plugrad(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reference, "ROOT", tmp_path)
    assert main(["reference"]) == main(["reference", "--check"]) == 2
    assert "expected --output DIR" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_formulas_are_written_as_markdown_has_them(tmp_path):
    assert main(["reference", "--output", str(tmp_path)]) == 0
    text = "".join(page.read_text(encoding="utf-8") for page in tmp_path.glob("*.md"))
    assert ":math:" not in text
    assert r"$`\theta \leftarrow \theta - \eta\, g`$" in text


def test_defaults_that_are_functions_are_shown_by_name(tmp_path, capsys):
    main(["reference", "--output", str(tmp_path)])
    pages = "".join(page.read_text(encoding="utf-8") for page in tmp_path.glob("*.md"))
    assert "`Classifier(predictor, lossfun=softmax_cross_entropy, accfun=accuracy, " in pages
    assert " at 0x" not in pages and "(...)`" not in pages
    capsys.readouterr()


def test_the_pictures_of_the_architecture_are_fresh(capsys):
    assert main(["architecture", "--check"]) == 0, capsys.readouterr().out


def test_a_stale_picture_is_told_and_drawn_again(tmp_path, capsys):
    fresh = (architecture.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(fresh.replace("    core.ops --> core.graph\n", ""), encoding="utf-8")
    assert page.read_text(encoding="utf-8") != fresh
    assert main(["architecture", "--output", str(page), "--check"]) == 1
    assert "Run `plugrad architecture`" in capsys.readouterr().out
    assert main(["architecture", "--output", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == fresh


def test_lines_of_code_are_those_that_do_something():
    text = '"""Doc."""\n# why\n\nx = [\n    1,  # one\n]\n\n\ndef f():\n    """Two\n    lines."""\n'
    assert sizes.lines_of_code(text) == 4
    assert sizes.lines_of_code(text + "    return x\n") == 5
    assert sizes.size(["core/errors"]) < sizes.size(["core"])
    assert 500 < sizes.size(sizes.READING_PATH) < 1050


def test_a_page_without_a_place_for_the_pictures_is_left_alone(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("# Another page\n", encoding="utf-8")
    assert main(["architecture", "--output", str(page)]) == 2
    assert "needs the lines '<!-- rooms" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "# Another page\n"


def test_every_import_counts_wherever_it_stands(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(
        "import os, core.links as L\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n"
        "    from core.graph import variable\n"
        "def f():\n"
        "    try:\n"
        "        from plugins.functions.math import sum as summed, prod\n"
        "    except ImportError:\n"
        "        import backends\n"
    )
    assert architecture.imports(file) == [
        (1, "core.links"),
        (4, "core.graph.variable"),
        (7, "plugins.functions.math.sum"),
        (7, "plugins.functions.math.prod"),
        (9, "backends"),
    ]


def test_a_circle_is_never_drawn():
    with pytest.raises(CycleError):
        architecture.reduced({"a": ["b"], "b": ["a"]})

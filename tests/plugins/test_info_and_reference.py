"""`plugrad info --ops` and `plugrad reference`."""

import json

import pytest

from core.ops.types.domain import CHECKS
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

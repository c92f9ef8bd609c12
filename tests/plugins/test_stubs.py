"""Type stubs of the faces: fresh, complete, and true to what is found at run time."""

import ast
import sys
from types import SimpleNamespace

import pytest

from core import registry
from core.__main__ import main
from core.commands import stubs as stubs_module
from core.commands.stubs import ROOT, bundled, everything
from core.registry.records import FACES


def f():
    """A function that can be imported from here."""


def test_the_bundled_stubs_are_fresh(capsys):
    assert main(["stubs", "--check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(("kind", "face"), FACES.items())
def test_a_stub_names_what_the_catalogue_has(kind, face):
    text = (ROOT / stubs_module._file(face)).read_text()
    exported = {
        alias.asname
        for node in ast.parse(text).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    } - {None}
    catalogue = registry.catalogue(kind)
    assert exported == {n for n in catalogue.names() if catalogue.claims(n)[0].plugin.bundled}


@pytest.fixture
def environment(make, monkeypatch):
    here = sys.modules[__name__] = sys.modules.get(__name__) or SimpleNamespace(f=f)
    assert here.f is f
    long = "a_package_with_a_rather_long_name.and_a_module_of_some_length_within:a_function_in_it"
    third = {"direct": f, "lazy": "some.module:attr", "inner": "m:A.b", "made": lambda: 0}
    made = make.environment(
        [
            make.entry("plugrad", make.module(functions={"relu": "plugins.x:relu", "Z": "p.z:Z"})),
            make.entry("a-dist", make.module(functions=third | {"twice": f, "a_long_name": long})),
            make.entry("b-dist", make.module(functions={"twice": f})),
        ]
    )
    monkeypatch.setattr(registry, "current", made.registry)
    monkeypatch.setattr(registry, "catalogue", made.__getattr__)
    monkeypatch.setattr(stubs_module, "ROOT", ROOT)
    return made


def test_the_bundled_stub_has_no_third_party(environment):
    assert bundled()["core/functions.pyi"] == (
        '"""What `core.functions` offers; written by `plugrad stubs`, not by hand."""\n'
        "\n"
        "from core.registry import Offer\n"
        "from p.z import Z as Z\n"
        "from plugins.x import relu as relu\n"
        "\n"
        "def of(distribution: str) -> Offer: ...\n"
    )


def test_the_stub_of_everything(environment):
    files = everything()
    text = files["core/functions.pyi"]
    assert ast.parse(text)
    for line in (
        f"from {__name__} import f as direct",
        "from some.module import attr as lazy",
        "from plugins.x import relu as relu",
        "inner: Any",
        "made: Any",
        "    a_function_in_it as a_long_name,",
        "# twice: claimed by several distributions; prefer one.",
    ):
        assert line in text.splitlines()
    assert max(map(len, text.splitlines())) <= 100
    assert files["core/__init__.pyi"] == (ROOT / "core/__init__.py").read_text()


def test_output_is_written_once_and_checked(environment, tmp_path, capsys):
    typings = tmp_path / "typings"
    assert main(["stubs", "--output", str(typings), "--check"]) == 1
    assert "Run `plugrad stubs --output" in capsys.readouterr().out
    assert not typings.exists()
    assert main(["stubs", "--output", str(typings)]) == 0
    assert (typings / "core/training/updaters.pyi").exists()
    assert main(["stubs", "--output", str(typings), "--check"]) == 0
    assert main(["stubs", "--output", str(typings)]) == 0
    assert "nothing, all are fresh" in capsys.readouterr().out
    assert not list(typings.rglob("*.new"))

"""Type stubs of the facades: fresh, complete, and true to what is found at run time."""

import ast
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core import Elementwise, GradientMethod, UpdateRule, registry
from core.registry.kinds import FACADES
from plugrad.commands import stubs as stubs_module
from plugrad.commands.derived import derived
from plugrad.commands.main import main
from plugrad.commands.stubs import ROOT, bundled, everything


def f():
    """A function that can be imported from here."""


def test_the_bundled_stubs_are_fresh(capsys):
    assert main(["stubs", "--check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(("kind", "facade"), FACADES.items())
def test_a_stub_names_what_the_catalogue_has(kind, facade):
    text = (ROOT / (stubs_module._source(facade) + "i")).read_text()
    body = ast.parse(text).body
    imported = [a.asname for node in body if isinstance(node, ast.ImportFrom) for a in node.names]
    written = [n.name for n in body if isinstance(n, ast.ClassDef | ast.FunctionDef)]
    exported = {n for n in (*imported, *written) if n and not n.startswith("_")} - {"of"}
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
    monkeypatch.setattr(registry, "installed", made.registry)
    monkeypatch.setattr(registry, "catalogue", made.__getattr__)
    monkeypatch.setattr(stubs_module, "ROOT", ROOT)
    return made


def test_the_bundled_stub_has_no_third_party(environment):
    assert bundled()["core/functions/__init__.pyi"] == (
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
    text = files["core/functions/__init__.pyi"]
    assert ast.parse(text)
    for line in (
        f"from {__name__} import f as direct  # type: ignore[import-untyped]",
        "from some.module import attr as lazy",
        "from plugins.x import relu as relu",
        "inner: Any",
        "made: Any",
        "    a_function_in_it as a_long_name,",
        "# twice: claimed by several distributions; prefer one.",
    ):
        assert line in text.splitlines()
    assert max(map(len, text.splitlines())) <= 100
    assert "    import core.dataset as dataset\n" in files["core/__init__.pyi"]
    assert "'dataset'" in files["core/__init__.pyi"].splitlines()[-1]
    assert files["core/training/__init__.pyi"] == (ROOT / "core/training/__init__.py").read_text()


def test_packages_without_the_mark_are_read_by_no_checker(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for package in ("marked_wave", "unmarked_wave", "space_of_waves/marked_part"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "ops.py").touch()
        if "unmarked" not in package:
            (tmp_path / package / "py.typed").touch()
    for module in ("marked_wave.ops", "unmarked_wave.ops", "space_of_waves.marked_part.ops"):
        for name in ("wave", "wave" * 25):
            first, *_ = stubs_module._import(module, "wave", name).splitlines()
            assert first.endswith("# type: ignore[import-untyped]") == ("unmarked" in module)
    assert not stubs_module._import("math", "tanh", "tanh").endswith("]")


class Wobble(Elementwise):
    depth: float = 0.5
    modes: tuple[int, ...] = (1, 2)
    shape_of: Path | None = None

    def compute(self, xp, x, y=None):
        return x


class StepRule(UpdateRule):
    a_hyperparameter_with_a_name_of_some_length: float = 0.1
    another_with_a_name_that_is_as_long_as_that: bool = False

    def step(self, xp, param, grad):
        pass


class Stepper(GradientMethod):
    rule = StepRule


def test_what_is_declared_is_written_out():
    assert derived("wobble", Wobble.call) == (
        "def wobble(\n"
        "    x: Array,\n"
        "    y: Array | None = None,\n"
        "    /,\n"
        "    *,\n"
        "    depth: float = 0.5,\n"
        "    modes: tuple[int, ...] = (1, 2),\n"
        "    shape_of: Any = None,\n"
        ") -> Variable: ..."
    )
    Wobble(depth=1.0).apply((np.ones(2),))  # specialised, it has another call
    assert "depth: float = 0.5" in derived("wobble", Wobble.call)
    assert derived("Stepper", Stepper) == (
        "class Stepper(_Stepper):\n"
        "    a_hyperparameter_with_a_name_of_some_length: float\n"
        "    another_with_a_name_that_is_as_long_as_that: bool\n"
        "    def __init__(\n"
        "        self,\n"
        "        a_hyperparameter_with_a_name_of_some_length: float = 0.1,\n"
        "        another_with_a_name_that_is_as_long_as_that: bool = False,\n"
        "    ) -> None: ...\n"
    )
    assert derived("f", f) == derived("Plain", Path) == ""


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

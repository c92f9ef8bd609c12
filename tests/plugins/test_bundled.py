"""What plugrad itself brings: installed as declared, loaded without failure, every name real."""

import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import importlib_metadata
import pytest

from core import FunctionNode, UpdateRule, registry
from core.registry.kernel_table import kernel_key
from core.registry.kinds import FACADES
from core.registry.lazy import resolve
from plugrad import frozen

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = [plugin for plugin in registry.installed.plugins() if plugin.bundled]


def test_the_installed_entry_points_are_the_declared_ones():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    entry_points = importlib_metadata.distribution("plugrad").entry_points
    installed = {e.name: e.value for e in entry_points if e.group == "plugrad"}
    assert installed == declared["plugrad"], "run `python -m pip install -e .` again"


@pytest.mark.parametrize(
    "frozen, cure", [(False, "pip install -e"), (True, "all modules of core, backends and plugins")]
)
def test_without_metadata_an_array_is_refused_with_what_is_missing(frozen, cure):
    code = f"""
        import sys
        import importlib_metadata, numpy
        importlib_metadata.entry_points = lambda **_: ()
        sys.frozen = {frozen}
        import core
        try:
            core.Variable(numpy.ones(3))
        except TypeError as error:
            print(error)
    """
    said = subprocess.run(
        [sys.executable, "-c", dedent(code)], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "none of its plugins are found" in said and cure in said


def test_frozen_programs_take_every_plugin_along():
    pytest.importorskip("PyInstaller", reason="PyInstaller is not installed")
    (folder,) = frozen.folders()
    found = runpy.run_path(str(Path(folder, "hook-core.py")))
    assert {plugin.value.partition(":")[0] for plugin in BUNDLED} <= {*found["hiddenimports"]}
    assert {"core.functions", "plugins.functions.math.absolute"} <= {*found["hiddenimports"]}
    assert any("plugrad" in target for _, target in found["datas"])


@pytest.mark.parametrize("plugin", BUNDLED, ids=lambda plugin: plugin.name)
def test_a_bundled_plugin_is_in_order(plugin):
    assert plugin.state == "loaded"
    assert plugin.claims
    for claim in plugin.claims:
        assert claim.target is not None, f"{claim.name} is not lazy"
        assert claim.target.partition(".")[0] in ("core", "plugins", "backends")
        claim.resolve()


@pytest.mark.parametrize("kind", FACADES)
def test_every_facade_has_something_to_offer(kind):
    assert registry.catalogue(kind).names()


def test_the_numpy_backend_s_kernels_are_for_classes_that_exist():
    tables = registry.kernels("numpy")
    for section, base in (("compute", FunctionNode), ("gradient", FunctionNode)):
        for key in tables[section]:
            assert issubclass(resolve(key), base) and kernel_key(resolve(key)) == key
    for key in tables["update"] | tables["update_all"]:
        assert issubclass(resolve(key), UpdateRule) and kernel_key(resolve(key)) == key

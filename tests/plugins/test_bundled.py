"""What plugrad itself brings: installed as declared, loaded without failure, every name real."""

import tomllib
from pathlib import Path

import importlib_metadata
import pytest

from core import FunctionNode, UpdateRule, registry
from core.registry.kernel_table import kernel_key
from core.registry.kinds import FACADES
from core.registry.lazy import resolve

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = [plugin for plugin in registry.installed.plugins() if plugin.bundled]


def test_the_installed_entry_points_are_the_declared_ones():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    entry_points = importlib_metadata.distribution("plugrad").entry_points
    installed = {e.name: e.value for e in entry_points if e.group == "plugrad"}
    assert installed == declared["plugrad"], "run `python -m pip install -e .` again"


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

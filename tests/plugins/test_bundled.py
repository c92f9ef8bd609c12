"""What plugrad itself brings: installed as declared, loaded without failure, every name real."""

import tomllib
from pathlib import Path

import importlib_metadata
import pytest

from core import FunctionNode, registry
from core.registry.records import FACES

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = [plugin for plugin in registry.current.plugins() if plugin.bundled]


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


@pytest.mark.parametrize("kind", FACES)
def test_every_face_has_something_to_offer(kind):
    assert registry.catalogue(kind).names()


def test_the_numpy_backend_s_kernels_are_for_operations_that_exist():
    for name in registry.catalogue("functions").names():
        registry.catalogue("functions").get(name)
    tables = registry.kernels("numpy")
    operations = {cls.__name__ for cls in descendants(FunctionNode)}
    assert set(tables["compute"]) | set(tables["gradient"]) <= operations
    assert set(tables["update"]) <= set(registry.catalogue("optimizers").names())


def descendants(cls):
    for child in cls.__subclasses__():
        yield child
        yield from descendants(child)

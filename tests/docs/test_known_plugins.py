"""The list of known plugins: well formed, on its page, and true of those that are here."""

import importlib.util
import runpy
import sys
import tomllib
from pathlib import Path

import pytest

from core.registry import PLUGIN_API
from core.registry.kinds import HOOKS
from core.registry.records import OLDEST_PLUGIN_API

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "docs" / "known_plugins.py"))
KNOWN = SCRIPT["known"]()
HERE = [plugin for plugin in KNOWN if (ROOT / plugin["source"]).is_dir()]
KINDS = {hook.removeprefix("register_") for hook in HOOKS}


@pytest.mark.parametrize("plugin", KNOWN, ids=lambda plugin: plugin["distribution"])
def test_an_entry_says_all_that_the_page_shows(plugin):
    assert plugin.keys() == {"distribution", "summary", "source", "api", "offers"}
    assert plugin["distribution"].startswith("plugrad-")
    assert OLDEST_PLUGIN_API <= plugin["api"] <= PLUGIN_API
    assert plugin["source"].startswith("https://") or plugin in HERE
    assert plugin["offers"] and plugin["offers"].keys() <= KINDS
    said = [plugin["summary"], *sum(plugin["offers"].values(), [])]
    assert all(said) and not any("|" in text or "\n" in text for text in said)


def test_each_is_there_once_in_the_order_of_names():
    names = [plugin["distribution"] for plugin in KNOWN]
    assert names == sorted(set(names))


def test_those_to_copy_from_are_listed():
    folders = {str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("plugin_*")}
    assert {plugin["source"] for plugin in HERE} == folders


@pytest.mark.parametrize("plugin", HERE, ids=lambda plugin: plugin["distribution"])
def test_what_is_said_of_those_here_is_what_they_register(plugin, monkeypatch):
    folder = ROOT / plugin["source"]
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["name"] == plugin["distribution"]
    (package,) = project["entry-points"]["plugrad"].values()
    spec = importlib.util.spec_from_file_location(package, folder / package / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, package, module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "find_spec", lambda name: True, raising=False)
    assert module.requires_plugin_api == plugin["api"]
    assert {kind: list(offered(module, kind)) for kind in KINDS if offered(module, kind)} == (
        plugin["offers"]
    )


def offered(module, kind):
    """The names of one kind that it registers; of kernels, the classes."""
    hook = getattr(module, f"register_{kind}", dict)
    if kind == "kernels" and hook is not dict:
        return sorted({key.rpartition(":")[2] for table in hook("numpy").values() for key in table})
    return list(hook())


def test_the_page_is_fresh():
    text = SCRIPT["PAGE"].read_text(encoding="utf-8")
    assert text == SCRIPT["page"](text), "run `python docs/known_plugins.py`"

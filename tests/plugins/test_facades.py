"""Facades: modules whose names are those of a catalogue."""

import io
import pydoc
import rlcompleter
import subprocess
import sys
from types import ModuleType

import pytest

import core.plugins
from core import registry
from core.errors import NameConflict, PluginError, UnknownName
from core.registry.facades import make_facade
from core.registry.kinds import FACADES


def relu(x):
    """Zero below zero."""


def mish(x):
    """Smooth, and not monotonic."""


def other_relu(x):
    """The same, by somebody else."""


@pytest.fixture
def environment(make):
    return make.environment(
        [
            make.entry("plugrad", make.module(functions={"relu": relu})),
            make.entry("a-dist", make.module(functions={"mish": mish, "twice": mish})),
            make.entry("b-dist", make.module(functions={"relu": other_relu, "twice": relu})),
            make.entry("c-dist", make.module(functions={"broken": "core.errors:no_such"})),
        ]
    )


@pytest.fixture
def facade(environment, monkeypatch):
    module = ModuleType("facade_of_tests", "A facade.")
    module.__getattr__, module.__dir__, module.of = make_facade(
        environment.registry, module.__name__, "functions"
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_names_are_attributes(facade):
    assert facade.relu is relu
    assert facade.mish is mish
    assert "relu" in vars(facade)


def test_dir_and_completion(facade):
    assert {"mish", "relu", "of", "broken"} <= set(dir(facade))
    assert "twice" not in dir(facade)
    completer = rlcompleter.Completer({"F": facade})
    assert completer.complete("F.mi", 0) == "F.mish("


def test_help_lists_every_name_with_its_docstring(facade):
    facade.of("c-dist")
    text = io.StringIO()
    pydoc.Helper(output=text).help(facade)
    assert "Zero below zero." in text.getvalue()
    assert "Smooth, and not monotonic." in text.getvalue()


def test_import_from_and_star(facade):
    scope = {}
    exec("from facade_of_tests import relu, mish as m", scope)
    assert scope["relu"] is relu
    assert scope["m"] is mish
    assert facade.__all__ == ["broken", "mish", "relu"]


def test_a_misspelt_name(facade):
    with pytest.raises(UnknownName, match="core.functions has no 'rleu'. Did you mean 'relu'?"):
        _ = facade.rleu
    assert not hasattr(facade, "rleu")


@pytest.mark.parametrize(
    ("name", "expected", "cause"),
    [
        ("rleu", "Did you mean 'relu'?", UnknownName),
        ("twice", "claimed by 2 distributions", NameConflict),
        ("broken", "which cannot be imported", PluginError),
    ],
)
def test_a_failing_import_keeps_its_reason(facade, name, expected, cause):
    with pytest.raises(ImportError, match=expected) as caught:
        exec(f"from facade_of_tests import {name}", {})
    assert isinstance(caught.value.__cause__, cause)


def test_private_and_dunder_names_never_load_plugins(make, facade, environment):
    with pytest.raises(AttributeError, match="has no attribute '__wrapped__'"):
        _ = facade.__wrapped__
    assert not hasattr(facade, "_repr_html_")
    assert not environment.registry._snapshot.complete


def test_a_preference_reaches_names_that_were_used_before(facade, environment):
    assert facade.relu is relu
    environment.registry.prefer("functions.relu", "b-dist")
    assert facade.relu is other_relu
    assert facade.of("plugrad").relu is relu


def test_a_name_that_a_user_has_replaced_is_left_alone(facade, environment):
    _ = facade.relu
    facade.relu = mish
    environment.registry.prefer("functions.relu", "b-dist")
    assert facade.relu is mish


@pytest.mark.parametrize(("kind", "name"), FACADES.items())
def test_every_facade_stands_over_its_catalogue(kind, name):
    module = __import__(name, fromlist=["of"])
    assert module.__all__ == registry.catalogue(kind).names()
    assert module.__doc__
    assert dir(module.of("plugrad")) == [
        n for n in module.__all__ if registry.catalogue(kind).claim(n).plugin.bundled
    ]


def test_importing_the_core_looks_for_no_plugin():
    code = (
        "import sys, core, core.functions, core.links, core.plugins\n"
        "assert not {'pluggy', 'importlib_metadata', 'numpy', 'plugins', 'backends'} & "
        "set(sys.modules), sorted(sys.modules)\n"
        "core.hookimpl\n"
        "assert 'pluggy' in sys.modules and 'importlib_metadata' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class TestTheProgramDecides:
    """`core.plugins` over a made-up registry."""

    @pytest.fixture(autouse=True)
    def _current(self, environment, monkeypatch):
        monkeypatch.setattr(registry, "installed", environment.registry)
        monkeypatch.setattr(registry, "catalogue", environment.__getattr__)

    def test_prefer(self, facade):
        with pytest.raises(NameConflict):
            _ = facade.twice
        core.plugins.prefer("functions", "twice", "A_dist")
        assert facade.twice is mish

    def test_prefer_all_of_a_kind(self, facade):
        core.plugins.prefer("functions", "*", "b-dist")
        assert (facade.relu, facade.twice, facade.mish) == (other_relu, relu, mish)

    def test_preferring_who_does_not_provide_it(self):
        with pytest.raises(PluginError, match="'a-dist' does not provide core.functions.relu. Who"):
            core.plugins.prefer("functions", "relu", "a-dist")
        with pytest.raises(UnknownName, match="No plugin of 'd-dist' gives functions"):
            core.plugins.prefer("functions", "*", "d-dist")
        with pytest.raises(PluginError, match="no installed plugin is of 'd-dist'; there are"):
            core.plugins.prefer("kernels", "ReLU", "d-dist")

    def test_disable(self, facade):
        core.plugins.disable("b-dist")
        assert facade.twice is mish
        with pytest.raises(PluginError, match="core.plugins.disable: no installed plugin is of"):
            core.plugins.disable("d-dist")

    def test_list(self):
        listed = {plugin.distribution: plugin for plugin in core.plugins.list()}
        assert listed["a-dist"].gives == {"functions": ["mish", "twice"]}
        assert repr(listed["a-dist"]) == "<Plugin 'a-dist' of a-dist 1.0: loaded>"

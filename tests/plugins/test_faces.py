"""Faces: modules whose names are those of a catalogue."""

import io
import pydoc
import rlcompleter
import subprocess
import sys
from types import ModuleType

import core.plugins
import pytest

from core import registry
from core.errors import NameConflict, PluginError, UnknownName
from core.registry.faces import make_face
from core.registry.records import FACES


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
def face(environment, monkeypatch):
    module = ModuleType("face_of_tests", "A face.")
    module.__getattr__, module.__dir__, module.of = make_face(
        environment.registry, module.__name__, "functions"
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_names_are_attributes(face):
    assert face.relu is relu
    assert face.mish is mish
    assert "relu" in vars(face)


def test_dir_and_completion(face):
    assert {"mish", "relu", "of", "broken"} <= set(dir(face))
    assert "twice" not in dir(face)
    completer = rlcompleter.Completer({"F": face})
    assert completer.complete("F.mi", 0) == "F.mish("


def test_help_lists_every_name_with_its_docstring(face):
    face.of("c-dist")
    text = io.StringIO()
    pydoc.Helper(output=text).help(face)
    assert "Zero below zero." in text.getvalue()
    assert "Smooth, and not monotonic." in text.getvalue()


def test_import_from_and_star(face):
    scope = {}
    exec("from face_of_tests import relu, mish as m", scope)
    assert scope["relu"] is relu
    assert scope["m"] is mish
    assert face.__all__ == ["broken", "mish", "relu"]


def test_a_misspelt_name(face):
    with pytest.raises(UnknownName, match="core.functions has no 'rleu'. Did you mean 'relu'?"):
        _ = face.rleu
    assert not hasattr(face, "rleu")


@pytest.mark.parametrize(
    ("name", "expected", "cause"),
    [
        ("rleu", "Did you mean 'relu'?", UnknownName),
        ("twice", "claimed by 2 distributions", NameConflict),
        ("broken", "which cannot be imported", PluginError),
    ],
)
def test_a_failing_import_keeps_its_reason(face, name, expected, cause):
    with pytest.raises(ImportError, match=expected) as caught:
        exec(f"from face_of_tests import {name}", {})
    assert isinstance(caught.value.__cause__, cause)


def test_private_and_dunder_names_never_load_plugins(make, face, environment):
    with pytest.raises(AttributeError, match="has no attribute '__wrapped__'"):
        _ = face.__wrapped__
    assert not hasattr(face, "_repr_html_")
    assert not environment.registry._snapshot.complete


def test_a_preference_reaches_names_that_were_used_before(face, environment):
    assert face.relu is relu
    environment.registry.prefer("functions.relu", "b-dist")
    assert face.relu is other_relu
    assert face.of("plugrad").relu is relu


def test_a_name_that_a_user_has_replaced_is_left_alone(face, environment):
    _ = face.relu
    face.relu = mish
    environment.registry.prefer("functions.relu", "b-dist")
    assert face.relu is mish


@pytest.mark.parametrize(("kind", "name"), FACES.items())
def test_every_face_stands_over_its_catalogue(kind, name):
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
        monkeypatch.setattr(registry, "current", environment.registry)
        monkeypatch.setattr(registry, "catalogue", environment.__getattr__)

    def test_prefer(self, face):
        with pytest.raises(NameConflict):
            _ = face.twice
        core.plugins.prefer("functions", "twice", "A_dist")
        assert face.twice is mish

    def test_prefer_all_of_a_kind(self, face):
        core.plugins.prefer("functions", "*", "b-dist")
        assert (face.relu, face.twice, face.mish) == (other_relu, relu, mish)

    def test_preferring_who_does_not_provide_it(self):
        with pytest.raises(PluginError, match="'a-dist' does not provide core.functions.relu. Who"):
            core.plugins.prefer("functions", "relu", "a-dist")
        with pytest.raises(UnknownName, match="No plugin of 'd-dist' gives functions"):
            core.plugins.prefer("functions", "*", "d-dist")
        with pytest.raises(PluginError, match="no installed plugin is of 'd-dist'; there are"):
            core.plugins.prefer("kernels", "ReLU", "d-dist")

    def test_disable(self, face):
        core.plugins.disable("b-dist")
        assert face.twice is mish
        with pytest.raises(PluginError, match="core.plugins.disable: no installed plugin is of"):
            core.plugins.disable("d-dist")

    def test_list(self):
        listed = {plugin.distribution: plugin for plugin in core.plugins.list()}
        assert listed["a-dist"].gives == {"functions": ["mish", "twice"]}
        assert repr(listed["a-dist"]) == "<Plugin 'a-dist' of a-dist 1.0: loaded>"

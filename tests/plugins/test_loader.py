"""What a plugin may be, and how each kind of nonsense is named."""

import sys
import threading
from types import SimpleNamespace

import pytest

import core
from core import hookimpl, registry
from core.errors import PluginError, UnknownName
from core.registry import KINDS, PluginWarning
from core.registry.contract import misfit


def thing():
    """Something to register."""


@pytest.fixture
def bundled(make):
    return make.entry("plugrad", make.module(functions={"relu": thing}))


def refused(make, bundled, subject):
    environment = make.environment([bundled, make.entry("a-dist", subject)])
    with pytest.warns(PluginWarning) as caught:
        assert environment.functions.names() == ["relu"]
    assert environment.plugin("a-dist").state == "failed"
    assert environment.plugin("a-dist").claims == []
    (warning,) = caught
    return str(warning.message)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, "returned NoneType; expected a mapping"),
        ([("f", thing)], "returned list; expected a mapping"),
        ({"not a name": thing}, "gives the name 'not a name'; expected a public identifier"),
        ({"_private": thing}, "gives the name '_private'; expected a public identifier"),
        ({"lambda": thing}, "gives the name 'lambda'; expected a public identifier"),
        ({7: thing}, "gives the name 7; expected a public identifier"),
        ({"of": thing}, "gives the name 'of', which is reserved"),
        ({"f": None}, "gives None for 'f'; expected"),
        ({"f": "package.module.f"}, "gives 'package.module.f' for 'f'; expected"),
        (ValueError("inside"), "ValueError: inside"),
    ],
)
def test_nonsense_from_a_hook(make, bundled, given, expected):
    text = refused(make, bundled, make.module(functions=given))
    assert expected in text
    assert "a-dist 1.0" in text


def test_what_a_failing_plugin_had_registered_is_rolled_back(make, bundled):
    subject = make.module(links={"Fine": thing}, functions={"fine": thing}, optimizers=["nonsense"])
    environment = make.environment([bundled, make.entry("a-dist", subject)])
    with pytest.warns(PluginWarning, match=r"register_optimizers\(\) returned list"):
        assert "Fine" not in environment.links
    assert "fine" not in environment.functions
    with pytest.raises(UnknownName, match="No plugin of 'a-dist'"):
        environment.functions.of("a-dist")


@pytest.mark.parametrize("api", [None, 1])
def test_a_plugin_for_this_api(make, bundled, api):
    good = make.entry("a-dist", make.module(api=api, functions={"f": thing}))
    assert make.environment([bundled, good]).functions.get("f") is thing


def test_a_plugin_for_a_newer_api(make, bundled):
    text = refused(make, bundled, make.module(api=99, functions={"f": thing}))
    assert "written for plugin API 99, and this plugrad speaks 1: upgrade plugrad" in text


def test_a_plugin_for_an_older_api(make, bundled):
    text = refused(make, bundled, make.module(api=0, functions={"f": thing}))
    assert "written for plugin API 0, and this plugrad speaks 1 to 1: install a newer" in text


@pytest.mark.parametrize("api", ["1", 1.5, True, (1, 2)])
def test_an_api_that_is_no_number(make, bundled, api):
    text = refused(make, bundled, make.module(api=api, functions={"f": thing}))
    assert f"requires_plugin_api is {api!r}; expected an integer" in text


def test_a_misspelt_hook(make, bundled):
    def register_function():
        return {"f": thing}

    subject = SimpleNamespace(register_function=hookimpl(register_function))
    text = refused(make, bundled, subject)
    assert "unknown hook 'register_function'. Did you mean 'register_functions'?" in text


def test_a_hook_with_an_argument_that_does_not_exist(make, bundled):
    def register_functions(xp):
        return {"f": thing}

    text = refused(make, bundled, SimpleNamespace(register_functions=hookimpl(register_functions)))
    for part in (
        "PluginError: Plugin 'a-dist' for hook 'register_functions'",
        "register_functions(xp)",
        "Argument(s) {'xp'} are declared in the hookimpl but can not be found in the hookspec",
        "Hooks take no arguments, but for register_kernels(backend).",
    ):
        assert part in text


def test_a_hook_that_is_not_decorated(make, bundled):
    text = refused(make, bundled, SimpleNamespace(register_functions=dict))
    assert "register_functions() is not decorated: write @core.hookimpl above it" in text


def test_a_module_without_hooks(make, bundled):
    assert "implements no hook" in refused(make, bundled, SimpleNamespace())


def test_a_hook_wrapper(make, bundled):
    def register_functions():
        return (yield)

    subject = SimpleNamespace(register_functions=hookimpl(wrapper=True)(register_functions))
    assert "register_functions is a hook wrapper" in refused(make, bundled, subject)


def test_a_plugin_whose_own_package_is_gone(make, bundled):
    gone = ModuleNotFoundError("No module named 'a_dist'", name="a_dist")
    text = refused(make, bundled, gone)
    assert "install a-dist again, or `python -m pip uninstall a-dist`" in text


def test_a_bundled_package_that_is_shadowed(make, monkeypatch):
    monkeypatch.setitem(
        sys.modules, "plugrad_shadowed", SimpleNamespace(__file__="/elsewhere/plugins/__init__.py")
    )
    entry = make.entry("plugrad", ModuleNotFoundError("No module named 'plugins.functions'"))
    entry.value = "plugrad_shadowed.functions"
    functions = make.environment([entry]).functions
    for _ in range(2):
        with pytest.raises(PluginError, match="/elsewhere/plugins/__init__.py is in the way"):
            functions.get("relu")


def test_a_lazy_name_is_imported_when_it_is_asked_for(make, bundled, monkeypatch):
    monkeypatch.setitem(sys.modules, "lazy_thing", SimpleNamespace(thing=thing))
    given = {"f": "lazy_thing:thing", "g": "no_such_module:thing"}
    lazy = make.entry("a-dist", make.module(functions=given))
    environment = make.environment([bundled, lazy])
    assert environment.functions.names() == ["f", "g", "relu"]
    assert environment.functions.get("f") is thing
    with pytest.raises(PluginError, match="core.functions.g is registered by a-dist 1.0 as "):
        environment.functions.get("g")
    assert list(environment.plugin("a-dist").problems) == ["core.functions.g"]


def test_a_broken_lazy_name_is_absent_for_hasattr(make, bundled):
    lazy = make.entry("a-dist", make.module(functions={"g": "core.errors:no_such"}))
    offer = make.environment([bundled, lazy]).functions.of("a-dist")
    assert not hasattr(offer, "g")


class Nothing:
    """Neither a link nor anything else."""


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_of_another_kind(make, bundled, kind):
    it = Nothing() if "callable" in KINDS[kind].takes else Nothing
    name = "a_dist.it:It" if KINDS[kind].by_class else "it"
    environment = make.environment(
        [bundled, make.entry("a-dist", make.module(**{kind: {name: it}}))]
    )
    for _ in range(2):
        with pytest.raises(PluginError) as refusal:
            getattr(environment, kind).get(name)
    text = str(refusal.value)
    assert "is given by a-dist 1.0 (plugin 'a-dist', hook register_" + kind in text
    assert ": expected a" in text and text.endswith(" Nothing.")
    assert len(environment.plugin("a-dist").problems) == 1


def test_every_bundled_name_is_of_its_kind():
    for kind in KINDS:
        for name in registry.catalogue(kind).names():
            assert misfit(kind, registry.catalogue(kind).get(name)) == ""


def test_while_a_plugin_is_imported_it_sees_the_bundled_names_only(make, bundled):
    seen = {}

    def importing():
        functions = environment.functions
        seen["relu"] = functions.get("relu")
        with pytest.raises(UnknownName, match="Plugins are being loaded"):
            functions.get("first")
        return make.module(functions={"second": thing})

    first = make.entry("a-dist", make.module(functions={"first": thing}))
    environment = make.environment([first, make.entry("b-dist", importing), bundled])
    assert environment.functions.get("second") is thing
    assert seen == {"relu": thing}


def test_a_plugin_that_looks_up_its_own_name_is_told_why_it_is_not_there(make, bundled):
    """The error about it told of failed plugins, and so of itself, without end."""

    def subject():
        return environment.functions.get("own")

    environment = make.environment([bundled, make.entry("a-dist", subject)])
    with pytest.warns(PluginWarning, match="no 'own'.*until then only bundled names can be used"):
        environment.registry.plugins()
    with pytest.raises(UnknownName, match="no 'own'.*failed to load.*no 'own'"):
        environment.functions.get("own")


def test_a_bundled_name_is_not_kept_waiting_by_an_import_in_another_thread(make, bundled):
    found = []

    def importing():
        other = threading.Thread(target=lambda: found.append(environment.functions.get("relu")))
        other.start()
        other.join(10)
        return make.module(functions={"f": thing})

    environment = make.environment([bundled, make.entry("a-dist", importing)])
    environment.functions.get("f")
    assert found == [thing]


def test_threads_load_once_and_agree(make, bundled):
    third = make.entry("a-dist", make.module(functions={"f": thing}))
    environment = make.environment([bundled, third])
    gate, found = threading.Barrier(8), []

    def look_up():
        gate.wait()
        found.append(environment.functions.get("f"))

    threads = [threading.Thread(target=look_up) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [thing] * 8
    assert third.loads == 1


def test_hookimpl_is_public():
    assert core.hookimpl is hookimpl

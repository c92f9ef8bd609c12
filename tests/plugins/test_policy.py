"""The policy table: who gets a name, and what is said where nobody does."""

import os
import subprocess
import sys
import traceback
import warnings
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import core.functions
from core import registry
from core.errors import NameConflict, PluginError, UnknownName
from core.registry import PluginWarning


def relu():
    """Stands for a bundled function."""


def mish():
    """Stands for a third party's."""


def other_mish():
    """Stands for another third party's."""


@pytest.fixture
def bundled(make):
    return make.entry("plugrad", make.module(functions={"relu": relu}), version="0.1.0")


@pytest.fixture
def two(make, bundled):
    return [
        bundled,
        make.entry("plugrad-mish", make.module(functions={"mish": mish}), version="1.2"),
        make.entry("other-mish", make.module(functions={"mish": other_mish}), version="3.4"),
    ]


def test_a_name_is_found_whoever_gives_it(make, bundled):
    third = make.entry("plugrad-mish", make.module(functions={"mish": mish}))
    environment = make.environment([bundled, third])
    assert environment.functions.get("relu") is relu
    assert environment.functions.get("mish") is mish
    assert environment.functions.names() == ["mish", "relu"]
    assert environment.plugin("plugrad-mish").state == "loaded"
    assert environment.plugin("plugrad-mish").gives == {"functions": ["mish"]}


def test_two_third_parties_of_one_name_conflict(make, two):
    functions = make.environment(two).functions
    with pytest.raises(NameConflict) as caught:
        functions.get("mish")
    text = str(caught.value)
    for part in (
        "plugrad-mish 1.2",
        "other-mish 3.4",
        "core.plugins.prefer('functions', 'mish', 'other-mish')",
        "PLUGRAD_PREFER=functions.mish=other-mish",
        '"functions.mish" = "other-mish"',
        "[tool.plugrad]",
        "core.functions.of('other-mish').mish",
    ):
        assert part in text
    assert functions.names() == ["relu"]
    assert functions.conflicts() == ["mish"]
    assert "mish" not in functions
    assert functions.of("plugrad-mish").mish is mish
    assert functions.of("other_mish").mish is other_mish


def test_a_backend_that_two_third_parties_give_conflicts(make, monkeypatch):
    mine, theirs = [type(name, (core.Backend,), {}) for name in ("Mine", "Theirs")]
    entries = [
        make.entry("mine", make.module(backends={"metal": mine})),
        make.entry("theirs", make.module(backends={"metal": theirs})),
    ]
    environment = make.environment(entries)
    monkeypatch.setattr(registry, "catalogue", environment.__getattr__)
    for ask in (core.backend.get, core.use):
        with pytest.raises(NameConflict, match="(?s)mine 1.0.*theirs 1.0.*prefer"):
            ask("metal")


def test_a_conflict_is_settled_in_the_program(make, two):
    environment = make.environment(two)
    environment.registry.prefer("functions.mish", "plugrad-mish")
    assert environment.functions.get("mish") is mish
    environment.registry.prefer("functions.mish", "Other.Mish")
    assert environment.functions.get("mish") is other_mish


@pytest.mark.parametrize("key", ["functions.mish", "functions.*", "*"])
def test_a_conflict_is_settled_in_the_environment(make, two, key):
    environment = make.environment(two, {"PLUGRAD_PREFER": f"{key}=plugrad-mish"})
    assert environment.functions.get("mish") is mish
    assert environment.functions.get("relu") is relu


@pytest.mark.parametrize(
    "text",
    [
        '[tool.plugrad]\nprefer = {"functions.mish" = "plugrad-mish"}',
        '[tool.plugrad.prefer]\nfunctions.mish = "plugrad-mish"',
        '[tool.plugrad]\ndisable = ["other-mish"]',
    ],
)
def test_a_conflict_is_settled_in_the_project(make, two, tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    assert make.environment(two, directory=tmp_path).functions.get("mish") is mish


def test_the_nearer_source_wins(make, two, tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.plugrad]\nprefer = {"functions.mish" = "plugrad-mish"}'
    )
    environ = {"PLUGRAD_PREFER": "functions.mish=other-mish"}
    environment = make.environment(two, environ, tmp_path)
    assert environment.functions.get("mish") is other_mish
    environment.registry.prefer("functions.mish", "plugrad-mish")
    assert environment.functions.get("mish") is mish


def test_a_bundled_name_stays_until_somebody_is_preferred(make, bundled):
    third = make.entry("faster-relu", make.module(functions={"relu": mish}))
    environment = make.environment([third, bundled])
    assert environment.functions.get("relu") is relu
    assert environment.functions.of("faster-relu").relu is mish
    environment.registry.prefer("functions.relu", "faster-relu")
    assert environment.functions.get("relu") is mish


def test_a_preferred_distribution_that_lacks_the_name_is_refused(make, bundled):
    environ = {"PLUGRAD_PREFER": "functions.relu=not-here"}
    with pytest.raises(NameConflict, match="PLUGRAD_PREFER prefers 'not-here', which does not"):
        make.environment([bundled], environ).functions.get("relu")
    everything = {"PLUGRAD_PREFER": "functions.*=not-here"}
    assert make.environment([bundled], everything).functions.get("relu") is relu


def test_a_broken_plugin_is_one_warning_and_the_rest_works(make, bundled):
    broken = make.entry("broken-dist", ImportError("no libfoo"), version="9.9")
    environment = make.environment([broken, bundled])
    with pytest.warns(PluginWarning) as caught:
        assert environment.functions.get("relu") is relu
    assert len(caught) == 1
    assert caught[0].filename == __file__
    text = str(caught[0].message)
    assert "broken-dist 9.9" in text
    assert "no libfoo" in text
    assert "PLUGRAD_DISABLE_PLUGINS=broken-dist" in text
    assert environment.plugin("broken-dist").state == "failed"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert environment.functions.get("relu") is relu


def test_a_later_miss_recalls_the_broken_plugin(make, bundled):
    cause = ImportError("no libfoo")
    environment = make.environment([make.entry("broken-dist", cause), bundled])
    with pytest.warns(PluginWarning):
        environment.functions.names()
    with pytest.raises(UnknownName, match=r"failed to load \(.*broken-dist 1.0.*no libfoo") as miss:
        environment.functions.get("foo")
    assert miss.value.__cause__ is cause


def test_the_warning_does_not_come_again_after_a_change(make, bundled):
    environment = make.environment([make.entry("broken-dist", ImportError("x")), bundled])
    with pytest.warns(PluginWarning):
        environment.functions.names()
    environment.registry.disable("some-other")
    assert environment.functions.names() == ["relu"]


def test_a_warning_turned_into_an_error_leaves_the_registry_usable(make, bundled):
    environment = make.environment([make.entry("broken-dist", ImportError("x")), bundled])
    with pytest.raises(PluginWarning):
        environment.functions.get("relu")
    assert environment.functions.get("relu") is relu


def test_strict_raises_every_time(make, bundled):
    cause = ImportError("no libfoo")
    environ = {"PLUGRAD_PLUGINS_STRICT": "1"}
    environment = make.environment([make.entry("broken-dist", cause), bundled], environ)
    for _ in range(2):
        with pytest.raises(PluginError, match=r"broken-dist 1.0.*no libfoo") as caught:
            environment.functions.get("foo")
        assert caught.value.__cause__ is cause


@pytest.mark.parametrize("value", ["", "0", "false", "no"])
def test_strict_is_off_by_value(make, bundled, value):
    environ = {"PLUGRAD_PLUGINS_STRICT": value}
    environment = make.environment([make.entry("broken-dist", ImportError("x")), bundled], environ)
    with pytest.warns(PluginWarning):
        environment.functions.names()


def test_a_plugin_that_exits_the_interpreter_is_only_broken(make, bundled):
    environment = make.environment([make.entry("quitter", SystemExit(3)), bundled])
    with pytest.warns(PluginWarning, match="quitter 1.0 is not used: SystemExit: 3"):
        assert environment.functions.get("relu") is relu


def test_an_interrupt_is_not_swallowed_and_the_load_is_repeated(make, bundled):
    entry = make.entry("slow-dist", KeyboardInterrupt())
    environment = make.environment([entry, bundled])
    with pytest.raises(KeyboardInterrupt):
        environment.functions.get("mish")
    entry.subject = make.module(functions={"mish": mish})
    assert environment.functions.get("mish") is mish


def test_a_disabled_distribution_is_never_imported(make, two):
    environ = {"PLUGRAD_DISABLE_PLUGINS": "Other_Mish, not-installed"}
    environment = make.environment(two, environ)
    assert environment.functions.get("mish") is mish
    assert two[2].loads == 0
    assert environment.plugin("other-mish").state == "disabled"


def test_a_miss_recalls_what_is_disabled(make, two):
    environment = make.environment(two, {"PLUGRAD_DISABLE_PLUGINS": "*"})
    with pytest.raises(UnknownName, match=r"Disabled: other-mish 3.4, plugrad-mish 1.2\."):
        environment.functions.get("mish")
    assert environment.functions.get("relu") is relu


def test_disabling_at_run_time(make, two):
    environment = make.environment(two)
    assert environment.functions.conflicts() == ["mish"]
    environment.registry.disable("other-mish")
    assert environment.functions.get("mish") is mish


def test_a_misspelt_name_gets_the_nearest(make, bundled):
    functions = make.environment([bundled]).functions
    with pytest.raises(UnknownName, match="core.functions has no 'rleu'. Did you mean 'relu'?"):
        functions.get("rleu")
    with pytest.raises(UnknownName, match="No plugin of 'plugradd' gives functions.*'plugrad'?"):
        functions.of("plugradd")
    with pytest.raises(UnknownName, match="plugrad gives no functions 'rleu'. Did you mean"):
        _ = functions.of("plugrad").rleu


def test_an_uninstalled_checkout_says_what_to_run(make):
    with pytest.raises(UnknownName, match="run `python -m pip install -e "):
        make.environment([]).functions.get("relu")


def test_one_distribution_naming_a_thing_twice(make, bundled):
    shared = make.module(functions={"mish": mish})
    twice = [make.entry("plugrad-mish", shared, name=name) for name in ("a", "b")]
    environment = make.environment([bundled, *twice])
    assert environment.functions.get("mish") is mish
    assert [p.state for p in environment.registry.plugins()] == ["loaded"] * 3


def test_one_distribution_naming_two_things_alike_is_broken(make, bundled):
    entries = [
        make.entry("plugrad-mish", make.module(functions={"mish": f}), name=name)
        for name, f in (("a", mish), ("b", other_mish))
    ]
    environment = make.environment([bundled, *entries])
    with pytest.warns(PluginWarning, match="plugin 'a' of the same distribution gives already"):
        assert environment.functions.get("mish") is mish


names = st.sampled_from(["relu", "tanh", "mish", "gelu"])
offers = st.dictionaries(
    st.sampled_from(["plugrad", "a-dist", "b-dist", "c-dist"]),
    st.sets(names, min_size=1),
    max_size=4,
)
preferences = st.dictionaries(
    st.sampled_from(["functions.mish", "functions.*", "*"]),
    st.sampled_from(["a-dist", "b-dist"]),
    max_size=2,
)


@given(offers=offers, preferences=preferences, data=st.data())
def test_nothing_depends_on_the_order_of_installation(make, offers, preferences, data):
    def outcome(order):
        entries = [
            make.entry(d, make.module(functions={n: partial(tuple, (d, n)) for n in offers[d]}))
            for d in order
        ]
        environ = {"PLUGRAD_PREFER": ",".join(f"{k}={d}" for k, d in preferences.items())}
        functions = make.environment(entries, environ).functions
        return {name: _what(functions, name) for name in ("relu", "tanh", "mish", "gelu")}

    first = outcome(sorted(offers))
    assert outcome(data.draw(st.permutations(sorted(offers)))) == first
    for name, found in first.items():
        if name in offers.get("plugrad", ()) and not preferences:
            assert found == ("plugrad", name)


def _what(functions, name):
    try:
        return functions.get(name)()
    except AttributeError as error:
        return type(error), str(error)


def test_a_suggestion_is_made_once():
    """Python 3.12 and later add their own to what a module's attribute access raises."""
    with pytest.raises(UnknownName) as raised:
        core.functions.reluu  # noqa: B018
    text = "".join(traceback.format_exception(raised.value))
    assert text.count("Did you mean") == 1
    assert "Did you mean 'relu'?" in text.splitlines()[-1]


STRANGER = """
import core
from core import functions as F

class Triple(core.Elementwise):
    domain = core.Domain(x=core.real(-1, 1))
    def compute(self, xp, x): return x * 3
    def gradient(self, xp, g): return g * 3

def add(x, y): return F.maximum(x, y)

@core.hookimpl
def register_namespace(): return {"add": add, "subtract": Triple, "negative": Triple}

@core.hookimpl
def register_functions(): return {"add": add, "get_item": add}
"""
OPERATORS = """
import numpy as np, core
x, y = (core.Variable(np.array(v, "f")) for v in ([1, 2], [5, 0]))
for z in (x + y, y.array + x, x * y, 2 / x, -x, x[1:], x == y):
    print(z.array.tolist())
"""


@pytest.mark.parametrize(
    ("preferred", "sums", "negative"),
    [
        (" ", [[6, 2], [6, 2]], [-1, -2]),
        ("namespace.*=stranger", [[5, 2], [5, 2]], [3, 6]),
    ],
)
def test_who_is_preferred_in_the_namespace_gives_operators_and_nobody_else(
    preferred, sums, negative, tmp_path
):
    (tmp_path / "stranger_hooks.py").write_text(STRANGER)
    information = tmp_path / "stranger-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[plugrad]\nstranger = stranger_hooks\n")
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": paths, "PLUGRAD_PREFER": preferred.strip()}
    environment.pop("PLUGRAD_DISABLE_PLUGINS", None)
    done = subprocess.run(
        [sys.executable, "-c", OPERATORS], env=environment, capture_output=True, text=True
    )
    assert not done.returncode, done.stderr
    others = [[5, 0], [2, 1], negative, [2], [False, False]]
    assert [eval(line) for line in done.stdout.splitlines()] == [*sums, *others]


@pytest.mark.parametrize(
    ("choice", "arguments", "message"),
    [
        (
            core.plugins.disable,
            (["plugrad-a", "plugrad-b"],),
            "disable: expected distribution to be a",
        ),
        (core.plugins.prefer, ("functions", "relu", None), "prefer: expected distribution to be a"),
        (
            core.plugins.prefer,
            (3, "relu", "plugrad"),
            "prefer: expected kind to be a string, got int 3",
        ),
    ],
)
def test_choices_are_told_by_names(choice, arguments, message):
    with pytest.raises(TypeError, match=message):
        choice(*arguments)

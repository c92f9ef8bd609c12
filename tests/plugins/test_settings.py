"""What users decide, and how a mistake in it is named."""

import pytest

from core.errors import PluginError
from core.registry.settings import read


def project(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    return read({}, tmp_path)


def test_nothing_said(tmp_path):
    settings = read({}, tmp_path)
    assert (settings.preferences, settings.disabled, settings.strict) == ({}, {}, False)


def test_all_of_the_environment(tmp_path):
    environ = {
        "PLUGRAD_PREFER": " functions.mish = A_Dist , links.* = b ,",
        "PLUGRAD_DISABLE_PLUGINS": "c, D.e",
        "PLUGRAD_PLUGINS_STRICT": "yes",
    }
    settings = read(environ, tmp_path)
    assert settings.preferred("functions", "mish") == ("a-dist", "PLUGRAD_PREFER", True)
    assert settings.preferred("links", "Linear") == ("b", "PLUGRAD_PREFER", False)
    assert settings.preferred("functions", "relu") is None
    assert settings.disables("d-e", bundled=False)
    assert not settings.disables("f", bundled=False)
    assert settings.strict


def test_all_of_the_project(tmp_path):
    settings = project(
        tmp_path,
        '[tool.plugrad]\nstrict = true\ndisable = ["*"]\nprefer = {"*" = "x", links.Mish = "y"}',
    )
    assert settings.preferred("functions", "any")[0] == "x"
    assert settings.preferred("links", "Mish")[0] == "y"
    assert settings.disables("anybody", bundled=False)
    assert not settings.disables("plugrad", bundled=True)
    assert settings.strict


def test_the_environment_can_switch_off_what_the_project_switched_on(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.plugrad]\nstrict = true")
    assert not read({"PLUGRAD_PLUGINS_STRICT": "0"}, tmp_path).strict


@pytest.mark.parametrize("text", ["this is = = not toml", '[tool.other]\nname = "x"', "\x00"])
def test_a_project_that_does_not_speak_of_plugrad_is_nobody_s_business(tmp_path, text):
    assert project(tmp_path, text).preferences == {}


@pytest.mark.parametrize("value", ["mish", "functions.mish=", "=x", "functions.mish"])
def test_a_preference_without_its_parts(value, tmp_path):
    with pytest.raises(PluginError, match="expected KIND.NAME=DISTRIBUTION,... but got"):
        read({"PLUGRAD_PREFER": value}, tmp_path)


def test_a_preference_of_an_unknown_kind(tmp_path):
    with pytest.raises(PluginError, match="cannot prefer 'function.mish'.*mean 'functions'?"):
        read({"PLUGRAD_PREFER": "function.mish=x"}, tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[tool.plugrad]\nprefers = {}", "unknown key 'prefers'.*mean 'prefer'?"),
        ("[tool.plugrad]\nprefer = 3", "expected prefer = "),
        ("[tool.plugrad]\nprefer = {links = 3}", "expected prefer = "),
        ("[tool.plugrad]\ndisable = 'x'", "and disable = "),
        ("[tool.plugrad]\ndisable = [1]", "and disable = "),
        ("[tool.plugrad]\nstrict = 1", "expected strict = true or false; got 1"),
        ("[tool]\nplugrad = 3", "unknown key ''"),
        ("[tool.plugrad", "Cannot read .tool.plugrad. in .*pyproject.toml"),
    ],
)
def test_a_project_that_is_wrong(tmp_path, text, expected):
    with pytest.raises(PluginError, match=expected) as caught:
        project(tmp_path, text)
    assert "pyproject.toml" in str(caught.value)

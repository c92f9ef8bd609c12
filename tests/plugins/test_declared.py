"""Entry points of distributions whose files are malformed."""

import re

import pytest

from core.registry import Registry, declared
from core.registry.records import PluginWarning
from core.registry.settings import read
from plugrad.commands.editable import stale_installs


@pytest.fixture
def declare(tmp_path, monkeypatch):
    """Install a distribution of this name with these bytes as its entry points."""

    def made(name, content, metadata=None):
        info = tmp_path / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        given = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        (info / "METADATA").write_text(given if metadata is None else metadata)
        (info / "entry_points.txt").write_bytes(content)
        monkeypatch.syspath_prepend(tmp_path)

    return made


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[console_scripts]\n\n# no\nno equals\n", "in line 4, got 'no equals'"),
        (b"[plugrad]\nab\xff = it\n", "is malformed .*can't decode byte 0xff"),
    ],
)
def test_a_malformed_file_is_named_and_the_rest_works(declare, tmp_path, content, said):
    declare("bad-dist", content)
    declare("good-dist", b"[plugrad]\ngood = a_package_that_is_nowhere\n")
    registry = Registry(declared.installed, lambda: read({}, tmp_path))
    with pytest.warns(PluginWarning) as caught:
        states = {plugin.key: plugin.state for plugin in registry.plugins()}
    assert states["plugrad"] == "loaded" and states["bad-dist"] == "failed"
    texts = [str(each.message) for each in caught]
    assert sum("'good' (a_package_that_is_nowhere) of good-dist 1.0" in text for text in texts) == 1
    (bad,) = [text for text in texts if "good" not in text]
    assert re.search(said, bad)
    assert "entry_points.txt of bad-dist is malformed" in bad
    assert "PLUGRAD_DISABLE_PLUGINS=bad-dist leaves it out" in bad
    assert not [text for text in stale_installs() if "bad-dist" in text]


def test_of_two_distributions_of_one_name_the_first_counts(declare):
    declare("bad-dist", b"not one\n")
    before = [each.name for each in declared.installed()]
    assert len(before) == len(set(before)) and "functions" in before

"""The `plugrad` command: what it prints, its JSON, its exit status."""

import io
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import core
from core import registry
from core.errors import PluginError
from plugrad.commands import check as check_module
from plugrad.commands import doctor as doctor_module
from plugrad.commands import listing
from plugrad.commands.editable import stale_installs
from plugrad.commands.main import _COMMANDS, main
from plugrad.commands.shadows import shadows

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pretend(monkeypatch):
    """Let the commands see a made-up environment; the backends in use are left alone."""
    core.backend.host()

    def install(made):
        monkeypatch.setattr(registry, "installed", made.registry)
        monkeypatch.setattr(registry, "catalogue", made.__getattr__)
        monkeypatch.setattr(listing, "_default", lambda: "numpy")
        monkeypatch.setattr(doctor_module.ranks, "findings", lambda: iter(()))  # see communicators
        return made

    return install


class Unavailable(core.Backend):
    """A backend that cannot run."""

    @classmethod
    def unavailable(cls):
        return "no such device"


class Available(core.Backend):
    """A backend that can."""

    @classmethod
    def unavailable(cls):
        return None


def f():
    """A function."""


@pytest.fixture
def environment(make, pretend):
    both = {"twice": f, "relu": f}
    made = make.environment(
        [
            make.entry(
                "plugrad", make.module(functions={"relu": f}, backends={"numpy": Available})
            ),
            make.entry("a-dist", make.module(backends={"metal": Unavailable})),
            make.entry("b-dist", make.module(functions=both, kernels=lambda backend: {})),
            make.entry("c-dist", make.module(functions={"twice": f, "lost": "no_module:lost"})),
            make.entry("d-dist", ImportError("no libfoo")),
            make.entry("e-dist", make.module(functions={"e": f})),
        ],
        {"PLUGRAD_DISABLE_PLUGINS": "e-dist,gone", "PLUGRAD_PREFER": "functions.e=absent"},
    )
    return pretend(made)


def run(capsys, *arguments, status=0):
    assert main(arguments) == status
    return capsys.readouterr().out


def run_json(capsys, *arguments, status=0):
    return json.loads(run(capsys, *arguments, "--json", status=status))


def test_plugins(environment, capsys):
    text = run(capsys, "plugins")
    rows = {line.split()[1]: line for line in text.splitlines()[1:7]}
    assert rows["b-dist"].split()[:4] == ["b-dist", "b-dist", "1.0", "loaded"]
    assert "functions: relu, twice; kernels" in rows["b-dist"]
    assert "failed" in rows["d-dist"]
    assert "disabled" in rows["e-dist"]
    assert "ImportError: no libfoo" in text
    assert "core.functions.twice is claimed by 2 distributions" in text


def test_plugins_as_json(environment, capsys):
    data = run_json(capsys, "plugins")
    assert data["plugin_api"] == 1
    by_name = {plugin["plugin"]: plugin for plugin in data["plugins"]}
    assert by_name["plugrad"] == {
        "plugin": "plugrad",
        "entry_point": "plugrad.hooks",
        "distribution": "plugrad",
        "version": "1.0",
        "bundled": True,
        "state": "loaded",
        "cause": None,
        "gives": {"functions": ["relu"], "backends": ["numpy"]},
        "kernels": False,
        "problems": {},
    }
    assert by_name["d-dist"]["cause"] == "ImportError: no libfoo"
    assert data["conflicts"] == [
        {"kind": "functions", "name": "twice", "distributions": ["b-dist", "c-dist"]}
    ]


def test_what_plugins_print_is_not_among_json(make, pretend, capsys):
    def chatty():
        print("found a licence")
        return make.module(functions={"f": f})

    pretend(make.environment([make.entry("chatty", chatty)]))
    assert main(["plugins", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["plugins"][0]["state"] == "loaded"
    assert "found a licence" in said.err


def test_a_name_that_fails_later_is_listed(environment, capsys):
    with pytest.warns(registry.PluginWarning), pytest.raises(PluginError):
        environment.functions.get("lost")
    text = run(capsys, "plugins")
    assert "with problems" in text
    assert "core.functions.lost of c-dist 1.0 cannot be used: ModuleNotFoundError" in text


def test_plugins_of_an_uninstalled_checkout(make, pretend, capsys):
    made = make.environment([])
    pretend(made)
    assert "pip install -e" in run(capsys, "plugins")


def test_backends(environment, capsys):
    text = run(capsys, "backends")
    assert "unavailable  no such device" in text
    assert run_json(capsys, "backends")[0] == {
        "backend": "metal",
        "distribution": "a-dist",
        "version": "1.0",
        "available": False,
        "reason": "no such device",
        "default": False,
    }


def test_a_broken_backend_is_listed_and_the_others_stay(make, pretend, capsys):
    backends = {"numpy": Available, "lost": "no_module:Lost"}
    made = make.environment([make.entry("plugrad", make.module(backends=backends))])
    pretend(made)
    lost, numpy = run_json(capsys, "backends")
    assert "no_module" in lost["reason"]
    assert numpy["available"]


def test_info_is_printed_by_scripts_too(capsys):
    core.print_runtime_info()
    shown = capsys.readouterr().out
    assert shown == run(capsys, "info")
    out = io.StringIO()
    core.print_runtime_info(out)
    assert out.getvalue() == shown


def test_info(capsys, monkeypatch):
    monkeypatch.delenv("PLUGRAD_DISABLE_PLUGINS")
    monkeypatch.setenv("PLUGRAD_PREFER", "functions.x=y")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    data = run_json(capsys, "info")
    assert data["location"] == str(ROOT)
    assert data["libraries"]["numpy"] == sys.modules["numpy"].__version__
    assert data["threads"]["OMP_NUM_THREADS"] == "1"
    assert data["environment"] == {"PLUGRAD_PREFER": "functions.x=y"}
    text = run(capsys, "info")
    assert "functions.x=y" in text
    assert sys.executable in text


def test_doctor_names_every_trouble(environment, capsys):
    text = run(capsys, "doctor", status=1)
    for part in (
        "ImportError: no libfoo",
        "core.functions.lost is registered by c-dist 1.0",
        "core.functions.twice is claimed by b-dist and c-dist: prefer one",
        "core.functions.relu of b-dist 1.0 is hidden by the bundled name",
        "PLUGRAD_PREFER prefers 'absent' for functions.e, which has no plugins here",
        "PLUGRAD_DISABLE_PLUGINS disables 'gone', which has no plugins here",
        "metal: no such device",
        "'e-dist' of e-dist 1.0 is disabled",
        f"Python {sys.version.split()[0]}",
        "processors",
    ):
        assert part in text
    data = run_json(capsys, "doctor", status=1)
    assert data["problems"] == sum(f["state"] == "problem" for f in data["findings"]) == 4


def test_doctor_of_a_healthy_environment(make, pretend, monkeypatch, capsys):
    subject = make.module(functions={"relu": f}, backends={"numpy": Available})
    made = make.environment([make.entry("plugrad", subject)])
    pretend(made)
    monkeypatch.setattr(doctor_module, "stale_installs", lambda: iter(()))
    monkeypatch.setattr(doctor_module, "shadows", lambda: iter(()))
    assert run_json(capsys, "doctor")["problems"] == 0
    text = run(capsys, "doctor")
    for part in ("numpy: num_threads: ", "numpy: BLAS: ", "numpy: kept memory: "):
        assert part in text


def test_doctor_names_kernels_that_cannot_be_used(make, pretend, capsys):
    lost = {"compute": {"core.ops:Lost": f, "not_installed.ops:Op": f, "core:Elementwise": f}}
    pretend(
        make.environment(
            [
                make.entry("plugrad", make.module(backends={"numpy": Available})),
                make.entry("a-dist", make.module(kernels=lambda backend: {"gradint": {}})),
                make.entry("b-dist", make.module(kernels=lambda backend: lost)),
            ]
        )
    )
    found = run_json(capsys, "doctor", status=1)["findings"]
    texts = [each["text"] for each in found if each["check"] == "kernels"]
    unfit, lost = [text for text in texts if text.startswith("The kernels for numpy")]
    assert "of a-dist 1.0 are not used: PluginError: register_kernels() gives" in unfit
    assert "of b-dist 1.0 are for 'core.ops:Lost', which cannot be imported" in lost


@pytest.mark.parametrize("command", ["stubs", "reference"])
def test_a_folder_that_cannot_be_written(command, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main([command, "--output", str(tmp_path / "file" / "within")]) == 2
    assert f"plugrad {command}: cannot write {tmp_path}" in capsys.readouterr().err


def test_a_script_that_is_not_there(tmp_path, capsys):
    assert main(["info", "--capture", str(tmp_path / "train.py")]) == 2
    assert "plugrad info: expected a script to run; found no file" in capsys.readouterr().err
    assert main(["info", "--capture"]) == 2
    assert "plugrad info: expected a script to run" in capsys.readouterr().err


def test_a_check_that_cannot_run_is_a_finding(environment, monkeypatch, capsys):
    def broken():
        raise OSError("disk on fire")

    monkeypatch.setattr(doctor_module, "shadows", broken)
    assert "problem  shadows: OSError: disk on fire" in run(capsys, "doctor", status=1)


def test_a_wrong_setting_ends_a_command_with_its_reason(make, pretend, capsys):
    made = make.environment([], {"PLUGRAD_PREFER": "nonsense"})
    pretend(made)
    assert main(["plugins"]) == 2
    assert "plugrad plugins: PLUGRAD_PREFER: expected" in capsys.readouterr().err


def test_the_version_is_that_of_the_distribution(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"plugrad {declared}\n"


def test_help_tells_of_every_command(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    for command in _COMMANDS:
        assert f"\n    {command}" in shown
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert len(capsys.readouterr().out.split("\n\n")[1]) > 60


def test_an_unknown_command(capsys):
    with pytest.raises(SystemExit):
        main(["plugin"])
    assert "invalid choice: 'plugin'" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["core", "plugrad"])
def test_python_m(package):
    command = [sys.executable, "-m", package, "info", "--json"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["location"] == str(ROOT)


def test_names_that_the_encoding_lacks_are_escaped(tmp_path, monkeypatch):
    told = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(told, "ascii"))
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "größe.html")]) == 0
    assert b"gr\\xf6\\xdfe.html" in told.getvalue()


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m core info | true"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert "Error" not in done.stderr


class TestCheck:
    """What an author is told before a plugin is published."""

    PROJECT = tomllib.loads(
        '[project]\nname = "B_dist"\n[project.entry-points.plugrad]\nsame = "b_dist.hooks"\n'
    )["project"]

    def test_names_are_those_of_the_distribution_and_nobody_else_s(self, make, pretend):
        entries = [
            make.entry("plugrad", make.module(functions={"relu": f})),
            make.entry("a-dist", make.module(functions={"mine": f, "twice": f}), name="same"),
            make.entry("b-dist", make.module(functions={"relu": f, "twice": f}), name="same"),
        ]
        pretend(make.environment(entries))
        found = list(check_module._names(ROOT, self.PROJECT))
        assert [(each.state, each.text) for each in found] == [
            ("note", "functions.relu is hidden by the bundled name"),
            ("ok", "functions.relu"),
            ("problem", "functions.twice is given by a-dist 1.0 too: choose another name"),
            ("ok", "functions.twice"),
        ]

    def test_the_entry_point_of_another_is_none_of_it(self, make, pretend):
        pretend(make.environment([make.entry("a-dist", make.module(links={}), name="same")]))
        (found,) = check_module._entry_points(ROOT, self.PROJECT)
        assert found.text.startswith("'same' is not installed here")

    def test_types_are_checked_where_something_says_which(self, tmp_path):
        (tmp_path / "pyproject.toml").write_text("[project]\n")
        (found,) = check_module._types(tmp_path, self.PROJECT)
        assert (found.state, found.text[:8]) == ("note", "not run:")


class TestShadows:
    def test_none(self, tmp_path):
        assert list(shadows(tmp_path, [str(ROOT), ""])) == []
        assert list(shadows(ROOT, [str(ROOT)])) == []

    def test_a_package_in_the_working_directory(self, tmp_path):
        file = tmp_path / "core" / "__init__.py"
        file.parent.mkdir()
        file.touch()
        (found,) = shadows(tmp_path, [])
        assert found.startswith(f"{file} shadows plugrad's package 'core'")
        assert "under `python -m`" in found

    def test_a_module_along_the_path(self, tmp_path):
        (tmp_path / "plugins.py").touch()
        (found,) = shadows(ROOT, [str(tmp_path), str(tmp_path)])
        assert found.startswith(f"{tmp_path / 'plugins.py'} shadows")
        assert "first on sys.path" in found

    def test_a_folder_without_init_is_no_danger(self, tmp_path):
        (tmp_path / "core").mkdir()
        assert list(shadows(tmp_path, [])) == []


class TestEditable:
    """Stale editable installs, told from the metadata that pip leaves."""

    @pytest.fixture
    def installed(self, tmp_path):
        from importlib.metadata import PathDistribution

        source = tmp_path / "a source"
        source.mkdir()
        info = tmp_path / "a_dist-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: a-dist\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[plugrad]\nmish = a_dist.hooks\n")
        url = source.as_uri()
        (info / "direct_url.json").write_text(
            json.dumps({"url": url, "dir_info": {"editable": True}})
        )
        return source / "pyproject.toml", PathDistribution(info)

    def findings(self, installed, text):
        pyproject, distribution = installed
        if text is not None:
            pyproject.write_text(text, "latin-1")
        return list(stale_installs([distribution]))

    FRESH = '[project]\nversion = "1.0"\n[project.entry-points.plugrad]\nmish = "a_dist.hooks"\n'

    def test_fresh(self, installed):
        assert self.findings(installed, self.FRESH) == []

    def test_an_entry_point_was_added(self, installed):
        (found,) = self.findings(installed, self.FRESH + 'gelu = "a_dist.gelu"\n')
        assert "a-dist: entry points gelu changed: run `python -m pip install -e" in found

    def test_the_version_moved(self, installed):
        (found,) = self.findings(installed, self.FRESH.replace("1.0", "1.1"))
        assert "installed as 1.0, the sources say 1.1" in found

    @pytest.mark.parametrize("text", [None, "not toml = = ", "[tool.x]", "\xff"])
    def test_the_sources_are_gone_or_unreadable(self, installed, text):
        (found,) = self.findings(installed, text)
        assert "whose pyproject.toml fails" in found

    def test_an_ordinary_install_is_not_compared(self, installed):
        pyproject, distribution = installed
        (Path(distribution._path) / "direct_url.json").unlink()
        assert self.findings(installed, "not toml = = ") == []

"""The policy table with real distributions, pip-installed into a fresh virtual environment."""

import json
import re
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("plugin_*"))
LIBRARIES = {
    "plugin_jax": ["jax"],
    "plugin_torch": ["torch", "array_api_compat"],
}  # that plugrad does not need
DISTS = Path(__file__).parent / "dists"
BAD = "plugrad-rival,plugrad-broken,plugrad-nonsense,plugrad-future,plugrad-offline,plugrad-misfit"


@pytest.fixture(scope="session")
def venv(venv_with):
    return venv_with("installed", *EXAMPLES, *sorted(DISTS.iterdir()))


@pytest.fixture
def python(venv, tmp_path):
    def run(code, *options, **keywords):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(code))
        return venv.run("python", *options, str(script), cwd=tmp_path, **keywords)

    return run


@pytest.fixture
def plugrad(venv, tmp_path):
    def run(*arguments, **keywords):
        return venv.run("plugrad", *arguments, cwd=tmp_path, **keywords)

    return run


@pytest.fixture(scope="module")
def doctors_word(venv, tmp_path_factory):
    """What the doctor says of all that is there, plugins with faults among it."""
    return venv.run("plugrad", "doctor", cwd=tmp_path_factory.mktemp("doctor"), status=1)


CONFLICT = """
    import warnings; warnings.simplefilter("ignore")
    import core, core.functions as F
    {before}
    print(F.mish({x}))
"""
X = "__import__('numpy').zeros(1, 'f')"


def test_installing_is_all_it_takes(python):
    out = python(
        """
        import io, pydoc, rlcompleter
        import numpy as np
        import core.functions as F, core.links as L
        from core import optimizers
        from core.training import extensions

        x = np.ones((2, 3), "f")
        print(F.mish(x).shape, L.LinearMish(3, 4)(x).shape)
        print(optimizers.Signum(lr=0.5), extensions.ReportGradientNorm.__name__)
        print("mish" in dir(F), rlcompleter.Completer({"F": F}).complete("F.mis", 0))
        text = io.StringIO()
        pydoc.Helper(output=text).help(F)
        print("Mish activation" in text.getvalue())
        """,
        PLUGRAD_DISABLE_PLUGINS=BAD,
    )
    assert out.splitlines() == [
        "(2, 3) (2, 4)",
        "Signum(lr=0.5, momentum=0.9) ReportGradientNorm",
        "True F.mish(",
        "True",
    ]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_passes_its_own_tests(venv, example):
    for library in LIBRARIES.get(example.name, ()):
        pytest.importorskip(library, reason=f"the example needs {library}")
    options = ["-q", "-p", "no:cacheprovider", "-c", "pytest.ini", "--rootdir", str(venv.path)]
    (venv.path / "pytest.ini").touch()
    where = str(example / "tests")
    out = venv.run("python", "-m", "pytest", *options, where, PLUGRAD_DISABLE_PLUGINS=BAD)
    assert re.search(r"^[1-9]\d* passed", out, re.M) and "failed" not in out


def test_the_tests_leave_alone_what_is_installed_beside(venv):
    options = ["-q", "-n", "0", "-p", "no:cacheprovider"]
    walks = ["links/test_every_link.py", "optimizers/test_docstrings.py"]
    named = ["-k", "among or docstring"]
    files = [str(ROOT / "tests" / name) for name in walks]
    out = venv.run("python", "-m", "pytest", *options, *named, *files, cwd=ROOT)
    assert " passed" in out


def test_two_claims_to_one_name(python):
    out = python(CONFLICT.format(before="", x=X), status=1)
    for part in (
        "NameConflict: core.functions.mish is claimed by 2 distributions",
        "plugrad-mish 0.1.0",
        "plugrad-rival 2.5.0",
        "core.plugins.prefer('functions', 'mish', 'plugrad-mish')",
        "PLUGRAD_PREFER=functions.mish=plugrad-mish",
        'prefer = {"functions.mish" = "plugrad-mish"}',
    ):
        assert part in out
    assert "is claimed by 2" in python("from core.functions import mish", "-Wignore", status=1)


def test_each_cure_of_a_conflict(python, tmp_path):
    rival = "rival mish"
    prefer = "core.plugins.prefer('functions', 'mish', 'plugrad-rival')"
    assert python(CONFLICT.format(before=f"import core.plugins; {prefer}", x=X)).strip() == rival
    plain = CONFLICT.format(before="", x=X)
    assert python(plain, PLUGRAD_PREFER="functions.mish=plugrad-rival").strip() == rival
    assert python(plain, PLUGRAD_DISABLE_PLUGINS="plugrad-rival").startswith("variable")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.plugrad]\nprefer = {"functions.mish" = "plugrad-rival"}\n'
    )
    assert python(plain).strip() == rival


def test_a_bundled_name_stays(python):
    out = python(
        f"""
        import core, core.functions as F
        print(F.relu({X}))
        print(F.of("plugrad-rival").relu({X}))
        import core.plugins
        core.plugins.prefer("functions", "relu", "plugrad-rival")
        print(F.relu({X}))
        """,
        "-Wignore",
    )
    assert out.splitlines() == ["variable([0.])", "rival relu", "rival relu"]


def test_what_fails_is_one_warning_each_and_the_rest_works(python):
    out = python(f"import core.functions as F\nF.relu({X})\nF.tanh\nprint('done')")
    assert out.count("PluginWarning") == 3
    assert "Plugin 'broken' (plugrad_broken) of plugrad-broken 0.3.1 is not used" in out
    assert "No module named 'a_library_that_is_not_installed'" in out
    assert "of plugrad-nonsense 1.1 is not used" in out
    assert "register_functions() returned list; expected a mapping" in out
    assert "of plugrad-future 7.0 is not used" in out
    assert "written for plugin API 99, and this plugrad speaks 1" in out
    assert out.rstrip().endswith("done")


def test_a_later_miss_recalls_the_failure(python):
    out = python("import core.functions as F\nF.shattered", "-Wignore", status=1)
    assert "ModuleNotFoundError: No module named 'a_library_that_is_not_installed'" in out
    assert "core.functions has no 'shattered'." in out
    assert "plugrad-broken 0.3.1" in out.splitlines()[-1]


def test_a_failing_plugin_leaves_nothing_behind(python):
    out = python("import core.links as L\nprint(hasattr(L, 'Sensible'))", "-Wignore")
    assert out.strip() == "False"


def test_a_name_whose_module_is_missing(python):
    out = python("import core.functions as F\nF.mislaid", "-Wignore", status=1)
    assert "core.functions.mislaid is registered by plugrad-offline 0.9" in out
    assert "cannot be imported" in out


def test_an_object_of_another_kind(python, doctors_word):
    for use, message in (
        (
            "import core.functions as F; F.three",
            "core.functions.three is given by plugrad-misfit 4.2 (plugin 'misfit', hook "
            "register_functions): expected a callable, got 3, an int.",
        ),
        (
            "import core.links as L; L.Lonely",
            "core.links.Lonely is given by plugrad-misfit 4.2 (plugin 'misfit', hook "
            "register_links) as 'plugrad_misfit:Lonely': expected a subclass of core.Link, "
            "got the class Lonely.",
        ),
    ):
        assert message in python(use, "-Wignore", status=1)
        assert message in doctors_word


def test_strict(python):
    code = "import core.functions as F\nF.relu"
    out = python(code, status=1, PLUGRAD_PLUGINS_STRICT="1")
    assert "PluginError: Plugin 'broken' (plugrad_broken) of plugrad-broken 0.3.1" in out
    python(code, PLUGRAD_PLUGINS_STRICT="1", PLUGRAD_DISABLE_PLUGINS=BAD)


def test_a_backend_that_cannot_run(python, plugrad):
    rows = {row["backend"]: row for row in json.loads(plugrad("backends", "--json"))}
    assert rows["offline"]["available"] is False
    assert rows["offline"]["reason"] == "The moon is not in range."
    assert rows["offline"]["distribution"] == "plugrad-offline"
    assert rows["numpy"]["available"] is True
    out = python("import core\ncore.use('offline')", "-Wignore", status=1)
    assert "The moon is not in range." in out


def test_the_listing(plugrad):
    listed = json.loads(plugrad("plugins", "--json", PLUGRAD_DISABLE_PLUGINS="plugrad-nonsense"))
    by_distribution = {p["distribution"]: p for p in listed["plugins"] if not p["bundled"]}
    states = {name: plugin["state"] for name, plugin in by_distribution.items()}
    assert states == {
        "plugrad-mish": "loaded",
        "plugrad-rival": "loaded",
        "plugrad-offline": "loaded",
        "plugrad-misfit": "loaded",
        "plugrad-jax": "loaded",
        "plugrad-strict": "loaded",
        "plugrad-torch": "loaded",
        "plugrad-broken": "failed",
        "plugrad-future": "failed",
        "plugrad-nonsense": "disabled",
    }
    assert by_distribution["plugrad-mish"]["gives"] == {
        "functions": ["mish"],
        "links": ["LinearMish"],
        "optimizers": ["Signum"],
        "extensions": ["ReportGradientNorm"],
    }
    assert all(p["state"] == "loaded" for p in listed["plugins"] if p["bundled"])
    text = plugrad("plugins")
    for part in ("plugrad-mish", "0.1.0", "functions: mish; links: LinearMish", "failed"):
        assert part in text


def test_the_doctor(plugrad, doctors_word, tmp_path):
    assert "plugrad-broken 0.3.1" in doctors_word
    assert "core.functions.mish is claimed by plugrad-mish and plugrad-rival" in doctors_word
    assert "0 problems found." in plugrad("doctor", PLUGRAD_DISABLE_PLUGINS=BAD)
    shadow = tmp_path / "core" / "__init__.py"
    shadow.parent.mkdir()
    shadow.touch()
    out = plugrad("doctor", status=1, PLUGRAD_DISABLE_PLUGINS=BAD)
    assert f"{shadow} shadows plugrad's package 'core'" in out


def test_stubs_for_all_that_is_installed(venv, plugrad, tmp_path):
    plugrad("stubs", "--output", "typings", PLUGRAD_DISABLE_PLUGINS=BAD)
    good = "import core.functions as F\nimport core\nx = core.Variable()\nF.mish(x)\nF.relu(x)\n"
    (tmp_path / "good.py").write_text(good)
    (tmp_path / "bad.py").write_text("import core.functions as F\nF.mihs(1)\nF.rleu(1)\n")
    mypy = ["python", "-m", "mypy", "--follow-imports=silent", "--cache-dir", str(venv.path)]
    venv.run(*mypy, "good.py", cwd=tmp_path, MYPYPATH="typings")
    out = venv.run(*mypy, "bad.py", cwd=tmp_path, status=1, MYPYPATH="typings")
    assert 'Module has no attribute "mihs"' in out
    assert 'Module has no attribute "rleu"' in out
    out = venv.run(*mypy, "good.py", cwd=tmp_path, status=1)
    assert 'Module has no attribute "mish"' in out
    assert "relu" not in out


def test_the_bundled_stubs_do_not_know_third_parties(plugrad):
    assert "All stubs are fresh." in plugrad("stubs", "--check")


def test_an_uninstalled_checkout_says_what_to_run(tmp_path):
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    for name in ("pluggy", "importlib_metadata", "zipp", "lazy_importer"):
        for found in Path(sysconfig.get_path("purelib")).glob(f"{name}*"):
            if not found.name.endswith(".dist-info"):
                (libraries / found.name).symlink_to(found)
    path = f"import sys; sys.path[:] = [{str(ROOT)!r}, {str(libraries)!r}] + sys.path\n"
    for use in ("import core.functions as F\nF.relu", "import core\ncore.use('numpy')"):
        command = [sys.executable, "-S", "-c", path + use]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert f'run `python -m pip install -e "{ROOT}"`' in done.stderr

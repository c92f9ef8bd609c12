"""A user's file or folder with the name of one of plugrad's packages: the error names it."""

import json
import os

import pytest

pytestmark = pytest.mark.slow

USES = {
    "a function": "import core.functions as F; F.relu",
    "a link": "import core.links as L; L.Linear(3, 2)",
    "a backend": "import core; core.use('numpy')",
    "a variable": "import core, numpy; core.Variable(numpy.ones(2))",
    "plugrad": "import plugrad; plugrad.Variable",
    "a name of plugrad": "from plugrad import functions",
}


@pytest.fixture(params=["{}.py", "{}/__init__.py"])
def shadow(request, tmp_path):
    """Put a file of the user's in the way; gives its path."""

    def put(package, text=""):
        file = tmp_path / request.param.format(package)
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    return put


def said(file, package):
    return f"{file} is in the way of plugrad's own package '{package}' in "


@pytest.mark.parametrize("package", ["backends", "plugins"])
def test_every_use_names_the_file(fresh, shadow, tmp_path, package):
    file = shadow(package)
    each = f"for use in {list(USES.values())}:\n"
    each += " try: exec(use)\n except Exception as error: print(error)"
    lines = fresh.run("python", "-c", each, cwd=tmp_path).splitlines()
    assert len(lines) == len(USES)
    for line in lines:
        assert said(file, package) in line
        assert line.endswith("rename or move it, or start Python where its folder is not searched.")


def test_a_folder_of_the_same_modules_is_named_too(fresh, tmp_path):
    file = tmp_path / "plugins" / "__init__.py"
    file.parent.mkdir()
    file.touch()
    (file.parent / "functions.py").write_text("def relu(x): return x\n")
    out = fresh.run("python", "-c", USES["a function"], cwd=tmp_path, status=1)
    assert said(file, "plugins") in out


def test_plugrad_says_that_core_is_in_the_way(fresh, shadow, tmp_path):
    file = shadow("core")
    out = fresh.run("python", "-c", USES["plugrad"], cwd=tmp_path, status=1)
    assert said(file, "core") in out


@pytest.mark.parametrize("package", ["core", "backends", "plugins"])
def test_commands_work_all_the_same(fresh, shadow, tmp_path, package):
    file = shadow(package, "raise RuntimeError('not this one')")
    # Python itself runs another `core` instead of ours.
    module = ("python", "-m", "plugrad" if package == "core" else "core")
    for command in (("plugrad",), module):
        out = fresh.run(*command, "doctor", cwd=tmp_path, status=1, PYTHONPATH=str(tmp_path))
        assert f"{file} shadows plugrad's package '{package}'" in out
        assert "1 problem found." in out
    listed = fresh.run("plugrad", "plugins", "--json", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert {p["state"] for p in json.loads(listed)["plugins"]} == {"loaded"}


def test_plugrad_is_core_by_another_name(fresh, tmp_path):
    use = (
        "import sys, plugrad; print('core' in sys.modules); import core;"
        "from plugrad import Variable, functions as F;"
        "print(Variable is core.Variable, F is core.functions, dir(plugrad) == dir(core))"
    )
    out = fresh.run("python", "-c", use, cwd=tmp_path)
    assert out.split() == ["False", "True", "True", "True"]


def test_nothing_is_in_the_way_of_a_folder_elsewhere(fresh, tmp_path):
    (tmp_path / "core").mkdir()  # without __init__.py: a regular package wins over it
    assert "0 problems found." in fresh.run("plugrad", "doctor", cwd=tmp_path)
    assert os.linesep not in fresh.run("plugrad", "--version", cwd=tmp_path).rstrip()

"""What type checkers make of programs: wrong uses are refused, right ones are taken."""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

HERE = Path(__file__).parent
USES = HERE / "uses.py"


@pytest.fixture(scope="module")
def typed(venv_with):
    """An installation with a stranger's plugin."""
    return venv_with("typed", HERE / "typed_dist")


@pytest.fixture(scope="module")
def workplace(typed, tmp_path_factory):
    """A folder with the program, and stubs of the installation."""
    folder = tmp_path_factory.mktemp("workplace")
    (folder / "uses.py").write_text(USES.read_text(encoding="utf-8"), encoding="utf-8")
    typed.run("plugrad", "stubs", "--output", "typings", cwd=folder)
    return folder


def mypy(typed, folder):
    (folder / "mypy.ini").write_text("[mypy]\nmypy_path = typings\n")
    command = ["mypy", "--python-executable", typed.bin / "python", "--no-error-summary", "uses.py"]
    printed = run(command, folder)
    for line in printed.splitlines():
        found = re.match(r"(\S+?):(\d+): error: (.*)", line)
        if found:
            yield found[1], int(found[2]), found[3]


def pyright(typed, folder):
    settings = {"typeCheckingMode": "standard", "pythonVersion": "3.11", "include": ["uses.py"]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = ["basedpyright", "--outputjson", "--pythonpath", typed.bin / "python"]
    for found in json.loads(run(command, folder))["generalDiagnostics"]:
        if found["severity"] == "error":
            line = found["range"]["start"]["line"] + 1
            yield Path(found["file"]).name, line, found["message"]


def run(command, folder):
    module, *options = command
    done = subprocess.run(
        [sys.executable, "-m", module, *options], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_wrong_uses_are_refused_and_right_ones_taken(typed, workplace, checker):
    lines = USES.read_text(encoding="utf-8").splitlines()
    marked = (line.partition("  # wrong: ")[2] for line in lines)
    expected = {number: words for number, words in enumerate(marked, 1) if words}
    refused = defaultdict(list)
    for file, line, message in checker(typed, workplace):
        assert file == "uses.py", (file, line, message)
        refused[line].append(message)
    surprises = {line: refused[line] for line in refused if line not in expected}
    assert not surprises
    missed = {n: lines[n - 1] for n in expected if n not in refused}
    assert not missed
    for number, words in expected.items():
        assert any(words in message for message in refused[number]), (refused[number], words)

"""Each example as people run it: a process of its own, few steps, resumed, held to a figure."""

import json
import os
import re
import runpy
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import core
from backends.cuda_backend import presence
from core.arrays import array_backend

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))
OPTIONS = {"--backend", "--out", "--resume", "--seed", "--check"}
SMALL = {  # what makes a run shorter still, or possible without files
    "train_cifar": ["--synthetic", "--images", 64, "--width", 4],
    "train_imagenet": ["--synthetic", "--images", 8, "--processes", 1],
    "train_lstm": ["--write", 10],
    "train_transformer": ["--write", 10, "--batchsize", 8],
}
KILLED = {  # steps
    "train_cifar": 3,
    "train_dense": 6,
    "train_imagenet": 3,
    "train_loop": 6,
    "train_lstm": 3,
    "train_parallel": 3,
}
STEPS = {  # others, where two epochs or eight iterations do not do
    "train_ddpg": ["--iterations", 100],
    "train_dqn": ["--iterations", 100],
    "train_seq2seq": ["--iterations", 4],
    "train_transformer": ["--iterations", 4],
    "train_word2vec": ["--epoch", 1, "--batchsize", 8192],
}
BESIDES = {"train_digits"}  # killed and held to a figure in tests/training/test_digits_example.py
STOPPED = [path for path in EXAMPLES if path.stem not in {*KILLED, *BESIDES}]


def test_without_a_gpu_each_example_says_what_is_missing(monkeypatch, capsys, tmp_path):
    why = presence.missing()
    if why is None:
        pytest.skip("here is a GPU")
    paths = [path for path in EXAMPLES if '"--backend"' in path.read_text()]
    assert len(paths) > 15
    monkeypatch.chdir(tmp_path)
    for path in paths:
        refused_here(monkeypatch, path, "--backend", "cuda")
        said = capsys.readouterr().err
        assert f"{path.stem}: Backend 'cuda'" in said and why in said, path
        assert "install" in said or "CUDA_VISIBLE_DEVICES" in said
    assert not list(tmp_path.iterdir())


def refused_here(monkeypatch, path, *arguments):
    """Run an example that ends before it computes anything, in this process: one starts slowly."""
    monkeypatch.setattr(core, "seed", lambda seed: None)
    monkeypatch.setattr(sys, "argv", command(path, *arguments)[1:])
    monkeypatch.syspath_prepend(str(path.parent))
    before = array_backend.default_device()
    try:
        with pytest.raises(SystemExit, match="1"):
            runpy.run_path(str(path), run_name="__main__")
    finally:
        array_backend.share_default(before)  # --backend chose another


def command(path, *arguments):
    return [sys.executable, str(path), *map(str, [*SMALL.get(path.stem, []), *arguments])]


# To load numba takes each process most of a second: the examples of tests/training compile loops.
PLAIN = {**os.environ, "PLUGRAD_COMPILED": "0"}


def finish(path, *arguments):
    return run(command(path, *arguments))


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=280, env=PLAIN)


@cache
def help_of(path):
    return finish(path, "--help")


def steps_of(path):
    return "--epoch" if "--epoch" in help_of(path).stdout else "--iterations"


def names(path):
    return path.stem


@pytest.mark.parametrize("path", EXAMPLES, ids=names)
def test_help_shows_the_options_that_all_have(path):
    done = help_of(path)
    assert done.returncode == 0 and not done.stderr
    known = set(re.findall(r"--[a-z]+", done.stdout))
    assert known >= OPTIONS and known & {"--epoch", "--iterations"}
    assert re.search(r"fail\s+(above|below)", done.stdout)


def resumed(path, steps, out):
    """Go on in `out`; the figure that is asked for is out of reach, which fails in one line."""
    unreachable = 1e9 if re.search(r"fail\s+below", help_of(path).stdout) else -1e9
    done = finish(path, *steps, "--out", out, "--resume", f"--check={unreachable}")
    assert done.returncode == 1, done.stderr
    assert "Resumed from" in done.stderr
    refused = rf"{path.stem}: [Ee]xpected .*at (most|least) "
    assert re.match(refused, done.stderr.splitlines()[-1])
    return done


@pytest.mark.parametrize(
    ("name", "reason"),
    [("train_cifar", "Put it there"), ("train_imagenet", "folders or lists of images; or --synth")],
)
def test_files_that_are_missing_are_told_in_one_line(name, reason, tmp_path):
    (path,) = (path for path in EXAMPLES if path.stem == name)
    alone = [sys.executable, str(path), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "PLUGRAD_DATASET_ROOT": str(tmp_path)}
    done = subprocess.run(alone, capture_output=True, text=True, timeout=280, env=environment)
    assert done.returncode == 1 and reason in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=names)
def test_no_steps_batches_and_copies_are_told_without_a_traceback(
    path, monkeypatch, capsys, tmp_path
):
    shown = help_of(path).stdout
    monkeypatch.chdir(tmp_path)
    for option in ("--epoch", "--iterations", "--batchsize", "--copies"):
        if option in shown:
            refused_here(monkeypatch, path, "--out", tmp_path, option, 0)
            said = capsys.readouterr().err
            assert f"{path.stem}: " in said and "Traceback" not in said


def ended(out):
    """Everything that the training depends on, from the newest file; and the log, without times."""
    snapshots = sorted(out.glob("snapshot_iter_*"), key=lambda path: int(path.name[14:]))
    with np.load([out / "state.npz", *snapshots][-1]) as file:
        kept = ("updater/", "model/", "optimizer/")
        arrays = {key: file[key].tobytes() for key in file.files if key.startswith(kept)}
    # Where a worker is contains the state of Python's own generator, which nothing here draws from.
    arrays = {key: array for key, array in arrays.items() if "/worker:" not in key}
    log = json.loads((out / "log").read_text())
    assert len(arrays) > 8
    return arrays, [{k: v for k, v in entry.items() if k != "elapsed_time"} for entry in log]


@pytest.mark.slow
@pytest.mark.parametrize("name", KILLED)
def test_killed_on_the_way_it_ends_with_the_same_bits(name, tmp_path):
    (path,) = (path for path in EXAMPLES if path.stem == name)
    steps, whole, parts = [steps_of(path), KILLED[name]], tmp_path / "whole", tmp_path / "parts"
    assert finish(path, *steps, "--out", whole).returncode == 0
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command(path, *steps, "--out", parts), **quiet, env=PLAIN)
    while not [*parts.glob("snapshot_iter_*"), *parts.glob("state.npz")]:
        assert process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL
    resumed(path, steps, parts)
    (killed, log), (undisturbed, whole_log) = ended(parts), ended(whole)
    assert killed.keys() == undisturbed.keys()
    assert not [key for key in killed if killed[key] != undisturbed[key]]
    assert log == whole_log


@pytest.mark.slow
@pytest.mark.parametrize("path", STOPPED, ids=names)
def test_stopped_halfway_and_resumed_it_ends_with_the_same_bits(path, tmp_path):
    shown = help_of(path).stdout
    steps = ["--epoch", 2, "--batchsize", 256] if "--epoch" in shown else ["--iterations", 8]
    arguments = STEPS.get(path.stem, steps)
    whole = counted(path, "--out", tmp_path / "whole", *arguments)
    assert whole.returncode == 0, whole.stderr
    updates = int(whole.stderr.split()[-1])
    assert updates >= 4

    stopped = counted(path, *arguments, "--out", tmp_path / "parts", stop=updates // 2)
    assert stopped.returncode == 128 + signal.SIGTERM and "training stopped" in stopped.stderr
    last = resumed(path, arguments, tmp_path / "parts")

    assert figures(last) and figures(last) == figures(whole)
    assert ended(tmp_path / "parts") == ended(tmp_path / "whole")
    assert pictures(tmp_path / "parts") == pictures(tmp_path / "whole")


COUNTED = """
import os, runpy, signal, sys, core
from core.training.extensions import LogReport
made, logged, update, log = 0, 0, core.GradientMethod.update, LogReport.__call__

def counted(*arguments, **options):
    global made
    made += 1
    if made == {stop}:
        os.kill(os.getpid(), signal.SIGTERM)
    return update(*arguments, **options)

def noted(*arguments):
    global logged
    logged = made
    return log(*arguments)

core.GradientMethod.update, LogReport.__call__ = counted, noted
sys.argv[0] = {path!r}
try:
    runpy.run_path({path!r}, run_name="__main__")
finally:
    print(logged, file=sys.stderr)
"""


def counted(path, *arguments, stop=None):
    """A run that says how many updates optimizers made until the last line of the log.

    SIGTERM comes in the update `stop`.
    """
    python, _, *others = command(path, *arguments)
    return run([python, "-c", COUNTED.format(path=str(path), stop=stop), *others])


def figures(done):
    """The sentences with numbers that a run ends with, but for where its results are."""
    return re.findall(r"^(?!They are)[A-Z].*?\d.*?(?= Results are|$)", done.stdout, re.M)


def pictures(out):
    return {path.name: path.read_bytes() for path in out.glob("*.png")}


def test_the_page_describes_them_all():
    """Each under a heading of its own, with a command that it takes and pictures that it leaves."""
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    described = []
    for section in re.split(r"^### .+$", page, flags=re.M)[1:-1]:  # the last is of plugins
        script, *others = set(re.findall(r"\]\(\.\./examples/([^)]+)\)", section))
        text = (ROOT / "examples" / script).read_text(encoding="utf-8")
        commands = re.findall(r"^python examples/(\S+)(.*)$", section, re.M)
        assert commands and {name for name, _ in commands} == {script} and not others
        options = {option for _, rest in commands for option in rest.split() if option[:2] == "--"}
        assert not [option for option in options if f'"{option}"' not in text]
        left = re.findall(r"`([\w…]+\.(?:png|dot))`", section)
        assert left and not [name for name in left if name.partition("…")[0] not in text]
        described.append(script)
    assert sorted(described) == sorted(
        str(path.relative_to(ROOT / "examples")) for path in EXAMPLES
    )

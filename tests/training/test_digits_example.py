"""The digits example as people run it: a process of its own, killed, resumed, refused."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import small

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits" / "train_digits.py"


def command(out, *arguments):
    return [sys.executable, str(EXAMPLE), "--out", str(out), *arguments]


def finish(out, *arguments):
    return subprocess.run(command(out, *arguments), capture_output=True, text=True, timeout=280)


def results(out, epochs):
    """Parameters and optimizer state of the last snapshot, and the log, without times."""
    with np.load(out / f"snapshot_iter_{-(-1437 * epochs // 64)}") as file:
        arrays = {k: file[k].tobytes() for k in file.files if k.startswith("updater/")}
    assert len(arrays) > 30
    return arrays, [small.timeless(r) for r in json.loads((out / "log").read_text())]


@pytest.mark.slow
def test_killed_and_resumed_it_ends_with_the_same_bits(tmp_path):
    epochs, rng = 4, random.Random(1)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert finish(whole, "--epoch", str(epochs)).returncode == 0
    for kills in range(1, 4):
        process = subprocess.Popen(
            command(parts, "--epoch", str(epochs), "--resume"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not newest(parts) >= kills and process.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.wait()
    last = finish(parts, "--epoch", str(epochs), "--resume")
    assert last.returncode == 0, last.stderr
    assert "Resumed from" in last.stderr
    assert results(parts, epochs) == results(whole, epochs)
    for picture in ("loss.png", "accuracy.png"):
        assert (parts / picture).read_bytes() == (whole / picture).read_bytes()
    assert not list(parts.glob(".*.tmp"))


def newest(out):
    """Epochs that the newest snapshot has completed."""
    steps = [int(path.name.rpartition("_")[2]) for path in out.glob("snapshot_iter_*")]
    return max(steps, default=0) * 64 // 1437


@pytest.mark.slow
def test_it_learns_and_leaves_its_results(tmp_path):
    done = finish(tmp_path, "--check", "97.5")
    assert done.returncode == 0, done.stderr
    assert "100%|" in done.stdout and "validation/main/accuracy" in done.stdout
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"log", "loss.png", "accuracy.png", "graph.dot", "graph.mmd", "run.json"}
    assert len([name for name in names if name.startswith("snapshot")]) == 3
    again = finish(tmp_path, "--check", "99.99", "--resume")
    assert again.returncode == 1 and "Expected at least 99.99 %" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--backend", "nunpy"], "Did you mean 'numpy'?"),
        (["--resume", "no/such/file"], "No such file"),
        (["--resume", str(EXAMPLE)], "damaged or no npz archive"),
        (["--out", str(EXAMPLE)], "expected out to be a directory"),
        (["--epoch", "0"], "above 0"),
        (["--batchsize", "0"], "batch size of 1 or more"),
    ],
)
def test_bad_arguments_are_told_in_one_line(tmp_path, arguments, message):
    done = finish(tmp_path, *arguments)
    assert done.returncode == 1 and message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_mpi4py_several_processes_are_refused_in_one_line(tmp_path):
    run = f"import sys, runpy; sys.modules['mpi4py'] = None; runpy.run_path({str(EXAMPLE)!r}, "
    options = ["--communicator", "mpi", "--out", str(tmp_path)]
    lacking = [sys.executable, "-c", run + "run_name='__main__')", *options]
    done = subprocess.run(lacking, capture_output=True, text=True, timeout=280)
    assert done.returncode == 1 and "pip install 'plugrad[mpi]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_unknown_options_show_the_known_ones(tmp_path):
    for arguments, message in (
        (["--epcoh", "3"], "unrecognized arguments: --epcoh 3"),
        (["--batchsize", "many"], "--batchsize: invalid int value: 'many'"),
    ):
        done = finish(tmp_path, *arguments)
        assert done.returncode == 2 and message in done.stderr and "[--epoch EPOCH]" in done.stderr
    assert not list(tmp_path.iterdir())


def test_cuda_works_or_says_why_not(tmp_path):
    import core

    reason = core.backend.available()["cuda"]
    if reason is None:
        pytest.skip("there is a GPU: tests/backends runs on it")
    done = finish(tmp_path, "--backend", "cuda")
    assert done.returncode == 1 and reason in done.stderr

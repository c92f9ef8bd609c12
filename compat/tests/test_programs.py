"""Programs in the style of each version, on a few images."""

import json
import random
import runpy
import struct
import sys
from pathlib import Path

import chainer
import numpy as np
import pytest

OWN = sorted(Path(__file__).with_name("programs").glob("*.py"))


@pytest.fixture
def mnist(tmp_path):
    """A cache of datasets with a few images, in the format that MNIST has everywhere."""
    folder = tmp_path / "datasets" / "mnist"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name, n in (("train", 100), ("t10k", 40)):
        labels = rng.integers(0, 10, n, dtype=np.uint8)
        images = np.zeros((n, 28, 28), np.uint8)
        images[np.arange(n), labels * 2 + 2] = 255  # a line in the height of the label
        head = struct.pack(">IIII", 2051, n, 28, 28)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(head + images.tobytes())
        head = struct.pack(">II", 2049, n)
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(head + labels.tobytes())
    before = chainer.dataset.get_dataset_root()
    chainer.dataset.set_dataset_root(str(tmp_path / "datasets"))
    yield
    chainer.dataset.set_dataset_root(before)


def run(monkeypatch, path, *arguments):
    np.random.seed(0)
    random.seed(0)
    monkeypatch.setattr(sys, "argv", [str(path), *map(str, arguments)])
    return runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("program", OWN, ids=lambda path: path.stem)
def test_a_program_of_each_version(program, mnist, tmp_path, monkeypatch, capsys):
    out = tmp_path / "result"
    out.mkdir()
    run(monkeypatch, program, "--epoch", 4, "--out", out)
    if program.stem == "version_1":
        assert float(capsys.readouterr().out.split()[-1]) > 0.5
        return
    log = json.loads((out / "log").read_text())
    assert log[-1]["main/loss"] < log[0]["main/loss"] and log[-1]["epoch"] == 4
    assert "validation/main/loss" in log[-1] and list(out.glob("snapshot_iter_*"))

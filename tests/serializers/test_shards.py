"""Tensors in several files, and the index that says which is where."""

import json

import numpy as np
import pytest

import core
import core.links as L
from core.errors import CheckpointDamaged, CheckpointError
from core.serializers import load_safetensors, load_torch, save_safetensors

INDEX = "model.safetensors.index.json"


def model():
    return core.Sequential(L.Linear(3, 4), L.Linear(4, 4), L.Linear(4, 2))


def written(folder, names, write=save_safetensors, end="safetensors", index=INDEX):
    """The parameters in two files, by names; gives the path of the index."""
    link = model()
    tensors = {names(k.strip("/")): p.array for k, p in link.namedparams()}
    parts = [dict([*tensors.items()][:3]), dict([*tensors.items()][3:])]
    files = [f"model-0000{i}-of-00002.{end}" for i in (1, 2)]
    for file, part in zip(files, parts, strict=True):
        write(folder / file, part)
    found = {name: file for file, part in zip(files, parts, strict=True) for name in part}
    (folder / index).write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": found}))
    return link, folder / index


def theirs(name):
    return name.replace("/W", ".weight").replace("/b", ".bias")


def check(one, other):
    for here, there in zip(one.params(), other.params(), strict=True):
        np.testing.assert_array_equal(here.array, there.array)


def test_several_files_are_one(tmp_path):
    link, path = written(tmp_path, str)
    other = model()
    load_safetensors(path, other)
    check(other, link)
    link, path = written(tmp_path, theirs)
    load_torch(path, other)
    check(other, link)


def test_files_of_pytorch(tmp_path):
    torch = pytest.importorskip("torch")

    def write(path, tensors):
        torch.save({name: torch.from_numpy(a) for name, a in tensors.items()}, path)

    link, path = written(tmp_path, theirs, write, "bin", "pytorch_model.bin.index.json")
    other = model()
    load_torch(path, other)
    check(other, link)


def test_what_does_not_fit_together_is_refused(tmp_path):
    _, path = written(tmp_path, str)
    other = model()
    before = [p.array.copy() for p in other.params()]
    with path.open("rb") as file, pytest.raises(CheckpointError, match="Expected its path"):
        load_safetensors(file, other)
    text = path.read_text()
    path.write_text(text.replace("model-00002", "../model-00002"))
    with pytest.raises(CheckpointError, match="names of files in its own folder, got '../model"):
        load_safetensors(path, other)
    path.write_text(text.replace("2/W", "2/V"))
    with pytest.raises(CheckpointDamaged, match="'2/V' is in one of them alone"):
        load_safetensors(path, other)
    path.write_text(text)
    last = tmp_path / "model-00002-of-00002.safetensors"
    last.write_bytes(last.read_bytes()[:-1])
    with pytest.raises(CheckpointDamaged, match="model-00002"):
        load_safetensors(path, other)
    last.unlink()
    with pytest.raises(FileNotFoundError, match="model-00002"):
        load_torch(path, other)
    for p, array in zip(other.params(), before, strict=True):
        np.testing.assert_array_equal(p.array, array)

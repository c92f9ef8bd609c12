"""What is given in place of a path is a file of bytes, or refused before anything is done."""

import io
import tempfile

import numpy as np
import pytest

import core
import core.links as L
import core.serializers as S
from core.errors import CheckpointError


def model_with(name):
    """What saves a model to a file, or loads one."""
    return lambda file: getattr(S, name)(file, L.Linear(3, 2))


LOADERS = {
    **{
        name: model_with(name)
        for name in (
            *["load_npz", "load_hdf5", "load_safetensors"],
            *["load_torch", "load_keras", "load_pickled"],
        )
    },
    "ONNXModel": L.ONNXModel,
    "CaffeFunction": L.CaffeFunction,
}
SAVERS = {
    **{
        name: model_with(name)
        for name in (*["save_npz", "save_hdf5"], *["save_safetensors", "save_torch"])
    },
    "onnx": lambda file: core.export.onnx(L.Linear(3, 2), np.zeros((2, 3), "f"), file),
}


@pytest.mark.parametrize("name", LOADERS)
def test_files_of_text_are_not_read_as_bytes(name, tmp_path):
    """Python's `open` opens them so where no mode is given; what came of it was called damaged."""
    path = tmp_path / "model"
    path.write_text("{}")
    with open(path) as opened:
        for file in (opened, io.StringIO("{}")):
            with pytest.raises(TypeError, match=f"{name}: .* reading bytes.* in mode 'rb'"):
                LOADERS[name](file)


@pytest.mark.parametrize("name", SAVERS)
def test_nothing_is_written_into_files_of_text(name):
    with tempfile.NamedTemporaryFile("w") as file:
        for text in (file, io.StringIO()):
            with pytest.raises(TypeError, match=f"{name}: .* writing bytes.* in mode 'wb'"):
                SAVERS[name](text)
            assert not text.tell()


@pytest.mark.parametrize("name", [*LOADERS, *SAVERS])
@pytest.mark.parametrize("file", [None, 3, b"model"])
def test_what_is_no_file_is_refused(name, file):
    doing = "reading" if name in LOADERS else "writing"
    with pytest.raises(TypeError, match=f"{name}: .* a file open for {doing} bytes; got {file}"):
        (LOADERS | SAVERS)[name](file)


@pytest.mark.parametrize("name", LOADERS)
def test_a_file_that_is_not_there_is_looked_for_beside(name, tmp_path):
    (tmp_path / "model.bin").touch()
    with pytest.raises(FileNotFoundError, match="Did you mean 'model.bin'"):
        LOADERS[name](tmp_path / "modle.bin")


@pytest.mark.parametrize("name", ["npz", "hdf5", "safetensors", "torch"])
def test_an_open_file_is_read_from_its_position(name):
    model, loaded = L.Linear(3, 2), L.Linear(3, 2)
    file = io.BytesIO()
    file.write(b"before")
    getattr(S, f"save_{name}")(file, model)
    with pytest.raises(CheckpointError, match="nothing left to be read.*seek"):
        getattr(S, f"load_{name}")(file, loaded)
    file.seek(6)
    getattr(S, f"load_{name}")(file, loaded)
    np.testing.assert_array_equal(loaded.W.array, model.W.array)

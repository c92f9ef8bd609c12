"""A full disk and a directory that is not ours, for real: the old file stays, the cure is told."""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from kinds import Bag

from core import links as L
from core.serializers import save_npz, save_safetensors, save_torch
from plugins.serializers.atomic import replacing

PATH = os.pathsep.join(str(Path(__file__).parents[up]) for up in (0, 2))  # tests and what they test

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such limits")

SCRIPT = """
import os, resource, sys
import numpy as np
from kinds import KINDS, Bag

path, trouble, user = sys.argv[1], sys.argv[2], int(sys.argv[3])
KIND = {kind.name: kind for kind in KINDS}[sys.argv[4]]
KIND.save(path, Bag(a=1))
old = open(path, "rb").read()
large = Bag(a=np.random.default_rng(0).normal(size=100_000))
KIND.save(path + "2", large)  # the libraries are there, and the file would be good
os.unlink(path + "2")
if trouble == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
else:
    os.chmod(os.path.dirname(path), 0o777 if trouble == "file" else 0o555)
    os.chmod(path, 0o444 if trouble == "file" else 0o666)
    if user:
        os.setuid(user)
try:
    KIND.save(path, large)
except OSError as error:
    print(type(error).__name__, error.errno, error.filename == path)
    print(error.strerror)
print(open(path, "rb").read() == old, os.listdir(os.path.dirname(path)))
"""


@pytest.fixture
def folder():
    """A directory that other users reach, which no pytest closes to them when it starts."""
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        folder = Path(parent, "out")
        folder.mkdir()
        yield folder
        folder.chmod(0o755)


def trouble(folder, kind, what):
    user = 65534 if os.geteuid() == 0 else 0  # whoever may do all notices no permissions
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder / "state"), what, str(user), kind.name],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PATH},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_a_file_that_becomes_too_large(folder, kind):
    assert trouble(folder, kind, "full") == [
        "OSError 27 True",
        "File too large; the existing file is kept. Raise the limit on the size of files "
        "(ulimit -f), or choose another directory",
        "True ['state']",
    ]


@pytest.mark.parametrize("protected", ["rights", "file"])
def test_a_directory_or_a_file_that_is_not_ours(folder, kind, protected):
    assert trouble(folder, kind, protected) == [
        "PermissionError 13 True",
        "Permission denied; the existing file is kept. Choose a file and a directory that this "
        "user may write to",
        "True ['state']",
    ]


def test_no_space_is_told_with_the_cure(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="nothing was written. Free some space, or choose") as info:
        save_npz(tmp_path / "state", Bag(a=1))
    assert info.value.errno == 28 and info.value.filename == str(tmp_path / "state")


class Narrow(io.RawIOBase):
    """A file without a buffer, of which the disk takes a part at a time."""

    def __init__(self):
        self.taken = b""

    def write(self, data):
        self.taken += bytes(data[:500])
        return len(data[:500])


class Silent:
    """What is no file of Python's, and says nothing of what it took."""

    taken = b""

    def write(self, data):
        self.taken += data


@pytest.mark.parametrize("save", [save_npz, save_safetensors, save_torch])
def test_a_file_that_takes_a_part_gets_the_rest(save):
    link, whole = L.Linear(20, 20), io.BytesIO()
    save(whole, link)
    for file in (Narrow(), Silent()):
        save(file, link)
        assert file.taken == whole.getvalue()


@pytest.mark.parametrize("save", [save_npz, save_safetensors, save_torch])
def test_what_is_no_file_is_refused(save):
    for file in (None, 3, b"path"):
        with pytest.raises(TypeError, match="a path, or a file open for writing bytes; got"):
            save(file, L.Linear(2, 2))


def test_errors_of_other_kinds_are_as_they_were(tmp_path):
    error = OSError("no number")
    with pytest.raises(OSError, match="no number") as info, replacing(tmp_path / "a"):
        raise error
    assert info.value is error and os.listdir(tmp_path) == []

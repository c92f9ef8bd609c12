"""Files made to fill the memory are refused, in a process that has little memory to give."""

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
import safetensors.numpy
from kinds import Bag

from core.errors import CheckpointError
from core.serializers import load_hdf5, load_npz, save_hdf5, save_npz
from plugins.serializers.entries import DIGITS, MARK, digest

PATH = os.pathsep.join(str(Path(__file__).parents[up]) for up in (0, 2))  # tests and what they test

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no limits of this kind")
MIB = 1 << 20
HUGE = 2048  # MiB
LIMIT = 600  # MiB more than the process has after its imports


# -- npz --------------------------------------------------------------------------------------


def packed_zeros(prefix, mebibytes):
    """A raw deflate stream of `prefix` and so many MiB of zeros, without packing them all."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = squeeze.compress(prefix) + squeeze.flush(zlib.Z_FULL_FLUSH)
    one = squeeze.compress(bytes(MIB)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    return start + one * mebibytes + squeeze.flush()


def zip_of(*entries, comment=b"", shared=False):
    """A zip archive of (name, method, packed bytes, size); with `shared`, of the same bytes."""
    body, listed = b"", b""
    for name, method, packed, size in entries:
        offset = 0 if shared else len(body)
        fields = (method, 0, 33, 0, len(packed), size, len(name), 0)
        if not (shared and body):
            body += struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, 0, *fields) + name + packed
        listed += struct.pack(
            "<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, 0, *fields, 0, 0, 0, 0, offset
        )
        listed += name
    counts = (len(entries), len(entries), len(listed), len(body), len(comment))
    return body + listed + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, *counts) + comment


def signed(path, *entries):
    """The archive as this library signs it, which anybody can."""
    path.write_bytes(zip_of(*entries, comment=MARK + b"0" * DIGITS))
    with open(path, "r+b") as stream:
        found = digest(stream, 0, path.stat().st_size - DIGITS)
        stream.seek(-DIGITS, 2)
        stream.write(found)


def header(descr, shape, length=None, version=b"\1\0"):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    width = 2 if version == b"\1\0" else 4
    told = len(text) if length is None else length
    return b"\x93NUMPY" + version + told.to_bytes(width, "little") + text


def entry(head, mebibytes=HUGE):
    return b"a.npy", 8, packed_zeros(head, mebibytes), len(head) + mebibytes * MIB


def npz_bombs(folder):
    floats = header("<f4", (HUGE * MIB // 4,))
    (folder / "foreign.npz").write_bytes(zip_of(entry(floats)))
    signed(folder / "signed.npz", entry(floats))
    signed(folder / "text.npz", entry(header(f"<U{HUGE * MIB // 4}", ())))
    signed(folder / "header.npz", entry(header("<f4", (1,), HUGE * MIB, b"\2\0")))
    stored = floats + bytes(100)
    signed(folder / "claim.npz", (b"a.npy", 0, stored, len(floats) + HUGE * MIB))
    many = [(b"%d.npy" % i, *entry(floats, 64)[1:]) for i in range(200)]
    (folder / "overlap.npz").write_bytes(zip_of(*many, shared=True))
    signed(folder / "lzma.npz", (b"a.npy", 14, bytes(100), 200))
    nested = "[" * 9000
    (folder / "nested.npz").write_bytes(
        zip_of((b"a.npy", 0, nesting := header(nested, ()), len(nesting)))
    )


# -- HDF5 -------------------------------------------------------------------------------------


def hdf5_bombs(folder):
    chunk = zlib.compress(bytes(64 * MIB), 9)
    with h5py.File(folder / "dense.h5", "w") as file:
        shape = (HUGE // 64, 64 * MIB)
        dataset = file.create_dataset("a", shape, "u1", chunks=(1, 64 * MIB), compression=9)
        for i in range(shape[0]):
            dataset.id.write_direct_chunk((i, 0), chunk)
    with h5py.File(folder / "twice.h5", "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((256 * MIB,))
        for _ in range(2):
            plist.set_filter(h5py.h5z.FILTER_DEFLATE, 0, (9,))
        space = h5py.h5s.create_simple((1024 * MIB,))
        made = h5py.h5d.create(file.id, b"a", h5py.h5t.STD_U8LE, space, plist)
        made.write_direct_chunk((0,), zlib.compress(zlib.compress(bytes(256 * MIB), 1), 9))
    with h5py.File(folder / "empty.h5", "w") as file:
        file.create_dataset("a", (HUGE * MIB,), "u1", chunks=(MIB,))
    with h5py.File(folder / "chunk.h5", "w") as file:
        dataset = file.create_dataset(
            "a", (8,), "u1", maxshape=(None,), chunks=(HUGE * MIB // 2,), compression=9
        )
        dataset.id.write_direct_chunk((0,), zlib.compress(bytes(1000)))


# -- safetensors ------------------------------------------------------------------------------


def safetensors_bombs(folder):
    good = safetensors.numpy.save({"a": np.zeros(3, "f")})
    (folder / "length.safetensors").write_bytes((1 << 62).to_bytes(8, "little") + good[8:])
    for name, text in {
        "beyond": '{"a":{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4000000000]}}',
        "overlap": '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
        '"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}',
        "negative": '{"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}}',
        "hole": '{"a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}',
    }.items():
        raw = len(text).to_bytes(8, "little") + text.encode() + bytes(12)
        (folder / f"{name}.safetensors").write_bytes(raw)


# -- the process ------------------------------------------------------------------------------

SCRIPT = """
import resource, sys, time, warnings
from pathlib import Path
import numpy as np, h5py, ml_dtypes, safetensors.numpy
import core
from core import serializers as S
from core.errors import CheckpointError
from kinds import Bag, state

LOAD = {".npz": S.load_npz, ".h5": S.load_hdf5, ".safetensors": S.load_safetensors}
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = used + int(sys.argv[2]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

def refused(path, target):
    before, start = state(target), time.perf_counter()
    try:
        LOAD[path.suffix](path, target)
    except CheckpointError as error:
        assert str(path) in str(error) or "was loaded" in str(error), error
    else:
        return False
    assert state(target) == before and time.perf_counter() - start < 30
    return True

for path in sorted(Path(sys.argv[1]).iterdir()):
    for target in (Bag(a=None), Bag(a="text"), Bag(a=np.zeros(3, "f"))):
        print(path.name, refused(path, target))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_bombs_are_refused_without_the_memory_they_ask_for(tmp_path):
    for make in (npz_bombs, hdf5_bombs, safetensors_bombs):
        make(tmp_path)
    assert len(files := sorted(p.name for p in tmp_path.iterdir())) == 17
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 40 * MIB
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), str(LIMIT)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": PATH, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [word for name in files for word in [name, "True"] * 3]


# -- what is good is not refused --------------------------------------------------------------


@pytest.mark.parametrize(("save", "load"), [(save_npz, load_npz), (save_hdf5, load_hdf5)])
def test_zeros_that_the_object_expects_load_however_dense(tmp_path, save, load):
    zeros = np.zeros(9 * MIB)
    save(tmp_path / "file", Bag(a=zeros))
    assert (tmp_path / "file").stat().st_size < MIB
    load(tmp_path / "file", Bag(a=zeros))
    with pytest.raises(CheckpointError, match="a: .* bytes that would unpack to 75497472"):
        load(tmp_path / "file", Bag(a=None))


@pytest.mark.parametrize(("save", "load"), [(save_npz, load_npz), (save_hdf5, load_hdf5)])
def test_state_that_is_all_zeros_loads_beside_its_parameter(tmp_path, save, load):
    """As the state of an optimizer that has hardly seen a large embedding."""
    large = np.zeros(9 * MIB)
    save(tmp_path / "file", Bag(a=large, m=large))
    loaded = Bag(a=large, m=None)
    load(tmp_path / "file", loaded)
    assert loaded.values["m"].shape == large.shape

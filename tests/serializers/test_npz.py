"""npz files: what comes back, what is refused, and that a refused file changes nothing."""

import io
import os
import pickle
import random
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import core
from core import links as L
from core.errors import CheckpointDamaged, CheckpointError
from core.serializers import DictionarySerializer, NpzDeserializer, load_npz, save_npz


class Bag:
    """Any named values, saved as they are."""

    def __init__(self, **values):
        self.values = values

    def serialize(self, serializer):
        for name in self.values:
            self.values[name] = serializer(name, self.values[name])


class Net(core.Chain):
    def __init__(self, hidden=4, seed=0):
        super().__init__()
        draw = np.random.RandomState(seed)
        with self.init_scope():
            self.l1 = L.Linear(3, hidden, initialW=draw.randn(hidden, 3).astype("f"))
            self.l2 = L.Linear(None, 2)
        self.add_persistent("steps", seed)


def state(obj):
    saved = DictionarySerializer()
    saved.save(obj)
    return {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in saved.target.items()}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.npz"


# -- there and back ---------------------------------------------------------------------------

numbers = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False),
    st.text("aé/ ", max_size=5),
)
arrays = hnp.arrays(
    st.sampled_from(["f2", "f4", "f8", "i1", "i8", "u1", "?", "c8"]),
    hnp.array_shapes(min_dims=0, min_side=0, max_side=4),
    elements={"allow_nan": False},
)


@given(arrays, numbers, st.booleans())
def test_values_come_back_with_their_types(array, number, compression):
    file = io.BytesIO()
    save_npz(file, Bag(a=array, n=number, none=None), compression)
    file.seek(0)
    loaded = Bag(a=np.zeros_like(array), n=type(number)(), none=0)
    target = loaded.values["a"]
    load_npz(file, loaded)
    assert loaded.values["a"] is target
    assert target.dtype == array.dtype and target.tobytes() == np.ascontiguousarray(array).tobytes()
    assert type(loaded.values["n"]) is type(number) and loaded.values["n"] == number
    assert loaded.values["none"] is None


def test_none_asks_for_whatever_is_there(path):
    save_npz(path, Bag(a=np.arange(3), n=None))
    loaded = Bag(a=None, n=None)
    load_npz(path, loaded)
    assert loaded.values["a"].tolist() == [0, 1, 2] and loaded.values["n"] is None


def test_arrays_of_any_layout(path):
    base = np.arange(24.0).reshape(4, 6)
    for array in (base.T, base[::2, ::-3], np.asfortranarray(base)):
        save_npz(path, Bag(a=array))
        target = np.zeros((array.shape[1], array.shape[0])).T
        load_npz(path, Bag(a=target))
        np.testing.assert_array_equal(target, array)


def test_a_number_keeps_its_digits_where_the_type_would_cut_them(path):
    save_npz(path, Bag(lr=0.5, t=(1, 2), n=3.0))
    loaded = Bag(lr=1, t=(0, 0, 0), n=1)
    load_npz(path, loaded)
    assert loaded.values == {"lr": 0.5, "t": (1, 2), "n": 3}


def test_other_backends_are_saved_and_filled(path):
    strict = core.backend.get("strict")
    save_npz(path, Bag(a=strict.asarray([1.0, 2.0], dtype="float32")))
    target = strict.asarray([0.0, 0.0], dtype="float32")
    load_npz(path, Bag(a=target))
    assert core.backend.to_host(target).tolist() == [1, 2]


def test_links_with_shapes_unknown_so_far(path):
    source, empty, filled = Net(seed=1), Net(seed=2), Net(seed=3)
    save_npz(path, source)
    assert not source.l2.W.is_initialized
    load_npz(path, empty)
    assert state(empty) == state(source)
    source.l2(np.ones((1, 4), "f"))
    save_npz(path, source)
    load_npz(path, filled)
    assert state(filled) == state(source) and filled.l2.W.shape == (2, 4)


def test_equal_states_give_equal_files(path):
    save_npz(path, Net())
    first = path.read_bytes()
    save_npz(path, Net())
    assert path.read_bytes() == first


def test_numpy_reads_the_files_and_files_of_numpy_load(path):
    net = Net()
    save_npz(path, net)
    with np.load(path, allow_pickle=False) as file:
        np.testing.assert_array_equal(file["l1/W"], net.l1.W.array)
        other = Net(seed=5)
        NpzDeserializer(file).load(other)
    assert state(other) == state(net)


def chainer_file(path, model, compressed=True):
    """What Chainer writes: numpy.savez of host arrays, None as a pickled object."""
    saved = DictionarySerializer()
    saved.save(model)
    entries = {
        name: np.asarray(None) if a.dtype.names == ("None",) else a
        for name, a in saved.target.items()
    }
    (np.savez_compressed if compressed else np.savez)(path, **entries)


@pytest.mark.parametrize("compressed", [True, False])
def test_files_of_chainer_load(path, compressed):
    chainer_file(path, Net(seed=1), compressed)
    loaded = Net(seed=2)
    load_npz(path, loaded)
    assert state(loaded) == state(Net(seed=1))


def test_paths_and_names(path):
    whole = core.Chain(net=Net(seed=1), head=L.Linear(2, 1))
    save_npz(path, whole)
    for part in ("net", "net/"):
        loaded = Net(seed=2)
        load_npz(path, loaded, path=part)
        assert state(loaded) == state(whole.net)
    loaded = Net(seed=2)
    for ignore in ("net/l1/W", ["net/l1/W"], lambda name: name.endswith("l1/W")):
        load_npz(path, loaded, path="net/", ignore_names=ignore)
        assert (loaded.l1.W.array == Net(seed=2).l1.W.array).all() and loaded.steps == 1


def test_entries_left_over_are_told(path):
    save_npz(path, Net())
    with pytest.warns(UserWarning, match="l1/W"):
        load_npz(path, core.Chain(l2=L.Linear(None, 2)))


# -- what does not fit ------------------------------------------------------------------------


def test_all_that_does_not_fit_is_told_at_once_and_nothing_changes(path):
    save_npz(path, Bag(kept=1, gone=2, a=np.zeros((2, 3)), b=np.ones(2), t="text"))
    target = Bag(kept=7, new=8, a=np.ones((3, 2)), b=np.zeros(2, "i4"), t=3)
    before = state(target)
    with pytest.raises(CheckpointError) as info:
        load_npz(path, target)
    assert not isinstance(info.value, CheckpointDamaged)
    for part in (
        "new: missing",
        "gone: in the file",
        "a: shape (3, 2) expected, the file has (2, 3)",
        "b: dtype int32 expected, the file has float64",
        "t: expected 3",
        "strict=False",
    ):
        assert part in str(info.value)
    assert state(target) == before


def test_without_strict_what_the_file_lacks_stays(path):
    save_npz(path, Bag(a=1))
    target = Bag(a=0, b=5)
    load_npz(path, target, strict=False)
    assert target.values == {"a": 1, "b": 5}
    with pytest.raises(CheckpointError, match="shape"):
        load_npz(path, Bag(a=np.zeros(2)), strict=False)


def test_an_object_that_raises_in_the_middle_is_put_back(path):
    class Fussy(Bag):
        def serialize(self, serializer):
            super().serialize(serializer)
            if isinstance(serializer, core.serializer.Deserializer) and self.values["n"] == 2:
                raise KeyError("in the middle")

    save_npz(path, Bag(a=np.ones(3), n=2))
    target = Fussy(a=np.zeros(3), n=1)
    array = target.values["a"]
    with pytest.raises(KeyError, match="in the middle"):
        load_npz(path, target)
    assert array.tolist() == [0, 0, 0] and target.values["n"] == 1


def test_the_deserializer_alone_names_the_entry():
    with pytest.raises(CheckpointError, match=r"'a/weight'.*Did you mean 'a/weigth'"):
        NpzDeserializer({"a/weigth": np.zeros(2)})["a"]("weight", np.zeros(2))


@pytest.mark.parametrize("value", [object(), 2**70, np.array([None]), {"a": 1}])
def test_what_would_need_pickle_is_not_written(path, value):
    with pytest.raises(CheckpointError, match="pickle"):
        save_npz(path, Bag(a=value))
    assert os.listdir(path.parent) == []


# -- damage -----------------------------------------------------------------------------------


def damaged(data, rng):
    """A copy of `data` cut short, with a bit flipped, or with a block overwritten."""
    kind = rng.randrange(3)
    at = rng.randrange(len(data))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    block = bytes(rng.randrange(256) for _ in range(16))
    changed = data[:at] + block + data[at + len(block) :]
    return changed if changed != data else data[:at]


def refuse_damaged(path, count, compression=True):
    net = Net(seed=1)
    net.l2(np.ones((1, 4), "f"))
    save_npz(path, net, compression)
    data, rng = path.read_bytes(), random.Random(0)
    target = Net(seed=2)
    target.l2(np.ones((1, 4), "f"))
    before = state(target)
    for _ in range(count):
        path.write_bytes(damaged(data, rng))
        with pytest.raises(CheckpointDamaged, match=r"state\.npz: the file is damaged"):
            load_npz(path, target)
        assert state(target) == before


@pytest.mark.parametrize("compression", [True, False])
def test_damaged_files_are_refused_and_the_model_stays(path, compression):
    refuse_damaged(path, 100, compression)


@pytest.mark.slow
def test_a_thousand_damaged_files_are_refused(path):
    refuse_damaged(path, 1000)


@pytest.mark.parametrize("cut", [0, 1, 21, 22, 79, 80])
def test_the_last_bytes_count(path, cut):
    save_npz(path, Net())
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - cut] if cut else b"")
    with pytest.raises(CheckpointDamaged):
        load_npz(path, Net())


def test_a_signature_cannot_be_flipped_away(path):
    save_npz(path, Net())
    data = bytearray(path.read_bytes())
    length = len(data) - 79 - 2  # where the archive says how long its comment is
    assert data[length] == 79
    data[length] = 0
    path.write_bytes(data)
    with pytest.raises(CheckpointDamaged):
        load_npz(path, Net())


def test_files_without_a_digest_are_held_to_the_archives_checksums(path):
    chainer_file(path, Net(), compressed=False)
    data = bytearray(path.read_bytes())
    at = data.find(Net().l1.W.array.tobytes())
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(CheckpointDamaged, match="CRC"):
        load_npz(path, Net())


def archive_with(path, name, payload, repeat=1):
    with zipfile.ZipFile(path, "w") as archive:
        for _ in range(repeat):
            archive.writestr(name, payload)


class Evil:
    def __reduce__(self):
        return os.abort, ()


@pytest.mark.parametrize("value", [Evil(), [None], "text", [1, None]])
def test_pickled_objects_are_refused_unread(path, value):
    array = np.empty((), object)
    array[()] = value
    np.savez(path, a=array)
    with pytest.raises(CheckpointError, match="pickled Python object"):
        load_npz(path, Bag(a=1))


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)" + ", " * 20000 + "}",
        "[]",
        "",
    ],
)
def test_absurd_headers_are_refused(path, header):
    head = header.encode("latin1")
    payload = b"\x93NUMPY\x01\x00" + (len(head) & 0xFFFF).to_bytes(2, "little") + head + b"\0" * 8
    archive_with(path, "a.npy", payload)
    with pytest.raises(CheckpointDamaged):
        load_npz(path, Bag(a=np.zeros(1)))


@pytest.mark.parametrize("payload", [b"", b"text", b"\x93NUMPY\x09\x00"])
def test_entries_that_are_no_arrays_are_refused(path, payload):
    archive_with(path, "a.npy", payload)
    with pytest.raises(CheckpointDamaged):
        load_npz(path, Bag(a=1))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name_are_refused(path):
    archive_with(path, "a.npy", b"", repeat=2)
    with pytest.raises(CheckpointDamaged, match="one name"):
        load_npz(path, Bag(a=1))


def test_other_files_are_refused(path):
    path.write_bytes(pickle.dumps(Net()))
    with pytest.raises(CheckpointDamaged):
        load_npz(path, Net())


# -- writing ----------------------------------------------------------------------------------


def test_a_failed_save_leaves_the_old_file(path):
    save_npz(path, Bag(a=1))
    old = path.read_bytes()
    with pytest.raises(CheckpointError):
        save_npz(path, Bag(b=2, a=object()))
    assert path.read_bytes() == old and os.listdir(path.parent) == [path.name]


def test_a_full_disk_leaves_the_old_file(path, monkeypatch):
    save_npz(path, Bag(a=1))
    old = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_npz(path, Bag(a=2))
    assert path.read_bytes() == old and os.listdir(path.parent) == [path.name]


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="make it first") as info:
        save_npz(tmp_path / "no" / "model.npz", Bag(a=1))
    assert info.value.filename == str(tmp_path / "no" / "model.npz")


def test_only_regular_files_are_replaced(tmp_path):
    with pytest.raises(OSError, match="regular file"):
        save_npz(os.devnull, Bag(a=1))
    with pytest.raises(OSError, match="regular file"):
        save_npz(tmp_path, Bag(a=1))


def test_a_link_to_a_file_stays_a_link(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"")
    link.symlink_to(real)
    save_npz(link, Bag(a=1))
    assert link.is_symlink()
    loaded = Bag(a=0)
    load_npz(real, loaded)
    assert loaded.values["a"] == 1


def test_new_files_have_the_usual_permissions(path):
    save_npz(path, Bag(a=1))
    plain = path.with_name("plain")
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


KILLED = """
import sys
from core.serializers import save_npz
import numpy as np

class Bag:
    def serialize(self, serializer):
        serializer("a", np.full(200_000, Bag.n))

print("ready", flush=True)
for Bag.n in range(10**9):
    save_npz(sys.argv[1], Bag(), compression=False)
"""


@pytest.mark.slow
def test_a_process_killed_while_saving_leaves_a_good_file(path):
    from plugins.serializers.atomic import remove_stale_temporaries

    rng = random.Random(0)
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE
        )
        with process:
            process.stdout.readline()
            try:
                process.wait(0.3 + rng.random() * 0.2)
            except subprocess.TimeoutExpired:
                process.kill()
        if path.exists():
            loaded = Bag(a=np.zeros(200_000, int))
            load_npz(path, loaded)
            assert len(set(loaded.values["a"].tolist())) == 1
        remove_stale_temporaries(path.parent)
        assert set(os.listdir(path.parent)) <= {path.name}
    assert path.exists()

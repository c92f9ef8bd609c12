"""Every kind of file: what comes back, what is refused, and that a refused file changes nothing."""

import errno
import os
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from kinds import Bag, Net, damaged, state

import core
from core import links as L
from core.errors import CheckpointDamaged, CheckpointError

# -- there and back ---------------------------------------------------------------------------

numbers = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False),
)
arrays = hnp.arrays(
    st.sampled_from(["f2", "f4", "f8", ">f4", "i1", "i8", "u1", "?", "c8"]),
    hnp.array_shapes(min_dims=0, min_side=0, max_side=4),
    elements={"allow_nan": False},
)


@given(arrays, numbers)
def test_values_come_back_with_their_types(kind, path, array, number):
    kind.save(path, Bag(a=array, n=number, none=None))
    loaded = Bag(a=np.zeros_like(array), n=type(number)(), none=0)
    target = loaded.values["a"]
    kind.load(path, loaded)
    assert loaded.values["a"] is target
    assert target.dtype == array.dtype and target.tobytes() == np.ascontiguousarray(array).tobytes()
    assert type(loaded.values["n"]) is type(number) and loaded.values["n"] == number
    assert loaded.values["none"] is None


@given(st.text("aé/ \u4e00", max_size=5), st.lists(st.text("aé", max_size=3), max_size=3))
def test_text_comes_back(kind, path, text, several):
    if not kind.holds_text:
        with pytest.raises(CheckpointError, match="Use save_npz"):
            kind.save(path, Bag(t=text))
        return
    kind.save(path, Bag(t=text, a=np.array(several, "U3")))
    loaded = Bag(t="", a=None)
    kind.load(path, loaded)
    assert loaded.values["t"] == text and type(loaded.values["t"]) is str
    assert loaded.values["a"].tolist() == several


def test_none_asks_for_whatever_is_there(kind, path):
    kind.save(path, Bag(a=np.arange(3), n=None))
    loaded = Bag(a=None, n=None)
    kind.load(path, loaded)
    assert loaded.values["a"].tolist() == [0, 1, 2] and loaded.values["n"] is None


def test_arrays_of_any_layout(kind, path):
    base = np.arange(24.0).reshape(4, 6)
    for array in (
        base.T,
        base[::2, ::-3],
        np.asfortranarray(base),
        np.broadcast_to(base[0], (3, 6)),
    ):
        kind.save(path, Bag(a=array))
        target = np.zeros((array.shape[1], array.shape[0])).T
        kind.load(path, Bag(a=target))
        np.testing.assert_array_equal(target, array)


def test_a_number_keeps_its_digits_where_the_type_would_cut_them(kind, path):
    kind.save(path, Bag(lr=0.5, t=(1, 2), n=3.0))
    loaded = Bag(lr=1, t=(0, 0, 0), n=1)
    kind.load(path, loaded)
    assert loaded.values == {"lr": 0.5, "t": (1, 2), "n": 3}


def test_other_backends_are_saved_and_filled(kind, path):
    strict = core.backend.get("strict")
    kind.save(path, Bag(a=strict.asarray([1.0, 2.0], dtype="float32")))
    target = strict.asarray([0.0, 0.0], dtype="float32")
    kind.load(path, Bag(a=target))
    assert core.backend.to_host(target).tolist() == [1, 2]


def test_a_dict_is_saved_as_what_an_object_has_saved(kind, path):
    saved = core.serializers.DictionarySerializer()
    saved.save(Net(seed=1))
    kind.save(path, saved.target)
    loaded = Net(seed=2)
    kind.load(path, loaded)
    assert state(loaded) == state(Net(seed=1))
    kind.save(path, {"a": None, "b": 3, "deep/c": np.arange(2)})
    loaded = Bag(a=1, b=0, **{"deep/c": np.zeros(2, int)})
    kind.load(path, loaded)
    assert loaded.values["a"] is None and loaded.values["deep/c"].tolist() == [0, 1]


def test_links_with_shapes_unknown_so_far(kind, path):
    source, empty, filled = Net(seed=1), Net(seed=2), Net(seed=3)
    kind.save(path, source)
    assert not source.l2.W.is_initialized
    kind.load(path, empty)
    assert state(empty) == state(source)
    source.l2(np.ones((1, 4), "f"))
    kind.save(path, source)
    kind.load(path, filled)
    assert state(filled) == state(source) and filled.l2.W.shape == (2, 4)


def test_optimizers_resume_exactly(kind, path):
    def start(seed):
        net = Net(seed=seed)
        net.l2.W.initializer = core.initializers.Constant(0.5)
        return net, core.optimizers.Adam(0.1).setup(net)

    def train(net, optimizer, steps):
        for _ in range(steps):
            optimizer.update(lambda: core.functions.sum(net.l2(net.l1(np.ones((2, 3), "f"))) ** 2))

    whole, stopped, resumed = start(1), start(1), start(2)
    train(*whole, 4)
    train(*stopped, 2)
    kind.save(path, core.Chain(net=stopped[0]))
    kind.load(path, core.Chain(net=resumed[0]))
    kind.save(path, stopped[1])
    kind.load(path, resumed[1])
    train(*resumed, 2)
    assert state(resumed[0]) == {**state(whole[0]), "steps": state(resumed[0])["steps"]}


def test_equal_states_give_equal_files(kind, path):
    kind.save(path, Net())
    first = path.read_bytes()
    kind.save(path, Net())
    assert path.read_bytes() == first


def test_entries_left_over_are_told(kind, path):
    kind.save(path, Net())
    with pytest.warns(UserWarning, match="l1/W") as told:
        kind.load(path, core.Chain(l2=L.Linear(None, 2)))
    assert told[0].filename == __file__


def test_parameters_that_the_file_has_no_values_for_are_told(kind, path):
    kind.save(path, Net())
    filled = Net()
    filled.l2(np.ones((1, 4), "f"))
    weights = filled.l2.W.array.copy()
    with pytest.warns(UserWarning, match="had no values yet .*: l2/W$") as told:
        kind.load(path, filled)
    assert len(told) == 1 and (filled.l2.W.array == weights).all()
    kind.load(path, filled, ignore_names=["l2/W"])


def test_an_object_of_which_the_file_has_nothing_is_told(kind, path):
    kind.save(path, core.Chain(model=Net()))
    told = "nothing of this Net, .* no 'modle/steps', for example. Did you mean 'model/steps'"
    with pytest.warns(UserWarning, match=told):
        kind.load(path, Net(), path="modle/", strict=False)
    kind.load(path, core.Chain(), path="modle/", strict=False)


def test_names_to_ignore_may_come_one_by_one(kind, path):
    kind.save(path, Bag(a=1, b=2))
    loaded = Bag(a=0, b=0)
    kind.load(path, loaded, ignore_names=(name for name in ["a"]))
    assert loaded.values == {"a": 0, "b": 2}


def test_paths_and_names(kind, path):
    whole = core.Chain(net=Net(seed=1), head=L.Linear(2, 1))
    kind.save(path, whole)
    for part in ("net", "net/"):
        loaded = Net(seed=2)
        kind.load(path, loaded, path=part)
        assert state(loaded) == state(whole.net)
    loaded = Net(seed=2)
    for ignore in ("net/l1/W", ["net/l1/W"], lambda name: name.endswith("l1/W")):
        kind.load(path, loaded, path="net/", ignore_names=ignore)
        assert (loaded.l1.W.array == Net(seed=2).l1.W.array).all() and loaded.steps == 1


# -- what does not fit ------------------------------------------------------------------------


def test_all_that_does_not_fit_is_told_at_once_and_nothing_changes(kind, path):
    kind.save(path, Bag(kept=1, gone=2, a=np.zeros((2, 3)), b=np.ones(2), s=[1.0]))
    target = Bag(kept=7, new=8, a=np.ones((3, 2)), b=np.zeros(2, "i4"), s=3)
    before = state(target)
    with pytest.raises(CheckpointError) as info:
        kind.load(path, target)
    assert not isinstance(info.value, CheckpointDamaged)
    for part in (
        f"load_{kind.name}: {path} does not fit this Bag",
        "new: missing",
        "gone: in the file",
        "a: shape (3, 2) expected, the file has (2, 3)",
        "b: dtype int32 expected, the file has float64",
        "s: expected a single value",
        "strict=False",
    ):
        assert part in str(info.value)
    assert state(target) == before


def test_one_array_of_two_names_takes_no_two_arrays(kind, path):
    shared = np.zeros(2)
    target = Bag(a=shared, b=shared)
    kind.save(path, Bag(a=np.ones(2), b=np.array([1.0, np.nan])))
    with pytest.raises(CheckpointError, match="b: it is one array with a, of which the file has"):
        kind.load(path, target)
    assert not shared.any()
    kind.load(path, target, ignore_names="b")
    assert shared.tolist() == [1, 1]
    kind.save(path, target)
    shared[:] = 0
    kind.load(path, target)
    assert shared.tolist() == [1, 1]


def test_without_strict_what_the_file_lacks_stays(kind, path):
    kind.save(path, Bag(a=1))
    target = Bag(a=0, b=5)
    kind.load(path, target, strict=False)
    assert target.values == {"a": 1, "b": 5}
    with pytest.raises(CheckpointError, match="shape"):
        kind.load(path, Bag(a=np.zeros(2)), strict=False)


def test_text_and_numbers_do_not_fit_each_other(kind, path):
    if kind.holds_text:
        kind.save(path, Bag(t="text"))
        with pytest.raises(CheckpointError, match="t: expected 3"):
            kind.load(path, Bag(t=3))
    kind.save(path, Bag(t=3))
    with pytest.raises(CheckpointError, match="t: expected 'text'"):
        kind.load(path, Bag(t="text"))


def test_an_object_that_raises_in_the_middle_is_put_back(kind, path):
    class Fussy(Bag):
        def serialize(self, serializer):
            super().serialize(serializer)
            if isinstance(serializer, core.serializer.Deserializer) and self.values["n"] == 2:
                raise KeyError("in the middle")

    kind.save(path, Bag(a=np.ones(3), n=2))
    target = Fussy(a=np.zeros(3), n=1)
    array = target.values["a"]
    with pytest.raises(KeyError, match="in the middle"):
        kind.load(path, target)
    assert array.tolist() == [0, 0, 0] and target.values["n"] == 1


@pytest.mark.parametrize("value", [object(), 2**70, np.array([None]), {"a": 1}])
def test_what_would_need_pickle_is_not_written(kind, path, value):
    with pytest.raises(CheckpointError, match=f"save_{kind.name}: .*dtype object for 'a'"):
        kind.save(path, Bag(a=value))
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("obj", [None, 3, L.Linear])
def test_what_has_no_state_is_refused(kind, path, obj):
    told = "expected a path or file and then .* trainer"
    with pytest.raises(TypeError, match=f"save_{kind.name}: {told}, or a dict of arrays; got"):
        kind.save(path, obj)
    kind.save(path, Bag(a=1))
    with pytest.raises(TypeError, match=f"load_{kind.name}: {told}; got"):
        kind.load(path, obj)


def test_a_path_and_an_object_in_the_wrong_order(kind, path):
    with pytest.raises(TypeError, match=rf"save_{kind.name}: expected a path.*got '"):
        kind.save(Bag(a=1), str(path))


# -- damage -----------------------------------------------------------------------------------


def refuse_damaged(kind, path, count):
    net = Net(seed=1)
    net.l2(np.ones((1, 4), "f"))
    kind.save(path, net)
    data, rng = path.read_bytes(), random.Random(0)
    target = Net(seed=2)
    target.l2(np.ones((1, 4), "f"))
    before = state(target)
    for _ in range(count):
        path.write_bytes(damaged(data, rng))
        with pytest.raises(CheckpointDamaged, match="state: the file is damaged"):
            kind.load(path, target)
        assert state(target) == before


def test_damaged_files_are_refused_and_the_model_stays(kind, path):
    refuse_damaged(kind, path, 100)


@pytest.mark.slow
def test_a_thousand_damaged_files_are_refused(kind, path):
    refuse_damaged(kind, path, 1000)


def test_every_byte_of_the_first_and_the_last_counts(kind, path):
    kind.save(path, Bag(a=np.arange(3), n=None))
    data = path.read_bytes()
    places = {*range(min(700, len(data))), *range(max(0, len(data) - 100), len(data))}
    for at in places:
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(CheckpointDamaged):
            kind.load(path, Bag(a=np.zeros(3, int), n=None))


@pytest.mark.parametrize("data", [b"", b"text", pickle.dumps([1, 2]), bytes(1000)])
def test_other_files_are_refused(kind, path, data):
    path.write_bytes(data)
    with pytest.raises(CheckpointDamaged):
        kind.load(path, Net())


def test_a_file_that_is_not_there(kind, path):
    path.with_name(f"old_{path.name}").touch()
    told = rf"No such file in the folder {str(path.parent)!r}\. Did you mean 'old_.* load_"
    with pytest.raises(FileNotFoundError, match=told) as caught:
        kind.load(path, Net())
    assert caught.value.errno == errno.ENOENT and caught.value.filename == str(path)
    with pytest.raises(FileNotFoundError, match="which does not exist"):
        kind.load(path / "below" / "model", Net())


# -- writing ----------------------------------------------------------------------------------


def test_a_failed_save_leaves_the_old_file(kind, path):
    kind.save(path, Bag(a=1))
    old = path.read_bytes()
    with pytest.raises(CheckpointError):
        kind.save(path, Bag(b=2, a=object()))
    assert path.read_bytes() == old and os.listdir(path.parent) == [path.name]


def test_a_full_disk_leaves_the_old_file(kind, path, monkeypatch):
    kind.save(path, Bag(a=1))
    old = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        kind.save(path, Bag(a=2))
    assert path.read_bytes() == old and os.listdir(path.parent) == [path.name]


def test_a_directory_that_is_not_there_is_named(kind, tmp_path):
    with pytest.raises(FileNotFoundError, match="make it first") as info:
        kind.save(tmp_path / "no" / "model", Bag(a=1))
    assert info.value.filename == str(tmp_path / "no" / "model")


def test_only_regular_files_are_replaced(kind, tmp_path):
    with pytest.raises(OSError, match="regular file"):
        kind.save(os.devnull, Bag(a=1))
    with pytest.raises(OSError, match="regular file"):
        kind.save(tmp_path, Bag(a=1))


def test_a_link_to_a_file_stays_a_link(kind, tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"")
    link.symlink_to(real)
    kind.save(link, Bag(a=1))
    assert link.is_symlink()
    loaded = Bag(a=0)
    kind.load(real, loaded)
    assert loaded.values["a"] == 1


def test_new_files_have_the_usual_permissions(kind, path):
    kind.save(path, Bag(a=1))
    plain = path.with_name("plain")
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_file_that_is_replaced_keeps_its_permissions(kind, path):
    kind.save(path, Bag(a=1))
    path.chmod(0o600)
    kind.save(path, Bag(a=2))
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("letter", ["a", "重"])
def test_names_may_be_as_long_as_the_system_lets_them(kind, path, letter):
    long = path.with_name(letter * (255 // len(letter.encode())))
    kind.save(long, Bag(a=1))
    loaded = Bag(a=0)
    kind.load(long, loaded)
    assert loaded.values["a"] == 1


KILLED = """
import sys
import core.serializers
import numpy as np

save = getattr(core.serializers, f"save_{sys.argv[1]}")

class Bag:
    def serialize(self, serializer):
        serializer("a", np.full(200_000, Bag.n))

print("ready", flush=True)
for Bag.n in range(10**9):
    save(sys.argv[2], Bag())
"""


@pytest.mark.slow
def test_a_process_killed_while_saving_leaves_a_good_file(kind, path):
    from plugins.serializers.atomic import remove_stale_temporaries

    rng = random.Random(0)
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, kind.name, str(path)], stdout=subprocess.PIPE
        )
        with process:
            process.stdout.readline()
            try:
                process.wait(0.3 + rng.random() * 0.2)
            except subprocess.TimeoutExpired:
                process.kill()
        if path.exists():
            loaded = Bag(a=np.zeros(200_000, int))
            kind.load(path, loaded)
            assert len(set(loaded.values["a"].tolist())) == 1
        remove_stale_temporaries(path.parent)
        assert set(os.listdir(path.parent)) <= {path.name}
    assert path.exists()


# -- without the libraries --------------------------------------------------------------------


@pytest.mark.parametrize("what", ["hdf5", "safetensors"])
def test_a_missing_library_is_named_with_the_extra(what, path, monkeypatch):
    save, load = (getattr(core.serializers, f"{do}_{what}") for do in ("save", "load"))
    save(path, Bag(a=1))
    old = path.read_bytes()
    for module in ("h5py", "safetensors", "safetensors.numpy"):
        monkeypatch.setitem(sys.modules, module, None)
    for use in (save, load):
        with pytest.raises(ImportError, match=rf"{use.__name__} needs.*plugrad\[{what}\]"):
            use(path, Bag(a=1))
    assert path.read_bytes() == old and os.listdir(path.parent) == [path.name]


def test_libraries_are_loaded_when_a_file_is_met():
    code = (
        "import sys, core.serializers as S\n"
        "S.save_hdf5, S.HDF5Serializer, S.load_safetensors\n"
        "assert not {'h5py', 'safetensors', 'ml_dtypes'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

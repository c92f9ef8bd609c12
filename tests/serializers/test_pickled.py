"""Links that Chainer has pickled whole: recorded by Chainer 1.24.0 and 7.8.1 themselves."""

import io
import lzma
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.errors import CheckpointDamaged, CheckpointError
from core.serializers import DictionarySerializer, load_npz, load_pickled

FILES = Path(__file__).parents[1] / "data" / "chainer" / "pickled"


def net():
    made = core.Chain(
        l1=L.Linear(4, 5),
        norm=L.BatchNormalization(5),
        lstm=L.LSTM(5, 3),
        rest=core.ChainList(L.Linear(3, 2), L.EmbedID(3, 2)),
    )
    made.add_persistent("note", 0)
    return made


def saved(link):
    entries = DictionarySerializer()
    entries.save(link)
    return entries.target


@pytest.mark.parametrize("version", ["1.24.0", "7.8.1"])
@pytest.mark.parametrize("protocol", [0, 2])
def test_it_has_what_the_npz_file_has(version, protocol):
    one, other = net(), net()
    load_pickled(FILES / f"{version}-{protocol}.pickle", one)
    load_npz(FILES / f"{version}.npz", other)
    assert one.note == 7
    for name, array in saved(other).items():
        np.testing.assert_array_equal(saved(one)[name], array, err_msg=name)


def test_layers_stand_in_their_order_though_chainer_numbers_them_in_another():
    file = Path(__file__).parents[2] / "compat" / "tests" / "pickles" / "chainer_7.8.1.pkl.xz"
    with lzma.open(file) as opened:
        _, links, _ = pickle.load(opened)
    pickled, inputs, y = links["layers"]
    model = core.Sequential(L.Linear(3, 3), F.relu, L.Linear(3, 3), L.Linear(3, 3))
    load_pickled(io.BytesIO(pickled), model)
    np.testing.assert_allclose(model(*inputs).array, y, rtol=1e-4, atol=1e-5)


def test_what_does_not_fit_is_told_and_not_loaded():
    model = core.Chain(l1=L.Linear(4, 6))
    before = model.l1.W.array.copy()
    with pytest.raises(CheckpointError, match=r"l1/W: shape \(6, 4\) expected, the file has \(5"):
        load_pickled(FILES / "1.24.0-2.pickle", model)
    np.testing.assert_array_equal(model.l1.W.array, before)


class Attack:
    def __reduce__(self):
        return os.mkdir, ("owned",)


class Link:
    """What stands for a link in hostile pickles, of another module."""

    def __init__(self, **state):
        self.__dict__.update(state)


def link(**state):
    return Link(_params=[], _persistent=[], **state)


def around(link):
    link._children.append(link)
    return link


def twice(depth):
    made = link()
    for _ in range(depth):
        made = link(_children=[made, made])
    return made


HOSTILE = {
    "code": (Attack(), CheckpointError, r"expected a pickled link, got (posix|nt)\.mkdir"),
    "code within": (Link(_params=["W"], W=Attack()), CheckpointError, "'W', found none|W"),
    "a list": ([1, 2], CheckpointError, "got list"),
    "a child that is none": (link(_children=["a"]), CheckpointError, "got str"),
    "a name that is none": (Link(_params=[3]), CheckpointError, "a name that is int"),
    "names that are no list": (Link(_params=Attack), CheckpointDamaged, "damaged or no pickle"),
    "links that are no list": (link(_children=Attack), CheckpointDamaged, "damaged or no pickle"),
    "around": (around(link(_children=[])), CheckpointError, "expected a pickled link"),
    "twice": (twice(60), CheckpointError, "expected a pickled link"),
    "objects": (np.array([Attack()]), CheckpointDamaged, "expected arrays of numbers"),
    "dates": (np.zeros(2, "M8[s]"), CheckpointDamaged, "expected numbers, got the dtype"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    what, error, text = HOSTILE[name]
    for protocol in (0, 2, 4):
        with pytest.raises(error, match=text):
            load_pickled(io.BytesIO(pickle.dumps(what, protocol)), L.EmbedID(2, 2))
    assert not [*tmp_path.iterdir()]


def test_damaged_files():
    data = (FILES / "1.24.0-2.pickle").read_bytes()
    for bad in (b"", b"no pickle", data[:-9], data[: len(data) // 2], b"\x80\x02}r\0\0\0\xff."):
        with pytest.raises(CheckpointDamaged):
            load_pickled(io.BytesIO(bad), net())
    sizes = data.replace(b"K\x05K\x04\x86", b"K\x09K\x04\x86")
    assert sizes != data
    with pytest.raises(CheckpointDamaged):
        load_pickled(io.BytesIO(sizes), net())

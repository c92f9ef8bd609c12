"""Files that Chainer itself has written load, and training goes on from them as it did there."""

import random
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from kinds import damaged, state

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training
from core.errors import CheckpointError
from core.serializers import load_hdf5, load_npz, save_hdf5, save_npz

FILES = Path(__file__).parents[1] / "data" / "chainer"
VERSIONS = ("3.0.0", "3.2.0", "7.8.1")
LATEST = FILES / VERSIONS[-1]
LOAD = {"npz": load_npz, "h5": load_hdf5}


class Net(core.Chain):
    """The model of tests/data/chainer/record.py."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 5, nobias=True)
            self.norm = L.BatchNormalization(5)
            self.l2 = L.Linear(None, 3)
            self.unused = L.Linear(None, 2)
        self.add_persistent("note", 0)

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.l2(F.tanh(self.norm(self.l1(x)))), t)


def updater():
    x = np.sin(np.arange(128, dtype="f") * 1.7).reshape(32, 4)
    data = datasets.TupleDataset(x, (np.arange(32) % 3).astype("i"))
    optimizer = optimizers.Adam(alpha=0.02).setup(Net())
    iterator = iterators.SerialIterator(data, 8, shuffle=False)
    return training.updaters.StandardUpdater(iterator, optimizer)


def parts(made):
    optimizer = made.get_optimizer("main")
    return optimizer.target, optimizer


def of_unused(name):
    return "optimizer:main/unused" in name


def check_end(made, version):
    """Three more steps lead to where Chainer came."""
    while made.iteration < 6:
        made.update()
    ended = Net()
    load_npz(FILES / version / "ended.npz", ended)
    here = dict(parts(made)[0].namedparams())
    for path, there in ended.namedparams():
        if there.is_initialized:
            np.testing.assert_allclose(here[path].array, there.array, rtol=1e-5, atol=1e-6)
    assert not here["/unused/W"].is_initialized


@pytest.mark.parametrize("ending", LOAD)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_model_and_its_optimizer_go_on(version, ending):
    made = updater()
    model, optimizer = parts(made)
    LOAD[ending](FILES / version / f"model.{ending}", model)
    # Of a parameter that was never updated Chainer saves no state: it is left as it is.
    with pytest.raises(CheckpointError, match="unused/W/m: missing from the file"):
        LOAD[ending](FILES / version / f"optimizer.{ending}", optimizer)
    LOAD[ending](FILES / version / f"optimizer.{ending}", optimizer, strict=False)
    assert model.note == 7 and int(model.norm.N) == 0 and optimizer.t == 3
    made.iteration = 3
    iterator = made.get_iterator("main")
    while iterator.current_position < 24:
        iterator.next()
    check_end(made, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_snapshot_goes_on_from_its_updater(version):
    made = updater()
    load_npz(FILES / version / "snapshot.npz", made, path="updater/", ignore_names=of_unused)
    assert made.iteration == 3 and made.get_iterator("main").current_position == 24
    check_end(made, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_trainer_that_refuses_a_snapshot_of_chainer_names_the_cure(version, tmp_path):
    trainer = training.Trainer(updater(), (6, "iteration"), tmp_path)
    with pytest.raises(CheckpointError, match=r"trainer\.updater, path=.updater/."):
        load_npz(FILES / version / "snapshot.npz", trainer)
    save_npz(tmp_path / "own.npz", trainer)
    other = training.Trainer(updater(), (6, "iteration"), tmp_path)
    other.extend(training.extensions.LogReport())
    with pytest.raises(CheckpointError) as error:
        load_npz(tmp_path / "own.npz", other)
    assert "Chainer" not in str(error.value)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_whole_trainer_takes_what_a_snapshot_of_chainer_has(version, tmp_path):
    trainer = training.Trainer(updater(), (6, "iteration"), tmp_path)
    cure = pytest.warns(UserWarning, match="load the updater")
    with cure, pytest.warns(UserWarning, match="extensions/LogReport/_log"):
        load_npz(FILES / version / "snapshot.npz", trainer, strict=False)
    assert trainer.updater.iteration == 3
    trainer.run()
    check_end(trainer.updater, version)


def test_stored_and_compressed_files_hold_the_same():
    models = [Net(), Net()]
    load_npz(LATEST / "model.npz", models[0])
    load_npz(LATEST / "stored.npz", models[1])
    assert state(models[0]) == state(models[1])
    load_hdf5(LATEST / "model.h5", models[1])
    assert state(models[0]) == state(models[1])


def outcomes(path, ending, seeds):
    """What becomes of damaged files that have no digest: refused, 'same' or 'different' values."""
    data = (LATEST / f"model.{ending}").read_bytes()
    good = Net()
    LOAD[ending](LATEST / f"model.{ending}", good)
    for seed in seeds:
        path.write_bytes(damaged(data, random.Random(seed)))
        model = Net()
        LOAD[ending](LATEST / f"model.{ending}", model)
        try:
            LOAD[ending](path, model)
        except CheckpointError:
            assert state(model) == state(good)
            yield "refused"
        else:
            yield "same" if state(model) == state(good) else "different"


@pytest.mark.filterwarnings("ignore:load_npz. nothing asked for")
@pytest.mark.slow
def test_damaged_npz_files_of_chainer_never_load_other_values(path):
    found = Counter(outcomes(path, "npz", range(1000)))
    assert set(found) == {"refused", "same"}  # dates and the like may be changed
    assert found["refused"] > 800


@pytest.mark.filterwarnings("ignore:load_hdf5. nothing asked for")
def test_damaged_hdf5_files_of_chainer_are_refused_or_load(path):
    """No more can be promised: they have no checksums. Seed 710 damages the name of a dataset."""
    assert set(outcomes(path, "h5", [*range(200), 710])) <= {"refused", "same", "different"}


NUMBERS = {  # of the links (L) between functions (F), as Chainer 7.8.1 writes them
    "LL": [0, 1],
    "LLL": [0, 2, 1],
    "FLLLLLL": [0, 1, 5, 4, 3, 2],
    "FFLLLLLL": [0, 1, 2, 5, 4, 3],
    "LFLFLFL": [0, 3, 2, 1],
    "FFFFFFLLL": [0, 1, 2],
    "LLLLLLLLLLLL": [0, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
    "FF": [],
}


@pytest.mark.parametrize("layers", NUMBERS)
def test_the_numbers_of_links_are_those_that_chainer_gives_them(layers):
    model = core.Sequential(*[F.relu if c == "F" else L.Linear(1, 1) for c in layers])
    count = len(NUMBERS[layers])
    assert model._numbers() == ([*range(count)], NUMBERS[layers])


class Numbered(core.Sequential):
    """One that numbers its links as Chainer does, as with the distribution `plugrad-chainer`."""

    @staticmethod
    def _numbered(layers, is_link):
        first, *others = layers
        return [first, *others[::-1]]


@pytest.mark.parametrize("ending", LOAD)
def test_links_are_not_loaded_under_numbers_of_another_order(ending, tmp_path):
    save, load = {"npz": save_npz, "h5": save_hdf5}[ending], LOAD[ending]
    kinds = {kind: tmp_path / f"{kind.__name__}.{ending}" for kind in (core.Sequential, Numbered)}
    made = {kind: kind(*[L.Linear(2, 2) for _ in range(4)]) for kind in kinds}
    for kind, path in kinds.items():
        save(path, made[kind])
        again = kind(*[L.Linear(2, 2) for _ in range(4)])
        load(path, again)
        for one, other in zip(made[kind], again, strict=True):
            np.testing.assert_array_equal(one.W.array, other.W.array)
    for kind, path in zip(kinds, reversed(kinds.values()), strict=True):
        before = [link.W.array.copy() for link in made[kind]]
        with pytest.raises(CheckpointError, match="numbers: .*0, [31], 2, [13].*Load link by link"):
            load(path, made[kind])
        for one, other in zip(before, made[kind], strict=True):
            np.testing.assert_array_equal(one, other.W.array)
    load(kinds[Numbered], made[core.Sequential][1], path="3/")
    np.testing.assert_array_equal(made[core.Sequential][1].W.array, made[Numbered][1].W.array)


@pytest.mark.parametrize("ending", LOAD)
def test_who_loads_a_sequential_of_chainers_is_told_of_its_numbers(ending, tmp_path):
    path, there = tmp_path / f"model.{ending}", [0, 3, 2, 1]
    links = [L.Linear(2, 2) for _ in there]
    entries = {f"{n}/{name}": links[i].W.array[0] + i for i, n in enumerate(there) for name in "b"}
    entries |= {f"{n}/W": links[i].W.array + i for i, n in enumerate(there)}
    if ending == "npz":
        np.savez(path, **entries)
    else:
        with pytest.importorskip("h5py").File(path, "w") as file:
            for name, array in entries.items():
                file[name] = array
    model = core.Sequential(*[L.Linear(2, 2) for _ in there])
    with pytest.warns(
        UserWarning, match="another program. /: .* in Chainer their .* are 0, 3, 2, 1[.]"
    ):
        LOAD[ending](path, model)
    assert not np.array_equal(model[1].W.array, links[1].W.array + 1)
    for i, n in enumerate(there):
        LOAD[ending](path, model[i], path=f"{n}/")
        np.testing.assert_array_equal(model[i].W.array, links[i].W.array + i)
    other = core.Chain(a=core.Sequential(*[L.Linear(2, size) for size in (3, 2, 2, 2)]))
    with pytest.raises(CheckpointError, match="missing(.|\n)*/a: the links of a Sequential"):
        LOAD[ending](path, other)
    save = {"npz": save_npz, "h5": save_hdf5}[ending]
    save(path, model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LOAD[ending](path, model)

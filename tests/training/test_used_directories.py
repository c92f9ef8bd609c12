"""A run that begins in a directory of another one leaves the other's results as they are."""

import functools
import json
import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import small

from core import serializers, training
from core.training import extensions
from core.training.results import new_directory, set_aside
from plugins.serializers.atomic import replacing

SAVERS = {"npz": {}, "hdf5": {"savefun": serializers.save_hdf5}}


def files(directory):
    """Everything below, but for what was set aside: name -> bytes."""
    directory = Path(directory)
    paths = (path for path in directory.rglob("*") if path.is_file())
    found = {str(path.relative_to(directory)): path.read_bytes() for path in paths}
    return {name: data for name, data in found.items() if not name.startswith("earlier-")}


def aside(directory, number=1):
    return files(Path(directory) / f"earlier-{number}")


def started(out, stop=5, *, tell=False, **options):
    """A trainer that has run; `tell` says whether it is to tell of earlier results."""
    made = small.trainer(out, (stop, "iteration"), **options)
    if tell:
        with pytest.warns(UserWarning, match="holds results of an earlier run") as told:
            made.run()
        assert len(told) == 1 and told[0].filename == __file__
        return made, str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.run()
    return made, ""


@pytest.mark.parametrize("kind", SAVERS)
def test_a_new_run_keeps_log_plots_and_snapshots_of_the_earlier_one(tmp_path, kind):
    options = {"n_retains": 2, **SAVERS[kind]}
    first, _ = started(tmp_path, **options)
    (tmp_path / "notes.txt").write_text("mine")
    before = files(tmp_path)
    second, text = started(tmp_path, 3, tell=True, **options)
    del before["notes.txt"]
    assert aside(tmp_path) == before
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert "snapshot_iter_3" in files(tmp_path) and "snapshot_iter_5" not in files(tmp_path)
    assert first.run_id != second.run_id
    for part in ("snapshot_iter_5", "earlier-1", "autoload=True", "training.new_directory("):
        assert part in text
    started(tmp_path, 2, tell=True, **options)
    assert aside(tmp_path) == before and "snapshot_iter_3" in aside(tmp_path, 2)


def test_a_resumed_run_goes_on_in_its_directory(tmp_path):
    first, _ = started(tmp_path, n_retains=2)
    second, _ = started(tmp_path, 9, n_retains=2, autoload=True)
    assert second.is_resumed and not first.is_resumed
    assert second.run_id == first.run_id
    third = small.trainer(tmp_path, (11, "iteration"), n_retains=2)
    serializers.load_npz(tmp_path / "snapshot_iter_9", third)  # by hand
    third.run()
    assert third.run_id == first.run_id
    assert sorted(p.name for p in tmp_path.glob("*snapshot*")) == [
        "snapshot_iter_10",
        "snapshot_iter_11",
    ]
    assert [r["iteration"] for r in json.loads((tmp_path / "log").read_text())] == [4, 8]
    assert not list(tmp_path.glob("earlier-*"))


def test_a_run_resumed_elsewhere_keeps_what_is_there(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    started(ours)
    started(theirs)
    before = files(theirs)
    moved = small.trainer(theirs, (7, "iteration"), n_retains=1)
    serializers.load_npz(ours / "snapshot_iter_5", moved)
    with pytest.warns(UserWarning, match="holds results of an earlier run"):
        moved.run()
    assert aside(theirs) == before
    assert sorted(p.name for p in theirs.glob("snapshot*")) == ["snapshot_iter_7"]
    fresh = small.trainer(tmp_path / "fresh", (7, "iteration"))
    serializers.load_npz(ours / "snapshot_iter_5", fresh)
    fresh.run()
    assert fresh.run_id == moved.run_id


@pytest.mark.parametrize("name", ["log", "log.jsonl"])
@pytest.mark.parametrize("first", [1, 9], ids=["a record loaded", "none loaded"])
def test_a_run_resumed_where_another_has_left_its_log_alone_keeps_it(tmp_path, name, first):
    def logging(out, stop, first=1):
        made = training.Trainer(small.updater(), (stop, "iteration"), tmp_path / out)
        trigger = training.triggers.ManualScheduleTrigger([*range(first, 99)], "iteration")
        made.extend(extensions.LogReport(trigger=trigger, filename=name))
        return made

    logging("theirs", 3).run()
    before = files(tmp_path / "theirs")
    ours = logging("ours", 2, first)
    ours.run()
    serializers.save_npz(tmp_path / "by hand", ours)

    own = logging("ours", 4, first)
    serializers.load_npz(tmp_path / "by hand", own)
    own.run()
    assert not list((tmp_path / "ours").glob("earlier-*"))

    moved = logging("theirs", 4, first)
    serializers.load_npz(tmp_path / "by hand", moved)
    with pytest.warns(UserWarning, match="holds results of an earlier run"):
        moved.run()
    assert aside(tmp_path / "theirs") == before


def test_snapshots_of_others_are_never_removed(tmp_path):
    """Also where they come while the run is under way."""
    started(tmp_path / "other", 3)
    made = small.trainer(tmp_path / "own", (5, "iteration"), n_retains=1)

    def intrude(trainer):
        other = (tmp_path / "other" / "snapshot_iter_3").read_bytes()
        (tmp_path / "own" / "snapshot_iter_100").write_bytes(other)

    made.extend(intrude, trigger=(2, "iteration"))
    made.run()
    left = sorted(path.name for path in (tmp_path / "own").glob("snapshot*"))
    assert left == ["snapshot_iter_100", "snapshot_iter_5"]


def intruder(directory, name, content):
    """An extension by which another run writes a file meanwhile."""

    def intrude(trainer):
        if trainer.updater.iteration == 2:
            (Path(directory) / name).write_bytes(content)

    return intrude


def pickled(path, target):
    Path(path).write_bytes(pickle.dumps(target))


PARTS = {
    "npz": {},
    "hdf5": {"savefun": functools.partial(serializers.save_hdf5, compression=1)},
    "thread": {"writer": extensions.snapshot_writers.ThreadWriter()},
    "queue": {"writer": extensions.snapshot_writers.ThreadQueueWriter(serializers.save_hdf5)},
    "of one's own": {"savefun": pickled},
}


def model_keeper(out, stop, **options):
    made = training.Trainer(small.updater(), (stop, "iteration"), out)
    model = made.updater.get_optimizer("main").target
    keeper = extensions.snapshot_object(model, "model_{.updater.iteration}", **options)
    made.extend(keeper, trigger=(1, "iteration"))
    return made, model


@pytest.mark.parametrize("kind", PARTS)
def test_files_of_models_are_removed_by_their_own_run_alone(tmp_path, kind):
    options = {**PARTS[kind], "n_retains": 1}
    model_keeper(tmp_path / "other", 3, **options)[0].run()
    content = (tmp_path / "other" / "model_3").read_bytes()
    made, model = model_keeper(tmp_path / "own", 5, **options)
    made.extend(intruder(tmp_path / "own", "model_100", content), trigger=(1, "iteration"))
    made.run()
    assert sorted(files(tmp_path / "own")) == ["model_100", "model_5"]
    assert files(tmp_path / "own")["model_100"] == content
    if kind != "of one's own":
        load = serializers.load_hdf5 if kind in ("hdf5", "queue") else serializers.load_npz
        before = model.l1.W.array.copy()
        model.l1.W.array[...] = 0
        load(tmp_path / "own" / "model_5", model)  # without a warning of the run
        np.testing.assert_array_equal(model.l1.W.array, before)


@pytest.mark.parametrize("kind", ["npz", "of one's own"])
def test_what_another_run_writes_under_the_next_name_is_set_aside(tmp_path, kind):
    made, _ = model_keeper(tmp_path, 3, **PARTS[kind], n_retains=2)
    made.extend(intruder(tmp_path, "model_3", b"theirs"), trigger=(1, "iteration"))
    with pytest.warns(UserWarning, match="holds results of an earlier run") as told:
        made.run()
    assert told[0].filename == __file__
    assert aside(tmp_path) == {"model_3": b"theirs"}
    assert sorted(files(tmp_path)) == ["model_2", "model_3"]


def test_a_resumed_run_removes_the_models_that_it_kept_before(tmp_path):
    def run(stop):
        made, _ = model_keeper(tmp_path, stop, n_retains=2)
        made.extend(extensions.snapshot(autoload=True), trigger=(1, "iteration"))
        made.run()

    run(3)
    run(6)
    assert sorted(path.name for path in tmp_path.glob("model*")) == ["model_5", "model_6"]
    assert not list(tmp_path.glob("earlier-*"))


@pytest.mark.parametrize("part", [False, True])
def test_names_that_a_function_gives_replace_nothing_of_an_earlier_run(tmp_path, part):
    def run(stop, resume=None):
        made = training.Trainer(small.updater(), (stop, "iteration"), tmp_path)
        target = made.updater.get_optimizer("main").target if part else None
        named = extensions.snapshot(
            target=target, filename=lambda trainer: f"at-{trainer.updater.iteration}"
        )
        made.extend(named, trigger=(1, "iteration"))
        if resume:
            serializers.load_npz(resume, made)
        made.run()
        return made

    first = run(3)
    before = files(tmp_path)
    with pytest.warns(UserWarning, match="holds results of an earlier run") as told:
        run(4)
    assert len(told) == 3 and {each.filename for each in told} == {__file__}
    assert aside(tmp_path) == before and len(files(tmp_path)) == 4
    assert not (tmp_path / "earlier-2").exists()
    if not part:
        own = tmp_path / "earlier-1" / "at-2"
        serializers.save_npz(tmp_path / "at-3", first)  # as if the run had gone on to there
        with pytest.warns(UserWarning, match="at-4"):
            run(4, resume=own)
        assert sorted(aside(tmp_path, 2)) == ["at-4"]


@pytest.mark.parametrize("name", ["log", "log.jsonl"])
def test_a_run_resumed_by_hand_keeps_a_log_that_starts_later(tmp_path, name):
    def logging(out, stop, first):
        made = training.Trainer(small.updater(), (stop, "iteration"), tmp_path / out)
        trigger = training.triggers.ManualScheduleTrigger([*range(first, 99)], "iteration")
        made.extend(extensions.LogReport(trigger=trigger, filename=name))
        return made

    logging("theirs", 6, 5).run()
    before = files(tmp_path / "theirs")
    ours = logging("ours", 2, 3)
    ours.run()
    serializers.save_npz(tmp_path / "by hand", ours)
    moved = logging("theirs", 4, 3)
    serializers.load_npz(tmp_path / "by hand", moved)
    with pytest.warns(UserWarning, match="holds results of an earlier run"):
        moved.run()
    assert aside(tmp_path / "theirs") == before


def test_a_run_resumed_by_hand_takes_over_its_own_log_that_starts_later(tmp_path):
    """It went on after the snapshot, and began its log, before it was killed."""
    run = functools.partial(small.trainer, tmp_path, n_retains=9)
    run((6, "iteration")).run()
    again = run((8, "iteration"))
    serializers.load_npz(tmp_path / "snapshot_iter_2", again)
    again.run()
    assert not list(tmp_path.glob("earlier-*"))


def test_files_without_a_run_load_and_go_on(tmp_path):
    """As those written before snapshots knew their run."""
    started(tmp_path)
    path = tmp_path / "snapshot_iter_5"
    with np.load(path) as archive:
        entries = {name: archive[name] for name in archive.files if name != "run_id"}
    for other in tmp_path.glob("snapshot*"):
        other.unlink()
    serializers.save_npz(path, entries)
    resumed, _ = started(tmp_path, 7, autoload=True)
    assert resumed.is_resumed and not list(tmp_path.glob("earlier-*"))


def test_extensions_that_write_nothing_leave_everything(tmp_path):
    started(tmp_path)
    before = files(tmp_path)
    made = training.Trainer(small.updater(), (1, "iteration"), tmp_path)
    made.extend(extensions.LogReport(filename="other", trigger=(1, "iteration")))
    made.extend(extensions.LogReport(filename=None), name="none")
    made.extend(lambda trainer: None, name="function")
    made.run()
    assert {name: data for name, data in files(tmp_path).items() if name != "other"} == before


def test_names_with_fields_are_found(tmp_path):
    def run():
        made = training.Trainer(small.updater(), (2, "iteration"), tmp_path)
        made.extend(
            extensions.LogReport(trigger=(1, "iteration"), filename="logs/{iteration}.json")
        )
        made.run()

    run()
    with pytest.warns(UserWarning, match="logs/1.json, logs/2.json"):
        run()
    assert sorted(aside(tmp_path)) == sorted(files(tmp_path)) == ["logs/1.json", "logs/2.json"]


def test_a_loop_of_ones_own_is_told_too(tmp_path):
    started(tmp_path)
    updater = small.updater()
    run = training.Run(None, updater.get_optimizer("main"), (1, "iteration"), tmp_path)
    run.extend(extensions.LogReport())
    with pytest.warns(UserWarning, match=r"^Run: ") as told, run:
        pass
    assert told[0].filename == __file__


def test_a_directory_for_each_run(tmp_path):
    made = [Path(new_directory(tmp_path / "deep" / "result")) for _ in range(3)]
    assert [path.name for path in made] == ["result", "result-2", "result-3"]
    assert all(path.is_dir() for path in made)
    made[1].rmdir()
    assert training.new_directory(os.fspath(tmp_path / "deep" / "result")) == str(made[1])


def test_nothing_is_set_aside_over_something_else(tmp_path):
    (tmp_path / "earlier-1").write_text("a file of the user's")
    (tmp_path / "log").write_text("[]")
    assert set_aside(tmp_path, [tmp_path / "log"]) == tmp_path / "earlier-2"


def test_what_another_run_has_moved_meanwhile_is_passed_over(tmp_path):
    (tmp_path / "log").write_text("[]")
    made = set_aside(tmp_path, [tmp_path / "gone", tmp_path / "log"])
    assert os.listdir(made) == ["log"]


def test_a_run_that_begins_leaves_what_another_thread_is_writing(tmp_path):
    with replacing(tmp_path / "snapshot_iter_1") as temporary:
        temporary.write_text("half")
        small.trainer(tmp_path, (1, "iteration")).run()
        assert temporary.exists()

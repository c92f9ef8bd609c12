"""A run that begins in a directory of another one leaves the other's results as they are."""

import json
import os
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

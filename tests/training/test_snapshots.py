"""Snapshots: who writes them, how many are kept, and what happens where they cannot be written."""

import functools
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest
import small

import core
from core import training
from core.errors import CheckpointError, RemovedArgument
from core.serializers import load_npz, save_hdf5, save_npz
from core.training import extensions
from core.training.extensions import snapshot_writers as writers
from plugins.serializers.atomic import _MACHINE

WRITERS = [
    writers.SimpleWriter,
    writers.ThreadWriter,
    writers.ThreadQueueWriter,
    pytest.param(writers.ProcessWriter, marks=pytest.mark.slow),
    pytest.param(writers.ProcessQueueWriter, marks=pytest.mark.slow),
]
BACKGROUND = WRITERS[1:]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The end of a run that is never stopped."""
    trainer = small.trainer(tmp_path_factory.mktemp("whole"), snapshots=(1000, "iteration"))
    trainer.run()
    ended = small.state(trainer)
    core.seed(None)
    return ended


def names(directory):
    return sorted(os.listdir(directory))


def snapshots(directory):
    return sorted(directory.glob("*snapshot*"))


def run(out, stop=6, every=2, **options):
    made = training.Trainer(small.updater(), (stop, "iteration"), out)
    made.extend(extensions.snapshot(**options), trigger=(every, "iteration"))
    made.run(show_loop_exception_msg=False)
    return made


# -- writers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("Writer", WRITERS)
def test_every_writer_writes_what_is_resumed_from_exactly(tmp_path, whole, Writer):
    for stop in ((4, "iteration"), (3, "epoch")):
        options = {"writer": Writer(), "autoload": True, "n_retains": 2}
        trainer = small.trainer(tmp_path, stop, (4, "iteration"), **options)
        trainer.run()
    assert [path.name for path in snapshots(tmp_path)] == ["snapshot_iter_12", "snapshot_iter_8"]
    assert small.state(trainer) == whole


@pytest.mark.parametrize("Writer", BACKGROUND)
def test_what_is_written_is_the_state_of_the_moment(tmp_path, Writer):
    array = np.zeros(1000)
    writer = Writer(slow_save)
    writer("a", tmp_path, {"a": array})
    array += 1
    writer.finalize()
    with np.load(tmp_path / "a") as file:
        assert not file["a"].any()


def slow_save(path, target):
    time.sleep(0.1)
    save_npz(path, target)


def failing_save(path, target):
    raise OSError(28, "No space left on device", str(path))


@pytest.mark.parametrize("Writer", BACKGROUND)
def test_what_goes_wrong_in_the_background_is_raised(tmp_path, Writer):
    writer = Writer(failing_save)
    writer("a", tmp_path, {"a": np.zeros(1)})
    with pytest.raises(OSError, match="No space left on device; nothing was written. Free some"):
        writer.finalize()
    writer.finalize()
    assert names(tmp_path) == []
    with pytest.raises(OSError, match="No space left"):
        run(tmp_path, writer=Writer(failing_save))


def unsendable_save(path, target):
    class Local(Exception):
        pass

    raise Local("only known here")


@pytest.mark.slow
@pytest.mark.parametrize("Writer", [writers.ProcessWriter, writers.ProcessQueueWriter])
def test_errors_that_only_the_process_knows_are_told(tmp_path, Writer):
    writer = Writer(unsendable_save)
    writer("a", tmp_path, {})
    with pytest.raises(RuntimeError, match="only known here"):
        writer.finalize()


def killed_save(path, target):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("Writer", [writers.ProcessWriter, writers.ProcessQueueWriter])
def test_a_process_that_dies_is_told(tmp_path, Writer):
    writer = Writer(killed_save)
    writer("a", tmp_path, {})
    with pytest.raises(RuntimeError, match=r"exit code -9.*before the file was complete"):
        writer.finalize()
    assert names(tmp_path) == []


def test_a_queue_goes_on_after_a_failure(tmp_path):
    written = []

    def save(path, target):
        if not written:
            written.append("failed")
            raise ValueError("the first")
        save_npz(path, target)

    writer = writers.ThreadQueueWriter(save)
    for name in "abc":
        writer(name, tmp_path, {"x": np.zeros(1)})
    with pytest.raises(ValueError, match="the first"):
        writer.finalize()
    assert names(tmp_path) == ["b", "c"]


def test_no_thread_is_left(tmp_path):
    before = threading.active_count()
    for Writer in (writers.ThreadWriter, writers.ThreadQueueWriter):
        run(tmp_path / Writer.__name__, writer=Writer())
    assert threading.active_count() == before


def test_older_snapshots_go_when_the_new_one_stands(tmp_path):
    seen = []

    def save(path, target):
        seen.append([n for n in names(tmp_path) if n.startswith("snapshot")])
        save_npz(path, target)

    run(tmp_path, writer=writers.ThreadWriter(save), n_retains=1)
    assert seen == [[], ["snapshot_iter_2"], ["snapshot_iter_4"]]
    assert names(tmp_path) == ["snapshot_iter_6"]


def test_tasks_and_arguments_of_ones_own(tmp_path):
    calls = []
    writer = writers.ThreadQueueWriter(task=lambda *args: calls.append(args[:2]))
    run(tmp_path, writer=writer)
    assert calls == [(f"snapshot_iter_{i}", Path(tmp_path)) for i in (2, 4, 6)]
    writers.SimpleWriter(compression=False)("plain", tmp_path, {"a": np.zeros(1000)})
    assert (tmp_path / "plain").stat().st_size > 8000


def test_any_function_can_write(tmp_path):
    calls = []
    run(tmp_path, writer=lambda name, out, target: calls.append((name, "updater/epoch" in target)))
    assert [name for name, _ in calls] == ["snapshot_iter_2", "snapshot_iter_4", "snapshot_iter_6"]


# -- settings ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"savefun": save_npz, "writer": writers.SimpleWriter()}, TypeError, "got both"),
        ({"writer": print, "n_retains": 1}, ValueError, "derived from snapshot_writers.Writer"),
        ({"on_write_error": "warm"}, ValueError, "Did you mean 'warn'"),
        ({"filename": "{.updater.epoch}/it", "autoload": True}, ValueError, "in one directory"),
        ({"filename": "{.updater.epoch}/it", "n_retains": 1}, ValueError, "in one directory"),
        ({"filename": repr, "autoload": True}, ValueError, "by their names"),
        ({"filename": repr, "n_retains": 1}, ValueError, "by their names"),
        ({"n_retains": 0}, ValueError, "n_retains of 1 or more"),
        ({"savefun": print, "autoload": True}, ValueError, "save_npz and save_hdf5"),
        ({"num_retain": 2}, RemovedArgument, "n_retains"),
        ({"n_retain": 2}, TypeError, "Did you mean 'n_retains'"),
    ],
)
def test_settings_that_cannot_be_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        extensions.snapshot(**options)


@pytest.mark.parametrize("written_by", ["savefun", "writer"])
def test_a_snapshot_of_an_object_takes_every_setting(written_by):
    model = small.Model()
    settings = {
        "filename": "model",
        "condition": bool,
        "n_retains": 3,
        "autoload": True,
        "snapshot_on_error": True,
        "snapshot_on_interrupt": True,
        "on_write_error": "warn",
        written_by: save_npz if written_by == "savefun" else writers.SimpleWriter(),
    }
    of_object = vars(extensions.snapshot_object(model, **settings))
    assert of_object.pop("default_name") == "snapshot_object"
    assert of_object == vars(extensions.snapshot(target=model, **settings))


@pytest.mark.parametrize("name", ["{.updater.iter}", "{.updater.iteration:q}", "{step}", "{1}"])
def test_a_name_that_is_no_format_string_of_the_trainer_is_told(tmp_path, name):
    with pytest.raises(ValueError, match="snapshot: expected filename .*updater.iteration"):
        run(tmp_path, filename=name)


@pytest.mark.parametrize("keep", range(1, 9))
def test_as_many_are_kept_as_is_asked_for(tmp_path, keep):
    run(tmp_path, 6, 1, n_retains=keep)
    kept = [f"snapshot_iter_{i}" for i in range(1, 7)][-keep:]
    assert sorted(path.name for path in tmp_path.glob("snapshot*")) == kept


@pytest.mark.parametrize(
    "options",
    [
        {"savefun": save_hdf5},
        {"savefun": functools.partial(save_npz, compression=False)},
        {"writer": writers.ThreadWriter(save_hdf5, compression=1)},
        {"writer": writers.ThreadQueueWriter(save_hdf5)},
    ],
)
def test_autoload_knows_what_was_written(tmp_path, whole, options):
    small.trainer(tmp_path, (4, "iteration"), autoload=True, **options).run()
    trainer = small.trainer(tmp_path, autoload=True, **options)
    trainer.run()
    assert small.state(trainer) == whole


def test_a_directory_of_their_own(tmp_path, whole):
    name = "snapshots/at_{.updater.iteration}"
    small.trainer(tmp_path, (4, "iteration"), filename=name, n_retains=2).run()
    assert names(tmp_path / "snapshots") == ["at_3", "at_4"]
    (tmp_path / "snapshots" / f".at_5.{_MACHINE}-4194304-0123abcd.tmp").touch()
    trainer = small.trainer(tmp_path, filename=name, autoload=True, n_retains=1)
    trainer.run()
    assert small.state(trainer) == whole and names(tmp_path / "snapshots") == ["at_14"]


def _of_iteration(trainer):
    return f"at/{trainer.updater.iteration}/all"


@pytest.mark.parametrize("name", ["at/{.updater.iteration}/all", _of_iteration])
def test_a_directory_each_time(tmp_path, name):
    small.trainer(tmp_path, (2, "iteration"), filename=name).run()
    assert [str(p.relative_to(tmp_path)) for p in sorted(tmp_path.glob("at/*/*"))] == [
        "at/1/all",
        "at/2/all",
    ]


def test_files_of_the_users_own_are_neither_loaded_nor_removed(tmp_path):
    run(tmp_path)
    mine = {f"snapshot_iter_{rest}" for rest in ("4.bak", "6~", "6 (copy)", "six", "2.damaged")}
    for name in mine:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "snapshot_iter_99").mkdir()
    (tmp_path / "snapshot_iter_98").symlink_to(tmp_path / "nowhere")
    made = run(tmp_path, stop=8, autoload=True, n_retains=1)
    assert made.updater.iteration == 8
    assert {*names(tmp_path)} == {*mine, "snapshot_iter_8", "snapshot_iter_98", "snapshot_iter_99"}


# -- another training -------------------------------------------------------------------------


def resumed(out, change, autoload=True, stop=(3, "epoch"), **options):
    made = small.trainer(out, stop, autoload=autoload, **options)
    change(made)
    made.run(show_loop_exception_msg=False)
    return made


def nothing(trainer):
    pass


def one_more(trainer):
    trainer.extend(extensions.LogReport(filename="second"))


def test_an_extension_more_is_told_by_name_with_the_cure(tmp_path, whole):
    small.trainer(tmp_path, (5, "iteration")).run()
    with pytest.raises(CheckpointError, match="snapshot_iter_5 does not fit this Trainer") as info:
        resumed(tmp_path, one_more)
    assert "extensions/LogReport_1/log: missing from the file" in str(info.value)
    assert "autoload=functools.partial(load_npz, strict=False)" in info.value.__notes__[0]
    lenient = functools.partial(load_npz, strict=False)
    made = resumed(tmp_path, one_more, lenient)
    found = small.state(made)
    assert all(found[name] == value for name, value in whole.items() if name != "observation")
    assert len(made.get_extension("LogReport_1").log) == 2  # of the epochs since


def test_an_extension_less_is_a_warning_by_name(tmp_path):
    resumed(tmp_path, one_more, stop=(5, "iteration"))
    with pytest.warns(UserWarning, match="extensions/LogReport_1/log"):
        made = resumed(tmp_path, nothing)
    assert made.updater.iteration == 14


def test_any_function_can_load(tmp_path):
    paths = []

    def load(path, target):
        paths.append(path.name)
        load_npz(path, target)

    small.trainer(tmp_path, (3, "iteration")).run()
    assert resumed(tmp_path, nothing, load).updater.iteration == 14
    assert paths == ["snapshot_iter_3"]


@pytest.mark.parametrize("ways", [(None, "strict"), ("strict", None)])
def test_a_snapshot_resumes_on_another_backend(tmp_path, ways):
    def run(out, *parts):
        for stop, device in parts:
            core.seed(3)
            updater = small.updater(device=device)
            made = training.Trainer(updater, (stop, "iteration"), out)
            made.extend(extensions.LogReport(trigger=(3, "iteration")))
            made.extend(extensions.snapshot(autoload=True), trigger=(1, "iteration"))
            made.run()
        model = updater.get_optimizer("main").target
        return model, made.get_extension("LogReport").log

    expected, log = run(tmp_path / "whole", (9, None))
    found, other = run(tmp_path / "parts", (4, ways[0]), (9, ways[1]))
    assert core.backend.of(found.l1.W.array).name == (ways[1] or "numpy")
    for one, two in zip(found.params(), expected.params(), strict=True):
        np.testing.assert_allclose(core.backend.to_host(one), two.array, rtol=1e-5)
    np.testing.assert_allclose([r["main/loss"] for r in other], [r["main/loss"] for r in log], 1e-5)


# -- trouble with the disk --------------------------------------------------------------------


def full_after(writes):
    count = iter(range(100))

    def save(path, target):
        if next(count) in writes:
            Path(path).write_bytes(b"half")
            raise OSError(28, "No space left on device", str(path))
        save_npz(path, target)

    return save


def test_a_full_disk_ends_the_training_and_the_last_snapshot_stands(tmp_path):
    with pytest.raises(OSError, match="No space left on device; nothing was written. Free") as info:
        run(tmp_path, savefun=full_after({1}), n_retains=1)
    assert info.value.__notes__ == ["Raised by the extension 'snapshot' in __call__."]
    assert names(tmp_path) == ["snapshot_iter_2"]
    load_npz(tmp_path / "snapshot_iter_2", small.updater(), path="updater")


def test_or_training_goes_on_to_the_next_snapshot(tmp_path):
    with pytest.warns(UserWarning, match="not saved, training goes on without it.*No space"):
        made = run(tmp_path, savefun=full_after({1}), n_retains=1, on_write_error="warn")
    assert made.updater.iteration == 6 and names(tmp_path) == ["snapshot_iter_6"]


@pytest.mark.parametrize("Writer", [writers.ThreadWriter, writers.ThreadQueueWriter])
def test_the_copy_that_has_been_written_is_let_go_of(tmp_path, Writer):
    """It has the size of the model and of the optimizer's state."""
    known = []

    def save(path, target):
        known.append(weakref.ref(target["x"]))
        path.touch()

    writer = Writer(save)
    writer("snapshot", tmp_path, {"x": np.ones(3)})
    until = time.monotonic() + 60
    while not known or (known[0]() is not None and time.monotonic() < until):
        time.sleep(0.001)
    assert known[0]() is None
    writer.finalize()


@pytest.mark.parametrize("Writer", [writers.ThreadWriter, writers.ThreadQueueWriter])
def test_and_so_it_does_in_the_background(tmp_path, Writer):
    with pytest.warns(UserWarning, match="not saved, training goes on"):
        run(tmp_path, writer=Writer(full_after({2})), on_write_error="warn")
    assert names(tmp_path) == ["snapshot_iter_2", "snapshot_iter_4"]


def test_errors_that_are_not_the_systems_are_raised_in_any_case(tmp_path):
    def broken(path, target):
        raise KeyError("a fault")

    with pytest.raises(KeyError):
        run(tmp_path, savefun=broken, on_write_error="warn")


# -- kill -9 while they are written -----------------------------------------------------------

KILLED = """
import sys
import numpy as np
from core import links, optimizers, iterators, training
from core.training import extensions

model = links.Classifier(links.Linear(4, 5_000))
data = [(np.zeros(4, "f"), np.int32(0))] * 4
updater = training.updaters.StandardUpdater(
    iterators.SerialIterator(data, 2), optimizers.SGD().setup(model)
)
trainer = training.Trainer(updater, (100_000, "iteration"), sys.argv[1])
writer = getattr(extensions.snapshot_writers, sys.argv[2])()
trainer.extend(
    extensions.snapshot(writer=writer, autoload=True, n_retains=2), trigger=(1, "iteration")
)
trainer.extend(lambda trainer: print(trainer.updater.iteration, flush=True), name="tell")
trainer.run()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("writer", ["SimpleWriter", "ThreadWriter"])
def test_killed_twelve_times_the_newest_file_is_always_good(tmp_path, writer):
    reached = 0
    for attempt in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), writer],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PLUGRAD_COMPILED": "0"},  # it begins in a third of the time
        )
        with process:
            first = int(process.stdout.readline())  # fails where the newest file did not load
            time.sleep(0.013 * attempt)
            process.kill()
            told = process.stdout.read().split()
            assert "damaged" not in process.stderr.read()
        assert first >= reached - 1  # an iteration may be lost, whose file was being written
        reached = int(told[-1]) if told else first
    found = [name for name in names(tmp_path) if name.startswith("snapshot")]
    assert found and not any(name.endswith(".damaged") for name in found)
    assert reached >= 6


def test_the_best_model_so_far_is_saved_by_a_resumed_run_as_by_a_whole_one(tmp_path):
    def ended(out, *stops):
        for stop in stops:
            trainer = small.trainer(out, (stop, "epoch"), (1, "epoch"), autoload=True)
            model = trainer.updater.get_optimizer("main").target
            best = training.triggers.MinValueTrigger("validation/main/loss")
            trainer.extend(extensions.snapshot_object(model, "best"), trigger=best)
            trainer.run(show_loop_exception_msg=False)
        core.seed(None)
        return (out / "best").read_bytes()

    assert ended(tmp_path / "resumed", 2, 4) == ended(tmp_path / "whole", 4)


def test_two_snapshots_of_one_name_are_of_one_target(tmp_path):
    trainer = small.trainer(tmp_path / "same")
    model = trainer.updater.get_optimizer("main").target
    for trigger in ((1, "epoch"), (2, "iteration")):
        trainer.extend(extensions.snapshot_object(model, "best.npz"), trigger=trigger)
    trainer.run()  # without a warning of an earlier run
    assert (tmp_path / "same" / "best.npz").exists()
    assert not (tmp_path / "same" / "earlier-1").exists()
    trainer = small.trainer(tmp_path / "other")
    for target in (model, model.copy()):
        trainer.extend(extensions.snapshot_object(target, "best.npz"))
    with pytest.raises(ValueError, match="a filename for each target, got two .* 'best.npz'"):
        trainer.run()

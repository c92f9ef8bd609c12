"""TensorBoard, Optuna, and the record of what a result was made with."""

import argparse
import contextlib
import json
import os
import platform
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import small

import core
from core import iterators, optimizers, training
from core.errors import InvalidSetting
from core.training import extensions


def trainer(out, *added, stop=(2, "epoch")):
    made = training.Trainer(small.updater(), stop, out)
    for extension in added:
        made.extend(extension)
    return made


# -- TensorBoard ------------------------------------------------------------------------------


def events(directory):
    """(file, step, name, value) of every scalar, and the steps from which files purge."""
    event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2")
    scalars, purges = [], []
    for number, path in enumerate(sorted(directory.iterdir(), key=lambda p: p.stat().st_mtime_ns)):
        content, start = path.read_bytes(), 0
        while start < len(content):
            (length,) = struct.unpack_from("<Q", content, start)
            event = event_pb2.Event.FromString(content[start + 12 : start + 12 + length])
            start += 12 + length + 4
            if event.HasField("session_log"):
                purges.append((number, event.step))
            for value in event.summary.value:
                scalars.append((number, event.step, value.tag, value.simple_value))
    return scalars, purges


def test_tensorboard_gets_the_means_of_the_log(tmp_path):
    pytest.importorskip("tensorboardX")
    log = extensions.LogReport()
    trainer(tmp_path, log, extensions.TensorBoardReport()).run()
    scalars, _ = events(tmp_path / "tensorboard")
    assert [(step, name) for _, step, name, _ in scalars] == [(5, "main/loss"), (10, "main/loss")]
    means = [np.float32(record["main/loss"]) for record in log.log]
    assert [np.float32(value) for *_, value in scalars] == means


def test_a_resumed_run_purges_the_steps_that_it_repeats(tmp_path):
    pytest.importorskip("tensorboardX")

    def make(stop, **options):
        core.seed(1)
        report = extensions.TensorBoardReport(["main/loss"], (2, "iteration"))
        made = trainer(tmp_path, report, stop=stop)
        made.extend(extensions.snapshot(**options), trigger=(3, "iteration"))
        return made

    make((4, "iteration")).run()
    make((7, "iteration"), autoload=True).run()
    scalars, purges = events(tmp_path / "tensorboard")
    assert [(file, step) for file, step, *_ in scalars] == [(0, 2), (0, 4), (1, 4), (1, 6)]
    assert purges == [(0, 2), (1, 4)]
    assert scalars[1][3] == scalars[2][3]  # the same mean, over what the snapshot held and after


def test_a_writer_of_ones_own_is_left_open(tmp_path):
    class Writer:
        calls = []

        def add_scalar(self, name, value, step):
            self.calls.append((name, value, step))

        def close(self):
            raise AssertionError("not ours to close")

    report = extensions.TensorBoardReport(
        writer=Writer(), postprocess=lambda record: record.update(one=1.0)
    )
    trainer(tmp_path, report).run()
    assert [call for call in Writer.calls if call[0] == "one"] == [
        ("one", 1.0, 5),
        ("one", 1.0, 10),
    ]
    assert not os.path.exists(tmp_path / "tensorboard")


def test_tensorboard_offers_the_nearest_name(tmp_path):
    pytest.importorskip("tensorboardX")
    with pytest.warns(UserWarning, match="TensorBoardReport.*Did you mean 'main/loss'"):
        trainer(tmp_path, extensions.TensorBoardReport(["main/los"])).run()


@pytest.mark.parametrize(
    ("module", "make", "extra"),
    [
        ("tensorboardX", extensions.TensorBoardReport, "tensorboard"),
        ("optuna", lambda: extensions.OptunaPruning(None, "main/loss"), "hpo"),
    ],
)
def test_without_the_library_the_extra_is_named(tmp_path, monkeypatch, module, make, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=rf"plugrad\[{extra}\]"):
        trainer(tmp_path, make()).run()


# -- Optuna -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_study_prunes_trainings_that_do_not_learn(tmp_path):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    ends = []

    def objective(trial):
        core.seed(1)
        rate = trial.suggest_categorical("lr", [0.5, 0.0])
        optimizer = optimizers.SGD(rate).setup(small.Model())
        iterator = iterators.SerialIterator(small.data(), 8)
        updater = training.updaters.StandardUpdater(iterator, optimizer)
        made = training.Trainer(
            updater, (4, "epoch"), tmp_path / str(rate), [extensions.LogReport()]
        )
        made.extend(extensions.OptunaPruning(trial, "main/loss"))
        try:
            made.run(show_loop_exception_msg=False)
        finally:
            ends.append((rate, updater.epoch))
        return made.get_extension("LogReport").log[-1]["main/loss"]

    study = optuna.create_study(
        sampler=optuna.samplers.GridSampler({"lr": [0.5, 0.0]}, seed=0),
        pruner=optuna.pruners.ThresholdPruner(upper=1.0, n_warmup_steps=2),
    )
    study.optimize(objective, n_trials=2)
    states = {trial.params["lr"]: trial.state.name for trial in study.trials}
    assert states == {0.5: "COMPLETE", 0.0: "PRUNED"}
    assert sorted(ends) == [(0.0, 2), (0.5, 4)]
    pruned = next(t for t in study.trials if t.state.name == "PRUNED")
    assert list(pruned.intermediate_values) == [1, 2]
    assert study.best_params == {"lr": 0.5}


def test_pruning_names_the_nearest_key_and_resumes_its_count(tmp_path):
    pytest.importorskip("optuna")

    class Trial:
        def __init__(self):
            self.reported = []

        def report(self, value, step):
            self.reported.append(step)

        def should_prune(self):
            return False

    with pytest.raises(KeyError, match="OptunaPruning.*Did you mean 'main/loss'"):
        trainer(tmp_path, extensions.OptunaPruning(Trial(), "main/los")).run(False)
    trials = [Trial(), Trial()]
    for trial, stop in zip(trials, (2, 4), strict=True):
        made = trainer(
            tmp_path,
            extensions.OptunaPruning(trial, "main/loss"),
            extensions.snapshot(autoload=True),
            stop=(stop, "epoch"),
        )
        made.run()
    assert [trial.reported for trial in trials] == [[1, 2], [3, 4]]


# -- RunRecord --------------------------------------------------------------------------------


def test_a_record_says_what_the_result_was_made_with(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_MINE", "xyzzy")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(sys, "orig_argv", ["python", "train.py", "--token", "xyzzy", "--epoch=3"])
    core.seed(11)
    arguments = argparse.Namespace(epoch=3, password="xyzzy", out=tmp_path)
    made = trainer(tmp_path, extensions.RunRecord(arguments), extensions.LogReport())
    made.run()
    text = (tmp_path / "run.json").read_text()
    (record,) = json.loads(text)
    assert "xyzzy" not in text
    assert record["command"] == ["python", "train.py", "--token", "(hidden)", "--epoch=3"]
    assert record["arguments"]["epoch"] == 3 and record["arguments"]["password"] == "(hidden)"
    assert record["seed"]["seed"] == 11 and record["backend"] == "numpy"
    assert record["versions"]["numpy"] == np.__version__ and record["versions"]["plugrad"]
    assert platform.python_version() in record["python"]
    assert record["machine"]["OMP_NUM_THREADS"] == "1" and record["machine"]["processors"] >= 1
    assert record["blas"]["name"]
    assert record["optimizers"]["main"] | {"optimizer": ""} == {
        "optimizer": "",
        "device": "numpy",
        "target": "Model",
        "parameters": 51,
    }
    assert record["optimizers"]["main"]["optimizer"].startswith("Adam(alpha=0.01")
    assert record["training"]["stop"] == "IntervalTrigger(2, 'epoch')"
    assert record["training"]["extensions"] == ["RunRecord", "LogReport"]
    assert (record["iteration"], record["error"]) == (10, None)
    assert record["started"] <= record["ended"] and record["elapsed_time"] > 0


def test_a_record_is_added_for_every_start_and_says_how_it_ended(tmp_path):
    def fail(trainer):
        if trainer.updater.iteration == 6:
            raise ArithmeticError("a pity")

    def make(stop):
        made = trainer(tmp_path, extensions.RunRecord(), fail, stop=stop)
        made.extend(extensions.snapshot(autoload=True))
        return made

    make((1, "epoch")).run()
    with pytest.raises(ArithmeticError):
        make((2, "epoch")).run(show_loop_exception_msg=False)
    first, second = json.loads((tmp_path / "run.json").read_text())
    assert first["training"]["begins_after"] == 0 and first["error"] is None
    assert second["training"]["begins_after"] == 5
    assert (second["iteration"], second["error"]) == (6, "ArithmeticError: a pity")


def test_a_record_says_that_a_signal_ended_the_training(tmp_path):
    made = trainer(tmp_path, extensions.RunRecord(), lambda t: os.kill(os.getpid(), 15))
    with pytest.raises(SystemExit):
        made.run()
    (record,) = json.loads((tmp_path / "run.json").read_text())
    assert (record["error"], record["iteration"]) == ("interrupted by a signal", 1)


@pytest.mark.parametrize("error", [None, KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_a_record_says_what_else_ended_the_training(tmp_path, error):
    """After a second Ctrl-C, or sys.exit(), it looked as if the training had come to its end."""

    def end(trainer):
        if error is not None:
            raise error

    made = trainer(tmp_path, extensions.RunRecord())
    made.extend(end, trigger=(2, "iteration"))
    with contextlib.suppress(BaseException):
        try:
            raise KeyError("a thing of the program's own")
        except KeyError:
            made.run()
    (record,) = json.loads((tmp_path / "run.json").read_text())
    assert record["error"] == (None if error is None else repr(error))


def test_a_file_that_is_no_record_is_replaced_with_a_warning(tmp_path):
    (tmp_path / "run.json").write_text("{")
    with pytest.warns(UserWarning, match="not a list of records"):
        trainer(tmp_path, extensions.RunRecord()).run()
    assert len(json.loads((tmp_path / "run.json").read_text())) == 1
    with pytest.raises(TypeError, match="as argparse gives them"):
        extensions.RunRecord(3)


def test_the_commit_of_the_script_is_recorded(tmp_path):
    from plugins.training.extensions import environment

    assert environment.git(tmp_path) is None
    (tmp_path / "train.py").write_text("1\n")
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for arguments in (["init", "-q"], ["add", "train.py"], [*who, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True)
    found = environment.git(tmp_path)
    assert len(found["commit"]) == 40 and found["changed"] is False
    (tmp_path / "train.py").write_text("2\n")
    assert environment.git(tmp_path)["changed"] is True


@pytest.mark.parametrize("name", [Path("log.jsonl"), 3, ["log"]])
def test_a_file_name_that_is_no_text_is_refused_by_name(name):
    with pytest.raises(InvalidSetting, match="LogReport: expected filename to be a string or None"):
        extensions.LogReport(filename=name)
    assert extensions.LogReport(log_name="other") is not None

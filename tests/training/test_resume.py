"""A run that is interrupted anywhere and resumed ends with the same bits as one that is not."""

import functools
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import small
from hypothesis import given, settings
from hypothesis import strategies as st

import core
from core import training
from core.errors import CheckpointError
from core.serializers import load_npz, save_npz
from core.training import extensions, triggers
from plugins.serializers import atomic

STEPS = 14  # 3 epochs of 37 examples in batches of 8


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run never interrupted, with a snapshot of every iteration; its state at the end."""
    out = tmp_path_factory.mktemp("whole")
    trainer = small.trainer(out)
    trainer.run()
    ended = small.state(trainer)
    core.seed(None)
    assert trainer.updater.iteration == STEPS
    return out, ended


def snapshot(whole, step):
    return whole[0] / f"snapshot_iter_{step}"


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_resumed_at_any_step(whole, tmp_path, step):
    trainer = small.trainer(tmp_path)
    load_npz(snapshot(whole, step), trainer)
    assert trainer.updater.iteration == step
    core.backend.get("numpy").random.normal((5,))  # between loading and running: no difference
    trainer.run()
    assert small.state(trainer) == whole[1]
    plot = "plot.png"
    if step < STEPS:
        assert (tmp_path / plot).read_bytes() == (whole[0] / plot).read_bytes()


@pytest.mark.parametrize("how", ["by a function", "by a schedule", "from the start"])
def test_a_rate_that_the_saved_run_had_changed_is_told(tmp_path, how):
    def halve(trainer):
        optimizer.alpha *= 0.5

    for stop in (2, 4):
        trainer = small.trainer(tmp_path, (stop, "iteration"), autoload=True)
        optimizer = trainer.updater.get_optimizer("main")
        if how == "by a function":
            trainer.extend(halve)
        if how == "by a schedule":
            trainer.extend(extensions.ExponentialShift("alpha", 0.5))
        if stop == 4 and how == "by a function":
            with pytest.warns(UserWarning, match=r"'main' goes on with alpha=0.01 \(0.0025 in the"):
                trainer.run()
        else:
            trainer.run()  # without a warning, which would be an error


@pytest.mark.parametrize("thaws", ["in the run", "in the script"])
def test_what_the_saved_run_had_thawed_is_told(tmp_path, thaws):
    for stop in (2, 4):
        trainer = small.trainer(tmp_path, (stop, "iteration"), autoload=True)
        layer = trainer.updater.get_optimizer("main").target.l1
        thaw = training.make_extension()(lambda trainer, layer=layer: layer.enable_update())
        trainer.extend(thaw, name="thaw", trigger=triggers.OnceTrigger())
        if stop == 2 or thaws == "in the run":
            layer.disable_update()
        if stop == 4 and thaws == "in the run":
            with pytest.warns(UserWarning, match="with /l1/W, /l1/b frozen .not so in the file"):
                trainer.run()
        else:
            trainer.run()  # without a warning, which would be an error


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("step", [3, 6, STEPS - 1])
def test_an_error_in_a_step_leaves_the_snapshot_of_the_step_before(whole, tmp_path, step, every):
    for fails_at in (step, step, None):  # at first, when resumed, and not at all
        options = {"autoload": True, "snapshot_on_error": True, "snapshots": (every, "iteration")}
        trainer = small.trainer(tmp_path, **options)
        convert = trainer.updater.converter

        def fail(*args, updater=trainer.updater, fails_at=fails_at, convert=convert):
            if updater.iteration == fails_at:
                raise ArithmeticError
            return convert(*args)

        trainer.updater.converter = fail
        try:
            trainer.run(show_loop_exception_msg=False)
        except ArithmeticError:
            assert fails_at == trainer.updater.iteration
    if step % every == 0:
        assert small.state(trainer) == whole[1]


@pytest.mark.parametrize(("fails_at", "priority"), [(3, 150), (5, 150), (5, -200)])
def test_a_run_goes_on_with_the_extension_that_has_raised(tmp_path, fails_at, priority):
    def run(out, fails_at=None):
        def fail(trainer):
            if trainer.updater.iteration == fails_at:
                raise ArithmeticError

        options = {"snapshots": (1, "epoch"), "autoload": True, "snapshot_on_error": True}
        trainer, every = small.trainer(tmp_path / out, **options), (1, "iteration")
        trainer.extend(fail, trigger=every, priority=priority)
        trainer.extend(extensions.ExponentialShift("alpha", 0.9), trigger=every)
        late = extensions.ExponentialShift("beta1", 0.99)
        trainer.extend(late, trigger=every, priority=-300)  # behind the snapshot
        try:
            trainer.run(show_loop_exception_msg=False)
        except ArithmeticError:
            assert fails_at == trainer.updater.iteration
        return small.state(trainer)

    whole = run("whole")
    run("in parts", fails_at)
    assert run("in parts") == whole


@settings(max_examples=5)
@given(st.lists(st.integers(1, STEPS), min_size=1, max_size=4, unique=True).map(sorted))
def test_stopped_and_resumed_several_times(whole, tmp_path_factory, stops):
    out = tmp_path_factory.mktemp("parts")
    for stop in [*stops, None]:
        length = (3, "epoch") if stop is None else (stop, "iteration")
        trainer = small.trainer(out, length, autoload=True, n_retains=2)
        trainer.run()
    assert small.state(trainer) == whole[1]
    assert len(list(out.glob("snapshot_iter_*"))) <= 2


def test_numpys_global_generator_is_part_of_a_snapshot(tmp_path):
    def run(path, resume=None):
        import numpy as np

        trainer = small.trainer(path)
        core.seed(None)
        np.random.seed(5)
        if resume is not None:
            load_npz(resume, trainer)
            np.random.seed(6)
        trainer.run()
        return small.state(trainer)

    first = run(tmp_path / "first")
    assert run(tmp_path / "second", tmp_path / "first" / "snapshot_iter_6") == first


def test_a_snapshot_of_another_training_changes_nothing(whole, tmp_path):
    other = small.trainer(tmp_path)
    other.extend(extensions.LogReport(filename="second"))
    before = small.state(other)
    with pytest.raises(CheckpointError, match="extensions/LogReport_1/log: missing"):
        load_npz(snapshot(whole, 5), other)
    assert small.state(other) == before
    load_npz(snapshot(whole, 5), other, strict=False)
    assert other.updater.iteration == 5


def test_a_snapshot_with_more_than_the_trainer_wants_warns(whole, tmp_path):
    trainer = small.trainer(tmp_path)
    trainer.extend(extensions.LogReport(filename="second"))
    save_npz(tmp_path / "more", trainer)
    with pytest.warns(UserWarning, match="LogReport_1"):
        load_npz(tmp_path / "more", small.trainer(tmp_path))


def test_a_model_loads_from_the_snapshot_of_its_training(whole):
    model = small.Model()
    load_npz(snapshot(whole, STEPS), model, path="updater/model:main/")
    assert model.l1.W.array.tobytes() == whole[1]["updater/model:main/l1/W"][2]


# -- autoload ---------------------------------------------------------------------------------


def copied(whole, directory, *steps, told=True, seconds=(0, 1, 2)):
    """Snapshots as if they had been written in this order; not all files say it themselves."""
    for second, step in zip(seconds, steps, strict=False):
        path, moment = directory / f"snapshot_iter_{step}", 1e9 + second
        with np.load(snapshot(whole, step)) as file:
            entries = {**file, "written_at": moment}
        if not told:
            del entries["written_at"]
        save_npz(path, entries)
        os.utime(path, (moment, moment) if not told else None)


def damage(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 8
    path.write_bytes(data)


def names(directory):
    return sorted(path.name for path in Path(directory).glob("*snapshot*"))


def test_a_damaged_snapshot_is_put_aside_for_the_one_before(whole, tmp_path):
    copied(whole, tmp_path, 4, 9, 11)
    damage(tmp_path / "snapshot_iter_9")
    damage(tmp_path / "snapshot_iter_11")
    trainer = small.trainer(tmp_path, (4, "iteration"), autoload=True)
    with pytest.warns(UserWarning) as warned:
        trainer.run()
    assert [str(w.message).split(" is damaged")[0][-2:] for w in warned] == ["11", "_9"]
    assert trainer.updater.iteration == 4
    assert names(tmp_path) == [
        "snapshot_iter_11.damaged",
        "snapshot_iter_4",
        "snapshot_iter_9.damaged",
    ]


def test_nothing_but_damaged_snapshots_is_an_error(whole, tmp_path):
    copied(whole, tmp_path, 4)
    damage(tmp_path / "snapshot_iter_4")
    trainer = small.trainer(tmp_path, autoload=True)
    with pytest.warns(UserWarning, match="damaged"), pytest.raises(CheckpointError, match="all 1"):
        trainer.run(show_loop_exception_msg=False)
    assert trainer.updater.iteration == 0


@pytest.mark.parametrize("told", [True, False])
def test_the_newest_is_the_one_written_last(whole, tmp_path, capsys, told):
    copied(whole, tmp_path, 12, 9, 10, told=told)  # 12 is of an earlier, longer run
    trainer = small.trainer(tmp_path, (10, "iteration"), autoload=True)
    trainer.run()
    assert trainer.updater.iteration == 10
    assert "snapshot_iter_10" in capsys.readouterr().err


@pytest.mark.parametrize("told", [True, False])
def test_of_one_moment_the_one_of_most_iterations_is_the_newest(whole, tmp_path, told):
    copied(whole, tmp_path, 10, 9, told=told, seconds=(1, 1))
    trainer = small.trainer(tmp_path, (10, "iteration"), autoload=True)
    trainer.run()
    assert not (tmp_path / "log").exists()  # nothing was left to do


def test_copies_are_as_old_as_what_they_are_copies_of(whole, tmp_path):
    """Folders that were downloaded have other dates: an older snapshot was loaded."""
    for second, step in enumerate([12, 4, 9]):
        path = shutil.copy(snapshot(whole, step), tmp_path)
        os.utime(path, (1e9 + second, 1e9 + second))
    trainer = small.trainer(tmp_path, (12, "iteration"), autoload=True, n_retains=2)
    trainer.run()
    assert not (tmp_path / "log").exists()  # nothing was left to do


def test_an_empty_directory_starts_from_the_beginning(whole, tmp_path):
    trainer = small.trainer(tmp_path, autoload=True)
    trainer.run()
    assert small.state(trainer) == whole[1]


def test_retention_never_removes_the_newest(whole, tmp_path):
    copied(whole, tmp_path, 3, 12, seconds=(0, 1e10))  # a clock that was wrong
    trainer = small.trainer(tmp_path, (6, "iteration"), n_retains=2)
    load_npz(snapshot(whole, 3), trainer)
    trainer.run()
    assert names(tmp_path) == ["snapshot_iter_12", "snapshot_iter_6"]


def test_temporaries_of_killed_runs_are_removed(tmp_path):
    here, there = atomic._MACHINE, "0" * 8
    dead = tmp_path / f".snapshot_iter_4.{here}-4194304-0123abcd.tmp"
    alive = tmp_path / f".snapshot_iter_4.{here}-1-0123abcd.tmp"
    unseen = tmp_path / f".snapshot_iter_4.{there}-4194304-0123abcd.tmp"
    forgotten = tmp_path / f".snapshot_iter_2.{there}-{os.getpid()}-0123abcd.tmp"
    unrelated = tmp_path / ".mine.tmp"
    for path in (dead, alive, unseen, forgotten, unrelated):
        path.touch()
    os.utime(forgotten, (0, 1e9))
    small.trainer(tmp_path, (1, "iteration")).run()
    left = {path for path in tmp_path.iterdir() if path.suffix == ".tmp"}
    assert left == {alive, unseen, unrelated}


def test_a_run_on_another_backend_resumes_as_exactly(tmp_path):
    def run(out, *stops):
        for stop in stops:
            core.seed(3)
            updater = small.updater(device="strict")
            trainer = training.Trainer(updater, (stop, "iteration"), out)
            trainer.extend(extensions.LogReport(trigger=(3, "iteration")))
            trainer.extend(extensions.snapshot(autoload=True), trigger=(1, "iteration"))
            trainer.run()
        model = updater.get_optimizer("main").target
        assert core.backend.of(model.l1.W.array).name == "strict"
        return small.state(trainer)

    assert run(tmp_path / "parts", 2, 5, 7) == run(tmp_path / "whole", 7)


# -- a training that was changed --------------------------------------------------------------


LENGTHS = {
    "iterations": lambda n: (n, "iteration"),
    "epochs": lambda n: (n * 8 / small.LENGTH, "epoch"),
    "schedule": lambda n: triggers.ManualScheduleTrigger(n, "iteration"),
    "early": lambda n: triggers.EarlyStoppingTrigger((99, "epoch"), max_trigger=(n, "iteration")),
}


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("saved", [2, 6])
@pytest.mark.parametrize("wanted", [4, 6, 9])
def test_the_length_of_a_resumed_run_counts_from_the_beginning(tmp_path, name, saved, wanted):
    """A run of 4 iterations that had made 6 went on to 8, or without end."""
    small.trainer(tmp_path, LENGTHS[name](saved)).run()
    trainer = small.trainer(tmp_path, LENGTHS[name](wanted), autoload=True)
    trainer.extend(refuse_more, trigger=lambda trainer: trainer.updater.iteration > wanted)
    trainer.run(show_loop_exception_msg=False)
    assert trainer.updater.iteration == max(saved, wanted)


@pytest.mark.parametrize(("first", "then"), [("epochs", "early"), ("early", "iterations")])
def test_a_stop_trigger_of_another_kind_begins_anew_where_that_is_allowed(tmp_path, first, then):
    small.trainer(tmp_path, LENGTHS[first](5)).run()
    with pytest.raises(CheckpointError, match="strict=False"):
        small.trainer(tmp_path, LENGTHS[then](9), autoload=True).run(False)
    lenient = functools.partial(load_npz, strict=False)
    trainer = small.trainer(tmp_path, LENGTHS[then](9), autoload=lenient)
    with pytest.warns(UserWarning, match="nothing asked for .*stop_trigger"):
        trainer.run(show_loop_exception_msg=False)
    assert trainer.updater.iteration == 9


def refuse_more(trainer):
    raise AssertionError(f"iteration {trainer.updater.iteration} should not have been made")


def test_a_new_extension_without_a_state_starts_anew_with_a_warning(tmp_path):
    small.trainer(tmp_path, (5, "iteration")).run()
    trainer, called = small.trainer(tmp_path, (9, "iteration"), autoload=True), []
    trainer.extend(
        lambda t: called.append(t.updater.iteration), name="new", trigger=(3, "iteration")
    )
    with pytest.warns(UserWarning, match="nothing of these.*extension_triggers/new/last_iteration"):
        trainer.run()
    assert called == [6, 9]


def test_a_new_extension_with_a_state_is_refused_by_name_with_the_cure(tmp_path):
    small.trainer(tmp_path, (5, "iteration")).run()
    trainer = small.trainer(tmp_path, (9, "iteration"), autoload=True)
    trainer.extend(extensions.ExponentialShift("alpha", 0.5))
    with pytest.raises(core.errors.CheckpointError, match="extensions/ExponentialShift") as refused:
        trainer.run(show_loop_exception_msg=False)
    assert "strict=False" in "".join(refused.value.__notes__)

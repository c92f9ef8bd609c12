"""Updaters with several copies of a model, in one process and in several."""

import copy
import io
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import parallel_parts as parts
import pytest
import small

import core
from core import iterators, optimizers, training
from core.errors import UpdateError
from core.serializers import load_npz, save_npz
from core.training import extensions
from plugins.training.updaters import replica

HOST = {"main": "numpy", "second": "numpy"}
NEVER_LONGER = 30


def serial(optimizer, batch_size, model):
    iterator = iterators.SerialIterator(parts.data(), batch_size, shuffle=False)
    return training.updaters.StandardUpdater(iterator, optimizer.setup(model))


def parallel(optimizer, batch_size, model, **options):
    iterator = iterators.SerialIterator(parts.data(), batch_size, shuffle=False)
    options = options or {"devices": HOST}
    return training.updaters.ParallelUpdater(iterator, optimizer.setup(model), **options)


def parameters(updater):
    return {path: p.array for path, p in updater.get_optimizer("main").target.namedparams()}


def assert_equal_parameters(one, other, rtol=1e-5):
    found, expected = parameters(one), parameters(other)
    assert found.keys() == expected.keys()
    for path, array in expected.items():
        np.testing.assert_allclose(found[path], array, rtol=rtol, atol=1e-6, err_msg=path)


# -- ParallelUpdater --------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["copies", "processes"])
@pytest.mark.parametrize("frozen_first", [True, False])
def test_what_is_changed_meanwhile_is_so_in_all_copies(how, frozen_first):
    """Of a layer that was no longer frozen the copies gave no gradients; weights were the first."""
    core.seed(1)
    model = parts.Model()
    models = model, copy.deepcopy(model)
    for each in models:
        (each.l1.disable_update if frozen_first else each.l1.enable_update)()
    one = serial(optimizers.SGD(0.2), 8, models[0])
    if how == "copies":
        many = parallel(optimizers.SGD(0.1), 8, models[1])
    else:
        own = [[parts.data()[i] for i in range(k, 24, 2)] for k in (0, 1)]
        many = training.updaters.MultiprocessParallelUpdater(
            [iterators.SerialIterator(examples, 4, shuffle=False) for examples in own],
            optimizers.SGD(0.2).setup(models[1]),
        )
    try:
        for step in range(6):
            if step == 3:
                for each in models:
                    (each.l1.enable_update if frozen_first else each.l1.disable_update)()
                    each.weight = 3.0
                    each.l2.W.array[...] = 0.25  # as by a file that is loaded, or by clipping
                    each.scale.array = np.full((), 0.5, "f")
            one.update()
            many.update()
    finally:
        many.finalize()
    assert_equal_parameters(many, one)
    for path, parameter in models[1].namedparams():
        assert (parameter.grad is None) == (dict(models[0].namedparams())[path].grad is None)


@pytest.mark.parametrize("in_size", [4, None])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_copies_make_the_steps_of_one_model_that_are_n_times_as_long(n, in_size):
    core.seed(1)
    model = parts.Model(in_size)
    names = dict.fromkeys(("main", "b", "c")[:n], "numpy")
    one = serial(optimizers.MomentumSGD(0.1), 6, copy.deepcopy(model))
    many = parallel(optimizers.MomentumSGD(0.1 / n), 6, model, devices=names)
    for _ in range(5):
        for updater in (one, many):
            core.seed(2)
            updater.update()
        assert_equal_parameters(many, one)
    assert (many.epoch, many.iteration, many.get_optimizer("main").epoch) == (1, 5, 1)


def test_copies_report_under_their_names_and_share_the_batch(tmp_path):
    seen = []
    trainer = training.Trainer(
        parallel(optimizers.SGD(), 5, parts.Model()), (1, "iteration"), tmp_path
    )
    trainer.extend(lambda t: seen.append(dict(t.observation)), name="watch")
    model = copy.deepcopy(trainer.updater.get_optimizer("main").target)
    trainer.run()
    x, t = core.dataset.concat_examples(parts.data()[:5])
    assert seen[0].keys() == {"main/loss", "second/loss"}
    assert seen[0]["main/loss"].item() == pytest.approx(model(x[::2], t[::2]).item())
    assert seen[0]["second/loss"].item() == pytest.approx(model(x[1::2], t[1::2]).item())


def test_a_copy_without_examples_sits_the_update_out():
    updater = parallel(optimizers.SGD(), 1, parts.Model())
    other = serial(optimizers.SGD(), 1, copy.deepcopy(updater.get_optimizer("main").target))
    updater.update()
    other.update()
    assert_equal_parameters(updater, other)


def test_models_of_ones_own_and_persistent_values():
    model = parts.Model(ratio=0.5)
    other = copy.deepcopy(model)
    updater = parallel(optimizers.SGD(), 8, model, models={"a": other, "main": model})
    updater.update()
    for (path, mine), (_, its) in zip(model.namedparams(), other.namedparams(), strict=True):
        assert np.array_equal(mine.array, its.array), path
    assert np.array_equal(model.norm.avg_mean, other.norm.avg_mean)
    assert other.norm.avg_mean.any()


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_loss_scale_loss_func_and_gradients_that_overflow():
    model = parts.Model()
    one = serial(optimizers.SGD(), 6, copy.deepcopy(model))
    many = parallel(optimizers.SGD(0.01 / 2), 6, model, devices=HOST, loss_scale=1024.0)
    one.update()
    many.update()
    assert_equal_parameters(many, one)
    before = {path: array.copy() for path, array in parameters(many).items()}
    many.loss_func = lambda x, t: model(x, t) * np.inf
    many.update()
    for path, array in parameters(many).items():
        assert np.array_equal(array, before[path])
    calls = []
    many.loss_func = lambda x, t: calls.append(len(x)) or model(x, t)
    many.update()
    assert calls == [3, 3]


def test_a_resumed_parallel_updater_ends_with_the_same_bits(tmp_path):
    def make():
        core.seed(4)
        return parallel(optimizers.Adam(), 5, parts.Model(ratio=0.3))

    whole, first, second = make(), make(), make()
    core.seed(5)
    for _ in range(6):
        whole.update()
    core.seed(5)
    for _ in range(3):
        first.update()
    save_npz(tmp_path / "state", first)
    load_npz(tmp_path / "state", second)
    for _ in range(3):
        second.update()
    for path, array in parameters(whole).items():
        assert array.tobytes() == parameters(second)[path].tobytes(), path


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"devices": None}, ValueError, "models or devices"),
        ({"devices": {"mian": "numpy"}}, KeyError, "Did you mean 'mian'|'main', got 'mian'"),
        ({"models": {"main": parts.Model()}}, ValueError, "target among the models"),
    ],
)
def test_what_does_not_go_together_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        parallel(optimizers.SGD(), 4, parts.Model(), **options)


def test_a_model_without_a_device_is_named():
    model = parts.Model()
    models = {"main": model, "second": copy.deepcopy(model)}
    with pytest.raises(KeyError, match="none for 'second'.*Did you mean 'secnd'"):
        parallel(
            optimizers.SGD(), 4, model, models=models, devices={"main": "numpy", "secnd": "numpy"}
        )


# -- MultiprocessParallelUpdater --------------------------------------------------------------


def updates(updater, n):
    try:
        for _ in range(n):
            updater.update()
    finally:
        updater.finalize()


@pytest.mark.parametrize("optimizer", [optimizers.Adam, optimizers.MomentumSGD])
@pytest.mark.parametrize(("n", "in_size", "train"), [(2, 4, True), (3, None, False)])
def test_processes_make_the_updates_of_one_with_the_joint_batch(optimizer, n, in_size, train):
    """Without `train`, nothing is dropped in any of them, nor normalized by its own batch."""
    core.seed(3)
    ratio = 0.0 if train else 0.4
    many = parts.multiprocess(n, optimizer=optimizer(0.01), in_size=in_size, ratio=ratio)
    core.seed(3)
    one = serial(optimizer(0.01), 4 * n, parts.Model(in_size, ratio))
    one.get_optimizer("main").add_hook(core.optimizer_hooks.WeightDecay(0.01))
    many.get_optimizer("main").add_hook(core.optimizer_hooks.WeightDecay(0.01))
    for updater in (many, one):
        core.seed(4)
        with core.using_config("train", train):
            updates(updater, 4)
    assert_equal_parameters(many, one)
    assert many.epoch == one.epoch and many.get_optimizer("main").t == 4
    assert not multiprocessing.active_children()


def trainer(out, stop, **options):
    core.seed(3)
    made = training.Trainer(parts.multiprocess(shuffle=True, ratio=0.4), stop, out)
    made.extend(extensions.LogReport(trigger=(1, "iteration")))
    made.extend(extensions.snapshot(**options), trigger=(1, "iteration"))
    return made


@pytest.mark.slow
def test_a_resumed_run_of_processes_ends_with_the_same_bits(tmp_path):
    whole = trainer(tmp_path / "whole", (7, "iteration"))
    whole.run()
    trainer(tmp_path / "parts", (3, "iteration")).run()
    resumed = trainer(tmp_path / "parts", (7, "iteration"), autoload=True)
    resumed.run()
    for path, array in parameters(whole.updater).items():
        assert array.tobytes() == parameters(resumed.updater)[path].tobytes(), path
    logs = [json.loads((tmp_path / name / "log").read_text()) for name in ("whole", "parts")]
    assert [[small.timeless(r) for r in log] for log in logs][0] == [
        small.timeless(r) for r in logs[1]
    ]


def test_processes_that_run_go_back_to_a_saved_state(tmp_path):
    core.seed(6)
    optimizer = optimizers.Adam(0.01).setup(parts.Model(ratio=0.4))
    updater = training.updaters.MultiprocessParallelUpdater(
        parts.parts(2), optimizer, devices={"second": "numpy", "main": "numpy"}
    )
    try:
        updater.setup_workers()
        updater.update()
        updater.setup_workers()  # they run already
        save_npz(tmp_path / "state", updater)
        drawn = core.backend.random_state()
        ends = []
        for _ in range(2):
            load_npz(tmp_path / "state", updater)
            core.backend.set_random_state(drawn)
            updater.update()
            updater.update()
            ends.append({path: p.tobytes() for path, p in parameters(updater).items()})
        assert ends[0] == ends[1]
        save_npz(tmp_path / "running", updater)
    finally:
        updater.finalize()
    save_npz(tmp_path / "ended", updater)  # and from a dead process nothing is saved: see below
    with np.load(tmp_path / "running") as one, np.load(tmp_path / "ended") as other:
        assert one["worker:1"] == other["worker:1"] != ""


def test_what_datasets_draw_in_a_process_follows_the_seed(monkeypatch):
    for module, name in ((replica, "take"), (replica, "set_threads"), (core, "use")):  # would stay
        monkeypatch.setattr(module, name, lambda given: None)

    def drawn(number):
        core.seed(7)
        replica.Replica(number, parts.Model(), None, None, None, None, 1).prepare()
        ours = core.backend.get("numpy").random.uniform()
        return np.random.rand(), random.random(), float(ours)

    try:
        assert drawn(1) == drawn(1)
        assert not {*drawn(1)} & {*drawn(2)}
    finally:
        core.seed(None)


def with_failing(*how):
    good = iterators.SerialIterator(parts.data(8), 4)
    bad = [iterators.SerialIterator(parts.Failing(each), 4, shuffle=False) for each in how]
    optimizer = optimizers.SGD().setup(parts.Model())
    return training.updaters.MultiprocessParallelUpdater([good, *bad], optimizer)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (["die"], r"worker process 1 ended \(SIGKILL\)"),
        (["exit"], "exit code 3"),
        (["hang", "die"], r"worker process 2 ended \(SIGKILL\)"),
    ],
)
def test_a_worker_that_dies_is_an_error_at_once(how, message):
    updater = with_failing(*how)
    updater.update()
    updater.update()
    began = time.monotonic()
    with pytest.raises(RuntimeError, match=message):
        updater.update()
    assert time.monotonic() - began < NEVER_LONGER
    with pytest.raises(RuntimeError, match="resume from a snapshot"):
        updater.update()
    with pytest.raises(RuntimeError, match="resume from a snapshot"):
        save_npz(io.BytesIO(), updater)
    updater.finalize()
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("raise", ArithmeticError, "no such example"),
        ("sys.exit", RuntimeError, "SystemExit"),  # which ended the main process, with status 0
    ],
)
def test_an_error_in_a_worker_is_raised_here_and_says_where(how, error, message):
    updater = with_failing(how)
    with pytest.raises(error, match=message) as info:
        updates(updater, 3)
    assert "Raised in worker process 1" in info.value.__notes__[-1]
    assert "parallel_parts.py" in info.value.__notes__[-1]
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_the_state_in_which_the_main_process_failed_can_be_saved(tmp_path):
    bad = iterators.SerialIterator(parts.Failing("raise"), 4, shuffle=False)
    good = iterators.SerialIterator(parts.data(8), 4, shuffle=False)
    optimizer = optimizers.SGD().setup(parts.Model())
    updater = training.updaters.MultiprocessParallelUpdater([bad, good], optimizer)
    made = training.Trainer(updater, (9, "iteration"), tmp_path)
    made.extend(extensions.snapshot(filename="last", snapshot_on_error=True))
    with pytest.raises(ArithmeticError, match="no such example") as info:
        made.run(show_loop_exception_msg=False)
    assert not [note for note in info.value.__notes__ if "as well" in note]
    with np.load(tmp_path / "last") as file:
        assert file["updater/iteration"] == 2 and len(str(file["updater/worker:1"])) > 100
    assert not multiprocessing.active_children()


def test_a_worker_that_hangs_is_ended_by_finalize():
    updater = with_failing("hang")
    updater.update()
    updater.update()
    updater._begin_step(updater.get_optimizer("main"))
    began = time.monotonic()
    updater.finalize()
    assert time.monotonic() - began < NEVER_LONGER and not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, o: m(parts.parts(2), o, devices=["numpy"]), ValueError, "2 and 1"),
        (lambda m, o: m([], o), ValueError, "at least one"),
        (lambda m, o: m(parts.parts(2), o, devices={"a": 0}), ValueError, "'main', got 'a'"),
        (lambda m, o: m(parts.parts(5), o), ValueError, "lengths of 4, 5"),
    ],
)
def test_iterators_and_devices_that_do_not_go_together(call, error, message):
    with pytest.raises(error, match=message):
        call(training.updaters.MultiprocessParallelUpdater, optimizers.SGD().setup(parts.Model()))


def test_processes_need_initialized_parameters_and_what_can_be_pickled():
    updater = training.updaters.MultiprocessParallelUpdater
    assert updater.available()
    unknown = updater(parts.parts(2), optimizers.SGD().setup(parts.Model(None)))
    with pytest.raises(UpdateError, match=r"/l1/W.* are not"):
        unknown.setup_workers()
    local = updater(parts.parts(2), optimizers.SGD().setup(parts.Model()), lambda b, d: b)
    with pytest.raises(TypeError, match="can be pickled"):
        local.update()
    assert not multiprocessing.active_children()


def test_a_parameter_of_another_shape_is_refused_until_other_processes_start():
    model = parts.Model()
    updater = training.updaters.MultiprocessParallelUpdater(
        parts.parts(2), optimizers.SGD().setup(model)
    )
    try:
        updater.update()
        model.l2.W.array, model.l2.b.array = np.ones((5, 6), "f"), np.ones(5, "f")
        with pytest.raises(UpdateError, match=r"/l2/(W|b) of shape \(3.*got \(5.*finalize\(\)"):
            updater.update()
        updater.finalize()
        updater.update()
    finally:
        updater.finalize()


@pytest.mark.parametrize("how", ["copies", "processes"])
def test_a_loss_that_is_not_returned_is_told_so(how):
    optimizer = optimizers.SGD().setup(parts.Silent())
    if how == "copies":
        iterator = iterators.SerialIterator(parts.data(), 8)
        updater = training.updaters.ParallelUpdater(iterator, optimizer, devices=HOST)
    else:
        updater = training.updaters.MultiprocessParallelUpdater(parts.parts(2), optimizer)
    with pytest.raises(UpdateError, match="ParallelUpdater: expected .*got NoneType. Is there no"):
        updater.update()
    updater.finalize()


def test_a_parameter_that_is_never_used_is_left_alone_and_a_late_one_refused():
    for late in (False, True):
        model = parts.Late(late)
        optimizer = optimizers.SGD().setup(model)
        updater = training.updaters.MultiprocessParallelUpdater(parts.parts(2), optimizer)
        try:
            updater.update()
            assert not model.rest.W.is_initialized
            if late:
                with pytest.raises(RuntimeError, match=r"/rest/W was initialized after the first"):
                    updater.update()
            else:
                updater.update()
        finally:
            updater.finalize()


def script(tmp_path, body):
    path = tmp_path / "script.py"
    head = f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    path.write_text(head + "import parallel_parts as parts, time, os\n" + textwrap.dedent(body))
    return [sys.executable, str(path)]


def runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_processes_end_with_the_program_even_where_nobody_finalizes(tmp_path):
    body = """
        if __name__ == "__main__":
            updater = parts.multiprocess()
            updater.update()
            print("updated")
    """
    done = subprocess.run(script(tmp_path, body), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "updated\n", "")


@pytest.mark.slow
def test_processes_end_when_the_main_one_is_killed(tmp_path):
    body = """
        import multiprocessing
        if __name__ == "__main__":
            updater = parts.multiprocess()
            updater.update()
            print(multiprocessing.active_children()[0].pid, flush=True)
            time.sleep(60)
    """
    process = subprocess.Popen(script(tmp_path, body), stdout=subprocess.PIPE, text=True)
    worker = int(process.stdout.readline())
    assert runs(worker)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    end = time.monotonic() + NEVER_LONGER
    while runs(worker) and time.monotonic() < end:
        time.sleep(0.05)
    assert not runs(worker)


@pytest.mark.slow
def test_a_script_without_a_guard_is_told_so(tmp_path):
    body = """
        updater = parts.multiprocess()
        updater.update()
    """
    done = subprocess.run(script(tmp_path, body), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "if __name__ == '__main__'" in done.stderr

"""SIGINT and SIGTERM: a snapshot, a clean end, the usual status, and handlers as they were."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import small

import core
from core import training
from core.serializers import load_npz
from core.training import extensions

PATH = os.pathsep.join(str(Path(__file__).parents[up]) for up in (0, 2))  # tests and what they test

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals of this kind")
SIGNALS = [signal.SIGINT, signal.SIGTERM]
NEVER = (1000, "iteration")


def always(trainer):
    """A trigger that snapshots know nothing of."""
    return True


@pytest.fixture(autouse=True)
def handlers():
    """Every test finds the handlers a program starts with, and has to leave them."""
    previous = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    found = [signal.getsignal(number) for number in SIGNALS]
    for number, handler in previous.items():
        signal.signal(number, handler)
    assert found == [signal.default_int_handler, signal.SIG_DFL]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The end of a run that nobody interrupts."""
    trainer = small.trainer(tmp_path_factory.mktemp("whole"), snapshots=NEVER)
    trainer.run()
    ended = small.state(trainer)
    core.seed(None)
    return ended


def at(iteration, *numbers):
    """An extension by which signals come in that iteration."""

    def send(trainer):
        if trainer.updater.iteration == iteration:
            for number in numbers:
                signal.raise_signal(number)

    return send


def trainer(out, *added, stop=(5, "iteration")):
    made = training.Trainer(small.updater(), stop, out)
    for extension in added:
        made.extend(extension, trigger=(1, "iteration"))
    return made


# -- a process of its own ---------------------------------------------------------------------

SCRIPT = """
import os, sys, time
import small

def wait(trainer):
    if trainer.updater.iteration == 6:
        print("ready", flush=True)
        while not os.path.exists(sys.argv[1] + "/sent"):
            time.sleep(0.01)

trainer = small.trainer(sys.argv[1], snapshots=(1000, "iteration"))
trainer.extend(wait, trigger=lambda trainer: True, priority=1000)
trainer.run()
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_process_saves_and_ends_with_the_usual_status(tmp_path, whole, number):
    environment = {**os.environ, "PYTHONPATH": PATH}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    (tmp_path / "sent").touch()
    _, told = process.communicate(timeout=120)
    by_signal = number == signal.SIGINT and sys.version_info >= (3, 14)  # of which shells say 130
    assert process.returncode == (-number if by_signal else 128 + number)
    file = str(tmp_path / "snapshot_iter_6")
    assert told == (
        f"{number.name}: training stopped after iteration 6. Saved: {file}. To go on from there, "
        f"call core.serializers.load_npz({file!r}, trainer) before training begins, or pass "
        "autoload=True to extensions.snapshot, or resume=True to training.fit, and start the "
        "program again.\n"
    )
    assert [path.name for path in tmp_path.glob("*snapshot*")] == ["snapshot_iter_6"]
    resumed = small.trainer(tmp_path / "resumed", snapshots=NEVER)
    load_npz(tmp_path / "snapshot_iter_6", resumed)
    resumed.run()
    assert small.state(resumed) == whole


JOB = """
import sys, time
import parallel_parts as parts
import small
from core import iterators, optimizers, training
from core.training import extensions

def main(out, what):
    writer = getattr(extensions.snapshot_writers, what, lambda: None)()
    trainer = training.Trainer(
        parts.multiprocess() if what == "processes" else small.updater(), (500, "epoch"), out
    )
    trainer.extend(extensions.snapshot(writer=writer), trigger=(3, "iteration"))
    trainer.extend(
        lambda trainer: (print(trainer.updater.iteration, flush=True), time.sleep(0.02)),
        name="tell", trigger=lambda trainer: True,
    )
    trainer.run()

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("what", ["processes", "ProcessWriter", "ProcessQueueWriter"])
def test_a_signal_for_all_processes_of_a_job_saves_as_well(tmp_path, what):
    script = tmp_path / "job.py"
    script.write_text(JOB)
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "out"), what],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": PATH},
        start_new_session=True,
    )
    while process.stdout.readline() != "5\n":
        pass
    os.killpg(process.pid, signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, told
    last, saved = re.search(r"after iteration (\d+)\. Saved: (\S+)\. To go on", told).groups()
    assert saved == str(tmp_path / "out" / f"snapshot_iter_{last}") and Path(saved).exists()


# -- within this process ----------------------------------------------------------------------


@pytest.mark.parametrize("number", SIGNALS)
def test_all_is_called_in_order_and_finalized(tmp_path, number):
    calls = []

    class Note(training.Extension):
        def __call__(self, trainer):
            calls.append(trainer.updater.iteration)

        def on_interrupt(self, trainer):
            calls.append("on_interrupt")

        def on_error(self, trainer, exc, tb):
            calls.append("on_error")

        def finalize(self):
            calls.append("finalize")

    with pytest.raises(SystemExit) as info:
        trainer(tmp_path, at(2, number), Note()).run()
    assert info.value.code == 128 + number
    assert isinstance(info.value, KeyboardInterrupt) == (number == signal.SIGINT)
    assert calls == [1, 2, "on_interrupt", "finalize"]


@pytest.mark.parametrize("stop", [1, 7, 14])
def test_interrupted_anywhere_it_resumes_to_the_same_end(tmp_path, whole, stop):
    first = small.trainer(tmp_path, snapshots=NEVER)
    first.extend(at(stop, signal.SIGTERM), trigger=always)
    with pytest.raises(SystemExit):
        first.run()
    resumed = small.trainer(tmp_path, snapshots=NEVER, autoload=True)
    resumed.run()
    assert small.state(resumed) == whole


def test_a_signal_before_the_first_update_saves_the_beginning(tmp_path, whole):
    @training.make_extension(initializer=lambda trainer: signal.raise_signal(signal.SIGTERM))
    def early(trainer):
        raise AssertionError("called after the signal")

    first = small.trainer(tmp_path, snapshots=NEVER)
    first.extend(early, trigger=always)
    with pytest.raises(SystemExit):
        first.run()
    assert first.updater.iteration == 0
    resumed = small.trainer(tmp_path, snapshots=NEVER, autoload=True)
    resumed.run()
    assert small.state(resumed) == whole


def test_what_is_saved_can_be_chosen(tmp_path):
    made = trainer(tmp_path, at(2, signal.SIGTERM))
    model = made.updater.get_optimizer("main").target
    snapshots = [
        extensions.snapshot(filename="whole"),
        extensions.snapshot(filename="best", snapshot_on_interrupt=False),
        extensions.snapshot(filename="refused", condition=lambda: False),
        extensions.snapshot_object(model, "model"),
        extensions.snapshot_object(model, "asked", snapshot_on_interrupt=True),
    ]
    for snapshot in snapshots:
        made.extend(snapshot, trigger=NEVER)
    with pytest.raises(SystemExit):
        made.run()
    assert sorted(os.listdir(tmp_path)) == ["asked", "whole"]


SAVED = {
    "nothing": (None, "Nothing is saved to go on from. With the extension extensions.snapshot()"),
    "autoload": ({"autoload": True}, "Saved: {}. Start the program again to go on from there."),
    "HDF5": ({"savefun": core.serializers.save_hdf5}, "core.serializers.load_hdf5({!r}, trainer)"),
    "a format of one's own": (
        {"savefun": lambda path, target: Path(path).touch()},
        "Saved: {}. To go on from there, load it before training begins.",
    ),
    "a thread": (
        {"writer": extensions.snapshot_writers.ThreadWriter()},
        "Saved: {}. To go on from there, call core.serializers.load_npz({!r}, trainer)",
    ),
    "refused": ({"condition": lambda: False}, "Nothing is saved to go on from."),
}


@pytest.mark.parametrize("name", SAVED)
def test_what_is_saved_and_how_to_go_on_is_told(tmp_path, capsys, name):
    settings, told = SAVED[name]
    made = trainer(tmp_path, at(2, signal.SIGTERM))
    if settings is not None:
        made.extend(extensions.snapshot(**settings), trigger=NEVER)
    with pytest.raises(SystemExit):
        made.run()
    file = str(tmp_path / "snapshot_iter_2")
    shown = capsys.readouterr().err
    assert "SIGTERM: training stopped after iteration 2. " in shown
    assert told.replace("{!r}", repr(file)).replace("{}", file) in shown


def test_a_part_alone_is_told_as_such(tmp_path, capsys):
    made = trainer(tmp_path, at(2, signal.SIGTERM))
    model = made.updater.get_optimizer("main").target
    made.extend(extensions.snapshot_object(model, "model"), trigger=(1, "iteration"))
    with pytest.raises(SystemExit):
        made.run()
    assert capsys.readouterr().err.endswith(f"iteration 2. Saved: {tmp_path / 'model'}.\n")


def test_a_loop_of_ones_own_is_told_as_well(tmp_path, capsys):
    optimizer = small.updater().get_optimizer("main")
    run = training.Run(None, optimizer, (5, "iteration"), tmp_path)
    run.extend(extensions.snapshot(), trigger=NEVER)
    with pytest.raises(SystemExit), run:
        for _ in run:
            signal.raise_signal(signal.SIGTERM)
    assert "training stopped after iteration 1." in (told := capsys.readouterr().err)
    assert f"load_npz({str(tmp_path / 'snapshot_iter_1')!r}, run)" in told


def test_cut_off_in_the_middle_the_newest_snapshot_is_told(tmp_path, capsys):
    def cut(trainer):
        if trainer.updater.iteration == 3:
            raise KeyboardInterrupt

    made = trainer(tmp_path, cut, extensions.snapshot())
    with pytest.raises(KeyboardInterrupt):
        made.run()
    told = capsys.readouterr().err
    assert told.startswith("KeyboardInterrupt: training stopped after iteration 3. Saved: ")
    assert str(tmp_path / "snapshot_iter_2") in told


def test_a_second_signal_is_obeyed_at_once(tmp_path):
    finalized = []

    @training.make_extension(finalizer=lambda: finalized.append(True))
    def later(trainer):
        finalized.append("called")

    made = trainer(tmp_path, at(1, signal.SIGTERM, signal.SIGINT), later, extensions.snapshot())
    with pytest.raises(KeyboardInterrupt) as info:
        made.run()
    assert not isinstance(info.value, SystemExit)
    assert finalized == [True] and os.listdir(tmp_path) == []


def test_a_snapshot_that_fails_is_the_error(tmp_path, capsys):
    def full(path, target):
        raise OSError("disk full")

    made = trainer(tmp_path, at(1, signal.SIGTERM))
    made.extend(extensions.snapshot(full), trigger=NEVER)
    with pytest.raises(OSError, match="disk full") as info:
        made.run()
    assert info.value.__notes__ == ["Raised by the extension 'snapshot' in on_interrupt."]
    assert "SIGTERM" not in capsys.readouterr().err


def test_an_error_goes_before_a_signal(tmp_path):
    def fail(trainer):
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        trainer(tmp_path, at(1, signal.SIGTERM), fail).run(show_loop_exception_msg=False)


def test_a_signal_while_finalizing_is_not_lost(tmp_path):
    @training.make_extension(finalizer=lambda: signal.raise_signal(signal.SIGTERM))
    def late(trainer):
        pass

    made = trainer(tmp_path, late)
    with pytest.raises(SystemExit) as info:
        made.run()
    assert info.value.code == 143 and made.updater.iteration == 5


def test_a_run_of_its_own_thread_touches_no_handler(tmp_path):
    seen = []

    def look(trainer):
        seen.append([signal.getsignal(number) for number in SIGNALS])

    made = trainer(tmp_path, look)
    thread = threading.Thread(target=made.run)
    thread.start()
    thread.join()
    assert made.updater.iteration == 5
    assert seen == [[signal.default_int_handler, signal.SIG_DFL]] * 5


def test_handlers_of_the_program_stay_in_force(tmp_path):
    noted = []

    def mine(number, frame):
        noted.append(number)

    signal.signal(signal.SIGTERM, mine)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        made = trainer(tmp_path, at(2, *SIGNALS))
        made.run()
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    assert noted == [signal.SIGTERM] and made.updater.iteration == 5


def test_a_handler_installed_meanwhile_is_not_taken_away(tmp_path):
    def install(trainer):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    trainer(tmp_path, install).run()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def _sleep(running):
    running.set()
    time.sleep(100)


def test_a_forked_worker_can_still_be_terminated(tmp_path):
    codes = []

    def fork(trainer):
        forking = multiprocessing.get_context("fork")
        running = forking.Event()
        worker = forking.Process(target=_sleep, args=(running,))
        worker.start()
        # CPython drops what a child is sent before it has finished forking.
        assert running.wait(30)
        worker.terminate()
        worker.join(30)
        codes.append(worker.exitcode)

    trainer(tmp_path, fork, stop=(1, "iteration")).run()
    assert codes == [-signal.SIGTERM]

"""The extensions of a trainer around a loop of one's own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import small

import core
import core.functions as F
import core.links as L
from core import iterators, optimizers, serializers, training
from core.dataset import concat_examples
from core.training import extensions


def run(out, stop=(3, "epoch"), **options):
    """The training of `small.trainer`, for a loop of one's own."""
    core.seed(3)
    optimizer = optimizers.Adam(alpha=0.01).setup(small.Model())
    iterator = iterators.SerialIterator(small.data(), 8)
    made = training.Run(iterator, optimizer, stop, out)
    rest = iterators.SerialIterator(small.data(), 8, repeat=False, shuffle=False)
    made.extend(extensions.Evaluator(rest, optimizer.target))
    made.extend(extensions.LogReport(trigger=(4, "iteration")))
    made.extend(extensions.observe_lr())
    made.extend(extensions.PlotReport("main/loss", trigger=(1, "epoch")), trigger=(1, "iteration"))
    made.extend(extensions.snapshot(**options), trigger=(1, "iteration"))
    return made


def loop(made, breaking_at=None):
    optimizer = made.updater.get_optimizer("main")
    with made:
        for batch in made:
            optimizer.target.cleargrads()
            optimizer.target(*concat_examples(batch)).backward()
            optimizer.update()
            if made.updater.iteration + 1 == breaking_at:
                break
    return made


def log(out):
    return [small.timeless(record) for record in json.loads((out / "log").read_text())]


def test_a_loop_of_ones_own_is_what_the_trainer_does_to_the_bit(tmp_path):
    trainer = small.trainer(tmp_path / "trainer")
    trainer.run()
    own = loop(run(tmp_path / "own"))
    assert small.state(own) == small.state(trainer)
    assert log(tmp_path / "own") == log(tmp_path / "trainer")
    plots = [(tmp_path / name / "plot.png").read_bytes() for name in ("own", "trainer")]
    assert plots[0] == plots[1]
    assert own.updater.get_optimizer("main").epoch == 3


@pytest.mark.parametrize("stop", [1, 6, 11])
def test_a_broken_off_loop_resumes_to_the_bit(tmp_path, stop):
    whole = loop(run(tmp_path / "whole"))
    loop(run(tmp_path / "parts"), breaking_at=stop + 1)
    resumed = loop(run(tmp_path / "parts", autoload=True))
    assert small.state(resumed) == small.state(whole)
    assert log(tmp_path / "parts") == log(tmp_path / "whole")


def test_a_trainer_goes_on_where_a_loop_was_left(tmp_path):
    whole = small.trainer(tmp_path / "whole")
    whole.run()
    loop(run(tmp_path / "parts"), breaking_at=8)
    resumed = small.trainer(tmp_path / "parts", autoload=True)
    resumed.run()
    assert small.state(resumed) == small.state(whole)


def test_without_data_the_loop_counts_iterations(tmp_path):
    model = L.Linear(2, 1)
    made = training.Run(None, optimizers.SGD(0.1).setup(model), (4, "iteration"), tmp_path)
    made.extend(extensions.LogReport(trigger=(2, "iteration")))
    with made:
        for batch in made:
            assert batch is None
            loss = F.sum(model(np.ones((1, 2), "f")) ** 2)
            core.report({"loss": loss}, model)
            model.cleargrads()
            loss.backward()
            made.updater.get_optimizer("main").update()
    assert [(r["iteration"], "epoch" in r) for r in log(tmp_path)] == [(2, False), (4, False)]
    epochs = training.Run(None, optimizers.SGD().setup(model), (1, "epoch"), tmp_path)
    with pytest.raises(AttributeError, match="in iterations"), epochs:
        next(iter(epochs))


def test_several_optimizers_report_under_their_names(tmp_path):
    models = {"gen": small.Model(), "dis": small.Model()}
    sgds = {name: optimizers.SGD().setup(model) for name, model in models.items()}
    iterator = iterators.SerialIterator(small.data(), 8)
    made = training.Run(iterator, sgds, (2, "epoch"), tmp_path, [extensions.LogReport()])
    made.extend(extensions.snapshot(), trigger=(1, "iteration"))
    with made:
        for batch in made:
            for name, model in models.items():
                sgds[name].update(model, *concat_examples(batch))
    assert made.observation.keys() == {"gen/loss", "dis/loss"} and made.updater.epoch == 2
    with np.load(tmp_path / "snapshot_iter_2") as file:
        assert "updater/model:gen/l1/W" in file.files


class Watching(training.Extension):
    def __init__(self):
        self.calls = []

    def initialize(self, trainer):
        self.calls.append("initialize")

    def __call__(self, trainer):
        self.calls.append(trainer.updater.iteration)

    def on_error(self, trainer, exc, tb):
        self.calls.append(type(exc).__name__)

    def on_interrupt(self, trainer):
        self.calls.append("interrupted")

    def finalize(self):
        self.calls.append("finalize")


def watched(tmp_path, stop=(3, "iteration"), **options):
    iterator = iterators.SerialIterator(small.data(), 8, **options)
    made = training.Run(iterator, optimizers.SGD().setup(small.Model()), stop, tmp_path)
    watching = Watching()
    made.extend(watching)
    return made, watching.calls


def test_leaving_the_block_finalizes_in_every_way(tmp_path):
    made, calls = watched(tmp_path)
    with made:
        for _ in made:
            pass
    assert calls == ["initialize", 1, 2, 3, "finalize"]

    made, calls = watched(tmp_path)
    with pytest.raises(ZeroDivisionError), made:
        for _ in made:
            1 / made.updater.iteration if made.updater.iteration else 1 / 0
    assert calls == ["initialize", "ZeroDivisionError", "finalize"]

    made, calls = watched(tmp_path)
    with made:
        for _ in made:
            break
    assert calls == ["initialize", "finalize"] and made.updater.iteration == 0
    core.report({"x": 1}, object())  # nobody listens any longer: no error about the observer


def test_a_signal_ends_the_loop_after_the_iteration(tmp_path):
    made, calls = watched(tmp_path)
    with pytest.raises(SystemExit) as info, made:
        for _ in made:
            os.kill(os.getpid(), signal.SIGTERM)
    assert info.value.code == 128 + signal.SIGTERM
    assert calls == ["initialize", 1, "interrupted", "finalize"]


def test_ctrl_c_leaves_an_interactive_session_alive(tmp_path):
    made = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import small, os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background ignores it
from core import training
made = training.Trainer(small.updater(), (3, "epoch"), {str(tmp_path)!r})
made.extend(lambda trainer: os.kill(os.getpid(), signal.SIGINT), name="press")
made.run()
print("alive after", made.updater.iteration)
"""
    done = subprocess.run(
        [sys.executable, "-i", "-q"], input=made, capture_output=True, text=True, timeout=60
    )
    assert "alive after 1\n" in done.stdout  # the status is 130 from Python 3.14 on
    assert "KeyboardInterrupt" in done.stderr and "SystemExit" not in done.stderr


def test_data_that_end_end_the_loop(tmp_path):
    made, calls = watched(tmp_path, (9, "epoch"), repeat=False)
    with made:
        for _ in made:
            pass
    assert made.updater.iteration == 5 and calls[-1] == "finalize"


def test_a_failing_extension_is_named(tmp_path):
    def fail(trainer):
        raise ArithmeticError("no")

    made, calls = watched(tmp_path)
    made.extend(fail)
    with pytest.raises(ArithmeticError) as info, made:
        for _ in made:
            pass
    assert info.value.__notes__ == ["Raised by the extension 'fail' in __call__."]
    assert calls == ["initialize", 1, "ArithmeticError", "finalize"]


def test_every_extension_works_in_a_loop_of_ones_own(tmp_path, capsys):
    made = run(tmp_path, (2, "epoch"))
    model = made.updater.get_optimizer("main").target
    made.extend(extensions.dump_graph("main/loss"))
    made.extend(extensions.FailOnNonNumber())
    made.extend(extensions.ParameterStatistics(model))
    made.extend(extensions.VariableStatisticsPlot(model))
    made.extend(extensions.ExponentialShift("alpha", 0.9))
    made.extend(extensions.MicroAverage("main/loss", "main/loss", "one"))
    made.extend(extensions.RunRecord())
    made.extend(extensions.snapshot_object(model, "model"))
    made.extend(extensions.unchain_variables())
    made.extend(
        extensions.PrintReport(["epoch", "one", "alpha"], extensions.LogReport(filename=None))
    )
    made.extend(extensions.ProgressBar(update_interval=1))
    made.extend(
        extensions.observe_value("alpha", lambda trainer: made.updater.get_optimizer("main").alpha)
    )
    loop(made)
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"cg.dot", "log", "model", "plot.png", "run.json", "statistics.png"}
    printed = capsys.readouterr().out
    assert "1.00000" in printed and "100%|" in printed
    optimizer = made.updater.get_optimizer("main")
    assert optimizer.alpha == pytest.approx(0.01 * 0.9**10)


def test_what_is_no_way_to_use_it(tmp_path):
    made, _ = watched(tmp_path)
    with pytest.raises(RuntimeError, match="with run:"):
        next(iter(made))
    with made:
        pass
    with pytest.raises(RuntimeError, match="Make a new one"), made:
        pass


def test_parameters_that_a_snapshot_holds_load_by_name(tmp_path):
    made = loop(run(tmp_path, (2, "iteration")))
    model = small.Model()
    serializers.load_npz(tmp_path / "snapshot_iter_2", model, "updater/model:main/", strict=True)
    trained = made.updater.get_optimizer("main").target
    assert np.array_equal(model.l1.W.array, trained.l1.W.array)


def test_a_loop_that_forgets_to_update_is_told(tmp_path):
    made = run(tmp_path)
    model = made.updater.get_optimizer("main").target
    with pytest.warns(UserWarning, match="no optimizer has made an update in 3 iter") as told, made:
        for batch in made:
            if made.updater.iteration == 3:
                break
            model.cleargrads()
            model(*concat_examples(batch)).backward()
    assert told[0].filename == __file__

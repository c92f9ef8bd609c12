"""The trainer: the order of calls, errors, and what it says of itself."""

import copy
import pickle

import numpy as np
import pytest
import small

import core
import core.links as L
from core import iterators, optimizers, training
from core.training import extensions, triggers


class Recorder(training.Extension):
    """Notes each call in a list that several share."""

    def __init__(self, calls, label, fail=()):
        self.calls, self.label, self.fail = calls, label, fail

    def note(self, method):
        self.calls.append((self.label, method))
        if method in self.fail:
            raise ArithmeticError(f"{self.label} in {method}")

    def initialize(self, trainer):
        self.note("initialize")

    def __call__(self, trainer):
        self.note("call")

    def on_error(self, trainer, exc, tb):
        self.note("on_error")

    def finalize(self):
        self.note("finalize")


def recorded(tmp_path, priorities, fail=None, stop=(1, "iteration")):
    calls, made = [], small.bare_trainer(tmp_path, stop)
    for label, priority in priorities.items():
        made.extend(
            Recorder(calls, label, (fail or {}).get(label, ())), name=label, priority=priority
        )
    return made, calls


def test_extensions_run_by_priority_and_then_by_order(tmp_path):
    made, calls = recorded(tmp_path, {"a": 100, "b": 300, "c": 100, "d": -1})
    made.run()
    for method in ("initialize", "call", "finalize"):
        assert [label for label, called in calls if called == method] == ["b", "a", "c", "d"]
    assert made.elapsed_time > 0 and not made.is_before_training


def does_nothing(trainer):
    """A function that pickles find by its name."""


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_a_copy_trains_its_own_model_by_itself(tmp_path, copied):
    made = small.bare_trainer(tmp_path)
    made.extend(extensions.LogReport(trigger=(1, "iteration")))
    model = made.updater.get_optimizer("main").target
    made.extend(extensions.ParameterStatistics(model), trigger=(1, "iteration"))
    made.extend(extensions.observe_lr(), trigger=(1, "iteration"))
    made.extend(does_nothing, trigger=triggers.MaxValueTrigger("main/loss", (1, "iteration")))
    made.extend(does_nothing, trigger=triggers.MinValueTrigger("main/loss", (1, "iteration")))
    other = copied(made)
    other.out = tmp_path / "other"
    for each in (made, other):
        core.seed(3)
        each.run()
    logs = [each.get_extension("LogReport").log for each in (made, other)]
    losses = [[record["main/loss"] for record in log] for log in logs]
    assert len(losses[0]) == 3 and losses[0] == losses[1]


@pytest.mark.parametrize("method", ["initialize", "call"])
def test_a_failing_extension_is_named_and_all_are_finalized(tmp_path, method, capsys):
    made, calls = recorded(tmp_path, {"good": 2, "bad": 1}, {"bad": [method, "finalize"]})
    with pytest.raises(ArithmeticError, match=f"bad in {method}") as info:
        made.run()
    shown = method if method == "initialize" else "__call__"
    assert info.value.__notes__ == [
        f"Raised by the extension 'bad' in {shown}.",
        "Finalizing raised ArithmeticError('bad in finalize') as well.",
    ]
    assert [c for c in calls if c[1] in ("on_error", "finalize")] == [
        ("good", "on_error"),
        ("bad", "on_error"),
        ("good", "finalize"),
        ("bad", "finalize"),
    ]
    assert "ArithmeticError" in capsys.readouterr().err


def test_an_extension_that_cannot_be_saved_is_named(tmp_path):
    class Unsaved(Recorder):
        def serialize(self, serializer):
            raise ArithmeticError("no state")

    made = small.bare_trainer(tmp_path)
    made.extend(Unsaved([], "a"), name="mine")
    with pytest.raises(ArithmeticError) as info:
        core.serializers.save_npz(tmp_path / "state", made)
    assert info.value.__notes__ == ["Raised by the extension 'mine' in serialize."]


def test_an_error_in_finalize_alone_is_raised(tmp_path):
    made, calls = recorded(tmp_path, {"a": 2, "b": 1}, {"a": ["finalize"]})
    with pytest.raises(ArithmeticError, match="a in finalize"):
        made.run()
    assert ("b", "finalize") in calls


def test_so_it_is_where_the_program_is_handling_another_error(tmp_path):
    """As one that trains because there is no file of the model: it was a note of that error."""
    made, _ = recorded(tmp_path, {"a": 1}, {"a": ["finalize"]})
    with pytest.raises(ArithmeticError, match="a in finalize") as raised:
        try:
            (tmp_path / "model").read_text()
        except FileNotFoundError as handled:
            missing = handled
            made.run()
    assert raised.value.__context__ is missing
    assert not hasattr(missing, "__notes__")


def test_an_interrupt_finalizes_as_well(tmp_path):
    calls, made = [], small.bare_trainer(tmp_path)
    made.extend(Recorder(calls, "a"))

    def interrupt(trainer):
        raise KeyboardInterrupt

    made.extend(interrupt)
    with pytest.raises(KeyboardInterrupt):
        made.run()
    assert calls[-1] == ("a", "finalize")


@pytest.mark.parametrize("method", ["initialize", "__call__"])
def test_stop_iteration_in_an_extension_names_it(tmp_path, method):
    def fail(self, *args):
        next(iter(()))

    made = small.bare_trainer(tmp_path)
    made.extend(type("Bad", (training.Extension,), {"trigger": (1, "iteration"), method: fail})())
    with pytest.raises(RuntimeError, match=f"extension 'Bad' in {method}. StopIteration:"):
        made.run(show_loop_exception_msg=False)


def test_call_before_training(tmp_path):
    calls, made = [], small.bare_trainer(tmp_path, (2, "iteration"))
    made.extend(lambda t: calls.append(t.updater.iteration), name="f", call_before_training=True)
    made.run()
    assert calls == [0, 1, 2]


def test_the_model_as_it_begins_is_logged_once(tmp_path):
    def run(out, stop):
        core.seed(3)
        made = training.Trainer(small.updater(), stop, tmp_path / out)
        model = made.updater.get_optimizer("main").target
        rest = iterators.SerialIterator(small.data(), 8, repeat=False, shuffle=False)
        made.extend(extensions.Evaluator(rest, model), call_before_training=True)
        log = extensions.LogReport(["main/loss", "validation/main/loss"])
        made.extend(log, call_before_training=True)
        made.extend(extensions.snapshot(autoload=True), trigger=(1, "iteration"))
        made.run()
        core.seed(None)
        return [small.timeless(record) for record in log.log]

    whole = run("whole", (2, "epoch"))
    assert [record["iteration"] for record in whole] == [0, 5, 10]
    assert ["main/loss" in record for record in whole] == [False, True, True]
    assert whole[0]["validation/main/loss"] > whole[1]["validation/main/loss"]
    for stop in (1, 5, 7):
        run(f"in parts {stop}", (stop, "iteration"))
        assert run(f"in parts {stop}", (2, "epoch")) == whole


@pytest.mark.parametrize("name", ["histograms", "statistics", "schedule"])
def test_a_run_that_is_resumed_counts_no_iteration_twice(tmp_path, name):
    def run(out, stop):
        core.seed(3)
        made = training.Trainer(small.updater(), stop, tmp_path / out)
        model = made.updater.get_optimizer("main").target
        kinds = {
            "histograms": extensions.HistogramReport,
            "statistics": extensions.VariableStatisticsPlot,
            "schedule": lambda _: extensions.ExponentialShift("alpha", 0.5),
        }
        report = kinds[name](model)
        made.extend(report, trigger=(1, "iteration"), call_before_training=True)
        made.extend(extensions.snapshot(autoload=True), trigger=(1, "iteration"))
        made.run()
        core.seed(None)
        saved = core.serializers.DictionarySerializer()
        saved.save(report)
        return {key: str(value) for key, value in saved.target.items()}

    whole = run("whole", (4, "iteration"))
    run("in parts", (2, "iteration"))
    assert run("in parts", (4, "iteration")) == whole


@pytest.mark.parametrize("kind", [extensions.HistogramReport, extensions.VariableStatisticsPlot])
def test_a_report_that_is_called_by_hand_counts_each_call(tmp_path, kind):
    made = training.Trainer(small.updater(), (1, "iteration"), tmp_path)
    report = kind(made.updater.get_optimizer("main").target)
    report(made)
    report(made)
    assert report._calls == 2


def test_a_trainer_runs_once(tmp_path):
    made = small.bare_trainer(tmp_path)
    with pytest.raises(RuntimeError, match="call run"):
        made.elapsed_time  # noqa: B018
    made.run()
    with pytest.raises(RuntimeError, match="Make a new one"):
        made.run()


def test_a_directory_without_permission_is_told_before_training(read_only):
    for out in (read_only, read_only / "below"):
        made = training.Trainer(small.updater(), (1, "epoch"), out)
        with pytest.raises(PermissionError) as info:
            made.run()
        assert str(out) in info.value.__notes__[0] and "out=" in info.value.__notes__[0]
        assert made.updater.iteration == 0


def test_training_has_the_names_of_old():
    assert training.StandardUpdater is training.updaters.StandardUpdater
    assert training.IntervalTrigger is triggers.IntervalTrigger
    assert training.extension.Extension is training.Extension
    with pytest.raises(AttributeError, match="no_such"):
        training.no_such  # noqa: B018


def test_a_trainer_says_what_it_consists_of(tmp_path):
    made = training.Trainer(small.updater(), (3, "epoch"), "result")
    best = triggers.MaxValueTrigger("main/loss")
    made.extend(lambda t: None, name="tune", priority=-3, trigger=best)
    made.extend(extensions.LogReport(), trigger=lambda trainer: True)
    made.extend(extensions.snapshot(), trigger=triggers.ManualScheduleTrigger([1, 2], "epoch"))
    made.extend(extensions.observe_lr())
    made.extend(lambda t: None, name="off", trigger=lambda trainer: False)
    optimizer = made.updater.get_optimizer("main")
    assert repr(made).splitlines() == [
        "Trainer: until (3, 'epoch'), in 'result'",
        f"  main: {optimizer!r} on Model",
        "  extension      priority  trigger",
        "  observe_value       300  (1, 'epoch')",
        "  LogReport           100  <lambda>()",
        "  off                 100  <lambda>()",
        "  tune                 -3  MaxValueTrigger()",
        "  snapshot           -150  ManualScheduleTrigger([1, 2], 'epoch')",
    ]
    html = made._repr_html_()
    assert html.count("<tr>") == 6 and "(1, &#x27;epoch&#x27;)" in html
    run = training.Run(None, optimizer, None, tmp_path)
    assert repr(run).startswith(f"Run: until never, in {str(tmp_path)!r}\n  main: ")


def test_what_has_served_another_training_is_told(tmp_path):
    def trained(place, batches, extension, trigger, stop):
        model = L.Classifier(L.Linear(3, 2))
        updater = training.updaters.StandardUpdater(batches, optimizers.SGD(0.5).setup(model))
        made = training.Trainer(updater, stop, tmp_path / place)
        made.extend(extension)
        made.extend(lambda trainer: None, "of mine", trigger=trigger)
        made.run()
        return updater.iteration

    def parts():
        best = training.triggers.MinValueTrigger("main/loss")
        return batches(), extensions.LogReport(), best, training.get_trigger((2, "epoch"))

    def batches():
        return iterators.SerialIterator([(np.ones(3, "f"), np.int32(0))] * 4, 2)

    used = parts()
    assert trained("a", *used) == trained("b", *parts()) == 4
    with pytest.warns(UserWarning) as told:
        assert trained("c", batches(), *used[1:-1], (2, "epoch")) == 4
    [message] = [str(each.message) for each in told]
    assert "'LogReport', the trigger of 'of mine' served another training" in message
    with pytest.warns(UserWarning, match="through the data 2 times before"):
        assert trained("d", used[0], *parts()[1:]) == 0
    used[0].reset()
    assert trained("e", used[0], *parts()[1:]) == 4

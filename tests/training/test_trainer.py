"""The trainer: order, names, errors, and what it refuses."""

import copy
import pickle

import numpy as np
import pytest
import small

import core
import core.links as L
from core import iterators, optimizers, training
from core.errors import RemovedArgument
from core.training import extensions, triggers


def trainer(tmp_path, stop=(3, "iteration"), **options):
    return training.Trainer(small.updater(), stop, tmp_path / "out", **options)


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
    calls, made = [], trainer(tmp_path, stop)
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


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_a_copy_trains_its_own_model_by_itself(tmp_path, copied):
    made = trainer(tmp_path)
    made.extend(extensions.LogReport(trigger=(1, "iteration")))
    other = copied(made)
    other.out = tmp_path / "other"
    for each in (made, other):
        core.seed(3)
        each.run()
    logs = [each.get_extension("LogReport").log for each in (made, other)]
    losses = [[record["main/loss"] for record in log] for log in logs]
    assert len(losses[0]) == 3 and losses[0] == losses[1]


@pytest.mark.parametrize("when", ["initialize", "call", "after"])
def test_what_would_never_be_called_is_refused(when, tmp_path):
    made, added = trainer(tmp_path), []

    def add(trainer):
        if not added:
            added.append("late")
            with pytest.raises(RuntimeError, match="expected 'late' before the run begins"):
                trainer.extend(print, name="late")

    early = training.make_extension(initializer=add if when == "initialize" else None)
    made.extend(early(add if when == "call" else lambda trainer: None), name="early")
    made.run()
    if when == "after":
        add(made)
    assert added == ["late"] and made.extension_names() == ["early"]


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

    made = trainer(tmp_path)
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
    calls, made = [], trainer(tmp_path)
    made.extend(Recorder(calls, "a"))

    def interrupt(trainer):
        raise KeyboardInterrupt

    made.extend(interrupt)
    with pytest.raises(KeyboardInterrupt):
        made.run()
    assert calls[-1] == ("a", "finalize")


def test_two_of_one_name_are_numbered_in_order(tmp_path):
    made = trainer(tmp_path)
    reports = [extensions.LogReport(filename=f"log{i}") for i in range(3)]
    for report in reports:
        made.extend(report)
    made.extend(extensions.LogReport(filename="own"), name="mine")
    found = [made.get_extension(name) for name in ("LogReport", "LogReport_1", "LogReport_2")]
    assert found == reports
    assert [report.name for report in reports] == ["LogReport", "LogReport_1", "LogReport_2"]
    assert made.get_extension("mine").name == "mine"


def test_names_that_are_one_in_files_are_numbered_too(tmp_path):
    made = trainer(tmp_path)
    for name in ("a", "a/", "/a", "a/b"):
        made.extend(print, name=name)
    assert made.extension_names()[-4:] == ["a", "a/_1", "/a_1", "a/b"]


@pytest.mark.parametrize("method", ["initialize", "__call__"])
def test_stop_iteration_in_an_extension_names_it(tmp_path, method):
    def fail(self, *args):
        next(iter(()))

    made = trainer(tmp_path)
    made.extend(type("Bad", (training.Extension,), {"trigger": (1, "iteration"), method: fail})())
    with pytest.raises(RuntimeError, match=f"extension 'Bad' in {method}. StopIteration:"):
        made.run(show_loop_exception_msg=False)


def test_names_of_all_kinds_of_extensions(tmp_path):
    made = trainer(tmp_path)

    @training.make_extension(default_name="decorated", trigger=(2, "iteration"))
    def function(trainer):
        pass

    def plain(trainer):
        pass

    for extension in (function, plain, extensions.snapshot(), extensions.dump_graph("main/loss")):
        made.extend(extension)
    for name in ("decorated", "plain", "snapshot", "dump_graph"):
        assert callable(made.get_extension(name))
    with pytest.raises(ValueError, match="Did you mean 'snapshot'"):
        made.get_extension("snapshto")


def test_make_extension_gives_all_methods(tmp_path):
    calls = []

    @training.make_extension(
        initializer=lambda trainer: calls.append("initialize"),
        finalizer=lambda: calls.append("finalize"),
        on_error=lambda trainer, exc, tb: calls.append(str(exc)),
    )
    def extension(trainer):
        calls.append("call")
        raise ArithmeticError("stop")

    made = trainer(tmp_path, extensions=[extension])
    with pytest.raises(ArithmeticError):
        made.run(show_loop_exception_msg=False)
    assert calls == ["initialize", "call", "stop", "finalize"]


def test_call_before_training(tmp_path):
    calls, made = [], trainer(tmp_path, (2, "iteration"))
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


def test_a_trainer_runs_once(tmp_path):
    made = trainer(tmp_path)
    with pytest.raises(RuntimeError, match="call run"):
        made.elapsed_time  # noqa: B018
    made.run()
    with pytest.raises(RuntimeError, match="Make a new one"):
        made.run()


def test_what_once_was_is_refused_with_its_cure(tmp_path):
    made = trainer(tmp_path)
    with pytest.raises(RemovedArgument, match="initialize"):
        made.extend(lambda t: None, name="f", invoke_before_training=True)
    with pytest.raises(RemovedArgument, match="initializer"):
        training.make_extension(invoke_before_training=True)

    class Old(training.Extension):
        invoke_before_training = True

    with pytest.raises(RemovedArgument, match="Old.*initialize"):
        made.extend(Old())
    with pytest.raises(RemovedArgument, match="initialize"):
        training.Extension().invoke_before_training  # noqa: B018
    for call in (
        lambda: extensions.snapshot(trigger=(1, "epoch")),
        lambda: extensions.snapshot_object(None, "x", trigger=(1, "epoch")),
    ):
        with pytest.raises(RemovedArgument, match=r"Trainer\.extend"):
            call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.extend(3), "Extension or a function"),
        (lambda t: t.extend(print, priority="high"), "expected priority to be a number or None"),
        (lambda t: t.extend(extensions.LogReport), r"LogReport\(\.\.\.\)"),
        (lambda t: t.extend(print, triger=(1, "epoch")), "triger"),
        (lambda t: training.get_trigger("epoch"), r"\(5, 'epoch'\)"),
        (lambda t: training.make_extension(priorty=3), "priorty"),
        (lambda t: extensions.LogReport(file="x"), "file"),
        (lambda t: extensions.snapshot_object(None, "x"), r"got None.*setup\(model\)"),
        (lambda t: extensions.Evaluator([1, 2], None), "expected an iterator.*got list"),
        (lambda t: extensions.observe_value("x", 3), "function of the trainer that gives 'x'"),
    ],
)
def test_what_is_no_extension_or_trigger_is_refused(tmp_path, call, message):
    with pytest.raises(TypeError, match=message):
        call(trainer(tmp_path))


def test_who_calls_an_extension_is_one_of_three(tmp_path):
    own = training.make_extension(ranks="frist")(lambda trainer: None)
    with pytest.raises(ValueError, match="'each', 'first' or 'together', got 'frist'.*'first'"):
        trainer(tmp_path).extend(own)
    trainer(tmp_path).extend(own, ranks="first")


def test_what_is_no_updater_is_refused_with_what_is_expected(tmp_path):
    optimizer = core.optimizers.SGD()
    iterator = core.iterators.SerialIterator([0], 1)
    for wrong in (optimizer, iterator, None, small.Model):
        with pytest.raises(TypeError, match=r"expected an updater, such as .*has no "):
            training.Trainer(wrong, (1, "epoch"), tmp_path)
    make = training.updaters.StandardUpdater
    with pytest.raises(ValueError, match=r"'main' has not. Call optimizer.setup"):
        make(iterator, optimizer)
    optimizer.setup(small.Model())
    for wrong in ([0], small.data(), optimizer):
        with pytest.raises(TypeError, match=r"expected an iterator, such as .* for 'main'; got"):
            make(wrong, optimizer)
    with pytest.raises(TypeError, match=r"expected an optimizer, such as .* for 'dis'; got Model"):
        make(iterator, {"main": optimizer, "dis": small.Model()})


class Counting(training.Updater):
    """An updater that only counts, and has nothing to save."""

    def __init__(self):
        self.optimizer = core.optimizers.SGD().setup(small.Model())

    def update(self):
        self.iteration += 1

    def get_all_optimizers(self):
        return {"main": self.optimizer}


def test_an_updater_needs_serialize_for_snapshots_alone(tmp_path):
    made = training.Trainer(Counting(), (3, "iteration"), tmp_path)
    made.run()
    assert made.updater.iteration == 3
    made = training.Trainer(Counting(), (3, "iteration"), tmp_path / "other")
    made.extend(extensions.snapshot(), trigger=(1, "iteration"))
    with pytest.raises(NotImplementedError, match=r"Counting: expected a method serialize\("):
        made.run()


def test_an_extension_has_every_attribute_and_may_do_nothing(tmp_path):
    extension = training.make_extension()(lambda trainer: None)
    assert extension.initialize is extension.finalize is extension.on_error is None
    for each in (extension, training.Extension()):
        made = trainer(tmp_path)
        made.extend(each, name="nothing")
        made.run()
        assert made.updater.iteration == 3


def test_a_directory_without_permission_is_told_before_training(read_only):
    for out in (read_only, read_only / "below"):
        made = training.Trainer(small.updater(), (1, "epoch"), out)
        with pytest.raises(PermissionError) as info:
            made.run()
        assert str(out) in info.value.__notes__[0] and "out=" in info.value.__notes__[0]
        assert made.updater.iteration == 0


def test_data_that_end_are_told_with_the_cure(tmp_path):
    iterator = core.iterators.SerialIterator(small.data(), 8, repeat=False)
    optimizer = core.optimizers.SGD().setup(small.Model())
    made = training.Trainer(training.StandardUpdater(iterator, optimizer), (9, "epoch"), tmp_path)
    with pytest.raises(StopIteration, match="after 5 iterations. Make it with repeat=True"):
        made.run()


def test_the_name_training_is_taken(tmp_path):
    with pytest.raises(ValueError, match="'training'"):
        trainer(tmp_path).extend(print, name="training")


def test_misspelt_names_get_the_nearest():
    with pytest.raises(AttributeError, match="Did you mean 'LogReport'"):
        extensions.LogReprot  # noqa: B018
    with pytest.raises(AttributeError, match="Did you mean 'IntervalTrigger'"):
        triggers.IntervalTriger  # noqa: B018
    with pytest.raises(ValueError, match="Did you mean 'epoch'"):
        triggers.IntervalTrigger(1, "epochs")


def test_training_has_the_names_of_old():
    assert training.StandardUpdater is training.updaters.StandardUpdater
    assert training.IntervalTrigger is triggers.IntervalTrigger
    assert training.extension.Extension is training.Extension
    with pytest.raises(AttributeError, match="no_such"):
        training.no_such  # noqa: B018


def test_losses_get_plain_arrays_tuples_dicts_and_functions(tmp_path):
    seen = []

    def loss(*args, **kwargs):
        seen.append((args, kwargs))
        return core.functions.sum(model.l1.W)

    model = small.Model()
    for convert in (
        lambda batch, device: (1, 2),
        lambda batch, device: {"x": 1},
        lambda batch, device: [1, 2],
    ):
        optimizer = core.optimizers.SGD().setup(model)
        iterator = core.iterators.SerialIterator([0], 1)
        training.StandardUpdater(iterator, optimizer, convert, loss_func=loss).update()
    assert seen == [((1, 2), {}), ((), {"x": 1}), (([1, 2],), {})]


def test_the_updater_tells_the_optimizer_of_epochs():
    updater = small.updater(batch_size=small.LENGTH)
    updater.update()
    assert (updater.get_optimizer("main").epoch, updater.epoch, updater.iteration) == (1, 1, 1)
    assert updater.is_new_epoch and updater.previous_epoch_detail == 0
    with pytest.raises(KeyError, match="Did you mean 'main'"):
        updater.get_optimizer("mian")


def test_the_updaters_graph_is_gone_after_the_update():
    import weakref

    updater, graphs = small.updater(), []
    model = updater.get_optimizer("main").target

    def loss(x, t):
        y = model(x, t)
        graphs.append(weakref.ref(y.creator))
        return y

    updater.loss_func = loss
    updater.update()
    assert graphs[0]() is None


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


@pytest.mark.parametrize("accumulate", [1, 2])
def test_an_iterator_may_count_no_epochs(tmp_path, accumulate):
    class Batches(core.dataset.Iterator):
        def __next__(self):
            return small.data()[:4]

    def made(stop):
        optimizer = optimizers.SGD().setup(small.Model())
        updater = training.updaters.StandardUpdater(Batches(), optimizer, accumulate=accumulate)
        return training.Trainer(updater, stop, tmp_path)

    trained = made((3, "iteration"))
    trained.extend(extensions.LogReport(trigger=(1, "iteration")))
    trained.extend(extensions.snapshot(), trigger=(3, "iteration"))
    trained.run()
    assert [each["iteration"] for each in trained.get_extension("LogReport").log] == [1, 2, 3]
    with pytest.raises(AttributeError, match=r"Batches has no epoch_detail.*\(100, 'iteration'\)"):
        made((1, "epoch")).run()

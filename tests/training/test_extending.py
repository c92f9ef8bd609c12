"""What a trainer takes as an extension, by which name, and what it refuses."""

import functools

import pytest
import small

import core.links as L
from core import training
from core.errors import RemovedArgument
from core.training import extensions, triggers


@pytest.mark.parametrize("when", ["initialize", "call", "after"])
def test_what_would_never_be_called_is_refused(when, tmp_path):
    made, added = small.bare_trainer(tmp_path), []

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


def test_a_link_is_no_extension(tmp_path):
    made = small.bare_trainer(tmp_path)
    with pytest.raises(TypeError, match=r"got the link Linear.* extensions\.Evaluator\(iterator"):
        made.extend(L.Linear(3, 2))

    class Both(L.Linear, training.Extension):
        pass

    made.extend(Both(3, 2))
    assert made.extension_names()[-1] == "Both"


def test_two_of_one_name_are_numbered_in_order(tmp_path):
    made = small.bare_trainer(tmp_path)
    reports = [extensions.LogReport(filename=f"log{i}") for i in range(3)]
    for report in reports:
        made.extend(report)
    made.extend(extensions.LogReport(filename="own"), name="mine")
    found = [made.get_extension(name) for name in ("LogReport", "LogReport_1", "LogReport_2")]
    assert found == reports
    assert [report.name for report in reports] == ["LogReport", "LogReport_1", "LogReport_2"]
    assert made.get_extension("mine").name == "mine"


def test_names_that_are_one_in_files_are_numbered_too(tmp_path):
    made = small.bare_trainer(tmp_path)
    for name in ("a", "a/", "/a", "a/b"):
        made.extend(print, name=name)
    assert made.extension_names()[-4:] == ["a", "a/_1", "/a_1", "a/b"]


def test_names_of_all_kinds_of_extensions(tmp_path):
    made = small.bare_trainer(tmp_path)

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

    made = small.bare_trainer(tmp_path, extensions=[extension])
    with pytest.raises(ArithmeticError):
        made.run(show_loop_exception_msg=False)
    assert calls == ["initialize", "call", "stop", "finalize"]


def test_what_once_was_is_refused_with_its_cure(tmp_path):
    made = small.bare_trainer(tmp_path)
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
        call(small.bare_trainer(tmp_path))


def _yielding(*args):
    yield


async def _awaited(*args):
    pass


class _Yielding:
    name = "_Yielding"

    def __call__(self, *args):
        yield


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_yielding, "_yielding has `yield` in it"),
        (_awaited, "_awaited is async"),
        (_Yielding(), "_Yielding has `yield` in it"),
        (functools.partial(_yielding, 1), "partial has `yield` in it"),
        (_Yielding().__call__, "__call__ has `yield` in it"),
    ],
)
def test_functions_that_a_call_does_not_run_are_refused(tmp_path, function, message):
    """As an extension or a hook it would do nothing, as a trigger it would fire each time."""
    trainer = small.trainer(tmp_path)
    with pytest.raises(TypeError, match=f"Trainer.extend: .*{message}.*Leave"):
        trainer.extend(function)
    with pytest.raises(TypeError, match=f"trigger: .*{message}"):
        trainer.extend(print, trigger=function)
    with pytest.raises(TypeError, match=f"add_hook: .*{message}"):
        trainer.updater.get_optimizer("main").add_hook(function)
    with pytest.raises(TypeError, match=f"observe_value: .*{message}"):
        extensions.observe_value("x", function)


def test_what_holds_a_function_that_yields_runs_when_it_is_called(tmp_path):
    class Holding:
        func = staticmethod(_yielding)
        called = 0

        def __call__(self, trainer):
            self.called += 1

    held, trainer = Holding(), small.bare_trainer(tmp_path)
    trainer.extend(held)
    trainer.run()
    assert held.called == 3


def test_who_calls_an_extension_is_one_of_three(tmp_path):
    own = training.make_extension(ranks="frist")(lambda trainer: None)
    with pytest.raises(ValueError, match="'each', 'first' or 'together', got 'frist'.*'first'"):
        small.bare_trainer(tmp_path).extend(own)
    small.bare_trainer(tmp_path).extend(own, ranks="first")


def test_an_extension_has_every_attribute_and_may_do_nothing(tmp_path):
    extension = training.make_extension()(lambda trainer: None)
    assert extension.initialize is extension.finalize is extension.on_error is None
    for each in (extension, training.Extension()):
        made = small.bare_trainer(tmp_path)
        made.extend(each, name="nothing")
        made.run()
        assert made.updater.iteration == 3


def test_the_name_training_is_taken(tmp_path):
    with pytest.raises(ValueError, match="'training'"):
        small.bare_trainer(tmp_path).extend(print, name="training")


def test_misspelt_names_get_the_nearest():
    with pytest.raises(AttributeError, match="Did you mean 'LogReport'"):
        extensions.LogReprot  # noqa: B018
    with pytest.raises(AttributeError, match="Did you mean 'IntervalTrigger'"):
        triggers.IntervalTriger  # noqa: B018
    with pytest.raises(ValueError, match="Did you mean 'epoch'"):
        triggers.IntervalTrigger(1, "epochs")

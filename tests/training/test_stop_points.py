"""Stopped anywhere and resumed, every training ends with the bits of the one never stopped."""

import contextlib
import functools
import json
import shutil
import tempfile
from pathlib import Path

import pytest
import stopping
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import core
from core import iterators, optimizers
from core.training import extensions, triggers, updaters

pytestmark = pytest.mark.filterwarnings("ignore:.*whoever sets it last")  # schedules are drawn

ALONE = {
    "PlotReport",  # drawing takes longer than training
    "VariableStatisticsPlot",
    "dump_graph",
    "FailOnNonNumber",  # some of the trainings in float16 diverge
}


@functools.cache
def never_stopped(text):
    """The result of a training that nothing stops."""
    with tempfile.TemporaryDirectory() as out:
        config = json.loads(text)
        trainer = stopping.build(config, out)
        stopping.run(config, trainer)
        return stopping.result(trainer, out)


def copied(source, target):
    """Copy a folder in which files may come and go, as a writer in the background lets them."""
    target.mkdir()
    for path in source.iterdir():
        with contextlib.suppress(FileNotFoundError):
            (copied if path.is_dir() else shutil.copy2)(path, target / path.name)


class Course:
    """A training of `config` that is stopped and resumed."""

    def __init__(self, config):
        self.config = config
        self.root = Path(tempfile.mkdtemp())
        self.out = self.root / "out"

    def stop(self, after, how):
        """Begin or resume, and stop after so many iterations; the end may come before."""
        trainer = stopping.build(self.config, self.out)
        resumed = self.begun()
        last = resumed + after
        copy = self.root / f"at {last}"
        if how == "signal":
            stopping.signalled(trainer, last)
        else:
            keep = functools.partial(copied, self.out, copy)
            stopping.killed(trainer, last, -200 if how == "late" else 90, keep)
        try:
            stopping.run(self.config, trainer)
        except stopping.Killed:  # what others do on the way out a killed process does not
            shutil.rmtree(self.out)
            copy.rename(self.out)
        except SystemExit:
            assert trainer.updater.iteration == last

    def begun(self):
        """The iteration of the newest snapshot."""
        return max(
            (int(p.name.split("_")[-1]) for p in self.out.glob("snapshot_iter_*")), default=0
        )

    def finish(self):
        """Run to the end; nothing may differ from a training that was never stopped."""
        trainer = stopping.build(self.config, self.out)
        stopping.run(self.config, trainer)
        found = stopping.result(trainer, self.out)
        expected = never_stopped(json.dumps(self.config))
        assert stopping.differences(found, expected) == []

    def remove(self):
        shutil.rmtree(self.root)
        core.seed(None)


def check(stops=((5, "late"), (4, "signal")), **changes):
    course = Course({**stopping.PLAIN, **changes})
    try:
        for stop in stops:
            course.stop(*stop)
        course.finish()
    finally:
        course.remove()


# -- everything there is, one by one ----------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in dir(optimizers) if n[0].isupper()])
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float16", marks=pytest.mark.slow)])
def test_every_optimizer(name, dtype):
    shift = [("ExponentialShift", "1")]
    check(optimizer=name, dtype=dtype, hooks=True, extensions=shift, snapshots=4)


@pytest.mark.parametrize("seed", ["core", "numpy"])
@pytest.mark.parametrize("name", stopping.ITERATORS)
def test_every_iterator(name, seed):
    stops = [(5, "late")] if name == "process" else [(3, "early"), (2, "signal"), (4, "late")]
    check(stops, iterator=name, seed=seed)


@pytest.mark.parametrize("name", stopping.UPDATERS)
def test_every_updater(name):
    stops = [(5, "late")] if name == "processes" else [(3, "early"), (2, "signal"), (4, "late")]
    # What a dataset draws in other processes follows from no seed here.
    iterator = "in order" if name == "processes" else "serial"
    log = [("LogReport", "3")]
    check(stops, updater=name, iterator=iterator, hooks=True, extensions=log)


@pytest.mark.parametrize("name", stopping.TRIGGERS)
def test_every_trigger(name):
    log = [("LogReport", name), ("draw", name), ("StepShift", name)]
    check([(4, "late"), (3, "signal"), (2, "early")], extensions=log)


@pytest.mark.parametrize("name", stopping.STOPS)
def test_every_stop_trigger(name):
    check([(4, "late"), (3, "signal")], stop=name, snapshots=2)


@pytest.mark.parametrize("name", stopping.EXTENSIONS)
def test_every_extension(name):
    log = [("Evaluator", "epoch")] if name != "Evaluator" else []
    added = [(name, "3"), ("LogReport", "3"), *log]
    check([(4, "late"), (4, "signal")], extensions=added, snapshots=4)


def test_nothing_is_left_out():
    """What is registered later has to be added to `stopping`, or to these with a reason."""
    left_out = {
        "DumpGraph",  # is dump_graph
        "OptunaPruning",  # needs a trial
        "RunRecord",  # writes down each start, which is what differs
        "snapshot",  # is in every training
        "snapshot_writers",  # is a module; see test_snapshots
    }
    known = {name for name in dir(extensions) if name[0] != "_"} - {"of"}
    assert known - left_out <= stopping.EXTENSIONS.keys()
    assert len([n for n in dir(triggers) if n.endswith("Trigger")]) <= len(stopping.TRIGGERS)
    assert len([n for n in dir(iterators) if n.endswith("Iterator")]) <= len(stopping.ITERATORS)
    assert len([n for n in dir(updaters) if n.endswith("Updater")]) <= len(stopping.UPDATERS)


# -- any of them together, stopped anywhere ---------------------------------------------------

added = st.lists(
    st.tuples(
        st.sampled_from(sorted(stopping.EXTENSIONS.keys() - ALONE)),
        st.sampled_from(sorted(stopping.TRIGGERS)),
    ),
    max_size=5,
)
configurations = st.fixed_dictionaries(
    {
        "seed": st.sampled_from(["core", "numpy"]),
        "optimizer": st.sampled_from([n for n in dir(optimizers) if n[0].isupper()]),
        "hooks": st.booleans(),
        "updater": st.sampled_from(["standard", "accumulating", "parallel"]),
        "iterator": st.sampled_from(sorted(stopping.ITERATORS.keys() - {"process"})),
        "dtype": st.sampled_from(["float32", "float16"]),
        "stop": st.sampled_from(sorted(stopping.STOPS)),
        "snapshots": st.integers(1, 4),
        "writer": st.sampled_from([None, "ThreadWriter", "ThreadQueueWriter"]),
        "extensions": added,
    }
)


@settings(
    max_examples=10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes
    stateful_step_count=5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
class Stops(RuleBasedStateMachine):
    """A training that is stopped by signals and kills, before or after a snapshot is written."""

    course = None

    @initialize(config=configurations)
    def begin(self, config):
        self.course = Course(config)

    @rule(after=st.integers(1, 6))
    def a_signal(self, after):
        self.course.stop(after, "signal")

    @rule(after=st.integers(1, 6), how=st.sampled_from(["early", "late"]))
    def a_kill(self, after, how):
        self.course.stop(after, how)

    @rule()
    def a_newest_snapshot_that_is_lost(self):
        path = self.course.out / f"snapshot_iter_{self.course.begun()}"
        path.unlink(missing_ok=True)  # what is written in the background may not stand yet

    def teardown(self):
        if self.course is not None:
            try:
                self.course.finish()
            finally:
                self.course.remove()


some_diverge = pytest.mark.filterwarnings("ignore::RuntimeWarning")
test_any_of_them_together = pytest.mark.slow(some_diverge(Stops.TestCase))

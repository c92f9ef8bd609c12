"""Triggers: when they fire, also after they were saved in between."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import small
from hypothesis import given
from hypothesis import strategies as st

import core
from core import training
from core.serializers import DictionarySerializer, NpzDeserializer
from core.training import extensions, triggers


class Progress:
    """A trainer and updater in one: only how far it is."""

    def __init__(self, per_epoch):
        self.updater = self
        self.per_epoch = per_epoch
        self.iteration = 0
        self.observation = {}
        self.elapsed_time = 0.0

    def extension_order(self):
        return []

    @property
    def epoch_detail(self):
        return self.iteration / self.per_epoch

    @property
    def previous_epoch_detail(self):
        return (self.iteration - 1) / self.per_epoch if self.iteration else None


def fired(make, steps, per_epoch=7, save_at=None, observe=lambda i: {}):
    """The iterations at which a trigger fires; at `save_at` a loaded copy takes its place.

    The copy is asked about that iteration as well, as a stop trigger is that an extension shares.
    """
    trainer, trigger, found = Progress(per_epoch), make(), []
    trainer.run_id = "a run"
    for i in range(1, steps + 1):
        trainer.iteration, trainer.observation = i, observe(i)
        trainer.elapsed_time = i * 0.25
        if trigger(trainer):
            found.append(i)
        if i == save_at:
            saved = DictionarySerializer()
            saved.save(trigger)
            trigger = make()
            NpzDeserializer(saved.target).load(trigger)
            assert trigger(trainer) is (i in found)
    return found


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 40))
def test_intervals(period, per_epoch, save_at):
    iterations = fired(lambda: triggers.IntervalTrigger(period, "iteration"), 40, save_at=save_at)
    assert iterations == list(range(period, 41, period))
    epochs = fired(lambda: triggers.IntervalTrigger(period, "epoch"), 40, per_epoch, save_at)
    assert epochs == list(range(period * per_epoch, 41, period * per_epoch))


def test_fractions_of_epochs_lose_no_period_to_rounding():
    assert fired(lambda: triggers.IntervalTrigger(0.1, "epoch"), 30, 10) == list(range(1, 31))


def test_a_stop_trigger_does_not_fire_before_the_first_update():
    for unit in ("epoch", "iteration"):
        assert not triggers.IntervalTrigger(1, unit)(Progress(5))


LATE = {  # each is due at iteration 10, in epochs of 10, and in seconds of 10 iterations
    "iterations": lambda: triggers.IntervalTrigger(10, "iteration"),
    "epochs": lambda: triggers.IntervalTrigger(1, "epoch"),
    "schedule": lambda: triggers.ManualScheduleTrigger([10, 30], "iteration"),
    "best": lambda: triggers.MinValueTrigger("loss", (10, "iteration")),
    "limit": lambda: triggers.EarlyStoppingTrigger((99, "epoch"), "loss", max_trigger=(1, "epoch")),
    "time": lambda: triggers.TimeTrigger(2.5),
    "once": lambda: triggers.OnceTrigger(),
}


@pytest.mark.parametrize("name", LATE)
def test_a_trigger_that_is_called_late_makes_up_for_the_past_once(name):
    trainer, trigger = Progress(10), LATE[name]()
    trainer.iteration, trainer.elapsed_time, trainer.observation = 25, 6.25, {"loss": 1.0}
    assert trigger(trainer)
    trainer.iteration = 26
    assert not trigger(trainer)
    if name in ("iterations", "schedule"):
        trainer.iteration = 30
        assert trigger(trainer)


@pytest.mark.parametrize("name", ["iterations", "epochs", "schedule", "limit", "time"])
def test_a_trigger_that_counts_from_the_beginning_has_the_past_before_it(name):
    trainer, trigger = Progress(10), LATE[name]()
    trainer.run_id = "a run"
    for trainer.iteration, due in ((25, True), (26, False), (26, True), (27, False)):
        trainer.elapsed_time = trainer.iteration / 4
        if trainer.iteration == 26 and due:
            trigger.count_from_beginning()
        assert trigger(trainer) is due


@pytest.mark.parametrize("name", ["iterations", "epochs", "schedule", "best"])
def test_a_trigger_of_which_a_snapshot_knows_nothing_leaves_the_past_alone(name):
    trainer, trigger = Progress(10), LATE[name]()
    trainer.iteration, trainer.observation = 25, {"loss": 1.0}
    NpzDeserializer({}, strict=False).load(trigger)
    assert not trigger(trainer)
    trainer.iteration = 30
    assert trigger(trainer)


@given(st.lists(st.integers(1, 40), max_size=5), st.integers(0, 40))
def test_manual_schedules(points, save_at):
    make = lambda: triggers.ManualScheduleTrigger(points, "iteration")  # noqa: E731
    assert fired(make, 40, save_at=save_at) == sorted(set(points))
    halves = lambda: triggers.ManualScheduleTrigger([p / 2 for p in points], "epoch")  # noqa: E731
    assert fired(halves, 40, per_epoch=2, save_at=save_at) == sorted(set(points))
    assert fired(lambda: triggers.ManualScheduleTrigger(3, "iteration"), 9, save_at=3) == [3]


@pytest.mark.parametrize("points", ["2", ["two"], [None], [1, float("nan")], None, [[1]]])
def test_points_that_are_no_numbers_are_refused(points):
    """They were errors of the first update, or never came."""
    with pytest.raises((TypeError, ValueError), match="expected a number for a point, got"):
        triggers.ManualScheduleTrigger(points, "epoch")


@given(st.integers(2, 60), st.data())
def test_fractions_of_epochs_in_a_schedule_are_reached_when_they_are_complete(per_epoch, data):
    """As sums, products and quotients have them: 0.1 * 3 is above 0.3, at which it was missed."""
    steps = sorted(data.draw(st.sets(st.integers(1, 3 * per_epoch), min_size=1)))
    part = 1 / per_epoch
    ways = [[i / per_epoch for i in steps], [i * part for i in steps]]
    ways.append([sum([part] * i) for i in steps])
    for points in ways:
        make = lambda: triggers.ManualScheduleTrigger(points, "epoch")  # noqa: E731, B023
        assert fired(make, 3 * per_epoch + 2, per_epoch=per_epoch) == steps


def test_once():
    trigger = triggers.OnceTrigger()
    assert not trigger.finished and trigger(Progress(1)) and trigger.finished
    assert fired(triggers.OnceTrigger, 5, save_at=2) == [1]
    assert fired(lambda: triggers.OnceTrigger(call_on_resume=True), 5, save_at=2) == [1, 3]


@given(st.integers(0, 20))
def test_time(save_at):
    assert fired(lambda: triggers.TimeTrigger(1.0), 20, save_at=save_at) == [4, 8, 12, 16, 20]
    assert fired(lambda: triggers.TimeTrigger(0.1), 3) == [1, 2, 3]


values = st.lists(st.floats(-9, 9), min_size=5, max_size=5)


@given(st.lists(st.floats(-9, 9) | st.just(math.nan), min_size=5, max_size=5), st.integers(0, 20))
def test_best_values(means, save_at):
    def observe(i):
        return {"x": means[(i - 1) // 4]} if i % 2 else {}

    for make, better in ((triggers.MaxValueTrigger, max), (triggers.MinValueTrigger, min)):
        numbers = [[x for x in means[:i] if not math.isnan(x)] for i in range(6)]
        expected = [
            4 * (i + 1)
            for i, x in enumerate(means)
            if not math.isnan(x) and x not in numbers[i] and better(numbers[i + 1]) == x
        ]
        found = fired(lambda m=make: m("x", (4, "iteration")), 20, 7, save_at, observe)
        assert found == expected


# Of each way to say which way is better: the name, the mode, and the sign of what is better.
WAYS = [("accuracy", "auto", 1), ("loss", "auto", -1), ("f1", "max", 1), ("accuracy", "min", -1)]


@given(values, st.integers(1, 3), st.integers(0, 20), st.sampled_from(WAYS))
def test_early_stopping(means, patience, save_at, way):
    name, mode, sign = way
    bad, best, expected = 0, -math.inf, []
    for i, mean in enumerate(means):
        bad, best = (0, mean) if mean > best else (bad + 1, best)
        expected += [4 * (i + 1) + k for k in range(4)] if bad >= patience else []

    def make():
        return triggers.EarlyStoppingTrigger(
            (4, "iteration"), name, patience, mode, max_trigger=(100, "iteration")
        )

    found = fired(make, 20, 7, save_at, lambda i: {name: sign * means[(i - 1) // 4]})
    assert found[:1] == expected[:1]


@pytest.mark.parametrize(("name", "mode", "sign"), WAYS)
@given(values, st.integers(1, 3), st.integers(0, 20))
def test_plateaus(name, mode, sign, means, patience, save_at):
    bad, best, expected = 0, -math.inf, []
    for i, mean in enumerate(means):
        bad, best = (0, mean) if mean > best else (bad + 1, best)
        if bad == patience:
            expected.append(4 * (i + 1))
            bad = 0
    make = lambda: triggers.PlateauTrigger((4, "iteration"), name, patience, mode)  # noqa: E731
    found = fired(make, 20, 7, save_at, lambda i: {name: sign * means[(i - 1) // 4]})
    assert found == expected


def test_a_rate_falls_at_each_plateau():
    optimizer = core.optimizers.SGD(0.8)
    shift = extensions.ExponentialShift("lr", 0.5, target=0.15, optimizer=optimizer)
    plateau = triggers.PlateauTrigger((1, "iteration"), "loss", 2)
    rates = []
    for progress in map(Progress, [1] * 9):
        progress.iteration, progress.observation = len(rates) + 1, {"loss": 1.0}
        if plateau(progress):
            shift(progress)
        rates.append(optimizer.lr)
    assert rates == [0.8, 0.8, 0.4, 0.4, 0.2, 0.2, 0.15, 0.15, 0.15]


def test_early_stopping_has_a_last_moment_and_says_it(capsys):
    make = lambda: triggers.EarlyStoppingTrigger(  # noqa: E731
        (1, "iteration"), "loss", 2, verbose=True, max_trigger=(3, "iteration")
    )
    assert make().get_training_length() == (3, "iteration")
    assert fired(make, 3, observe=lambda i: {"loss": -i}) == [3]
    assert fired(make, 3, observe=lambda i: {"loss": i}) == [3]
    assert "1 of 2 checks" in capsys.readouterr().out
    with pytest.warns(UserWarning, match="Trigger: 'main/f1' does not tell .* mode='max'"):
        triggers.EarlyStoppingTrigger(monitor="main/f1")
    triggers.EarlyStoppingTrigger(monitor="main/f1", mode="max")
    assert triggers.EarlyStoppingTrigger(patience=7).patience == 7


def test_early_stopping_goes_on_with_its_last_moment_and_counts_a_check_once():
    make = lambda: triggers.EarlyStoppingTrigger(  # noqa: E731
        (1, "iteration"), "loss", 2, max_trigger=triggers.TimeTrigger(1.0)
    )
    for save_at in range(4):
        assert fired(make, 4, save_at=save_at, observe=lambda i: {"loss": -i}) == [4]
    stop, progress = make(), Progress(1)
    for iteration, over in enumerate([False, False, True], 1):
        progress.iteration, progress.observation = iteration, {"loss": 1.0}
        assert [stop(progress), stop(progress)] == [over, over]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: triggers.IntervalTrigger(0, "epoch"), "above 0"),
        (lambda: triggers.ManualScheduleTrigger(1, "iterations"), "Did you mean 'iteration'"),
        (lambda: triggers.TimeTrigger(-1), "above 0"),
        (lambda: triggers.EarlyStoppingTrigger(mode="maximum"), "'max'"),
        (lambda: triggers.PlateauTrigger(mode="minimum"), "PlateauTrigger.*'min'"),
        (lambda: triggers.PlateauTrigger(patience=0), "1 check or more"),
        (lambda: triggers.EarlyStoppingTrigger(patience=0), "1 check or more"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", core.registry.catalogue("triggers").names())
def test_a_class_is_no_trigger(name):
    """What its call makes is true: the best model would be saved each time, best or not."""
    with pytest.raises(TypeError, match=rf"the class {name}. Make one of it: {name}\("):
        training.get_trigger(getattr(triggers, name))


def test_a_value_that_nobody_reports_is_named():
    with pytest.raises(KeyError, match=r"main/los'.*Did you mean 'main/loss'|'main/los'; there"):
        fired(lambda: triggers.MaxValueTrigger("main/los", (1, "iteration")), 1)


@pytest.mark.parametrize("value", [(1.0, 0), "text", np.zeros(2)])
def test_a_value_that_is_no_number_of_any_weight_is_told_as_such(value):
    make = lambda: triggers.MinValueTrigger("loss", (2, "iteration"))  # noqa: E731
    with pytest.raises(KeyError, match="a number 'loss' of a weight above 0"):
        fired(make, 2, observe=lambda i: {"loss": value})
    assert fired(make, 2, observe=lambda i: {"loss": value if i == 1 else 3.0}) == [2]


def test_epochs_of_an_iterator_that_does_not_say_where_it_was():
    class Iterator:
        epoch_detail = 0.0

    class Updater:
        iteration = 0
        iterator = Iterator()
        epoch_detail = property(lambda self: self.iterator.epoch_detail)
        previous_epoch_detail = property(lambda self: self.iterator.previous_epoch_detail)

    trainer = SimpleNamespace(updater=Updater())
    trigger = triggers.IntervalTrigger(1, "epoch")
    fired = []
    for detail in (0.5, 1.0, 1.5, 2.5):
        Iterator.epoch_detail = detail
        fired.append(trigger(trainer))
    assert fired == [False, True, False, True]


@pytest.mark.parametrize("name", LATE)
def test_extensions_that_share_a_trigger_are_called_together(name, tmp_path):
    def called(shared):
        trainer = training.Trainer(small.updater(), (3, "epoch"), tmp_path)
        trainer.extend(lambda t: t.observation.update(loss=-t.updater.iteration), priority=300)
        found = [[], [], []]
        trigger = LATE[name]()
        for calls in found[:2]:
            trainer.extend(
                lambda t, calls=calls: calls.append(t.updater.iteration),
                trigger=trigger if shared else LATE[name](),
            )
        log = extensions.LogReport(filename=None, trigger=trigger if shared else LATE[name]())
        trainer.extend(log)
        trainer.run()
        found[2] += [record["iteration"] for record in log.log]
        return found

    alone = called(shared=False)
    assert called(shared=True) == alone
    if name != "time":
        assert alone[0] and alone == [alone[0]] * 3


@pytest.mark.parametrize("save_at", range(1, 9))
@pytest.mark.parametrize("name", LATE)
def test_a_stop_trigger_that_an_extension_shares_answers_as_in_a_run_never_stopped(name, save_at):
    def asked(saves):
        trainer, trigger, found = Progress(4), LATE[name](), []
        trainer.run_id = "one"
        for i in range(1, 10):
            trainer.iteration, trainer.elapsed_time = i, 0.25 * i
            trainer.observation = {"loss": math.sin(i)}
            found.append(trigger(trainer))  # of the extension; then all is saved
            saved = DictionarySerializer()
            saved.save(trigger)
            if saves and i == save_at:
                trigger = LATE[name]()
                NpzDeserializer(saved.target).load(trigger)
                saved = DictionarySerializer()
                saved.save(trigger)
            found += [trigger(trainer), *map(str, saved.target.values())]
        return found

    assert asked(saves=True) == asked(saves=False)

"""Schedules of hyper-parameters: against scalar loops, and resumed at every step."""

import cmath
import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
import small
from hypothesis import example, given
from hypothesis import strategies as st

import core
from core import optimizers, training
from core.errors import CheckpointError, InvalidSetting
from core.serializers import DictionarySerializer, load_npz
from core.training import extensions

STEPS = 8
FILE = Path(__file__).parents[1] / "data/oracle/schedules.json"
RECORDED = json.loads(FILE.read_text())
starts = st.floats(1e-3, 1e3) | st.floats(-1e3, -1e-3)


class Holder:
    """An optimizer as far as a schedule is concerned."""

    def __init__(self, lr=0.5):
        self.lr = lr

    @property
    def alpha(self):
        return self.lr

    @alpha.setter
    def alpha(self, value):
        self.lr = value


def walked(shift, holder, steps=STEPS):
    """The values before the first update and after each call."""
    shift.initialize(None)
    values = [holder.lr]
    for _ in range(steps):
        shift(None)
        values.append(holder.lr)
    return values


def limited(values, target):
    """The values of a loop, held at the target once they pass it."""
    down, passed, held = values[-1] < values[0], False, []
    for value in values:
        passed = passed or (value < target if down else value > target)
        held.append(target if passed else value)
    return held


def agree(values, expected):
    assert values == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(starts, st.floats(0, 3), st.booleans())
def test_exponential(init, rate, given_init):
    holder = Holder(init if not given_init else 7.0)
    shift = extensions.ExponentialShift(
        "lr", rate, init=init if given_init else None, optimizer=holder
    )
    expected = [init]
    for _ in range(STEPS):
        expected.append(expected[-1] * rate)
    agree(walked(shift, holder), expected)


@given(starts, st.floats(0.1, 3), st.integers(0, STEPS))
def test_a_target_is_where_it_stops(init, rate, reached):
    holder = Holder()
    loop = [init]
    for _ in range(STEPS):
        loop.append(loop[-1] * rate)
    target = loop[reached] * (1 - 1e-6) if rate == 1 else loop[reached]
    shift = extensions.ExponentialShift("lr", rate, init, target, holder)
    agree(walked(shift, holder), limited(loop, target) if rate != 1 else loop)


@given(starts, starts, st.integers(0, 5), st.integers(0, 5))
@example(1.0, 0.0, 3, 0)
def test_linear(first, last, begin, length):
    holder, expected, value = Holder(), [], first
    for t in range(STEPS + 1):
        if begin < t <= begin + length:
            value += (last - first) / length
        elif t > begin + length:
            value = last
        expected.append(value)
    shift = extensions.LinearShift("lr", (first, last), (begin, begin + length), holder)
    found = walked(shift, holder)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found[0] == first and (begin + length >= STEPS or found[-1] == last)


@given(starts, st.floats(0, 10), st.floats(-2, 4))
def test_inverse(init, gamma, power):
    holder, expected, divisor = Holder(), [], 1.0
    for _ in range(STEPS + 1):
        expected.append(init / math.exp(power * math.log(divisor)))
        divisor += gamma
    agree(walked(extensions.InverseShift("lr", gamma, power, init, None, holder), holder), expected)
    target = expected[3]
    shift = extensions.InverseShift("lr", gamma, power, init, target, holder)
    agree(walked(shift, holder), limited(expected, target))


@given(starts, st.floats(0, 3), st.lists(st.integers(0, STEPS)))
def test_multistep(init, gamma, steps):
    holder, expected, value = Holder(), [], init
    for t in range(STEPS + 1):
        for _ in range(steps.count(t)):
            value *= gamma
        expected.append(value)
    agree(walked(extensions.MultistepShift("lr", gamma, steps, init, holder), holder), expected)


@given(starts, st.integers(0, 4), st.integers(1, 10))
def test_polynomial(init, rate, max_count):
    holder, expected = Holder(), []
    for t in range(STEPS + 1):
        value = init
        for _ in range(rate):
            value *= (max_count - t) / max_count if t < max_count else 0
        expected.append(value)
    shift = extensions.PolynomialShift("lr", rate, max_count, init, None, holder)
    agree(walked(shift, holder), expected)
    held = limited(expected, expected[2])
    shift = extensions.PolynomialShift("lr", rate, max_count, init, expected[2], holder)
    agree(walked(shift, holder), held)


@given(starts, st.floats(0, 3), st.integers(1, 5), st.none() | st.integers(0, STEPS))
def test_step(init, gamma, step, reached):
    holder, expected, value = Holder(), [], init
    for t in range(STEPS + 1):
        if t and t % step == 0:
            value *= gamma
        expected.append(value)
    target = None if reached is None else expected[reached]
    if target is not None:
        expected = limited(expected, target)
    agree(walked(extensions.StepShift("lr", gamma, step, init, target, holder), holder), expected)


@given(starts, starts, st.integers(0, 10))
def test_warmup(start, init, length):
    holder, expected, value = Holder(), [], start
    for t in range(STEPS + 1):
        expected.append(init if t >= length else value)
        value += (init - start) / max(length, 1)
    found = walked(extensions.WarmupShift("lr", start, length, init, holder), holder)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert length > STEPS or found[-1] == init


@given(starts, starts, st.integers(1, 5), st.none() | st.integers(1, 3))
def test_cosine(init, target, period, restart):
    """Against half a turn of a pointer, whose steps become smaller with each restart."""
    holder, expected, length, pointer = Holder(), [], period, 1 + 0j
    for _ in range(2 * STEPS + 1):
        expected.append(target + (init - target) * (1 + pointer.real) / 2)
        pointer *= cmath.exp(1j * math.pi / length)
        if abs(pointer + 1) < 1e-9:  # half a turn
            if restart is None:
                length = math.inf
            else:
                pointer, length = 1 + 0j, length * restart
    shift = extensions.CosineShift("lr", period, init, target, restart, holder)
    found = walked(shift, holder, 2 * STEPS)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * (abs(init) + abs(target)))
    assert found[0] == pytest.approx(init)
    assert extensions.CosineShift("lr", period, init, target).value_at(10**9) == target


@pytest.mark.parametrize("name", RECORDED["torch"])
def test_cosines_are_those_of_pytorch(name):
    case = RECORDED["torch"][name]
    shift = extensions.CosineShift("lr", **case["arguments"])
    found = [shift.value_at(t) for t in range(len(case["values"]))]
    assert found == pytest.approx(case["values"], rel=1e-9, abs=1e-12)


@given(
    st.floats(1e-3, 10), st.integers(1, 30), st.floats(0, 1), st.floats(1, 50), st.floats(1, 1e5)
)
@example(0.1, 10, 1.0, 25.0, 1e4)
def test_one_cycle_is_that_of_pytorch(peak, count, warmup, down, further):
    torch = pytest.importorskip("torch")
    shift = extensions.OneCycleShift(
        "lr", count, peak, warmup, start=1 / down, end=1 / down / further
    )
    optimizer = torch.optim.SGD([torch.zeros(1)], peak)
    make = torch.optim.lr_scheduler.OneCycleLR
    schedule = make(
        *[optimizer, peak, count], pct_start=warmup, cycle_momentum=False,
        div_factor=down, final_div_factor=further,
    )  # fmt: skip
    optimizer.step()
    expected = [schedule.get_last_lr()[0]]
    for _ in range(count - 1):
        schedule.step()
        expected += schedule.get_last_lr()
    found = [shift.value_at(t) for t in range(count + 3)]
    assert found[:count] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert set(found[count:]) == {found[count - 1]}


@pytest.mark.parametrize("warmup", [0.0, 0.3, 1.0])
def test_a_cycle_of_one_update_is_at_its_end(warmup):
    shift = extensions.OneCycleShift("lr", 1, 2.0, warmup, end=0.5)
    assert [shift.value_at(t) for t in range(3)] == [1.0] * 3


@pytest.mark.parametrize("name", RECORDED["optax"])
def test_warm_ups_before_a_cosine_are_those_of_optax(name):
    case = RECORDED["optax"][name]
    cosine = extensions.CosineShift("lr", **case["cosine"])
    shift = extensions.WarmupShift("lr", **case["warmup"], then=cosine)
    found = [shift.value_at(t) for t in range(len(case["values"]))]
    assert found == pytest.approx(case["values"], rel=1e-6, abs=1e-9)  # Optax counts in float32


@given(starts, starts, st.integers(0, 6), st.floats(0, 2), st.sampled_from(["both", "one", "none"]))
def test_any_schedule_follows_a_warm_up(start, init, length, rate, told):
    holder, alone = Holder(init), Holder(init)
    then = extensions.ExponentialShift("lr", rate, init if told == "both" else None)
    first = None if told == "none" else init
    shift = extensions.WarmupShift("lr", start, length, first, holder, then=then)
    warm = walked(extensions.WarmupShift("lr", start, length, init, alone), alone, length)
    alone.lr = init
    rest = walked(extensions.ExponentialShift("lr", rate, optimizer=alone), alone)
    agree(walked(shift, holder, length + STEPS), [*warm[:-1], *rest])


def test_a_warm_up_ends_where_what_follows_begins():
    then = extensions.MultistepShift("lr", 0.5, [2], 0.8)
    shift = extensions.WarmupShift("lr", 0.0, 2, then=then)
    assert [shift.value_at(t) for t in range(5)] == [0.0, 0.4, 0.8, 0.8, 0.4]
    with pytest.raises(ValueError, match=r"at init=0.5; got one that begins at 0.8. Leave one"):
        extensions.WarmupShift("lr", 0.0, 2, 0.5, then=then)
    with pytest.raises(ValueError, match="a schedule of 'alpha' as `then`, got one of 'lr'"):
        extensions.WarmupShift("alpha", 0.0, 2, then=then)
    with pytest.raises(ValueError, match="a schedule of 'lr' as `then`, got 0.1"):
        extensions.WarmupShift("lr", 0.0, 2, then=0.1)


def test_adamw_follows_its_schedule_in_a_loop_of_ones_own():
    """By `eta`, rate and decay go together: what is left of a weight is known in closed form."""
    model = core.Link()
    with model.init_scope():
        model.x = core.Parameter(np.ones(2))
    optimizer = optimizers.AdamW(weight_decay_rate=0.1).setup(model)
    cosine = extensions.CosineShift("eta", 5)
    shift = extensions.WarmupShift("eta", 0.0, 3, optimizer=optimizer, then=cosine)
    shift.initialize(None)
    left, values = 1.0, [0, 1 / 3, 2 / 3, *[(1 + math.cos(math.pi * i / 5)) / 2 for i in range(5)]]
    for eta in values:
        assert optimizer.eta == pytest.approx(eta)
        model.x.grad = np.zeros(2)
        optimizer.update()
        left *= 1 - 0.1 * eta
        shift(None)
    np.testing.assert_allclose(model.x.array, left)
    assert optimizer.eta == 0


def test_growth_beyond_all_floats_stops_at_the_target():
    grown = extensions.ExponentialShift("lr", 10.0, init=1.0, target=5.0)
    assert grown.value_at(10**6) == 5.0
    assert extensions.ExponentialShift("lr", 10.0, init=1.0).value_at(10**6) == math.inf
    risen = extensions.PolynomialShift("lr", -1, 4, init=1.0, target=3.0)
    assert [risen.value_at(t) for t in range(5)] == [1.0, 4 / 3, 2.0, 3.0, 3.0]


# -- within a training ------------------------------------------------------------------------

SCHEDULES = {
    "ExponentialShift": lambda optimizer=None: extensions.ExponentialShift(
        "alpha", 0.9, optimizer=optimizer
    ),
    "LinearShift": lambda optimizer=None: extensions.LinearShift(
        "alpha", (0.02, 0.001), (2, 9), optimizer=optimizer
    ),
    "InverseShift": lambda optimizer=None: extensions.InverseShift(
        "alpha", 0.3, 0.7, init=0.03, optimizer=optimizer
    ),
    "MultistepShift": lambda optimizer=None: extensions.MultistepShift(
        "alpha", 0.3, [2, 5], 0.03, optimizer=optimizer
    ),
    "PolynomialShift": lambda optimizer=None: extensions.PolynomialShift(
        "alpha", 1.5, 12, target=0.002, optimizer=optimizer
    ),
    "StepShift": lambda optimizer=None: extensions.StepShift("alpha", 0.5, 3, optimizer=optimizer),
    "CosineShift": lambda optimizer=None: extensions.CosineShift(
        "alpha", 3, target=0.002, restart=1.5, optimizer=optimizer
    ),
    "WarmupShift, then CosineShift": lambda optimizer=None: extensions.WarmupShift(
        "alpha", 0.001, 3, optimizer=optimizer, then=extensions.CosineShift("alpha", 4)
    ),
    "OneCycleShift": lambda optimizer=None: extensions.OneCycleShift(
        "alpha", 6, optimizer=optimizer
    ),
    "FunctionShift": lambda optimizer=None: extensions.FunctionShift(
        "alpha", lambda t: 1 / (1 + t), optimizer=optimizer
    ),
    "WarmupShift": lambda optimizer=None: extensions.WarmupShift(
        "alpha", 0.001, 5, 0.03, optimizer=optimizer
    ),
}


def scheduled(out, *shifts, stop=STEPS, **options):
    core.seed(3)
    made = training.Trainer(small.updater(), (stop, "iteration"), out)
    for shift in shifts:
        made.extend(shift)
    rate = extensions.observe_value("alpha", lambda t: t.updater.get_optimizer("main").alpha)
    made.extend(rate, trigger=(1, "iteration"))
    made.extend(extensions.LogReport(trigger=(1, "iteration"), filename=None))
    made.extend(extensions.snapshot(**options), trigger=(1, "iteration"))
    return made


@pytest.mark.parametrize("name", SCHEDULES)
def test_resumed_at_every_step(tmp_path, name):
    make = SCHEDULES[name]
    whole = scheduled(tmp_path, make())
    whole.run()
    ended = small.state(whole)
    observed = [record["alpha"] for record in whole.get_extension("LogReport").log]
    holder = Holder(0.01)
    assert observed == walked(make(holder), holder)[:-1] and len(set(observed)) > 2
    for step in range(1, STEPS):
        resumed = scheduled(tmp_path / "resumed", make())
        load_npz(tmp_path / f"snapshot_iter_{step}", resumed)
        resumed.run()
        assert small.state(resumed) == ended


def test_a_snapshot_that_loads_itself_sets_the_value_before_the_next_update(tmp_path):
    make = SCHEDULES["ExponentialShift"]
    whole = scheduled(tmp_path / "whole", make())
    whole.run()
    scheduled(tmp_path / "parts", make(), stop=3).run()
    resumed = scheduled(tmp_path / "parts", make(), autoload=True)
    resumed.run()
    assert small.state(resumed) == small.state(whole)


@pytest.mark.filterwarnings("ignore:.*whoever sets it last")
def test_two_schedules_of_one_number_resume_as_exactly(tmp_path):
    def both():
        drop = extensions.MultistepShift("alpha", 0.5, [1, 2], 0.03)
        drop.trigger = (3, "iteration")
        return SCHEDULES["WarmupShift"](), drop

    whole = scheduled(tmp_path, *both())
    whole.run()
    ended = small.state(whole)
    for step in range(1, STEPS):
        resumed = scheduled(tmp_path / "resumed", *both())
        load_npz(tmp_path / f"snapshot_iter_{step}", resumed)
        resumed.run()
        assert small.state(resumed) == ended


def test_state_of_a_schedule_of_another_number_is_refused(tmp_path):
    def two(*attrs):
        return [extensions.ExponentialShift(attr, 0.5) for attr in attrs]

    scheduled(tmp_path, *two("alpha", "beta1"), stop=4).run()
    resumed = scheduled(tmp_path, *two("beta1", "alpha"), stop=5)
    message = r"ExponentialShift/attr: a schedule of 'beta1' expected; .* that of 'alpha'"
    with pytest.raises(CheckpointError, match=message):
        load_npz(tmp_path / "snapshot_iter_4", resumed)


def test_the_start_comes_from_the_snapshot_unless_it_is_given(tmp_path):
    scheduled(tmp_path, extensions.StepShift("alpha", 0.5, 2), stop=4).run()
    for init, expected in ((None, 0.01 * 0.5**2), (0.08, 0.08 * 0.5**2)):
        shift = extensions.StepShift("alpha", 0.5, 2, init)
        resumed = scheduled(tmp_path, shift, stop=5)
        resumed.updater.get_optimizer("main").alpha = 77.0
        load_npz(tmp_path / "snapshot_iter_4", resumed)
        resumed.run()
        assert resumed.observation["alpha"] == 0.01 * 0.5**2  # what the fifth update went by
        assert resumed.updater.get_optimizer("main").alpha == expected


def test_an_optimizer_of_ones_own_and_a_trigger(tmp_path):
    other = optimizers.SGD(lr=1.0).setup(small.Model())
    trainer = training.Trainer(small.updater(), (6, "iteration"), tmp_path)
    trainer.extend(
        extensions.ExponentialShift("lr", 0.5, optimizer=other), trigger=(2, "iteration")
    )
    trainer.run()
    assert other.lr == 0.125
    assert trainer.updater.get_optimizer("main").alpha == 0.01
    assert trainer.get_extension("ExponentialShift").init == 1.0


def test_saved_before_the_run_there_is_nothing_to_set(tmp_path):
    holder = Holder(3.0)
    shift = extensions.ExponentialShift("lr", 0.5, optimizer=holder)
    saved = DictionarySerializer()
    saved.save(shift)
    core.serializers.NpzDeserializer(saved.target).load(shift)
    assert walked(shift, holder, 1) == [3.0, 1.5]


def test_a_slip_in_the_name_is_shown_its_neighbour():
    optimizer = optimizers.Adam().setup(small.Model())
    shift = extensions.ExponentialShift("alhpa", 0.5, optimizer=optimizer)
    with pytest.raises(AttributeError, match="'alpha', 'beta1'.*Did you mean 'alpha'"):
        shift(None)


def test_a_number_that_follows_from_others_cannot_be_set():
    optimizer = optimizers.Adam().setup(small.Model())
    with pytest.raises(AttributeError, match="can be set on Adam, one of 'alpha'.*got 'lr'"):
        extensions.LinearShift("lr", (0.1, 0), (0, 5), optimizer=optimizer)(None)
    with pytest.raises(RuntimeError, match="Pass init="):
        extensions.StepShift("lr", 0.1, 1).value_at(2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: extensions.ExponentialShift("lr", -0.1), "rate of 0 or more"),
        (lambda: extensions.ExponentialShift("lr", math.nan), "rate of 0 or more"),
        (lambda: extensions.CosineShift("lr", 0), "positive max_count"),
        (lambda: extensions.CosineShift("lr", 5, restart=0.5), "restart of 1 or more"),
        (lambda: extensions.LinearShift("lr", (0, 1), (3, 2)), "ends after it begins"),
        (lambda: extensions.OneCycleShift("lr", 0), "positive max_count"),
        (lambda: extensions.OneCycleShift("lr", 9, warmup=2), r"warmup to be a number in \[0, 1\]"),
        (
            lambda: extensions.FunctionShift("lr", str, init=1).value_at(2),
            r"function\(2\) to be a number, got '2'",
        ),
        (lambda: extensions.InverseShift("lr", -1, 1), "gamma of 0 or more"),
        (lambda: extensions.MultistepShift("lr", -1, [1], 1), "gamma of 0 or more"),
        (lambda: extensions.PolynomialShift("lr", 1, 0), "positive max_count"),
        (lambda: extensions.PolynomialShift("lr", -1, 5), "target"),
        (lambda: extensions.StepShift("lr", -1, 5), "gamma of 0 or more"),
        (lambda: extensions.StepShift("lr", 1, 0), "positive step"),
        (lambda: extensions.WarmupShift("lr", 0.1, -1, 1), "warmup_iter of 0 or more"),
    ],
)
def test_schedules_that_make_no_sense(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_linear_shift_has_two_values_and_two_times():
    with pytest.raises(ValueError, match="value_range to be a pair of numbers, got tuple"):
        extensions.LinearShift("lr", (1,), (2, 3))


WRONG = {
    "ExponentialShift": ("lr", "x"),
    "CosineShift": ("lr", None),
    "LinearShift": ("lr", (1, "b"), (0, 3)),
    "PolynomialShift": ("lr", "x", 3),
    "InverseShift": ("lr", 1, [2]),
    "StepShift": ("lr", core.Variable(np.ones((), "f")), 3),
    "MultistepShift": ("lr", "x", [3], 1),
    "OneCycleShift": ("lr", "x"),
    "FunctionShift": ("lr", 0.1),
    "WarmupShift": ("lr", 0.1, 2.5),
}


@pytest.mark.parametrize("name", WRONG)
def test_arguments_of_a_wrong_kind_are_named(name):
    with pytest.raises(InvalidSetting, match=rf"{name}: expected \w+ to be"):
        getattr(extensions, name)(*WRONG[name])


@given(st.lists(st.sampled_from(["alpha", "beta1"]), min_size=2, max_size=3), st.booleans())
def test_schedules_of_one_number_are_warned_of(tmp_path_factory, attrs, apart):
    """Each after the first; not those of another optimizer, and once in two runs."""
    trainer = training.Trainer(small.updater(), (1, "iteration"), tmp_path_factory.mktemp("out"))
    other = optimizers.Adam(0.1)
    for attr in attrs:
        trainer.extend(extensions.FunctionShift(attr, lambda t: 0.5**t))
    if apart:
        trainer.extend(extensions.FunctionShift("alpha", lambda t: 0.5**t, optimizer=other))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _, entry in trainer.extension_order() * 2:
            entry.extension.initialize(trainer)
    expected = sum(attrs[:i].count(attr) for i, attr in enumerate(attrs))
    assert len(told) == expected
    assert all("whoever sets it last decides" in str(each.message) for each in told)

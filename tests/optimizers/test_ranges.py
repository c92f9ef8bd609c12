"""Numbers without meaning and names that nobody has are refused, wherever they are set."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.links as L
from core import optimizer_hooks, optimizers, registry
from core.errors import DeclarationError, UnknownName
from core.errors.interval import Interval
from core.optimizer import GradientMethod, Hyperparameter, UpdateRule

OPTIMIZERS = registry.catalogue("optimizers").names()
NUMBERS = st.one_of(
    st.floats(), st.sampled_from([0, 1, -1, 0.5, math.inf, -math.inf, -0.0, 1 + 1e-12, -1e-300])
)
ENDS = st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 1.0, math.inf])


@given(ENDS, ENDS, st.booleans(), st.booleans(), NUMBERS)
def test_intervals(low, high, has_low, has_high, value):
    within = Interval(f"{'(['[has_low]}{low}, {high}{')]'[has_high]}")
    expected = (low < value < high) or any(
        value == end and has and low <= end <= high
        for end, has in ((low, has_low), (high, has_high))
    )
    if low != high:
        assert (value in within) == expected
    assert (value in pickle.loads(pickle.dumps(within))) == (value in within)


@pytest.mark.parametrize("text", ["", "0, 1", "[0; 1]", "[0, 1", "[a, b]", "[0, 1, 2]"])
def test_what_is_no_interval_is_told(text):
    with pytest.raises(DeclarationError, match="expected an interval such as"):
        Interval(text)


def wrong(number, within):
    return math.isnan(number) or number not in within


@pytest.mark.parametrize("name", OPTIMIZERS)
@given(data=st.data())
def test_a_number_without_meaning_is_refused_everywhere(name, data):
    make = getattr(optimizers, name)
    ranges, defaults = make.rule.ranges, make.rule.hyperparameters
    assert ranges.keys() == {key for key, value in defaults.items() if type(value) is not bool}
    key = data.draw(st.sampled_from(sorted(ranges)))
    number = data.draw(NUMBERS)
    model = L.Linear(2, 2)
    optimizer = make().setup(model)
    rule = model.W.update_rule
    settable = make.arguments is None or key in make.arguments
    ways = [
        (optimizer, lambda: setattr(optimizer, key, number)),
        (optimizer, lambda: setattr(optimizer.hyperparam, key, number)),
        (rule, lambda: setattr(rule, key, number)),
        (rule, lambda: setattr(rule.hyperparam, key, number)),
        (rule, lambda: setattr(copy.deepcopy(rule).hyperparam, key, number)),
        (rule, lambda: make.rule(**{key: number})),
        *([(optimizer, lambda: make(**{key: number}))] if settable else []),
    ]
    for owner, way in ways:
        before = getattr(owner, key)
        fraction = type(defaults[key]) is int and type(number) is float
        if fraction or wrong(number, ranges[key]):
            with pytest.raises(ValueError, match=f"expected (a number for )?{key}"):
                way()
            assert getattr(owner, key) == before
        else:
            way()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_truth_values(name):
    for key, default in getattr(optimizers, name).rule.hyperparameters.items():
        if isinstance(default, bool):
            optimizer = getattr(optimizers, name)()
            with pytest.raises(ValueError, match=f"{name}: expected True or False for {key}"):
                setattr(optimizer, key, 0.5)
            setattr(optimizer, key, np.bool_(True))
            assert getattr(optimizer, key)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_arrays_of_no_dimensions_are_numbers_and_variables_are_none(name):
    make = getattr(optimizers, name)
    key = next(iter(make.rule.ranges))
    optimizer = make()
    value = getattr(optimizer, key) / 2
    setattr(optimizer, key, np.array(value))
    assert type(getattr(optimizer, key)) is float and getattr(optimizer, key) == value
    for wrong, what in ((core.Variable(np.array(value)), "a Variable"), (np.ones(4), "array")):
        with pytest.raises(TypeError, match=f"{name}: expected a number for {key}, got {what}"):
            setattr(optimizer, key, wrong)


HOOKS = {  # arguments that have a meaning, and those that have none
    "WeightDecay": ({"rate": 0}, {"rate": -1e-9}),
    "Lasso": ({"rate": 1}, {"rate": -1}),
    "GradientClipping": ({"threshold": 1}, {"threshold": 0}),
    "GradientValueClipping": ({"threshold": 0}, {"threshold": -1}),
    "GradientLARS": ({}, {"threshold": -1, "weight_decay": -1, "eps": -1}),
    "GradientNoise": ({"eta": 0}, {"eta": -1}),
    "ExponentialMovingAverage": ({"decay": 1}, {"decay": 0}),
    "GradientHardClipping": (
        {"lower_bound": -1, "upper_bound": 1},
        {"lower_bound": math.nan, "upper_bound": math.nan},
    ),
}


def test_hooks_refuse_them_too():
    names = {name for name in registry.catalogue("optimizer_hooks").names() if name[0].isupper()}
    assert HOOKS.keys() == names
    for name, (good, bad) in HOOKS.items():
        make = getattr(optimizer_hooks, name)
        hook = make(**good)
        for key, value in bad.items():
            with pytest.raises(ValueError, match=f"{name}: expected .*{key}"):
                make(**(good | {key: value}))
            before = getattr(hook, key)
            with pytest.raises(ValueError, match=f"{name}: expected .*{key}"):
                setattr(hook, key, value)
            assert getattr(pickle.loads(pickle.dumps(hook)), key) == getattr(hook, key) == before


def test_schedules_are_refused_as_well():
    optimizer = optimizers.SGD().setup(L.Linear(2, 2))
    shift = core.training.extensions.LinearShift("lr", (0.1, -0.1), (0, 4), optimizer)
    for _ in range(2):
        shift(None)
    with pytest.raises(ValueError, match=r"SGD: expected lr in \[0, inf\), got -0.05"):
        shift(None)


def test_ranges_of_ones_own_are_inherited_and_checked():
    class Rule(UpdateRule):
        lr: float = 0.1
        free: float = 0.0
        ranges = {"lr": "(0, 1]"}

    class Child(Rule):
        decay: float = 0.5
        ranges = {"decay": "[0, 1]", "lr": "(0, 2]"}

    assert repr(Child.ranges) == "{'lr': (0, 2], 'decay': [0, 1]}"
    Rule(free=-math.inf)
    with pytest.raises(ValueError, match=r"expected lr in \(0, 1\], got 2"):
        Rule(lr=2)
    Child(lr=2)
    with pytest.raises(DeclarationError, match=r"Late.ranges: .*'l'; there are lr.*"):
        type("Late", (Rule,), {"ranges": {"l": "[0, 1]"}})
    with pytest.raises(DeclarationError, match=r"Low.lr: the default -1 is not in \(0, 1\]"):
        type("Low", (Rule,), {"lr": -1})
    assert Hyperparameter(Hyperparameter().define(lr=0.1)).lr == 0.1


# -- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("slip", ["learning_rate", "betas", "something_of_mine", "targte"])
def test_a_name_that_nobody_has_is_refused(name, slip):
    optimizer = getattr(optimizers, name)()
    with pytest.raises(UnknownName, match=f"{name} has no attribute '{slip}' to be set"):
        setattr(optimizer, slip, 1)
    assert slip not in vars(optimizer)


def test_names_of_the_base_and_private_ones_are_set():
    optimizer = optimizers.Adam()
    for name in ("t", "epoch", "use_auto_new_epoch", "_mine", "alpha"):
        setattr(optimizer, name, 1)
        assert getattr(optimizer, name) == 1
    with pytest.raises(UnknownName, match="Did you mean 'epoch'"):
        optimizer.epohc = 3
    with pytest.raises(UnknownName, match="begin with an underscore, or be declared by a subclass"):
        optimizer.xyz = 3


class Counting(optimizers.SGD):
    """With attributes of its own: annotated, set in the beginning, and set later."""

    annotated: int

    def __init__(self, lr=0.1):
        super().__init__(lr)
        self.steps_made = 0

    def update(self, *args, **kwargs):
        super().update(*args, **kwargs)
        self.last_loss = [self.later() for _ in range(1)]

    def later(self):
        self.steps_made += 1


class Older(GradientMethod):
    """As version 3 wrote it."""

    def __init__(self, rate=0.1):
        super().__init__()
        self.hyperparam = Hyperparameter()
        self.hyperparam.rate = rate
        self.note = "mine"


class WhollyOwn(core.Optimizer):
    def __init__(self):
        self.speed = 1


@pytest.mark.parametrize(
    ("make", "own"),
    [
        (Counting, ["annotated", "steps_made", "last_loss"]),
        (type("Derived", (Counting,), {}), ["steps_made"]),
        (Older, ["note"]),
        (WhollyOwn, ["speed"]),
    ],
)
def test_a_class_of_ones_own_may_have_attributes(make, own):
    optimizer = make()
    for name in own:
        setattr(optimizer, name, 5)
        assert getattr(optimizer, name) == 5
    with pytest.raises(UnknownName):
        optimizer.speeed = 1
    assert vars(pickle.loads(pickle.dumps(Counting())))["steps_made"] == 0


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("slip", ["learning_rate", "stat", "_mine"])
def test_rules_refuse_a_name_that_nobody_has(name, slip):
    rule = getattr(optimizers, name)().create_update_rule()
    for duplicate in (rule, copy.deepcopy(rule), pickle.loads(pickle.dumps(rule))):
        with pytest.raises(AttributeError, match=f"no attribute '{slip}'"):
            setattr(duplicate, slip, 1)
        with pytest.raises(AttributeError, match=f"no attribute '{slip}'"):
            getattr(duplicate, slip)


def test_a_rule_of_ones_own_may_have_attributes():
    class Rule(UpdateRule):
        lr: float = 0.1

        def init_state(self, param):
            self.seen = []

        def update_core(self, param):
            self.seen.append(self.t)

    parameter = core.Parameter(0, (2,))
    parameter.grad = parameter.array
    parameter.update_rule = Rule()
    parameter.update()
    assert copy.deepcopy(parameter.update_rule).seen == [1]
    with pytest.raises(UnknownName, match="Did you mean 'lr'"):
        parameter.update_rule.learning_rate  # noqa: B018

"""Attributes of optimizers, rules and hooks: of the kind that their class annotates, and known."""

import copy
import pickle

import numpy as np
import pytest

import core
import core.links as L
from core import optimizer_hooks, optimizers
from core.errors import InvalidSetting, UnknownName

OPTIMIZERS = core.registry.catalogue("optimizers").names()
HOOKS = {
    "WeightDecay": 0.1,
    "Lasso": 0.1,
    "GradientClipping": 1,
    "GradientValueClipping": 1,
    "GradientNoise": 0.1,
    "GradientLARS": 0.1,
    "ExponentialMovingAverage": 0.9,
}


@pytest.mark.parametrize("name", ["trainable", "training"])
def test_what_other_libraries_set_on_a_layer_is_no_mere_attribute(name):
    """It froze nothing, and nothing said so."""

    class Own(core.Chain):
        def __init__(self, value):
            super().__init__()
            self.trainable = self.training = value

    link = core.Sequential(L.Linear(3, 2))
    with pytest.raises(UnknownName, match="to set it would change nothing"):
        setattr(link[0], name, False)
    assert not hasattr(link[0], name) and name not in dir(link)
    own = Own(1)
    setattr(own, name, 2)
    for same in (own, own.copy(), copy.deepcopy(own)):
        assert getattr(same, name) == 2


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("wrong", ["x", "no", None, 2.5, [1]])
def test_counts_and_flags_of_an_optimizer_and_its_rules(name, wrong):
    optimizer = getattr(optimizers, name)()
    rule = optimizer.create_update_rule()
    owned = [(optimizer, "t"), (optimizer, "epoch"), (optimizer, "use_auto_new_epoch")]
    for owner, attribute in (*owned, (rule, "t"), (rule, "enabled")):
        before = getattr(owner, attribute)
        kind = "True or False" if isinstance(before, bool) else "a whole number"
        with pytest.raises(
            InvalidSetting, match=f"{type(owner).__name__}: expected {attribute} to be {kind}, got"
        ):
            setattr(owner, attribute, wrong)
        assert getattr(owner, attribute) is before
        setattr(owner, attribute, np.int64(1))
        assert getattr(owner, attribute) == 1
        assert type(getattr(owner, attribute)) is type(before)


@pytest.mark.parametrize("switch", ["use_cleargrads", "use_fp32_update"])
def test_switches(switch):
    with pytest.raises(InvalidSetting, match=f"{switch}: expected .* to be True or False, got str"):
        getattr(optimizers.SGD().setup(L.Linear(2, 1)), switch)("no")
    with pytest.raises(InvalidSetting, match="new_epoch: expected auto to be True or False"):
        optimizers.SGD().new_epoch("no")


def test_a_count_that_is_no_whole_number():
    with pytest.raises(InvalidSetting, match="LBFGS: expected history_size to be a whole number"):
        optimizers.LBFGS(history_size=2.5)
    optimizer = optimizers.LBFGS(history_size=np.int64(3))
    assert type(optimizer.history_size) is int
    for owner in (optimizer, optimizer.hyperparam, optimizer.create_update_rule()):
        with pytest.raises(InvalidSetting, match="expected max_eval to be a whole number, got fl"):
            owner.max_eval = 2.5


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_attribute_that_no_rule_has_is_answered_with_the_nearest(name):
    rule = getattr(optimizers, name)().create_update_rule()
    number = next(iter(rule.hyperparameters))
    for slip, meant in ((f"{number}s", number), ("enbaled", "enabled"), ("staet", "state")):
        with pytest.raises(UnknownName, match=f"{name}Rule has no .*Did you mean '{meant}'"):
            setattr(rule, slip, 1)
    with pytest.raises(AttributeError, match="_mine"):
        rule._mine = 1


@pytest.mark.parametrize("name", HOOKS)
def test_an_attribute_that_no_hook_has_is_answered_with_the_nearest(name):
    hook = getattr(optimizer_hooks, name)(HOOKS[name])
    (number, *_) = (n for n in ("rate", "threshold", "eta", "decay") if hasattr(hook, n))
    with pytest.raises(UnknownName, match=f"{name} has no .*{number}.*Did you mean '{number}'"):
        setattr(hook, number[:-1], 1)
    with pytest.raises(InvalidSetting, match=f"{name}: expected call_for_each_param to be True"):
        hook.call_for_each_param = "no"
    hook.timing = "post"
    assert copy.deepcopy(hook).timing == pickle.loads(pickle.dumps(hook)).timing == "post"


class Doubling(optimizer_hooks.WeightDecay):
    """Somebody's own, with attributes set in its methods."""

    def __init__(self, rate):
        super().__init__(2 * rate)
        self.seen = 0

    def change(self, rule, param, grad):
        self.seen += 1
        super().change(rule, param, grad)


def test_a_hook_of_ones_own_has_attributes_of_its_own():
    optimizer = optimizers.SGD().setup(L.Linear(2, 1))
    hook = Doubling(1)
    optimizer.add_hook(hook)
    optimizer.update(lambda: core.functions.sum(optimizer.target(np.ones((1, 2), "f"))))
    assert (hook.seen, hook.rate) == (2, 2)
    with pytest.raises(UnknownName, match="Doubling has no attribute 'seem'"):
        hook.seem = 1


def test_rules_of_ones_own_have_any_attributes_and_their_annotated_kinds():
    class Own(optimizers.SGD.rule):
        patience: int

    rule = Own()
    rule.anything = "x"
    rule.patience = np.int8(3)
    assert (rule.anything, rule.patience) == ("x", 3)
    with pytest.raises(InvalidSetting, match="Own: expected patience to be a whole number"):
        rule.patience = "long"


@pytest.mark.parametrize("make", [core.Variable, core.Parameter])
def test_requires_grad_is_a_truth_value(make):
    data = np.ones(2, "f")
    for wrong in ("no", None, 2, 0.5, []):
        with pytest.raises(
            InvalidSetting, match=rf"{make.__name__}: expected requires_grad to be True or False, "
        ):
            make(data, requires_grad=wrong)
    for right in (True, False, 1, 0, np.True_, np.False_):
        assert make(data, requires_grad=right).requires_grad is bool(right)


def test_flags_of_rules_and_extensions():
    rule = optimizers.SGD().create_update_rule()
    with pytest.raises(InvalidSetting, match="use_fp32_update: expected flag to be True or False"):
        rule.use_fp32_update("no")
    with pytest.raises(
        InvalidSetting, match="make_extension: expected priority to be a whole numb"
    ):
        core.training.make_extension(priority="high")
    run = core.training.Run(
        None, optimizers.SGD().setup(L.Linear(2, 1)), stop_trigger=(1, "iteration")
    )
    for wrong in ({"priority": "high"}, {"call_before_training": "no"}):
        with pytest.raises(InvalidSetting, match=f"extend: expected {next(iter(wrong))} to be"):
            run.extend(print, **wrong)

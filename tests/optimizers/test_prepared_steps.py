"""Steps that are made again for the same parameters: the bits of `update`, whatever is changed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
import core.optimizer_hooks as hooks
from core import optimizers
from core.optimizer import PreparedStep

X = np.random.default_rng(0).normal(size=(8, 6)).astype("f")


class Signs(core.UpdateRule):
    """A stranger's rule, with state and no kernel."""

    rate: float = 0.01
    state_names = ("seen",)

    def step(self, xp, param, grad, seen):
        seen += xp.abs(grad)
        param -= self.rate * xp.sign(grad) * seen


class SignDescent(core.GradientMethod):
    rule = Signs


def double(o):
    for p in o.target.params():
        p.array = p.array * 2


def new_state(o):
    for p in o.target.params():
        state = p.update_rule and p.update_rule._state
        if state:
            p.update_rule._state = {name: np.copy(value) for name, value in state.items()}


def other_arrays_in_state(o):
    for p in o.target.params():
        state = p.update_rule and p.update_rule._state
        for name in state or ():
            state[name] = np.copy(state[name])


def rescale(o):
    name = next(iter(o.hyperparam.get_dict()))
    setattr(o, name, getattr(o, name) * 0.5)


def own_rule(o):
    rule = o.create_update_rule()
    o.target[1].W.update_rule = rule


def save_and_load(o):
    made = {}
    o.serialize(core.serializers.DictionarySerializer(made))
    o.serialize(core.serializers.NpzDeserializer(made))


CHANGES = {
    "nothing": lambda o: None,
    "rate": rescale,
    "rate of a group": lambda o: o.group("*/b", **{next(iter(o.hyperparam.get_dict())): 0.003}),
    "count of a rule": lambda o: setattr(o.target[0].W.update_rule, "t", 9),
    "rule off": lambda o: setattr(o.target[0].b.update_rule, "enabled", False),
    "rule on": lambda o: setattr(o.target[0].b.update_rule, "enabled", True),
    "another rule": own_rule,
    "no rule": lambda o: setattr(o.target[1].b, "update_rule", None),
    "hook": lambda o: len(o._hooks) or o.add_hook(hooks.WeightDecay(0.1)),
    "no hook": lambda o: len(o._hooks) and o.remove_hook("WeightDecay"),
    "hook of a rule": lambda o: (
        len(o.target[0].W.update_rule._hooks)
        or o.target[0].W.update_rule.add_hook(hooks.Lasso(0.1))
    ),
    "loss scale": lambda o: o.set_loss_scale(8.0),
    "no loss scale": lambda o: o.set_loss_scale(None),
    "other arrays": double,
    "other state": new_state,
    "other arrays in the state": other_arrays_in_state,
    "loaded": save_and_load,
}
THERE_AND_BACK = [
    ["rule off", "nothing", "rule on", "nothing"],
    ["hook", "nothing", "no hook", "nothing"],
    ["loss scale", "nothing", "no loss scale", "nothing"],
]
NAMES = [name for name in dir(optimizers) if name[0].isupper() and name != "LBFGS"]


def run(make, changes, width, captured):
    core.seed(0)
    model = core.ChainList(L.Linear(6, width), L.Linear(width, 3))
    optimizer = make().setup(model)
    step = lambda x: optimizer.update(lambda: F.sum(F.tanh(model[1](F.relu(model[0](x)))) ** 2))  # noqa: E731
    call = core.capture(step) if captured else step
    found = []
    for i, name in enumerate(["nothing"] * 4 + changes):
        CHANGES[name](optimizer)
        call(X * (i + 1))
        rules = [p.update_rule for p in model.params() if p.update_rule is not None]
        states = [rule.state or {} for rule in rules]
        found.append(
            [
                name,
                optimizer.t,
                *[(p.array.tobytes(), p.version, p.grad.tobytes()) for p in model.params()],
                *[
                    (rule.t, {k: np.asarray(v).tobytes() for k, v in s.items()})
                    for rule, s in zip(rules, states, strict=True)
                ],
            ]
        )
    core.seed(None)
    return found, call


@pytest.mark.parametrize("change", [*sorted(CHANGES), *THERE_AND_BACK], ids=str)
@settings(max_examples=3)
@given(
    st.sampled_from(["Adam", "RMSprop", "SMORMS3", "SignDescent"]),
    st.lists(st.sampled_from(sorted(CHANGES)), max_size=2),
    st.sampled_from([4, 300]),
)
@pytest.mark.filterwarnings("ignore:.*cannot be trained")
def test_whatever_is_changed_between_steps(change, name, changes, width):
    changes = [*(change if isinstance(change, list) else [change]), "nothing", *changes]
    make = SignDescent if name == "SignDescent" else getattr(optimizers, name)
    expected, _ = run(make, changes, width, False)
    found, call = run(make, changes, width, True)
    assert found == expected
    assert call.replayed >= 3


def updated(optimizer):
    for p in optimizer.target.params():
        p.grad = np.ones_like(p.array)
    optimizer.update()
    return PreparedStep.of(optimizer)


@pytest.mark.parametrize("name", [*NAMES, "SignDescent"])
def test_who_can_be_prepared(name):
    make = SignDescent if name == "SignDescent" else getattr(optimizers, name)
    optimizer = make().setup(L.Linear(6, 4))
    prepared = updated(optimizer)
    assert prepared.made() and optimizer.t == 2
    optimizer.add_hook(hooks.WeightDecay(0.1))
    assert not prepared.made() and optimizer.t == 2
    assert PreparedStep.of(optimizer) is None


def test_a_rule_that_fails_leaves_the_versions_of_those_before_it():
    class Failing(Signs):
        def step(self, xp, param, grad, seen):
            if fails and param.ndim == 1:
                raise ArithmeticError
            super().step(xp, param, grad, seen)

    class Descent(core.GradientMethod):
        rule = Failing

    fails = False
    optimizer = Descent().setup(L.Linear(6, 4))
    prepared = updated(optimizer)
    before = {path: p.version for path, p in optimizer.target.namedparams()}
    fails = True
    with pytest.raises(ArithmeticError):
        prepared.made()
    after = {path: p.version for path, p in optimizer.target.namedparams()}
    assert after == before | {"/W": before["/W"] + 1}


def test_arrays_that_may_not_be_written_are_not():
    optimizer = optimizers.SGD().setup(L.Linear(60, 40))
    prepared = updated(optimizer)
    optimizer.target.W.array.flags.writeable = False
    kept = optimizer.target.W.array.tobytes()
    assert not prepared.made()
    with pytest.raises(ValueError, match="read-only"):
        optimizer.update()
    assert optimizer.target.W.array.tobytes() == kept


def test_who_cannot():
    class Own(optimizers.SGD):
        def before_step(self, steps):
            pass

    class Checked(Signs):
        def check(self, param):
            pass

    class Checking(core.GradientMethod):
        rule = Checked

    for optimizer in (Own(), Checking()):
        assert updated(optimizer.setup(L.Linear(6, 4))) is None
    with core.using_config("dtype", "float16"):
        half = optimizers.SGD().setup(L.Linear(6, 4))
    assert updated(half) is None
    assert updated(optimizers.LBFGS().setup(L.Linear(6, 4))) is None

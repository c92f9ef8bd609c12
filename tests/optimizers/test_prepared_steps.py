"""Steps that are made again for the same parameters: the bits of `update`, whatever is changed."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
import core.optimizer_hooks as hooks
from core import optimizers

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


def count_on(o):
    for p in o.target.params():
        if p.update_rule is not None:
            p.update_rule.t = 1000  # from where small ones are stepped by loops, too


def save_and_load(o):
    made = {}
    o.serialize(core.serializers.DictionarySerializer(made))
    o.serialize(core.serializers.NpzDeserializer(made))


def meddling(what):
    """Have a hook of this name do something else in each step."""

    def add(o):
        if what not in o._hooks:
            o.add_hook(lambda opt: MEDDLES[what](opt.target[0].W, opt), name=what)

    return add


def freeze_in_turn(p, o):
    p.update_rule.enabled = not p.update_rule.enabled


def other_gradient(p, o):
    p.grad = np.sign(p.grad)


def no_gradient(p, o):
    p.grad = None


def other_values(p, o):
    p.array = p.array + 1


def other_rate(p, o):
    rescale(o)


MEDDLES = {
    f.__name__: f for f in (freeze_in_turn, other_gradient, no_gradient, other_values, other_rate)
}
CHANGES = {
    **{name: meddling(name) for name in MEDDLES},
    "nothing": lambda o: None,
    "rate": rescale,
    "rate of a group": lambda o: o.group("*/b", **{next(iter(o.hyperparam.get_dict())): 0.003}),
    "count of a rule": lambda o: setattr(o.target[0].W.update_rule, "t", 9),
    "counts of all rules": count_on,
    "frozen": lambda o: o.target[0].disable_update(),
    "not frozen": lambda o: o.target[0].enable_update(),
    "another layer": lambda o: o.target.add_link(L.Linear(2, 2)),
    "set up": lambda o: o.setup(o.target),
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


def tobytes(array):
    return None if array is None else array.tobytes()


def run(make, changes, width, way):
    core.seed(0)
    model = core.ChainList(L.Linear(6, width), L.Linear(width, 3))
    optimizer = make().setup(model)
    step = lambda x: optimizer.update(lambda: F.sum(F.tanh(model[1](F.relu(model[0](x)))) ** 2))  # noqa: E731
    call = core.capture(step) if way == "captured" else step
    found = []
    for i, name in enumerate(["nothing"] * 4 + changes):
        CHANGES[name](optimizer)
        if way == "anew":
            optimizer._prepared = None
        call(X * (i + 1))
        rules = [p.update_rule for p in model.params() if p.update_rule is not None]
        states = [rule.state or {} for rule in rules]
        found.append(
            [
                name,
                optimizer.t,
                *[(p.array.tobytes(), p.version, tobytes(p.grad)) for p in model.params()],
                *[
                    (rule.t, {k: np.asarray(v).tobytes() for k, v in s.items()})
                    for rule, s in zip(rules, states, strict=True)
                ],
            ]
        )
    core.seed(None)
    return found, call


@pytest.mark.parametrize("change", [*sorted(CHANGES), *THERE_AND_BACK], ids=str)
@settings(max_examples=2)
@given(
    st.sampled_from(["Adam", "RMSprop", "SMORMS3", "SignDescent"]),
    st.lists(st.sampled_from(sorted(CHANGES)), max_size=2),
    st.sampled_from([4, 300]),
)
@pytest.mark.filterwarnings("ignore:.*cannot be trained")
def test_whatever_is_changed_between_steps(change, name, changes, width):
    changes = [*(change if isinstance(change, list) else [change]), "nothing", *changes]
    make = SignDescent if name == "SignDescent" else getattr(optimizers, name)
    expected, _ = run(make, changes, width, "anew")
    found, _ = run(make, changes, width, "prepared")
    assert found == expected
    found, call = run(make, changes, width, "captured")
    assert found == expected
    assert call.replayed >= 3


GRADIENTS = {
    "none": lambda p, o: None,
    "ones": lambda p, o: np.ones_like(p.array),
    "strided": lambda p, o: np.ones((*p.shape, 2), "f")[..., 0],
    "another dtype": lambda p, o: np.ones(p.shape, "d"),
    "a variable": lambda p, o: core.Variable(np.ones_like(p.array)),
    "its own array": lambda p, o: p.array,
    "the array of another": lambda p, o: o.array,
    "a view of another": lambda p, o: o.array[::-1],
}


@pytest.mark.filterwarnings("ignore:.*no parameter of this ChainList has a gradient")
@settings(max_examples=30)
@given(
    st.sampled_from(["SGD", "Adam", "SMORMS3"]),
    st.lists(st.tuples(*[st.sampled_from(sorted(GRADIENTS))] * 2), min_size=1, max_size=3),
    st.sampled_from([3, 50]),
)
def test_whatever_the_gradients_are(name, changes, width):
    def run(anew):
        drawn = np.random.default_rng(0)
        model = core.ChainList(*[L.Linear(width, width, nobias=True) for _ in range(2)])
        a, b = model[0].W, model[1].W
        for p in (a, b):
            p.array = drawn.normal(size=p.shape).astype("f")
        optimizer, found = getattr(optimizers, name)().setup(model), []
        for change in [("ones",) * 2] * 2 + changes + [("ones",) * 2]:
            for p, other, kind in zip((a, b), (b, a), change, strict=True):
                p._source._grad = GRADIENTS[kind](p, other)
            if anew:
                optimizer._prepared = None
            try:
                optimizer.update()
            except core.errors.UpdateError as error:
                found.append(str(error))
            found.append([optimizer.t, *[(p.array.tobytes(), p.version) for p in (a, b)]])
        return found

    assert run(False) == run(True)


def updated(optimizer):
    for p in optimizer.target.params():
        p.grad = np.ones_like(p.array)
    optimizer.update()
    return optimizer._prepared


@pytest.mark.parametrize("name", [*NAMES, "SignDescent"])
def test_who_can_be_prepared(name):
    make = SignDescent if name == "SignDescent" else getattr(optimizers, name)
    optimizer = make().setup(L.Linear(6, 4))
    prepared = updated(optimizer)
    if name == "Muon":  # its rules look at each parameter before all steps
        assert prepared is None
        return
    assert prepared.made(optimizer) and optimizer.t == 2
    optimizer.add_hook(hooks.WeightDecay(0.1))
    assert prepared.made(optimizer) and optimizer.t == 3
    optimizer.target.W.update_rule.add_hook(hooks.WeightDecay(0.1))
    assert not prepared.made(optimizer) and optimizer.t == 3
    assert updated(optimizer) is None


def test_a_hook_that_fails_leaves_everything_as_it_was():
    def fail(optimizer):
        optimizer.target.W.grad = np.zeros_like(optimizer.target.W.array)
        raise ArithmeticError

    optimizer = optimizers.Adam().setup(L.Linear(6, 4))
    prepared = updated(optimizer)
    optimizer.add_hook(fail)
    before = [(p.array.copy(), p.grad.copy(), p.version) for p in optimizer.target.params()]
    with pytest.raises(ArithmeticError):
        prepared.made(optimizer)
    assert (optimizer.t, optimizer.target.W.update_rule.t) == (1, 1)
    for p, (array, grad, version) in zip(optimizer.target.params(), before, strict=True):
        assert (p.array == array).all() and (p.grad == grad).all() and p.version == version


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))]
)
def test_copies_of_an_optimizer_step_as_it_does(copied):
    optimizer = optimizers.Adam().setup(L.Linear(60, 40))
    assert updated(optimizer).made(optimizer)
    other = copied(optimizer)
    same = other.target is optimizer.target
    before = other.target.W.array.copy()
    updated(other)
    assert (optimizer.t, other.t) == (2, 3)
    assert (other.target.W.array != before).all()
    assert (optimizer.target.W.array == before).all() != same


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
        prepared.made(optimizer)
    after = {path: p.version for path, p in optimizer.target.namedparams()}
    assert after == before | {"/W": before["/W"] + 1}


@pytest.mark.parametrize("name", ["is_safe_to_update", "before_step", "call_hooks"])
def test_methods_that_one_optimizer_is_given_are_called(name, monkeypatch):
    optimizer = optimizers.SGD().setup(L.Linear(6, 4))
    prepared, calls = updated(optimizer), []
    own = getattr(optimizer, name)
    monkeypatch.setattr(optimizer, name, lambda *args: calls.append(name) or own(*args))
    assert not prepared.made(optimizer)
    updated(optimizer)
    updated(optimizer)
    assert len(calls) == (4 if name == "call_hooks" else 2)


def test_arrays_that_may_not_be_written_are_not():
    optimizer = optimizers.SGD().setup(L.Linear(60, 40))
    prepared = updated(optimizer)
    optimizer.target.W.array.flags.writeable = False
    kept = optimizer.target.W.array.tobytes()
    assert not prepared.made(optimizer)
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

"""Files say which update rules their state is of; that of others is refused, unless asked for."""

import json
import warnings
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from kinds import state

import core.functions as F
import core.links as L
from core import iterators, optimizers, training
from core import optimizer_hooks as hooks
from core.errors import CheckpointError
from core.optimizer import GradientMethod, UpdateRule
from core.serializers import DictionarySerializer, NpzDeserializer, load_npz, save_npz
from core.training import extensions


class LaterRule(UpdateRule):
    """Written in the older way: a part of its state is made by the first step."""

    def init_state(self, param):
        self.state["v"] = np.zeros_like(param.array)

    def update_core(self, param):
        self.state.setdefault("count", np.zeros(()))
        self.state["count"] += 1


class Later(GradientMethod):
    rule = LaterRule


class MomentumSGDRule(UpdateRule):
    """A stranger's, of the same class name and other state."""

    state_names = ("velocity",)

    def step(self, xp, param, grad, velocity):
        velocity += grad


class Strange(GradientMethod):
    rule = MomentumSGDRule


def trained(optimizer, steps=2):
    model = L.Linear(3, 2, initialW=np.ones((2, 3), "f"))
    optimizer.setup(model)
    for _ in range(steps):
        optimizer.update(lambda: F.sum(model(np.ones((1, 3), "f"))))
    return optimizer


ADAMS = ("Adam", "AdamW", "AMSGrad", "AdaBound", "AMSBound")
OTHERS = {
    "Adam to MomentumSGD": (optimizers.Adam, optimizers.MomentumSGD),
    "Adam to SGD": (optimizers.Adam, optimizers.SGD),
    "SGD to Adam": (optimizers.SGD, optimizers.Adam),
    **{
        f"{a} to {b}": (getattr(optimizers, a), getattr(optimizers, b))
        for a, b in permutations(ADAMS, 2)
    },
    "NesterovAG to MomentumSGD": (optimizers.NesterovAG, optimizers.MomentumSGD),
    "RMSprop to AdaGrad": (optimizers.RMSprop, optimizers.AdaGrad),
    "a stranger's of the same name": (Strange, optimizers.MomentumSGD),
}


@pytest.mark.parametrize("name", OTHERS)
def test_state_of_another_rule_is_refused_naming_both(kind, path, name):
    saved, loaded = (trained(make()) for make in OTHERS[name])
    kind.save(path, saved)
    before = state(loaded)
    with pytest.raises(CheckpointError) as refused:
        kind.load(path, loaded)
    text = str(refused.value)
    for optimizer in (saved, loaded):
        assert repr(optimizer.target.W.update_rule) in text
    assert "With ignore_names='update_rules' it is loaded all the same" in text
    assert state(loaded) == before


def test_it_is_loaded_when_asked_for(kind, path):
    saved, loaded = trained(optimizers.NesterovAG()), trained(optimizers.MomentumSGD(), 0)
    kind.save(path, saved)
    kind.load(path, loaded, ignore_names="update_rules")
    np.testing.assert_array_equal(
        loaded.target.W.update_rule.state["v"], saved.target.W.update_rule.state["v"]
    )


@pytest.mark.parametrize(
    ("make", "again"),
    [
        (optimizers.Adam, partial(optimizers.Adam, alpha=0.5, beta1=0.1)),
        (optimizers.AdamW, partial(optimizers.AdamW, weight_decay_rate=0.1)),
        (optimizers.AMSGrad, partial(optimizers.Adam, amsgrad=True)),
        (partial(optimizers.Adam, adabound=True), optimizers.AdaBound),
        (partial(optimizers.Adam, amsgrad=True, adabound=True), optimizers.AMSBound),
        (optimizers.MomentumSGD, partial(optimizers.MomentumSGD, lr=1)),
        (Later, Later),
    ],
)
def test_the_same_rule_with_other_numbers_goes_on(kind, path, make, again):
    kind.save(path, trained(make()))
    loaded = trained(again(), 0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "load_.*: nothing asked for these .*count")
        kind.load(path, loaded)
    assert loaded.t == 2


EARLIER = {"weight_decay_rate": 0.0, "amsgrad": False, "adabound": False, "final_lr": 0.1}


@pytest.mark.parametrize("name", ADAMS)
def test_files_of_earlier_versions_call_five_rules_by_one_name(name):
    saved = DictionarySerializer()
    saved.save(trained(getattr(optimizers, name)()))
    groups = json.loads(saved.target["update_rules"].tobytes())
    names = set(groups[0]["state"])
    for group in groups:
        group["rule"], group["hyperparameters"] = "AdamRule", EARLIER
    saved.target["update_rules"] = np.frombuffer(json.dumps(groups).encode(), np.uint8)
    for other in ADAMS:
        loaded = trained(getattr(optimizers, other)())
        if names == set(loaded.target.W.update_rule.state):
            NpzDeserializer(saved.target).load(loaded)
            assert loaded.t == 2
            continue
        with pytest.raises(CheckpointError, match=rf"{other}Rule\(.* is that of AdamRule\("):
            NpzDeserializer(saved.target).load(loaded)


def test_files_that_say_nothing_load_without_a_word(kind, path):
    saved = DictionarySerializer()
    saved.save(trained(optimizers.Adam()))
    del saved.target["update_rules"]
    kind.save(path, saved.target)
    loaded = trained(optimizers.Adam(), 0)
    kind.load(path, loaded)
    assert loaded.t == 2


@pytest.mark.parametrize("statement", [np.ones(3), np.frombuffer(b"{", np.uint8), None])
def test_what_is_no_statement_is_told(kind, path, statement):
    saved = DictionarySerializer()
    saved.save(trained(optimizers.Adam()))
    kind.save(path, saved.target | {"update_rules": statement})
    with pytest.raises(CheckpointError, match=r"update_rules: it cannot be read"):
        kind.load(path, trained(optimizers.Adam()))


def test_hyperparameters_are_recorded_rule_by_rule():
    optimizer = trained(optimizers.MomentumSGD(0.25))
    optimizer.target.b.update_rule.hyperparam.momentum = 0.5
    saved = DictionarySerializer()
    saved.save(optimizer)
    groups = json.loads(saved.target["update_rules"].tobytes())
    assert [(g["parameters"], g["rule"], g["state"], g["hyperparameters"]) for g in groups] == [
        (["/W"], "MomentumSGDRule", ["v"], {"lr": 0.25, "momentum": 0.9}),
        (["/b"], "MomentumSGDRule", ["v"], {"lr": 0.25, "momentum": 0.5}),
    ]


def test_other_hooks_are_told_and_older_files_say_nothing_of_them():
    def hooked(*given, of_one=None):
        optimizer = optimizers.SGD(0.5).setup(L.Linear(3, 2))
        for hook in given:
            optimizer.add_hook(hook)
        if of_one is not None:
            optimizer.group("*/b").add_hook(of_one)
        return optimizer

    def changed(before, now, drop=False):
        saved = DictionarySerializer()
        saved.save(before)
        groups = json.loads(saved.target["update_rules"].tobytes())
        for group in groups:
            del group["hooks"]
        if drop:
            saved.target["update_rules"] = np.frombuffer(json.dumps(groups).encode(), np.uint8)
        NpzDeserializer(saved.target).load(now)
        return now.changed_since_saved()

    decay, clip = hooks.WeightDecay, hooks.GradientClipping
    assert not changed(hooked(decay(0.1), clip(np.inf)), hooked(decay(0.1), clip(np.inf)))
    assert not changed(hooked(decay(0.1)), hooked(), drop=True)
    assert changed(hooked(decay(0.1)), hooked(clip(1), print)) == [
        "GradientClipping (no hook in the file)",
        "print (no hook in the file)",
        "no WeightDecay (a hook in the file)",
    ]
    told = ["WeightDecay.rate=0.2 (0.1 in the file)"]
    assert changed(hooked(decay(0.1)), hooked(decay(0.2))) == told
    assert changed(hooked(of_one=decay(0.1)), hooked(of_one=decay(0.2))) == told


def test_a_serializer_by_hand_refuses_too():
    saved = DictionarySerializer()
    saved.save(trained(optimizers.Adam()))
    with pytest.raises(CheckpointError, match=r"load: 'update_rules': MomentumSGDRule\("):
        NpzDeserializer(saved.target).load(trained(optimizers.MomentumSGD()))


def trainer(out, optimizer, **options):
    model = L.Classifier(L.Linear(3, 2))
    data = [(np.ones(3, "f"), np.int32(0))] * 4
    updater = training.StandardUpdater(iterators.SerialIterator(data, 2), optimizer.setup(model))
    made = training.Trainer(updater, (2, "iteration"), out)
    made.extend(extensions.snapshot(**options), trigger=(2, "iteration"))
    return made


def test_autoload_refuses_and_takes_it_when_asked_for(tmp_path):
    trainer(tmp_path, optimizers.NesterovAG()).run()
    with pytest.raises(
        CheckpointError, match=r"MomentumSGDRule.*is that of NesterovAGRule"
    ) as told:
        trainer(tmp_path, optimizers.MomentumSGD(), autoload=True).run(False)
    assert "ignore_names=[...] for state of other update rules" in told.value.__notes__[0]
    lenient = partial(load_npz, ignore_names="updater/optimizer:main/update_rules")
    resumed = trainer(tmp_path, optimizers.MomentumSGD(), autoload=lenient)
    resumed.run()
    assert resumed.updater.iteration == 2


def test_weights_alone_load_into_any_training(tmp_path):
    saved = trained(optimizers.Adam())
    save_npz(tmp_path / "model", saved.target)
    load_npz(tmp_path / "model", trained(optimizers.SGD()).target)

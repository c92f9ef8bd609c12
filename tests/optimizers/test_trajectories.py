"""Optimizers and hooks move parameters as Chainer's do, and PyTorch's and Optax's: from files."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import core
from core import optimizer_hooks, optimizers
from core.testing.memory import saved

FILES = Path(__file__).parents[1] / "data/oracle"
RECORDED = json.loads((FILES / "optimizers.json").read_text())
CHAINER = RECORDED["cases"]
PEERS = {
    f"{peer}: {name}": case
    for peer in ("torch", "optax")
    for name, case in json.loads((FILES / f"optimizers_{peer}.json").read_text()).items()
}
CASES = {**CHAINER, **PEERS}
ROUNDING = {"float64": 1e-11, "float16": 2.0**-9}


def noise(xp, shape, dtype, hook, rule):
    """The same that the recording used."""
    return xp.full(shape, hook.eta / (1 + rule.t), dtype=dtype)


def started(case, dtype):
    model = core.Link()
    with model.init_scope():
        model.p0, model.p1 = (core.Parameter(np.array(x, dtype)) for x in RECORDED["start"])
    optimizer = getattr(optimizers, case["optimizer"])(**case["arguments"])
    optimizer.use_fp32_update(dtype == "float16")
    optimizer.setup(model)
    for name, arguments, level in case.get("hooks", []):
        extra = [noise] if name == "GradientNoise" and "seed" not in case else []
        hook = getattr(optimizer_hooks, name)(*arguments, *extra)
        (optimizer if level == "optimizer" else model.p1.update_rule).add_hook(hook)
    return optimizer, model


def step(optimizer, model, case, number):
    for name, value in case.get("changes", {}).get(str(number), {}).items():
        setattr(optimizer, name, value)
    for name, value in case.get("changes_of_one", {}).get(str(number), {}).items():
        setattr(model.p1.update_rule.hyperparam, name, value)
    model.p1.update_rule.enabled = True
    for param, g in zip(model.params(), RECORDED["gradients"][number], strict=True):
        param.grad = np.array(g, param.dtype)
    if number in case.get("absent", []):
        model.p1.cleargrad()
        optimizer.reallocate_cleared_grads()  # what Chainer does by itself
    model.p1.update_rule.enabled = number not in case.get("disabled", [])
    optimizer.update()


@pytest.fixture(autouse=True)
def numpy_generator_kept():
    before = np.random.get_state()
    yield
    np.random.set_state(before)


@pytest.mark.parametrize("name", CASES)
def test_trajectory(name):
    case = CASES[name]
    dtype = case.get("dtype", "float64")
    optimizer, model = started(case, dtype)
    if "seed" in case:
        np.random.seed(case["seed"])
    for number, expected in enumerate(case["path"]):
        step(optimizer, model, case, number)
        for param, values in zip(model.params(), expected, strict=True):
            np.testing.assert_allclose(
                param.array,
                np.array(values, dtype),
                rtol=ROUNDING[dtype],
                atol=ROUNDING[dtype] / 10,
                err_msg=f"{param.name} after step {number + 1}",
            )


@pytest.mark.parametrize("name", RECORDED["signatures"])
def test_arguments_and_defaults(name):
    make = getattr(optimizers, name)
    declared = RECORDED["signatures"][name]
    ours = [[one.name, one.default] for one in inspect.signature(make).parameters.values()]
    assert ours == declared
    optimizer = make()
    for argument, default in declared:
        assert getattr(optimizer, argument) == default
        other = not default if isinstance(default, bool) else 0.5
        setattr(optimizer, argument, other)
        assert getattr(optimizer, argument) == other
        if argument not in ("amsgrad", "adabound"):  # which choose the class of the rule
            assert getattr(optimizer.create_update_rule().hyperparam, argument) == other


@pytest.mark.parametrize("name", RECORDED["members"])
def test_members_and_their_arguments(name):
    places = (core, optimizer_hooks, optimizers)
    cls = next(getattr(place, name) for place in places if hasattr(place, name))
    for member, arguments in RECORDED["members"][name].items():
        if member == "is_elementwise":  # an internal of Chainer's fused updates
            continue
        ours = getattr(cls, member)
        if arguments is not None:
            taken = inspect.signature(ours).parameters.values()
            assert [one.name for one in taken][: len(arguments)] == arguments, member
            assert all(one.default is not one.empty for one in list(taken)[len(arguments) :])


@pytest.mark.parametrize("name", RECORDED["saved"])
def test_what_is_saved_has_the_same_names(name):
    make, dtype = name.split()
    model = core.Link()
    with model.init_scope():
        model.p = core.Parameter(np.ones(2, dtype))
        model.p.grad = np.ones(2, dtype)
    optimizer = getattr(optimizers, make)()
    optimizer.use_fp32_update(dtype == "float16")
    optimizer.setup(model).update()
    more = {"p/fp32_param", "p/initial_alpha"}  # without which a run would not resume exactly
    assert sorted(saved(optimizer).keys() - more) == RECORDED["saved"][name]


def test_every_optimizer_and_hook_is_recorded():
    assert {c["optimizer"] for c in CASES.values()} == set(
        core.registry.catalogue("optimizers").names()
    )
    recorded = {hook[0] for case in CASES.values() for hook in case.get("hooks", [])}
    named = {n for n in core.registry.catalogue("optimizer_hooks").names() if n[0].isupper()}
    assert recorded == named - {"ExponentialMovingAverage"}  # which leaves parameters alone

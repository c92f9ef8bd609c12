"""Groups of parameters by the patterns of their paths: what they change, and what they refuse."""

import copy
import pickle
from fnmatch import fnmatchcase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core import optimizer_hooks as hooks
from core import optimizers
from core.errors import HookError, UnknownName, UpdateError
from core.testing.memory import load, saved
from core.training import extensions


def model():
    core.seed(1)
    try:
        return core.Sequential(
            L.Linear(3, 4), F.tanh, L.Linear(None, 2, initialW=0.5), L.BatchNormalization(2)
        )
    finally:
        core.seed(None)


PATHS = ["/0/W", "/0/b", "/1/W", "/1/b", "/2/gamma", "/2/beta"]
X = np.random.default_rng(0).normal(size=(5, 3)).astype("f")


def step(optimizer):
    optimizer.update(
        lambda: F.sum(optimizer.target(X) ** 2 * np.arange(10.0, dtype="f").reshape(5, 2))
    )


def arrays(link):
    return {path: p.array.copy() for path, p in link.namedparams(include_uninit=False)}


def rates(optimizer):
    return {path: p.update_rule.hyperparam.lr for path, p in optimizer.target.namedparams()}


patterns = st.sampled_from(["*", "*/W", "*/b", "/1/*", "/0/?", "*/[bg]*", "/2/gamma"])


@given(st.lists(st.tuples(patterns, st.floats(0.001, 0.5)), max_size=4), st.floats(0.001, 0.5))
def test_a_parameter_steps_by_the_last_group_that_matches_it(groups, later):
    optimizer = optimizers.SGD(lr=0.1).setup(model())
    optimizer.target[2].W.initialize((2, 4))
    for pattern, lr in groups:
        optimizer.group(pattern, lr=lr)
    before = arrays(optimizer.target)
    for lr in (0.1, later):
        optimizer.lr = lr
        for param in optimizer.target.params():
            param.grad = np.ones(param.shape, "f")
        optimizer.update()
    for path, array in arrays(optimizer.target).items():
        own = [lr for pattern, lr in groups if fnmatchcase(path, pattern)]
        expected = before[path] - (2 * own[-1] if own else 0.1 + later)
        np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-6)


def test_decay_leaves_out_the_biases_also_those_without_a_size_yet():
    optimizer = optimizers.AdamW(alpha=0.0, weight_decay_rate=0.5).setup(model())
    group = optimizer.group("*/b", "/2/*", weight_decay_rate=0)
    assert group.paths == ("/0/b", "/1/b", "/2/gamma", "/2/beta")
    for param in optimizer.target.params(include_uninit=False):
        param.array[...] = 1.0
    optimizer.target(X)  # which gives /1/W its size
    weight = optimizer.target[2].W.array.copy()
    step(optimizer)
    for path, array in arrays(optimizer.target).items():
        start = weight if path == "/1/W" else np.ones(array.shape)
        np.testing.assert_allclose(array, start * (1.0 if path in group.paths else 0.5), rtol=1e-6)


def test_a_resumed_run_with_the_same_groups_ends_with_the_same_bits():
    def start():
        optimizer = optimizers.Adam(alpha=0.1).setup(model())
        optimizer.group("*/b", alpha=0.01)
        optimizer.group("/1/*", beta1=0.5, alpha=0.3)
        return optimizer

    whole = start()
    for _ in range(4):
        step(whole)
    first = start()
    for _ in range(2):
        step(first)
    resumed = start()
    load(resumed.target, saved(first.target))
    load(resumed, saved(first))
    for duplicate in (resumed, copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert repr(duplicate.groups) == repr(whole.groups)
        for _ in range(2):
            step(duplicate)
        for path, array in arrays(duplicate.target).items():
            np.testing.assert_array_equal(array, arrays(whole.target)[path], err_msg=path)
        duplicate.groups[0].alpha = 0.7
        assert duplicate.target[0].b.update_rule.hyperparam.alpha == 0.7
        assert whole.target[0].b.update_rule.hyperparam.alpha == 0.01


def test_a_group_can_be_changed_scheduled_and_hooked():
    optimizer = optimizers.SGD(lr=1.0).setup(model())
    group = optimizer.group("*/b", lr=0.5)
    schedule = extensions.ExponentialShift("lr", 0.5, optimizer=group)
    schedule.initialize(None)
    schedule(None)
    assert group.lr == 0.25 and optimizer.lr == 1.0
    assert rates(optimizer) == {path: 0.25 if path.endswith("b") else 1.0 for path in PATHS}
    rest = optimizer.group("/0/*")
    assert rest.lr == 1.0 and repr(rest) == "ParameterGroup('/0/*')"
    rest.add_hook(hooks.GradientHardClipping(0, 0))
    before = arrays(optimizer.target)
    optimizer.target(X)
    step(optimizer)
    for path, array in before.items():
        assert (arrays(optimizer.target)[path] == array).all() == path.startswith("/0/")
    rest.remove_hook("GradientHardClipping")
    step(optimizer)
    assert (optimizer.target[0].W.array != before["/0/W"]).all()
    assert optimizer.groups == (group, rest)
    optimizer.setup(model())
    assert optimizer.groups == () and set(rates(optimizer).values()) == {1.0}
    for change in (lambda: schedule(None), lambda: rest.add_hook(hooks.WeightDecay(0.1))):
        with pytest.raises(UpdateError, match=r"setup\(\) has been called since"):
            change()


def norms_of_steps(optimizer):
    """Of what a step with gradients of 1 changes in each of the two layers."""
    before = arrays(optimizer.target)
    for p in optimizer.target.params():
        p.grad = np.ones_like(p.array)
    optimizer.update()
    changes = {path: array - before[path] for path, array in arrays(optimizer.target).items()}
    return [
        np.sqrt(sum((x**2).sum() for path, x in changes.items() if path.startswith(layer)))
        for layer in ("/0/", "/1/")
    ]


def test_gradients_of_a_group_are_clipped_together():
    optimizer = optimizers.SGD(lr=1.0).setup(model())
    optimizer.target(X)
    free = norms_of_steps(optimizer)
    first, second = optimizer.group("/0/*"), optimizer.group("/1/W", "/1/b")
    clip = hooks.GradientClipping(0.5)
    first.add_hook(clip)
    second.add_hook(hooks.GradientClipping(0.25))
    for each in (optimizer, copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        np.testing.assert_allclose(norms_of_steps(each), [0.5, 0.25], rtol=1e-5)
    clip.threshold = 0.75
    np.testing.assert_allclose(norms_of_steps(optimizer), [0.75, 0.25], rtol=1e-5)
    for add in (optimizer.add_hook, second.add_hook):
        with pytest.raises(HookError, match="the hook of a group already"):
            add(clip)
    with pytest.raises(HookError, match="'GradientClipping of /0/\\*' is here already"):
        first.add_hook(other := hooks.GradientClipping(1.0))
    optimizer.add_hook(other, "all")  # it is no hook of a group
    optimizer.remove_hook("all")
    first.remove_hook("GradientClipping")
    np.testing.assert_allclose(norms_of_steps(optimizer), [free[0], 0.25], rtol=1e-5)
    optimizer.add_hook(clip)
    assert np.hypot(*norms_of_steps(optimizer)) < 0.75 < free[0]
    with pytest.raises(HookError, match="ExponentialMovingAverage.*a single rule"):
        first.add_hook(hooks.ExponentialMovingAverage())


def test_what_a_group_refuses_changes_nothing():
    optimizer = optimizers.AdamW().setup(model())
    for wrong, kind, message in (
        (lambda: optimizer.group("*/B", eta=0), ValueError, "no parameter .* '/0/b', |'\\*/B'"),
        (lambda: optimizer.group("0/b", eta=0), ValueError, "Did you mean '/0/b'"),
        (lambda: optimizer.group("*/b", "x"), ValueError, "'x' matches; there are /0/W, /0/b"),
        (lambda: optimizer.group(eta=0), TypeError, "such as '\\*/b', got none"),
        (lambda: optimizer.group(3), TypeError, "such as '\\*/b', got 3"),
        (
            lambda: optimizer.group("*/b", eta=0, weight_decay=0),
            UnknownName,
            r"AdamW.group\('\*/b'\): .*'weight_decay'.*Did you mean weight_decay_rate=",
        ),
        (lambda: optimizer.group("*/b", eta="a"), TypeError, "expected a number for eta"),
    ):
        with pytest.raises(kind, match=message):
            wrong()
    assert optimizer.groups == ()
    assert {p.update_rule.hyperparam.eta for p in optimizer.target.params()} == {1.0}
    group = optimizer.group("*/b")
    with pytest.raises(UnknownName, match="Did you mean 'alpha'"):
        group.alhpa = 0.1
    with pytest.raises(UnknownName, match="no hyper-parameter 'alhpa'"):
        group.alhpa  # noqa: B018
    with pytest.raises(UpdateError, match=r"Call setup\(link\) first"):
        optimizers.SGD().group("*")

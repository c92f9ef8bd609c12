"""Hooks of optimizers and of rules: what they do to gradients, when they are called."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core import optimizer_hooks as hooks
from core import optimizers
from core.errors import HookError
from core.serializers import DictionarySerializer, NpzDeserializer

VALUES = st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=5)


def started(values, gradients, place="numpy", dtype="float64"):
    model = core.Link()
    with model.init_scope():
        for i, value in enumerate(values):
            setattr(model, f"p{i}", core.Parameter(np.array(value, dtype)))
    model.to_device(place)
    for param, g in zip(model.params(), gradients, strict=True):
        param.grad = param.backend.asarray(np.array(g, dtype))
    return optimizers.SGD(lr=1.0).setup(model), model


def hooked(hook, value, grad, place, level, dtype="float64"):
    """The gradient that a hook makes of `grad`."""
    optimizer, model = started([value], [grad], place, dtype)
    (optimizer if level == "optimizer" else model.p0.update_rule).add_hook(hook)
    optimizer.update()
    return core.backend.to_host(model.p0.grad)


both = pytest.mark.parametrize("level", ["optimizer", "rule"])
places = pytest.mark.parametrize("place", ["numpy", "strict"])


@both
@places
@given(values=VALUES, rate=st.floats(0, 2), data=st.data())
def test_hooks_of_single_parameters(level, place, values, rate, data):
    p = np.array(values)
    g = np.array(data.draw(st.lists(st.floats(-9, 9), min_size=len(p), max_size=len(p))))
    decayed = hooked(hooks.WeightDecay(rate), p, g, place, level)
    np.testing.assert_allclose(decayed, g + rate * p)
    lasso = hooked(hooks.Lasso(rate), p, g, place, level)
    np.testing.assert_allclose(lasso, g + rate * np.sign(p))
    clipped = hooked(hooks.GradientHardClipping(-rate, 2 * rate), p, g, place, level)
    np.testing.assert_allclose(clipped, np.clip(g, -rate, 2 * rate))
    clipped = hooked(hooks.GradientValueClipping(rate), p, g, place, level)
    np.testing.assert_allclose(clipped, np.clip(g, -rate, rate))
    scaled = hooked(hooks.GradientLARS(0.1, rate), p, g, place, level)
    size, slope = np.sqrt((p * p).sum()), np.sqrt((g * g).sum())
    factor = size / (1e-9 + slope + rate * size) if size > 0.1 else 1.0
    np.testing.assert_allclose(scaled, factor * (g + rate * p), rtol=1e-6, atol=1e-300)


@both
@places
@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
@pytest.mark.parametrize(
    "hook",
    [
        hooks.WeightDecay(0.5),
        hooks.Lasso(0.5),
        hooks.GradientHardClipping(-1, 1),
        hooks.GradientValueClipping(1),
        hooks.GradientNoise(0.5),
        hooks.GradientLARS(weight_decay=0.5),
    ],
    ids=lambda hook: hook.name,
)
def test_parameters_without_axes_and_without_elements(level, place, shape, hook):
    grad = hooked(hook, np.full(shape, 2.0), np.full(shape, 0.5), place, level, "float32")
    assert grad.shape == shape and grad.dtype == "float32"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("g", [0.0, 1e-6])
def test_small_gradients_are_scaled_by_rates_that_their_dtype_cannot_hold(dtype, g):
    for eps in (0.0, 1e-9):
        hook = hooks.GradientLARS(eps=eps)
        scaled = hooked(hook, np.full(4, 8), np.full(4, g), "numpy", "rule", dtype)
        assert scaled.dtype == dtype
        np.testing.assert_allclose(scaled, np.full(4, 8 * (g > 0)), rtol=2e-3)


@places
@given(values=VALUES, threshold=st.floats(0.01, 20))
def test_clipping_limits_the_norm_of_all_gradients_together(place, values, threshold):
    gradients = [np.array(values), np.array(values[0])]
    optimizer, model = started(gradients, gradients, place)
    optimizer.add_hook(hooks.GradientClipping(threshold))
    optimizer.update()
    norm = np.sqrt(sum((g * g).sum() for g in gradients))
    factor = min(1.0, threshold / norm) if norm else 1.0
    for param, g in zip(model.params(), gradients, strict=True):
        np.testing.assert_allclose(core.backend.to_host(param.grad), g * factor, rtol=1e-12)


@places
@pytest.mark.parametrize("large", [1e15, 3e19, 1e30, 3e38])
@pytest.mark.parametrize("count", [1, 700])
def test_clipping_limits_gradients_whose_squares_overflow(place, large, count):
    optimizer, model = started([np.zeros(count)] * 2, [np.full(count, large)] * 2, place, "float32")
    optimizer.add_hook(hooks.GradientClipping(1.0))
    optimizer.update()
    for param in model.params():
        expected = np.full(count, 1 / np.sqrt(2 * count))
        np.testing.assert_allclose(core.backend.to_host(param.grad), expected, rtol=1e-4)


def test_clipping_leaves_what_is_not_finite():
    optimizer, model = started([[1.0, 1.0]], [[np.inf, 1.0]])
    optimizer.add_hook(hooks.GradientClipping(1.0))
    optimizer.update()
    np.testing.assert_array_equal(model.p0.grad, [np.inf, 1.0])


def test_clipping_makes_no_sense_at_a_rule():
    _, model = started([[1.0]], [[1.0]])
    with pytest.raises(HookError, match="GradientClipping looks at all parameters together"):
        model.p0.update_rule.add_hook(hooks.GradientClipping(1.0))


@both
@places
def test_noise(level, place):
    core.seed(3)
    try:
        grad = hooked(hooks.GradientNoise(0.09), np.zeros(4000), np.zeros(4000), place, level)
    finally:
        core.arrays.random_streams.set_stream_state(None)
    assert abs(grad.mean()) < 0.03
    # The step is counted before the hooks of a rule and after those of an optimizer.
    t = 1 if level == "rule" else 0
    assert grad.std() == pytest.approx(np.sqrt(0.09 / (1 + t) ** 0.55), rel=0.05)


def test_hard_clipping_checks_its_bounds():
    with pytest.raises(ValueError, match="lower_bound <= upper_bound"):
        hooks.GradientHardClipping(1, -1)
    with pytest.raises(ValueError, match=r"ValueClipping: expected threshold in \[0, inf\]"):
        hooks.GradientValueClipping(-1)


def test_what_is_no_number_is_refused_by_name():
    for name in ("WeightDecay", "Lasso", "GradientClipping", "GradientNoise", "GradientLARS"):
        with pytest.raises(TypeError, match=f"{name}: expected a number for [a-z]+, got 'a'"):
            getattr(hooks, name)("a")
    with pytest.raises(ValueError, match="expected a number for upper_bound, got nan"):
        hooks.GradientHardClipping(0.0, float("nan"))


@both
def test_timing(level):
    optimizer, model = started([[1.0]], [[1.0]])
    owner = optimizer if level == "optimizer" else model.p0.update_rule
    seen = []

    def note(name):
        def hook(*args):
            seen.append((name, model.p0.array.tolist()))

        return hook

    class Late:
        name = "late"
        timing = "post"

        def __call__(self, *args):
            seen.append(("late", model.p0.array.tolist()))

    owner.add_hook(Late())
    owner.add_hook(note("a"), name="a")
    owner.add_hook(note("b"), name="b", timing="post")
    owner.add_hook(note("c"), name="c", timing="pre")
    optimizer.update()
    assert seen == [("a", [1.0]), ("c", [1.0]), ("late", [0.0]), ("b", [0.0])]


@both
def test_names(level):
    optimizer, model = started([[1.0]], [[1.0]])
    owner = optimizer if level == "optimizer" else model.p0.update_rule
    owner.add_hook(hooks.WeightDecay(0.1))
    owner.add_hook(hooks.WeightDecay(0.1), name="again")
    with pytest.raises(HookError, match="a hook named 'WeightDecay' is here already"):
        owner.add_hook(hooks.WeightDecay(0.1))
    with pytest.raises(HookError, match="Did you mean 'WeightDecay'"):
        owner.remove_hook("WeigthDecay")
    owner.remove_hook("WeightDecay")
    optimizer.update()
    np.testing.assert_allclose(model.p0.grad, [1.1])
    with pytest.raises(TypeError, match="expected hook to be a function, got int"):
        owner.add_hook(3)
    with pytest.raises(TypeError, match=r"got the class Lasso. Make one of it: Lasso\(...\)"):
        owner.add_hook(hooks.Lasso)
    with pytest.raises(ValueError, match="Did you mean 'post'"):
        owner.add_hook(hooks.Lasso(0.1), timing="psot")
    with pytest.raises(ValueError, match="got 'psot'.*Did you mean 'post'"):
        owner.add_hook(Misstated())
    with pytest.raises(HookError, match="has no name"):
        owner.add_hook(Nameless())


class Misstated(hooks.Lasso):
    timing = "psot"

    def __init__(self):
        super().__init__(0.1)


class Nameless:
    def __call__(self, *args):
        pass


def test_hooks_of_an_optimizer_see_the_optimizer():
    optimizer, _ = started([[1.0]], [[1.0]])
    seen = []
    optimizer.add_hook(seen.append, name="look")
    optimizer.update()
    assert seen == [optimizer]


def test_setup_starts_without_hooks():
    optimizer, model = started([[1.0]], [[1.0]])
    optimizer.add_hook(hooks.WeightDecay(0.1))
    optimizer.setup(model)
    optimizer.add_hook(hooks.WeightDecay(0.1))


def test_per_parameter_hooks_skip_what_takes_no_part():
    optimizer, model = started([[1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0]])
    model.p1.cleargrad()
    model.p2.update_rule.enabled = False
    optimizer.add_hook(hooks.WeightDecay(1.0))
    optimizer.update()
    assert model.p0.grad.tolist() == [2.0] and model.p1.grad is None
    assert model.p2.grad.tolist() == [1.0]


class Counting:
    """A hook with a state, of which it makes use."""

    name = "counting"
    calls = saved = 0

    def __call__(self, *args):
        self.calls += 1
        for param in args[1:] or args[0].target.params():
            param.grad *= 1 / self.calls

    def serialize(self, serializer):
        self.saved += 1
        self.calls = int(serializer("calls", self.calls))


@pytest.mark.parametrize("level", ["optimizer", "group", "rule"])
def test_states_of_hooks_are_saved_with_the_optimizer_wherever_they_are(level):
    """Those of rules and groups were not: resumed trainings began anew with them."""

    def made():
        optimizer, model = started([[1.0], [1.0]], [[1.0], [1.0]])
        owners = {
            "optimizer": optimizer,
            "group": optimizer.group("*"),
            "rule": model.p1.update_rule,
        }
        hook = Counting()
        owners[level].add_hook(hook)
        return optimizer, hook

    def stepped(optimizer):
        for param in optimizer.target.params():
            param.grad = np.ones(1)
        optimizer.update()
        return [param.array.tolist() for param in optimizer.target.params()]

    optimizer, hook = made()
    stepped(optimizer)
    file = DictionarySerializer()
    file.save(optimizer)
    assert hook.saved == 1
    resumed, other = made()
    for param, own in zip(resumed.target.params(), optimizer.target.params(), strict=True):
        param.array = own.array.copy()
    NpzDeserializer(file.target).load(resumed)
    assert other.calls == hook.calls > 0
    assert stepped(resumed) == stepped(optimizer)


def test_hooks_are_where_existing_scripts_look_for_them():
    assert core.optimizer.WeightDecay is hooks.WeightDecay
    assert core.optimizer.exponential_decay_noise is hooks.exponential_decay_noise
    with pytest.raises(AttributeError, match="Did you mean 'Lasso'"):
        core.optimizer.Laso  # noqa: B018


def test_unknown_hooks_get_the_nearest():
    with pytest.raises(AttributeError, match="Did you mean 'WeightDecay'"):
        hooks.WeightDeacy  # noqa: B018

"""16-bit parameters: float32 masters, loss scales, steps that overflow, and exact resume."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core import optimizers, serializers
from core.testing.memory import load, saved

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
X = np.random.default_rng(0).normal(size=(16, 5))
T = (np.abs(X).argmax(1) % 3).astype("int32")
FORMATS = ["npz", "safetensors", "hdf5"]
halves = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])


@pytest.fixture(autouse=True)
def numpy_generator_kept():
    before = np.random.get_state()
    yield
    np.random.set_state(before)


def classifier(dtype):
    np.random.seed(0)
    with core.using_config("dtype", dtype):
        return L.Classifier(core.Sequential(L.Linear(5, 8), F.relu, L.Linear(8, 3)))


def start(dtype, make=lambda: optimizers.Adam(0.02), interval=3):
    model = classifier(dtype)
    optimizer = make()
    optimizer.use_fp32_update()
    optimizer.setup(model)
    if interval:
        optimizer.loss_scaling(interval)
    return optimizer, model


def train(optimizer, model, steps):
    x = X.astype(model.predictor[0].W.dtype)
    losses, last = [], optimizer.t + steps
    while optimizer.t < last:
        optimizer.update(model, x, T)
        losses.append(float(model.loss.array))
    return losses


def bits(model):
    return [param.array.view("uint16").tolist() for param in model.params()]


@halves
@pytest.mark.parametrize("make", [lambda: optimizers.Adam(0.02), lambda: optimizers.SGD(0.3)])
def test_training_from_end_to_end(dtype, make):
    optimizer, model = start(dtype, make)
    losses = train(optimizer, model, 60)
    assert losses[-1] < 0.5 * losses[0]
    assert model.loss.dtype == dtype
    for param in model.params():
        master = param.update_rule._master.array
        assert param.dtype == dtype and param.grad.dtype == dtype and master.dtype == "float32"
        np.testing.assert_array_equal(master.astype(param.dtype), param.array)
        for state in (param.update_rule.state or {}).values():
            assert state.dtype == "float32"
    wide, duplicate = start("float32", make, interval=None)
    for param, narrow in zip(duplicate.params(), classifier(dtype).params(), strict=True):
        param.array = narrow.array.astype("float32")
    assert losses[-1] == pytest.approx(train(wide, duplicate, 60)[-1], abs=0.06)


@halves
@pytest.mark.parametrize("form", FORMATS)
def test_masters_and_loss_scale_resume_exactly(dtype, form, tmp_path):
    save, restore = getattr(serializers, f"save_{form}"), getattr(serializers, f"load_{form}")
    optimizer, model = start(dtype)
    train(optimizer, model, 7)
    save(tmp_path / "model", model)
    save(tmp_path / "optimizer", optimizer)
    fresh, target = start(dtype)
    restore(tmp_path / "model", target)
    restore(tmp_path / "optimizer", fresh)
    for param, duplicate in zip(model.params(), target.params(), strict=True):
        master, other = param.update_rule._master, duplicate.update_rule._master
        np.testing.assert_array_equal(master.array, other.array)
        assert (master.array != param.array.astype("float32")).any() or not master.array.any()
    for one in ((optimizer, model), (fresh, target)):
        train(*one, 7)
    assert bits(model) == bits(target)
    assert fresh.loss_scale == optimizer.loss_scale and fresh.t == optimizer.t
    assert fresh._clean_steps == optimizer._clean_steps


@halves
def test_a_training_resumes_exactly(dtype, tmp_path):
    def updater():
        optimizer, _ = start(dtype)
        examples = list(zip(X.astype(np.dtype(dtype)), T, strict=True))
        iterator = core.iterators.SerialIterator(examples, 5)
        return core.training.updaters.StandardUpdater(iterator, optimizer)

    def run(one, steps):
        for _ in range(steps):
            one.update()

    np.random.seed(1)
    whole = updater()
    run(whole, 6)
    serializers.save_npz(tmp_path / "half", whole)
    state = np.random.get_state()
    run(whole, 6)
    resumed = updater()
    serializers.load_npz(tmp_path / "half", resumed)
    np.random.set_state(state)
    run(resumed, 6)
    one, other = whole.get_optimizer("main"), resumed.get_optimizer("main")
    assert bits(one.target) == bits(other.target) and one.loss_scale == other.loss_scale


def test_bfloat16_is_a_name():
    array = core.Parameter(core.initializers.One("bfloat16"), (2,)).array
    assert array.dtype == BFLOAT16
    assert core.backend.get("numpy").dtype("bfloat16") == BFLOAT16


def test_bfloat16_needs_ml_dtypes(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(core.errors.BackendError, match=r"pip install 'plugrad\[bfloat16\]'"):
        core.backend.get("numpy").dtype("bfloat16")


def test_mixed16_normalizes_in_float32():
    x = np.random.default_rng(0).normal(50, 1, (8, 4, 3, 3)).astype("float16")
    with core.using_config("dtype", core.mixed16):
        links = [L.BatchNormalization(4), L.BatchNormalization(), L.GroupNormalization(2, 4)]
        model = core.Sequential(L.Convolution2D(4, 4, 1), *links)
        optimizer = optimizers.MomentumSGD(0.1)
        optimizer.use_fp32_update()
        optimizer.setup(model)
        optimizer.update(lambda: F.sum(F.cast(model(x) ** 3, "float32")))
    y = model(x)
    assert y.dtype == "float16" == model[0].W.dtype == model[0].W.grad.dtype
    for link in links:
        assert link.gamma.dtype == link.gamma.grad.dtype == "float32"
    assert model[1].avg_mean.dtype == model[2].avg_var.dtype == "float32"
    normalized = model[1](x).array.astype("float64")
    wide = x.astype("float64")
    expected = (wide - wide.mean((0, 2, 3), keepdims=True)) / wide.std((0, 2, 3), keepdims=True)
    gamma, beta = model[1].gamma.array[:, None, None], model[1].beta.array[:, None, None]
    np.testing.assert_allclose(normalized, gamma * expected + beta, atol=3e-3)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        lambda: L.LayerNormalization(3),
        lambda: L.LayerNormalization(use_gamma=False),
        lambda: L.LayerNormalization(3, use_beta=False),
        lambda: L.RMSNormalization(),
        lambda: L.DecorrelatedBatchNormalization(4, 2, eps=1e-2),
    ],
)
def test_mixed16_makes_what_every_normalization_keeps_float32(make, train):
    x = core.Variable(np.random.default_rng(0).normal(size=(8, 4, 3)).astype("float16"))
    with core.using_config("dtype", core.mixed16), core.using_config("train", train):
        link = make()
        y = link(x)
        F.sum(y * y).backward()
    with core.using_config("train", train):
        expected = make()(x.array.astype("float32")).array
    assert y.dtype == x.grad.dtype == "float16"
    np.testing.assert_allclose(y.array, expected, rtol=2e-3, atol=2e-3)
    kept = [p.array for p in link.params()] + [p.grad for p in link.params()]
    kept += [getattr(link, name) for name in ("avg_mean", "avg_projection") if hasattr(link, name)]
    assert kept and all(array.dtype == "float32" for array in kept)


def test_mixed16_takes_parameters_of_layer_normalization_that_are_float16():
    x = np.random.default_rng(0).normal(size=(4, 3)).astype("float16")
    with core.using_config("dtype", core.mixed16):
        link = L.LayerNormalization(3, initial_gamma=core.initializers.Constant(2, "float16"))
        y = link(x)
        F.sum(y).backward()
        plain = L.LayerNormalization(3)(x)
    assert y.dtype == link.gamma.dtype == link.gamma.grad.dtype == "float16"
    assert link.beta.dtype == "float32"
    np.testing.assert_allclose(y.array, 2 * plain.array, atol=3e-3)


def test_masters_follow_to_another_backend(monkeypatch):
    # The other backend at hand has no 16-bit floats: let float64 play their part.
    monkeypatch.setattr(core.optimizer.update_rule, "_SIXTEEN_BIT", ("float64",))

    def run(moved):
        model = core.Link()
        with model.init_scope():
            model.p = core.Parameter(np.array([0.5, -1.5]))
        optimizer = optimizers.MomentumSGD(lr=0.3)
        optimizer.use_fp32_update()
        optimizer.setup(model)
        for number in range(4):
            if number == 2 and moved:
                model.to_device("strict")
            model.p.grad = model.p.backend.asarray(np.array([0.1, 0.2]) * (number + 1))
            optimizer.update()
        return model.p, core.backend.to_host(model.p.update_rule._master.array)

    (there, master), (here, expected) = run(True), run(False)
    assert there.backend.name == "strict"
    np.testing.assert_array_equal(core.backend.to_host(there.array), here.array)
    np.testing.assert_array_equal(master, expected)


# -- steps that overflow ----------------------------------------------------------------------


class Overflowing(core.Link):
    """A float16 parameter whose gradient is the input: it overflows under a large loss scale."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.p = core.Parameter(np.array([0.5, -1.5], "float16"))

    def forward(self, x):
        return F.cast(F.sum(self.p * x), "float32")


def overflowing(scaling, hooks=()):
    model = Overflowing()
    optimizer = optimizers.MomentumSGD(lr=0.1).setup(model)
    optimizer.loss_scaling(**scaling)
    calls = []
    for timing in ("pre", "post"):
        optimizer.add_hook(lambda o, when=timing: calls.append(when), timing, timing)
        model.p.update_rule.add_hook(lambda r, p, when=timing: calls.append(when), timing, timing)
    return optimizer, model, calls


def step(optimizer, model, size):
    """A step with the gradient `size`, which the scale multiplies."""
    optimizer.update(model, np.full(2, size, "float16"))


def test_a_step_that_overflows_changes_nothing():
    optimizer, model, calls = overflowing({"scale": 65536.0})
    before = model.p.array.view("uint16").tolist()
    step(optimizer, model, 2.0)  # 2 * 65536 is more than float16 holds
    assert np.isinf(model.p.grad).all()
    assert model.p.array.view("uint16").tolist() == before
    assert calls == [] and model.p.update_rule.t == model.p.version == 0
    assert optimizer.t == 1 and model.p.update_rule.state is None
    assert optimizer.loss_scale == 65536


@pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered:RuntimeWarning")
@pytest.mark.parametrize("settings", [{}, {"scale": 1024.0}])
def test_steps_that_are_skipped_without_end_are_told_of(settings):
    optimizer, model, _ = overflowing(settings)
    for _ in range(2):
        step(optimizer, model, 1.0)
        for _ in range(19):
            step(optimizer, model, np.inf)
        step(optimizer, model, 1.0)  # a step is made in between
    for _ in range(19):
        step(optimizer, model, np.inf)
    with pytest.warns(UserWarning, match="SGD.update: 20 steps in a row have been skipped"):
        step(optimizer, model, np.nan)
    for _ in range(30):
        step(optimizer, model, np.inf)  # it is told once


def test_the_scale_doubles_until_a_step_overflows_then_after_each_interval():
    optimizer, model, calls = overflowing({"interval": 3})
    optimizer.lr = 0
    scales, steps = [], []
    small, large = 2.0**-4, 2.0**12  # 16 * large is more than float16 holds
    for letter in "ssssLLssLLsss":
        step(optimizer, model, small if letter == "s" else large)
        scales.append(optimizer.loss_scale)
        steps.append(model.p.update_rule.t)
    #                 s  s  s   s   L  L  s   s  L  L  s   s   s
    assert scales == [2, 4, 8, 16, 8, 8, 8, 16, 8, 8, 8, 16, 16]
    assert steps == [1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 11]
    assert optimizer.t == 13
    assert calls == ["pre", "pre", "post", "post"] * 11


def test_the_scale_is_chainers_up_to_the_first_overflow_and_after_each_interval():
    # What Chainer 7.8.1 has after each step, interval 4, with an overflow in steps 5 and 14. It
    # grows by the fourth root of 2 in between, which is not exact.
    recorded = [2, 4, 8, 16, 32, 16, None, None, None, 32, None, None, None, 64, 32]
    recorded += [None, None, None, 64, None, None, None, 128]
    model = core.Link()
    with model.init_scope():
        model.p = core.Parameter(np.ones(1, "f"))
    optimizer = optimizers.Adam().setup(model)
    optimizer.loss_scaling(interval=4)
    for i, scale in enumerate(recorded):
        size = np.float32(np.inf if i in (5, 14) else 1e-3)
        optimizer.update(lambda size=size: F.sum(model.p) * size)
        assert scale is None or optimizer.loss_scale == scale
        skipped = sum(i >= bad for bad in (5, 14))
        assert (optimizer.t, model.p.update_rule.t) == (i + 1, i + 1 - skipped)


def test_the_scale_stays_within_what_float16_holds():
    optimizer, model, _ = overflowing({"interval": 1})
    for _ in range(20):
        step(optimizer, model, 2.0**-10)
    assert optimizer.loss_scale == 32768


def test_the_gradient_that_reaches_the_rule_is_the_true_one():
    plain, scaled = Overflowing(), Overflowing()
    one = optimizers.SGD(lr=0.25).setup(plain)
    other = optimizers.SGD(lr=0.25).setup(scaled)
    other.loss_scaling(scale=1024.0)
    for optimizer, model in ((one, plain), (other, scaled)):
        step(optimizer, model, 2.0**-3)
    assert plain.p.array.tolist() == scaled.p.array.tolist() == [0.5 - 2.0**-5, -1.5 - 2.0**-5]


def test_small_gradients_survive_by_the_scale():
    for scale, expected in ((None, 1.0), (2.0**12, 1.0 - 2.0**-10)):
        model = core.Link()
        with model.init_scope():
            model.p = core.Parameter(np.ones(1, "float16"))
        optimizer = optimizers.SGD(lr=2.0**16).setup(model)
        optimizer.use_fp32_update()
        optimizer.set_loss_scale(scale)
        tiny = np.full(1, 2.0**-13, "float16")  # squared it is 0 in float16
        optimizer.update(lambda m=model, x=tiny: F.cast(F.sum(m.p * x * x), "float32"))
        assert model.p.array[0] == expected


@given(
    st.lists(st.sampled_from([None, "shares", 0.5, 8.0, 1024.0]), min_size=1, max_size=6),
    st.sampled_from([optimizers.SGD, optimizers.Adam]),
)
def test_a_scale_of_ones_own_backward_is_divided_out(scales, make):
    """Steps of a script's own loop, each with a scale or without, some of them in parts."""
    trained = []
    for scaled in (False, True):
        model = core.Link()
        with model.init_scope():
            model.p = core.Parameter(np.array([0.5, -1.5]))
        optimizer = make(0.25).setup(model)
        for scale in scales:
            model.cleargrads()
            if scale == "shares":
                for share in (0.25, 0.75):
                    optimizer.accumulate(share, lambda m=model: F.sum(m.p**2))
            else:
                F.sum(model.p**2).backward(loss_scale=scale if scaled else None)
            optimizer.update()
            optimizer.update()  # once more with the gradient that is there, by now the true one
        trained.append(model.p.array.tolist())
    assert trained[0] == trained[1]


def _drop(model):
    for parameter in model.params():
        parameter.grad = None


@pytest.mark.parametrize("clear", [core.Link.cleargrads, core.Link.zerograds, _drop])
def test_a_scale_goes_with_the_gradients_that_it_was_of(clear):
    model = core.Link()
    with model.init_scope():
        model.p = core.Parameter(np.ones(2))
    optimizer = optimizers.SGD(1.0).setup(model)
    F.sum(model.p**2).backward(loss_scale=1024.0)
    clear(model)
    model.p.grad = np.full(2, 0.25)  # a true gradient of one's own
    optimizer.update()
    assert model.p.array.tolist() == [0.75, 0.75]


@pytest.mark.parametrize("of_rule", [False, True])
def test_a_scale_is_divided_once_out_of_the_gradient_of_a_frozen_parameter(of_rule):
    def freezes(*_):
        model.p.update_rule.enabled = False

    model = core.Link()
    with model.init_scope():
        model.p, model.q = core.Parameter(np.ones(2)), core.Parameter(np.ones(2))
    optimizer = optimizers.SGD(1.0).setup(model)
    (model.p.update_rule if of_rule else optimizer).add_hook(freezes, name="freezes", timing="pre")
    F.sum(model.p / 4 + model.q).backward(loss_scale=1024.0)
    optimizer.update()
    assert model.p.array.tolist() == [1, 1] and model.q.array.tolist() == [0, 0]
    (model.p.update_rule if of_rule else optimizer).remove_hook("freezes")
    model.p.update_rule.enabled = True
    optimizer.update()  # with the gradient that is there
    assert model.p.array.tolist() == [0.75, 0.75] and model.q.array.tolist() == [-1, -1]


def test_a_scale_comes_back_with_the_gradient_of_a_step_that_was_given_up():
    def fails(_):
        model.p.grad = None
        raise RuntimeError("not now")

    model = core.Link()
    with model.init_scope():
        model.p = core.Parameter(np.ones(2))
    optimizer = optimizers.SGD(1.0).setup(model)
    optimizer.add_hook(fails, name="fails")
    F.sum(model.p / 4).backward(loss_scale=1024.0)
    with pytest.raises(RuntimeError, match="not now"):
        optimizer.update()
    optimizer.remove_hook("fails")
    optimizer.update()
    assert model.p.array.tolist() == [0.75, 0.75]


def test_a_scale_of_ones_own_backward_keeps_small_gradients():
    model = core.Link()
    with model.init_scope():
        model.p = core.Parameter(np.ones(1, "float16"))
    optimizer = optimizers.SGD(lr=2.0**16).setup(model)
    optimizer.use_fp32_update()
    tiny = np.full(1, 2.0**-13, "float16")  # squared it is 0 in float16
    F.cast(F.sum(model.p * tiny * tiny), "float32").backward(loss_scale=2.0**12)
    optimizer.update()
    assert model.p.array[0] == 1.0 - 2.0**-10


def test_a_dynamic_scale_is_saved_with_its_count():
    optimizer, model, _ = overflowing({"interval": 3})
    optimizer.lr = 1e-4
    for size in (1.0, 1.0, 1.0, 2.0**13, 1.0, 1.0):
        step(optimizer, model, size)
    fresh, target, _ = overflowing({"interval": 3})
    fresh.lr = 1e-4
    load(fresh, saved(optimizer))
    load(target, saved(model))
    assert fresh.loss_scale == 4.0
    for one in ((optimizer, model), (fresh, target)):
        step(*one, 0.5)
    assert fresh.loss_scale == optimizer.loss_scale == 8.0
    assert model.p.array.tolist() == target.p.array.tolist()


# -- frozen parameters ------------------------------------------------------------------------


def test_a_frozen_parameter_has_no_gradient_keeps_no_input_and_gets_no_state():
    model = core.Sequential(L.Linear(4, 4), L.Linear(4, 2))
    optimizer = optimizers.Adam().setup(model)
    model[1].W.update_rule.enabled = False
    model[1].disable_update()
    x = core.Variable(np.ones((3, 4), "f"))
    hidden = model[0](x)
    loss = F.sum(model[1](hidden))
    assert hidden.node.data is None, "only the frozen weight's gradient would need it"
    loss.backward()
    optimizer.update()
    for param in model[1].params():
        assert param.grad is None and param.update_rule.state is None and param.version == 0
    assert all(param.version == 1 and param.update_rule.state for param in model[0].params())
    assert saved(optimizer)["1/W/m"] is None

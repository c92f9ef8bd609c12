"""Moving averages of weights: against weighted means of all steps, applied, copied and resumed."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import model_of

import core
import core.functions as F
import core.links as L
from core import optimizers
from core.errors import UpdateError
from core.optimizer_hooks import ExponentialMovingAverage
from core.serializers import DictionarySerializer, NpzDeserializer, load_npz, save_npz
from core.testing.memory import load, saved


def arrays(link):
    return {p: core.backend.to_host(v.array).copy() for p, v in link.namedparams(False)}


def step(optimizer, number):
    for i, param in enumerate(optimizer.target.params(False)):
        g = np.random.default_rng([number, i]).normal(size=param.shape)
        param.grad = param.backend.asarray(g.astype(core.backend.to_host(param.array).dtype))
    optimizer.update()


def started(decay=0.9, dtype="float64", place="numpy"):
    model = model_of([1.0, -2.0], [[3.0]], dtype=dtype).to_device(place)
    optimizer = optimizers.Adam(alpha=0.1, eps=1e-3).setup(model)
    ema = ExponentialMovingAverage(decay)
    optimizer.add_hook(ema)
    return optimizer, ema


def another_in(model, shape, place):
    with model.init_scope():
        model.p1 = core.Parameter(np.full(shape, 100.0))
    return model.to_device(place)


@pytest.mark.parametrize("place", ["numpy", "strict"])
@given(
    decay=st.floats(0.01, 1.0) | st.just(1.0),
    steps=st.integers(1, 8),
    replaced=st.integers(0, 9),
    shape=st.sampled_from([(1, 1), (2, 3)]),
)
def test_an_average_is_the_weighted_mean_of_all_steps(place, decay, steps, replaced, shape):
    optimizer, ema = started(decay, place=place)
    path = []
    for number in range(steps):
        if number == replaced:  # by a parameter whose average begins here
            optimizer.setup(another_in(optimizer.target, shape, place)).add_hook(ema)
        if number == replaced + 1:
            before, (optimizer, ema) = optimizer, started(decay, place=place)
            optimizer.setup(another_in(optimizer.target, shape, place)).add_hook(ema)
            load(optimizer.target, saved(before.target))
            load(optimizer, saved(before))
        step(optimizer, number)
        path.append(arrays(optimizer.target))
    weights = [decay ** (steps - 1 - i) for i in range(steps)]
    present = arrays(optimizer.target)
    with ema.applied():
        found = arrays(optimizer.target)
    for name, average in found.items():
        first = replaced if name == "/p1" and replaced < steps else 0
        expected = sum(
            w * one[name] for w, one in list(zip(weights, path, strict=True))[first:]
        ) / sum(weights[first:])
        np.testing.assert_allclose(average, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(arrays(ema.averaged_model())[name], average)
        np.testing.assert_array_equal(arrays(optimizer.target)[name], present[name])


def test_training_goes_on_as_without_averages():
    plain = optimizers.Adam(alpha=0.1, eps=1e-3).setup(model_of([1.0, -2.0], [[3.0]]))
    optimizer, ema = started()
    for number in range(4):
        step(plain, number)
        step(optimizer, number)
        with ema.applied(), ema.applied():
            pass
        with pytest.raises(ZeroDivisionError), ema.applied():
            1 / 0  # noqa: B018
    for name, array in arrays(plain.target).items():
        np.testing.assert_array_equal(arrays(optimizer.target)[name], array)


@pytest.mark.parametrize("masters", [True, False])
def test_averages_of_16_bit_parameters_are_float32(masters):
    optimizer, ema = started(0.999, "float16")
    optimizer.use_fp32_update(masters)
    path = []
    for number in range(50):
        step(optimizer, number)
        path.append(arrays(optimizer.target))
    before = arrays(optimizer.target)
    mean = ema.averaged_model()
    weights = 0.999 ** np.arange(49, -1, -1)
    for name, array in arrays(mean).items():
        exact = np.average([one[name].astype("f8") for one in path], axis=0, weights=weights)
        assert array.dtype == np.float16
        np.testing.assert_allclose(array, exact, rtol=2e-3)
    with ema.applied():
        pass
    duplicate, _ = started(0.999, "float16")
    duplicate.use_fp32_update(masters)
    for number in range(51):
        step(duplicate, number)
    assert all((arrays(optimizer.target)[name] == before[name]).all() for name in before)
    step(optimizer, 50)
    for name, array in arrays(duplicate.target).items():
        np.testing.assert_array_equal(arrays(optimizer.target)[name], array)


def test_a_resumed_run_has_the_same_averages(tmp_path):
    whole, average = started()
    for number in range(6):
        step(whole, number)
    first, ema = started()
    fresh, _ = started()
    load(fresh, saved(first))  # before any step there is nothing
    for number in range(3):
        step(first, number)
    save_npz(tmp_path / "model", first.target)
    save_npz(tmp_path / "optimizer", first)
    resumed, again = started()
    load_npz(tmp_path / "model", resumed.target)
    load_npz(tmp_path / "optimizer", resumed)
    duplicates = [(resumed, again)]
    for duplicate in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        duplicates.append((duplicate, duplicate._hooks.at("post")[0]))
    for optimizer, hook in duplicates:
        for number in range(3, 6):
            step(optimizer, number)
        with average.applied(), hook.applied():
            for name, array in arrays(whole.target).items():
                np.testing.assert_array_equal(arrays(optimizer.target)[name], array)
    plain = optimizers.Adam().setup(model_of([1.0, -2.0], [[3.0]]))
    save_npz(tmp_path / "plain", plain)
    with pytest.warns(UserWarning, match="nothing of these, which stay as they are: hooks/Expo"):
        load_npz(tmp_path / "plain", resumed)
    assert again.t == 6 and ema.t == 3


@given(st.sets(st.sampled_from(["t", "t_", "t__", "since", "W"]), min_size=1))
def test_parameters_may_have_the_names_of_what_is_saved_beside_them(names):
    optimizer, again = (
        optimizers.SGD().setup(core.Link(**dict.fromkeys(sorted(names), (2,)))) for _ in range(2)
    )
    ema, other = ExponentialMovingAverage(0.9), ExponentialMovingAverage(0.9)
    optimizer.add_hook(ema), again.add_hook(other)
    for param in optimizer.target.params():
        param.array[...] = 1
    for number in range(3):
        step(optimizer, number)
    written = DictionarySerializer()
    written.save(optimizer)
    NpzDeserializer(written.target).load(again)
    assert other.t == 3
    averages = arrays(other.averaged_model())
    for path, average in arrays(ema.averaged_model()).items():
        np.testing.assert_array_equal(averages[path], average)


def test_averages_follow_the_model_to_another_device_and_back():
    whole, average = started()
    moved, ema = started()
    for number, place in enumerate(["numpy", "strict", "strict", "numpy"]):
        moved.target.to_device(place)
        step(moved, number)
        step(whole, number)
        mean = ema.averaged_model()
        assert {p.backend.name for p in mean.params()} == {place}
        for name, array in arrays(average.averaged_model()).items():
            np.testing.assert_allclose(arrays(mean)[name], array, rtol=1e-12)


def test_skipped_steps_and_parts_do_not_count():
    optimizer, ema = started()
    optimizer.set_loss_scale(2.0)
    model = optimizer.target
    for factor in (1.0, np.inf, 1.0):
        with np.errstate(all="ignore"):
            optimizer.update(lambda factor=factor: F.sum(model.p0 * factor))
    assert optimizer.t == 3 and ema.t == 2
    for _ in range(4):
        optimizer.accumulate(0.25, lambda: F.sum(model.p0))
    optimizer.update()
    assert ema.t == 3


def test_running_statistics_and_sizes_from_the_first_input():
    model = core.Sequential(L.Linear(None, 2), L.BatchNormalization(2))
    optimizer = optimizers.SGD(lr=0.1).setup(model)
    ema = ExponentialMovingAverage()
    optimizer.add_hook(ema)
    with ema.applied():  # nothing has a size yet
        pass
    x = np.random.default_rng(0).normal(size=(8, 3)).astype("f")
    for _ in range(3):
        optimizer.update(lambda: F.sum(model(x) ** 3))
    mean = ema.averaged_model()
    np.testing.assert_array_equal(mean[1].avg_mean, model[1].avg_mean)
    with core.using_config("train", False):
        expected = mean(x).array
        with ema.applied():
            np.testing.assert_array_equal(model(x).array, expected)
        assert (model(x).array != expected).any()
    assert all(p.update_rule is None and p.grad is None for p in mean.params())


def test_what_makes_no_sense_is_refused():
    for decay in (0, -0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="ExponentialMovingAverage: expected .*decay"):
            ExponentialMovingAverage(decay)
    optimizer, ema = started()
    with pytest.raises(UpdateError, match="it averages another model already"):
        optimizers.SGD().setup(model_of([1.0])).add_hook(ema)
    with pytest.raises(UpdateError, match=r"optimizer.add_hook\(ema\)"):
        ExponentialMovingAverage().averaged_model()
    with (
        pytest.raises(UpdateError, match="a step was made while the averages stood"),
        ema.applied(),
    ):
        step(optimizer, 0)

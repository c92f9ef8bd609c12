"""Gradients accumulated over batches: the step of the whole batch, resumed in its middle."""

import copy
import math
import pickle

import numpy as np
import pytest
import small
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizer_hooks, optimizers, training
from core.errors import UpdateError
from core.serializers import load_npz, save_npz
from core.training import extensions

DATA = np.random.default_rng(3).normal(size=(24, 3))


class Model(core.Chain):
    """A mean over examples, in the dtype in force, without randomness."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 4)
            self.l2 = L.Linear(None, 2)

    def forward(self, x):
        y = self.l2(F.tanh(self.l1(x)))
        loss = F.mean(F.sum((y - 1) ** 2, axis=1))
        core.report({"loss": loss, "share": (F.mean(x), len(x)), "first": str(x[0, 0])}, self)
        return loss


def arrays(link):
    return {path: p.array.copy() for path, p in link.namedparams()}


def started(make=optimizers.Adam, dtype="float64"):
    core.seed(5)
    try:
        with core.using_config("dtype", dtype):
            model = Model()
            model(DATA[:1].astype(dtype))
    finally:
        core.seed(None)
    return make().setup(model)


def updater(optimizer, batch_size, data=DATA, repeat=True, **options):
    batches = iterators.SerialIterator(data, batch_size, repeat=repeat, shuffle=False)
    return training.updaters.StandardUpdater(batches, optimizer, **options)


def assert_near(optimizer, other, rtol=1e-9):
    for path, array in arrays(optimizer.target).items():
        np.testing.assert_allclose(array, arrays(other.target)[path], rtol, 1e-12, err_msg=path)


@pytest.mark.parametrize("scale", [None, 1024.0, "dynamic"])
@pytest.mark.parametrize("name", ["SGD", "Adam", "LAMB"])
@given(parts=st.integers(1, 5), size=st.integers(1, 4))
def test_a_step_is_that_of_the_whole_batch(name, scale, parts, size):
    make = getattr(optimizers, name)
    whole, divided = started(make), started(make)
    for optimizer in (whole, divided):
        optimizer.add_hook(optimizer_hooks.GradientClipping(0.5))
        if scale == "dynamic":
            optimizer.loss_scaling(interval=2)
        else:
            optimizer.set_loss_scale(scale)
    one = updater(whole, parts * size)
    several = updater(divided, size, accumulate=parts)
    for _ in range(3):
        one.update()
        several.update()
        assert divided.t == several.iteration == whole.t
        assert divided.epoch == whole.epoch and divided.loss_scale == whole.loss_scale
        assert several.epoch_detail == one.epoch_detail
        assert several.is_new_epoch == one.is_new_epoch
        assert several.previous_epoch_detail == one.previous_epoch_detail
    assert_near(divided, whole)


def test_float32_agrees_up_to_rounding():
    whole, divided = started(dtype="float32"), started(dtype="float32")
    data = DATA.astype("f")
    updater(whole, 8, data).update()
    updater(divided, 2, data, accumulate=4).update()
    assert_near(divided, whole, 1e-4)


@given(st.integers(1, 24), st.integers(1, 24))
def test_parts_of_different_lengths_count_by_their_examples(size, length):
    parts = math.ceil(length / size)
    whole, divided = started(optimizers.SGD), started(optimizers.SGD)
    updater(whole, length, DATA[:length]).update()
    last = updater(divided, size, DATA[:length], repeat=False, accumulate=parts + 3)
    last.update()
    assert_near(divided, whole)
    with pytest.raises(StopIteration, match="ended after 1 iterations"):
        last.update()


def test_hooks_and_rules_see_one_step():
    optimizer = started()
    calls = []
    optimizer.add_hook(lambda each: calls.append(each.t), name="count")
    several = updater(optimizer, 2, accumulate=3)
    for _ in range(2):
        several.update()
    assert calls == [0, 1] and optimizer.target.l1.W.update_rule.t == 2


def test_what_is_reported_is_the_mean_over_the_parts():
    reporter = core.Reporter()
    whole, divided = started(optimizers.SGD), started(optimizers.SGD)
    seen = []
    for optimizer, size, options in ((whole, 5, {}), (divided, 2, {"accumulate": 3})):
        reporter.add_observer("main", optimizer.target)
        observation = {}
        with reporter.scope(observation):
            updater(optimizer, size, DATA[:5], repeat=False, **options).update()
        seen.append(observation)
    one, several = seen
    assert several["main/loss"] == pytest.approx(float(one["main/loss"].array))
    mean, weight = several["main/share"]
    assert (mean, weight) == (pytest.approx(DATA[:5].mean()), 5)
    assert several["main/first"] == str(DATA[4, 0])
    updater(divided, 2, accumulate=3).update()  # nobody listens


def test_a_part_that_overflows_skips_the_step():
    optimizer = started()
    optimizer.loss_scaling(scale=8.0)
    before = arrays(optimizer.target)
    data = DATA.copy()
    data[3] = np.inf
    with np.errstate(invalid="ignore"):
        updater(optimizer, 2, data, accumulate=4).update()
    assert optimizer.t == 1 and optimizer.target.l1.W.update_rule.t == 0
    for path, array in arrays(optimizer.target).items():
        np.testing.assert_array_equal(array, before[path])


def test_an_error_in_a_part_leaves_nothing_behind():
    optimizer, plain = started(), started()

    def loss(x):
        if x[0, 0] == DATA[4, 0] and armed:
            raise RuntimeError("in the third part")
        return optimizer.target(x)

    armed = True
    several = updater(optimizer, 2, accumulate=3, loss_func=loss)
    with pytest.raises(RuntimeError, match="in the third part"):
        several.update()
    assert all(p.grad is None for p in optimizer.target.params())
    armed = False
    several.update()  # of the next batches
    updater(plain, 6, DATA[6:]).update()
    assert_near(optimizer, plain)


@given(st.integers(0, 2), st.integers(0, 1))
def test_an_error_of_the_dataset_loses_no_batch(batch, within):
    optimizer, plain, failing = started(), started(), [2 * batch + within]

    def example(x):
        if failing and (x == DATA[failing[0]]).all():
            raise OSError("no such file")
        return x

    data = datasets.TransformDataset(DATA, example)
    several, one = updater(optimizer, 2, data, accumulate=3), updater(plain, 6)
    with pytest.raises(OSError, match="no such file"):
        several.update()
    failing.clear()
    for _ in range(3):
        several.update()
        one.update()
        assert several.previous_epoch_detail == one.previous_epoch_detail
        assert several.epoch_detail == one.epoch_detail
    assert_near(optimizer, plain)


def test_what_a_file_is_loaded_over_is_not_gone_on_with(tmp_path):
    optimizer, failing = started(), [2]
    data = datasets.TransformDataset(np.arange(24), lambda i: 1 // (i not in failing) * DATA[i])
    several = updater(optimizer, 2, data, accumulate=3)
    save_npz(tmp_path / "begun", several)
    with pytest.raises(ZeroDivisionError):
        several.update()
    failing.clear()
    load_npz(tmp_path / "begun", several)
    several.update()
    assert several.epoch_detail == 6 / 24


@pytest.mark.parametrize("wrong", [0, -1, 2.0, "2", None])
def test_numbers_of_batches_that_make_no_sense(wrong):
    with pytest.raises(ValueError, match="expected accumulate to be .*, got"):
        updater(started(), 2, accumulate=wrong)


# -- a training -------------------------------------------------------------------------------


def trainer(out, stop=7):
    core.seed(3)
    optimizer = optimizers.Adam(alpha=0.01).setup(small.Model())
    batches = iterators.SerialIterator(small.data(), 4)
    made = training.Trainer(
        training.updaters.StandardUpdater(batches, optimizer, accumulate=3),
        (stop, "iteration"),
        out,
    )
    made.extend(extensions.LogReport(trigger=(1, "epoch"), filename=None))
    made.extend(extensions.snapshot(), trigger=(1, "iteration"))
    return made


def test_resumed_at_every_step(tmp_path):
    whole = trainer(tmp_path)
    whole.run()
    ended = small.state(whole)
    # 12 of 37 examples a step: passes end within the fourth step and the seventh.
    log = whole.get_extension("LogReport").log
    assert [(record["iteration"], record["epoch"]) for record in log] == [(4, 1), (7, 2)]
    assert whole.updater.get_optimizer("main").epoch == 2
    for step in range(1, 7):
        resumed = trainer(tmp_path / "resumed")
        load_npz(tmp_path / f"snapshot_iter_{step}", resumed)
        resumed.run()
        assert small.state(resumed) == ended


# -- a loop of one's own ----------------------------------------------------------------------


def run(optimizer, parts):
    """Steps of three parts each, of the parts with the given numbers."""
    for i in parts:
        optimizer.accumulate(1 / 3, optimizer.target, DATA[2 * i : 2 * i + 2])
        if i % 3 == 2:
            optimizer.update()


@given(st.integers(0, 9))
def test_saved_in_the_middle_of_a_step_a_run_ends_with_the_same_bits(tmp_path_factory, stop):
    whole = started()
    run(whole, range(9))
    first = started()
    run(first, range(stop))
    path = tmp_path_factory.mktemp("saved")
    save_npz(path / "model", first.target)
    save_npz(path / "optimizer", first)
    resumed = started()
    run(resumed, range(1))  # whose part is forgotten
    load_npz(path / "model", resumed.target)
    load_npz(path / "optimizer", resumed)
    for duplicate in (resumed, copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        run(duplicate, range(stop, 9))
        for name, array in arrays(duplicate.target).items():
            np.testing.assert_array_equal(array, arrays(whole.target)[name])


def test_a_file_that_cannot_be_loaded_leaves_what_was_accumulated(tmp_path):
    optimizer, plain = started(), started()
    save_npz(tmp_path / "other", optimizers.SGD().setup(Model()))
    run(optimizer, range(2))
    with pytest.raises(core.errors.CheckpointError):
        load_npz(tmp_path / "other", optimizer)
    run(optimizer, range(2, 3))
    run(plain, range(3))
    for name, array in arrays(optimizer.target).items():
        np.testing.assert_array_equal(array, arrays(plain.target)[name])


def test_zeros_are_accumulated_to_where_gradients_are_not_cleared():
    optimizer = started(optimizers.SGD)
    optimizer.use_cleargrads(False)
    optimizer.target.l2.W.grad = np.full((2, 4), np.nan)
    optimizer.accumulate(0.5, lambda: F.sum(optimizer.target.l1.W))
    optimizer.accumulate(0.5, lambda: F.sum(optimizer.target.l1.W))
    assert (optimizer.target.l1.W.grad == 1).all() and (optimizer.target.l2.W.grad == 0).all()


def test_the_loss_scale_does_not_change_between_parts():
    optimizer = started(optimizers.SGD)
    optimizer.set_loss_scale(4)
    run(optimizer, range(2))
    for change in (lambda: optimizer.set_loss_scale(None), optimizer.loss_scaling):
        with pytest.raises(UpdateError, match="of 2 parts .* with the loss scale 4"):
            change()
    optimizer.set_loss_scale(4)
    optimizer.drop_accumulated()
    optimizer.loss_scaling()
    assert optimizer.loss_scale == 1


@given(st.sampled_from([None, 0.25, 4, 64]), st.sampled_from([None, 0.25, 4, 64]))
def test_a_run_that_resumes_with_another_loss_scale_has_the_same_gradients(
    tmp_path_factory, before, after
):
    optimizer, resumed, plain = (started(optimizers.SGD) for _ in range(3))
    optimizer.set_loss_scale(before)
    run(optimizer, range(2))
    path = tmp_path_factory.mktemp("saved") / "optimizer"
    save_npz(path, optimizer)
    resumed.set_loss_scale(after)
    load_npz(path, resumed)
    run(resumed, [2])
    run(plain, range(3))
    assert_near(resumed, plain)


def test_what_accumulate_refuses():
    optimizer = started(optimizers.SGD)
    model = optimizer.target
    for share in (0, -0.5, math.inf):
        with pytest.raises(ValueError, match=r"SGD.accumulate: expected a positive share .*, got"):
            optimizer.accumulate(share, model, DATA)
    with pytest.raises(ValueError, match="expected a number for the share, got nan"):
        optimizer.accumulate(math.nan, model, DATA)
    with pytest.raises(TypeError, match="expected a number for the share"):
        optimizer.accumulate("a", model, DATA)
    with pytest.raises(UpdateError, match=r"SGD.accumulate: expected a function .* got Variable"):
        optimizer.accumulate(0.5, model(DATA))
    with pytest.raises(UpdateError, match=r"accumulate: expected the loss function .* got float"):
        optimizer.accumulate(0.5, lambda: 1.0)
    optimizer.accumulate(0.5, model, DATA)
    with pytest.raises(UpdateError, match="gradients of 1 parts have been accumulated"):
        optimizer.update(model, DATA)
    optimizer.drop_accumulated()
    optimizer.update(model, DATA)
    with pytest.raises(UpdateError, match=r"Call setup\(link\) first"):
        optimizers.SGD().accumulate(0.5, model, DATA)

"""Updaters: what they take, what they call the loss with, and what a trainer asks of them."""

import copy
import pickle
import warnings
import weakref

import numpy as np
import pytest
import small

import core
import core.links as L
from core import iterators, optimizers, training
from core.training import extensions


def test_what_is_no_updater_is_refused_with_what_is_expected(tmp_path):
    optimizer = core.optimizers.SGD()
    iterator = core.iterators.SerialIterator([0], 1)
    for wrong in (optimizer, iterator, None, small.Model):
        with pytest.raises(TypeError, match=r"expected an updater, such as .*has no "):
            training.Trainer(wrong, (1, "epoch"), tmp_path)
    make = training.updaters.StandardUpdater
    with pytest.raises(ValueError, match=r"'main' has not. Call optimizer.setup"):
        make(iterator, optimizer)
    optimizer.setup(small.Model())
    for wrong in ([0], small.data(), optimizer):
        with pytest.raises(TypeError, match=r"expected an iterator, such as .* for 'main'; got"):
            make(wrong, optimizer)
    with pytest.raises(TypeError, match=r"expected an optimizer, such as .* for 'dis'; got Model"):
        make(iterator, {"main": optimizer, "dis": small.Model()})


class Counting(training.Updater):
    """An updater that only counts, and has nothing to save."""

    def __init__(self):
        self.optimizer = core.optimizers.SGD().setup(small.Model())

    def update(self):
        self.iteration += 1

    def get_all_optimizers(self):
        return {"main": self.optimizer}


def test_an_updater_needs_serialize_for_snapshots_alone(tmp_path):
    made = training.Trainer(Counting(), (3, "iteration"), tmp_path)
    made.run()
    assert made.updater.iteration == 3
    made = training.Trainer(Counting(), (3, "iteration"), tmp_path / "other")
    made.extend(extensions.snapshot(), trigger=(1, "iteration"))
    with pytest.raises(NotImplementedError, match=r"Counting: expected a method serialize\("):
        made.run()


def test_data_that_end_are_told_with_the_cure(tmp_path):
    iterator = core.iterators.SerialIterator(small.data(), 8, repeat=False)
    optimizer = core.optimizers.SGD().setup(small.Model())
    made = training.Trainer(training.StandardUpdater(iterator, optimizer), (9, "epoch"), tmp_path)
    with pytest.raises(StopIteration, match="after 5 iterations. Make it with repeat=True"):
        made.run()


def test_losses_get_plain_arrays_tuples_dicts_and_functions(tmp_path):
    seen = []

    def loss(*args, **kwargs):
        seen.append((args, kwargs))
        return core.functions.sum(model.l1.W)

    model = small.Model()
    for convert in (
        lambda batch, device: (1, 2),
        lambda batch, device: {"x": 1},
        lambda batch, device: [1, 2],
    ):
        optimizer = core.optimizers.SGD().setup(model)
        iterator = core.iterators.SerialIterator([0], 1)
        training.StandardUpdater(iterator, optimizer, convert, loss_func=loss).update()
    assert seen == [((1, 2), {}), ((), {"x": 1}), (([1, 2],), {})]


def test_the_updater_tells_the_optimizer_of_epochs():
    updater = small.updater(batch_size=small.LENGTH)
    updater.update()
    assert (updater.get_optimizer("main").epoch, updater.epoch, updater.iteration) == (1, 1, 1)
    assert updater.is_new_epoch and updater.previous_epoch_detail == 0
    with pytest.raises(KeyError, match="Did you mean 'main'"):
        updater.get_optimizer("mian")


@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("batch_size", [2, 4, 5, 9])
def test_an_optimizer_counts_all_passes_that_one_update_completes(batch_size, accumulate):
    optimizer = optimizers.SGD().setup(L.Classifier(L.Linear(4, 3)))
    batches = iterators.SerialIterator(small.data()[:4], batch_size)
    updater = training.StandardUpdater(batches, optimizer, accumulate=accumulate)
    for _ in range(5):
        updater.update()
        assert optimizer.epoch == updater.epoch


class WithoutPreviousEpochs(iterators.SerialIterator):
    """As Chainer's examples have iterators of their own."""

    @property
    def previous_epoch_detail(self):
        raise AttributeError


def test_an_optimizer_counts_passes_of_an_iterator_that_says_only_that_one_is_over():
    optimizer = optimizers.SGD().setup(L.Classifier(L.Linear(4, 3)))
    updater = training.StandardUpdater(WithoutPreviousEpochs(small.data()[:4], 2), optimizer)
    for _ in range(7):
        updater.update()
        assert optimizer.epoch == updater.epoch


def test_the_updaters_graph_is_gone_after_the_update():
    updater, graphs = small.updater(), []
    model = updater.get_optimizer("main").target

    def loss(x, t):
        y = model(x, t)
        graphs.append(weakref.ref(y.creator))
        return y

    updater.loss_func = loss
    updater.update()
    assert graphs[0]() is None


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_copy_of_an_updater_that_replays_its_steps_trains_its_own_model(copied, accumulate):
    """What replays is a function of the optimizer that it was made for."""
    model = L.Classifier(L.Linear(4, 3))
    batches = iterators.SerialIterator(small.data(), 8, shuffle=False)
    updater = training.StandardUpdater(
        batches, optimizers.Adam().setup(model), accumulate=accumulate, capture=True
    )
    for _ in range(4):
        updater.update()
    other = copied(updater)
    before = model.predictor.W.array.copy()
    for _ in range(4):
        other.update()
    np.testing.assert_array_equal(model.predictor.W.array, before)
    for _ in range(4):
        updater.update()
    trained = other.get_optimizer("main").target.predictor.W.array
    np.testing.assert_array_equal(trained, model.predictor.W.array)
    assert other.captured.replayed and other.captured is not updater.captured


@pytest.mark.parametrize("accumulate", [1, 2])
def test_an_iterator_may_count_no_epochs(tmp_path, accumulate):
    class Batches(core.dataset.Iterator):
        def __next__(self):
            return small.data()[:4]

    def made(stop):
        optimizer = optimizers.SGD().setup(small.Model())
        updater = training.updaters.StandardUpdater(Batches(), optimizer, accumulate=accumulate)
        return training.Trainer(updater, stop, tmp_path)

    trained = made((3, "iteration"))
    trained.extend(extensions.LogReport(trigger=(1, "iteration")))
    trained.extend(extensions.snapshot(), trigger=(3, "iteration"))
    trained.run()
    assert [each["iteration"] for each in trained.get_extension("LogReport").log] == [1, 2, 3]
    with pytest.raises(AttributeError, match=r"Batches has no epoch_detail.*\(100, 'iteration'\)"):
        made((1, "epoch")).run()


class Own(training.StandardUpdater):
    """An updater whose step is one of its own."""

    def update_core(self):
        optimizer = self.get_optimizer("main")
        optimizer.update(optimizer.target, *self.converter(self.next_batch()))


class Around(training.StandardUpdater):
    """An updater that does something around the usual step."""

    def update_core(self):
        super().update_core()


@pytest.mark.parametrize("settings", [{}, {"capture": True}, {"accumulate": 2}])
@pytest.mark.parametrize("kind", [training.StandardUpdater, Around, Own])
def test_settings_that_a_step_of_ones_own_does_not_follow_are_told_once(kind, settings):
    optimizer = core.optimizers.SGD().setup(small.Model())
    updater = kind(core.iterators.SerialIterator(small.data(), 8), optimizer, **settings)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        updater.update()
        updater.update()
    assert len(told) == (kind is Own and bool(settings))
    for each in told:
        assert "have no effect, for its update_core is one of its own" in str(each.message)

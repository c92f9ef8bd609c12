"""What an evaluation says of models that it has no means of."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import iterators
from core.training import extensions

DATA = [(np.full(3, i, "f"), np.int32(i % 2)) for i in range(5)]
CALLS = "Evaluator calls {} with the 2 parts of a batch, and takes means of what that reports"


def evaluator(target, data=DATA, **options):
    batches = iterators.SerialIterator(data, 2, repeat=False, shuffle=False)
    return extensions.Evaluator(batches, target, **options)


class Silent(core.Chain):
    def __init__(self):
        super().__init__(predictor=L.Linear(3, 2))

    def forward(self, x, t):
        return F.softmax_cross_entropy(self.predictor(x), t)


@pytest.mark.parametrize("capture", [False, True])
def test_a_model_that_reports_nothing_is_told_once(capture):
    silent = evaluator(Silent(), capture=capture)
    with pytest.warns(UserWarning, match=CALLS.format("Silent")):
        assert silent() == {}
    assert silent() == {}


@pytest.mark.parametrize("target", [None, len, L.Classifier, {"main": 3}])
def test_a_target_that_is_no_link_is_refused(target):
    batches = iterators.SerialIterator([1, 2], 2, repeat=False)
    with pytest.raises(TypeError, match="expected a link.* as the target 'main'; got .*eval_func"):
        extensions.Evaluator(batches, target)


def test_an_evaluation_of_no_examples_is_not_told():
    class Empty(iterators.SerialIterator):
        def __next__(self):
            raise StopIteration

    batches = Empty(DATA, 2, repeat=False)
    assert extensions.Evaluator(batches, Silent())() == {}


class Mean(core.Chain):
    def forward(self, x, t):
        core.report({"x": x.mean()}, self)


@pytest.mark.parametrize("kind", [tuple, dict])
def test_batches_that_are_arrays_already_count_by_their_examples(kind):
    """Both parts of an accumulated step, and of an evaluation, as one of a list of examples."""

    class Joined(iterators.SerialIterator):
        def __next__(self):
            x, t = core.dataset.concat_examples(super().__next__())
            return (x, t) if kind is tuple else {"x": x, "t": t}

    def as_it_is(batch, device):
        return batch

    batches = Joined(DATA, 2, repeat=False, shuffle=False)
    assert extensions.Evaluator(batches, Mean(), as_it_is)() == {"main/x": 2.0}

    def trained(batches, **options):
        model = L.Classifier(L.Linear(3, 2, initialW=np.eye(2, 3, dtype="f")))
        optimizer = core.optimizers.SGD(1).setup(model)
        updater = core.training.updaters.StandardUpdater(
            batches, optimizer, loss_func=lambda x, t: model(x, t), accumulate=3, **options
        )
        updater.update()
        return model.predictor.W.array

    plain = trained(iterators.SerialIterator(DATA, 2, repeat=False, shuffle=False))
    joined = trained(Joined(DATA, 2, repeat=False, shuffle=False), converter=as_it_is)
    np.testing.assert_array_equal(joined, plain)


@pytest.mark.parametrize("model", [L.Linear(3, 2), core.Sequential(L.Linear(3, 2))])
def test_a_model_that_gives_predictions_is_told_of_classifier(model):
    with pytest.raises(TypeError) as caught:
        evaluator(model)()
    assert any(
        note.startswith(CALLS.format(type(model).__name__)) for note in caught.value.__notes__
    )
    assert evaluator(L.Classifier(model))().keys() == {"main/loss", "main/accuracy"}


def test_ill_fitting_arrays_say_enough_by_themselves():
    wrong = [(x.astype("d"), t) for x, t in DATA]
    with pytest.raises(core.errors.InvalidType) as caught:
        evaluator(L.Classifier(L.Linear(3, 2)), wrong)()
    assert not any(note.startswith("Evaluator") for note in getattr(caught.value, "__notes__", []))


def test_what_a_dataset_draws_goes_on_where_a_run_was_saved():
    def made():
        batches = iterators.MultiprocessIterator(DATA, 2, repeat=False, n_processes=1)
        return extensions.Evaluator(batches, L.Classifier(L.Linear(3, 2)))

    held_out = made()
    for _ in range(3):
        held_out.get_iterator("main").reset()
    serializer = core.serializers.DictionarySerializer()
    serializer.save(held_out)
    resumed = made()
    core.serializers.NpzDeserializer(serializer.target).load(resumed)
    assert resumed.get_iterator("main").resets == 3

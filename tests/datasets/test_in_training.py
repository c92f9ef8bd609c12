"""What datasets and converters are for: training."""

import numpy as np

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training
from core.dataset import ConcatWithAsyncTransfer, concat_examples


def test_a_language_model_learns_from_the_topics():
    train, valid, _ = datasets.get_topics_characters()
    size = len(datasets.get_topics_characters_vocabulary())
    core.seed(0)
    try:
        model = L.EmbedID(size, size, initialW=np.zeros((size, size), "f"))  # bigrams
        optimizer = optimizers.Adam(alpha=0.1).setup(model)
        iterator = iterators.SerialIterator(datasets.TupleDataset(train[:-1], train[1:]), 1000)
        for _ in range(40):
            given, following = concat_examples(iterator.next())
            optimizer.update(lambda x, t: F.softmax_cross_entropy(model(x), t), given, following)
    finally:
        core.seed(None)
    with core.no_backprop_mode():
        loss = float(F.softmax_cross_entropy(model(valid[:-1]), valid[1:]).array)
    share = np.bincount(train, minlength=size) / len(train)
    unigrams = -float(np.sum(share * np.log(np.where(share > 0, share, 1))))
    assert loss < 0.85 * unigrams


def test_a_transfer_trains_as_concat_examples_does():
    def trained(converter):
        core.seed(3)
        try:
            train, _ = datasets.get_digits()
            model = L.Classifier(L.Linear(64, 10))
            optimizer = optimizers.SGD(0.1).setup(model)
            updater = training.updaters.StandardUpdater(
                iterators.SerialIterator(train, 50), optimizer, converter=converter
            )
            for _ in range(5):
                updater.update()
            return model.predictor.W.array
        finally:
            core.seed(None)

    np.testing.assert_array_equal(trained(concat_examples), trained(ConcatWithAsyncTransfer()))

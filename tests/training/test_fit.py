"""Training in one line: what a trainer put together by hand gives."""

from __future__ import annotations

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, training
from core.training import extensions

X = np.linspace(-1, 1, 24, dtype="f")[:, None]
PAIRS = datasets.TupleDataset(X, X**2)


def network():
    core.seed(3)
    return core.Sequential(L.Linear(1, 8), F.tanh, L.Linear(8, 1))


@pytest.fixture(autouse=True)
def unseeded():
    yield
    core.seed(None)


def weights(model):
    return [p.array.copy() for _, p in sorted(model.namedparams())]


def by_hand(out, epochs):
    model = network()

    def loss(x, t):
        value = F.mean_squared_error(model(x), t)
        core.report({"loss": value}, model)
        return value

    updater = training.updaters.StandardUpdater(
        iterators.SerialIterator(PAIRS, 5), optimizers.Adam().setup(model), loss_func=loss
    )
    trainer = training.Trainer(updater, (epochs, "epoch"), out)
    held_out = iterators.SerialIterator(PAIRS, 5, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(held_out, model, eval_func=loss))
    trainer.extend(extensions.LogReport())
    trainer.run()
    return model, trainer


def fitted(out, epochs, **settings):
    model = network()
    settings = {"loss": F.mean_squared_error, "batch_size": 5, "show": False} | settings
    return model, training.fit(model, (X, X**2), epochs, validation=PAIRS, out=out, **settings)


def test_it_is_the_trainer_made_by_hand(tmp_path):
    expected, reference = by_hand(tmp_path / "hand", 3)
    model, trainer = fitted(tmp_path / "fit", 3)
    for mine, theirs in zip(weights(model), weights(expected), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for mine, theirs in zip(
        trainer.get_extension("LogReport").log,
        reference.get_extension("LogReport").log,
        strict=True,
    ):
        for name in ("main/loss", "validation/main/loss"):
            assert mine[name] == theirs[name]


def test_a_resumed_run_is_the_whole_run(tmp_path):
    expected, _ = fitted(tmp_path / "whole", 4)
    fitted(tmp_path / "parts", 2)
    model, trainer = fitted(tmp_path / "parts", 4, resume=True)
    for mine, theirs in zip(weights(model), weights(expected), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert trainer.updater.epoch == 4


def test_optimizers_by_name_or_as_they_are(tmp_path):
    _, trainer = fitted(tmp_path / "a", 1, optimizer="SGD")
    assert type(trainer.updater.get_optimizer("main")) is optimizers.SGD
    mine = optimizers.MomentumSGD(0.1)
    _, trainer = fitted(tmp_path / "b", 1, optimizer=mine)
    assert trainer.updater.get_optimizer("main") is mine
    with pytest.raises(ValueError, match="got 'adam'. Did you mean 'Adam'"):
        fitted(tmp_path / "c", 1, optimizer="adam")
    assert not (tmp_path / "c").exists()


def test_a_classifier_shows_its_accuracy(tmp_path, capsys):
    model = L.Classifier(L.Linear(1, 2))
    labels = (X[:, 0] > 0).astype("i")
    training.fit(model, (X, labels), 2, validation=(X, labels), out=tmp_path)
    head = capsys.readouterr().out.splitlines()[0].split()
    assert head == [
        "epoch",
        "main/loss",
        "validation/main/loss",
        "main/accuracy",
        "validation/main/accuracy",
        "elapsed_time",
    ]


def test_iterators_are_taken_as_they_are(tmp_path):
    batches = iterators.SerialIterator(PAIRS, 24)
    _, trainer = fitted(tmp_path / "a", 2)
    assert trainer.updater.iteration == 10
    model = network()
    trainer = training.fit(
        model, batches, 2, loss=F.mean_squared_error, out=tmp_path / "b", show=False
    )
    assert trainer.updater.iteration == 2


@pytest.mark.parametrize("n", [1, 5, 23, 24, 25, 1000])
def test_a_pass_over_few_examples_is_a_step_of_them_all(n, tmp_path):
    _, trainer = fitted(tmp_path, 3, batch_size=n)
    updates = -(-3 * len(X) // min(n, len(X)))
    assert (trainer.updater.iteration, trainer.updater.epoch) == (updates, 3)


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"epochs to be a whole number in \[1, inf\), got int 0"):
        fitted(tmp_path, 0)
    with pytest.raises(TypeError, match=r"whole number .* got float 2.5; round it"):
        fitted(tmp_path, 2.5)  # of the last half nothing would be logged, evaluated or saved
    with pytest.raises(TypeError, match="got 1 array in a batch"):
        training.fit(network(), (X,), 1, loss=F.mean_squared_error, out=tmp_path, show=False)
    with pytest.raises(ValueError, match="batch_size"):
        fitted(tmp_path, 1, batch_size=0)
    with pytest.raises(TypeError, match=r"got the class Adam: give Adam\(\)"):
        fitted(tmp_path, 1, optimizer=optimizers.Adam)
    with pytest.raises(TypeError, match="got 0.2. Set a part of .*split_dataset_random"):
        training.fit(network(), (X, X), 1, validation=0.2, out=tmp_path, show=False)
    with pytest.raises(TypeError, match="Classifier, which computes one itself: leave loss out"):
        training.fit(L.Classifier(network()), (X, X), 1, loss=F.mean_squared_error, out=tmp_path)
    with pytest.raises(core.errors.InvalidSetting, match="epochs .* or one of a tuple"):
        training.fit(network(), X, X)


def test_dicts_beside_a_loss_are_told_how_to_be_tuples(tmp_path):
    table = datasets.from_data({"x": X, "t": X**2})
    settings = {"loss": F.mean_squared_error, "out": tmp_path, "show": False}
    with pytest.raises(TypeError, match=r"got dicts of 'x', 't'\. Make tuples") as caught:
        training.fit(network(), table, 1, **settings)
    cure = str(caught.value).partition("of them: ")[2].rstrip(".")
    pairs = eval(cure, {"datasets": datasets, "data": table})
    assert training.fit(network(), pairs, 1, **settings).updater.iteration == 1


@pytest.mark.parametrize(
    "data", [(np.ones((4, 3), "f"), np.zeros(4, "i")), (np.ones((4, 3), "f"),)]
)
@pytest.mark.parametrize("size", [3, None])
def test_a_model_that_gives_predictions_is_told_from_a_loss(size, data, tmp_path):
    """It is called with the labels, or gives no single number."""
    data = datasets.TupleDataset(*data) if len(data) == 2 else data[0]
    with pytest.raises((TypeError, core.errors.GraphError)) as caught:
        training.fit(L.Linear(size, 2), data, epochs=1, out=tmp_path)
    assert "calls Linear with the" in caught.value.__notes__[-1]
    assert "train L.Classifier(model)" in caught.value.__notes__[-1]


def test_examples_of_several_lengths_are_joined_by_a_converter(tmp_path):
    class Means(core.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.out = L.Linear(1, 2)

        def forward(self, xs, t):
            y = self.out(F.stack([F.mean(x, axis=0) for x in xs]))
            loss = F.softmax_cross_entropy(y, t)
            core.report({"loss": loss}, self)
            return loss

    def listed(batch, device=None):
        return [x for x, _ in batch], np.array([t for _, t in batch])

    examples = [(X[: 1 + i % 3], i % 2) for i in range(12)]
    settings = {"batch_size": 4, "show": False, "validation": examples}
    with pytest.raises(ValueError, match="shape"):
        training.fit(Means(), examples, 1, out=tmp_path / "joined", **settings)
    trainer = training.fit(
        Means(), examples, 2, converter=listed, out=tmp_path / "listed", **settings
    )
    log = trainer.get_extension("LogReport").log
    assert trainer.updater.iteration == 6 and "validation/main/loss" in log[-1]

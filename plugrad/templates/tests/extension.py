import core.links as L
import numpy as np
from core import training
from core.training import extensions


def test_it_reports_in_each_iteration(tmp_path):
    model = L.Classifier(L.Linear(2, 2))
    data = (np.ones((4, 2), "f"), np.zeros(4, "i"))
    trainer = training.fit(model, data, 1, batch_size=2, out=tmp_path, show=False)
    extension = extensions.Thing()
    trainer.observation = {}
    with trainer.reporter.scope(trainer.observation):
        extension(trainer)
    assert trainer.observation["norm"] > 0

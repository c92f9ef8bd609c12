import core.links as L
import numpy as np
from core import serializers


def test_what_is_saved_is_loaded(tmp_path):
    saved, loaded = L.Linear(3, 2), L.Linear(3, 2)
    serializers.save_thing(tmp_path / "model.json", saved)
    serializers.load_thing(tmp_path / "model.json", loaded)
    np.testing.assert_array_equal(saved.W.array, loaded.W.array)

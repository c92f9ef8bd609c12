"""core.summary: the table of a model, and that looking at a model leaves it as it is."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.arrays import backend
from core.show.summary import readable


def model():
    return core.Sequential(
        L.Convolution2D(None, 4, 3, nobias=True), L.BatchNormalization(4), F.relu, L.Linear(None, 2)
    )


X = np.zeros((2, 3, 5, 5), "f")


def test_table():
    assert str(core.summary(L.Classifier(L.Linear(3, 2)))) == "\n".join(
        [
            "path        link                           parameters  bytes",
            "────────────────────────────────────────────────────────────",
            "/           Classifier",
            "/predictor  Linear(in_size=3, out_size=2)           8   32 B",
            "────────────────────────────────────────────────────────────",
            "8 parameters, 32 B",
        ]
    )


def test_outputs_and_sizes_of_a_call():
    found = core.summary(model(), X)
    assert [(row.path, row.output, row.parameters, row.bytes) for row in found.rows] == [
        ("/", "(2, 2) float32", 0, 0),
        ("/0", "(2, 4, 3, 3) float32", 108, 432),
        ("/1", "(2, 4, 3, 3) float32", 8, 32),
        ("/2", "(2, 2) float32", 74, 296),
    ]
    assert (found.parameters, found.bytes, found.unsized) == (190, 760, 0)
    assert found.persistent_bytes == 32
    assert str(found).endswith("190 parameters, 760 B, persistent values 32 B")


def test_without_a_call_sizes_may_be_unknown():
    found = core.summary(model())
    assert found.unsized == 2 and [row.unsized for row in found.rows] == [0, 1, 0, 1]
    assert "10 parameters + 2 unsized" in str(found) and " 2 + ?" in str(found)
    assert "output" not in str(found)


def test_the_model_stays_as_it_is():
    link, lstm = model(), L.LSTM(3, 2)
    state = backend.random_state()
    core.summary(link, X)
    core.summary(lstm, X[0, 0, :, :3])
    assert not link[0].W.is_initialized and not link[3].W.is_initialized
    assert link[1].N == 0 and lstm.h is None
    assert backend.random_state() == state
    assert core.config.train and core.get_function_hooks() == {}


def test_a_call_that_fails_leaves_all_as_it_was():
    link = core.Sequential(L.Linear(None, 4), L.Linear(5, 2))
    state = backend.random_state()
    with pytest.raises(core.type_check.InvalidType):
        core.summary(link, X)
    assert not link[0].W.is_initialized and backend.random_state() == state


@pytest.mark.parametrize(("depth", "paths"), [(0, ["/"]), (1, ["/", "/0", "/1"]), (None, None)])
def test_depth(depth, paths):
    link = core.Sequential(core.Sequential(L.Linear(2, 2), L.Linear(2, 2)), L.Linear(2, 1))
    found = core.summary(link, depth=depth)
    assert sum(row.parameters for row in found.rows) == found.parameters == 15
    assert paths is None or [row.path for row in found.rows] == paths


def test_shared_and_frozen_parameters():
    link = core.Chain(one=L.Linear(2, 2), two=L.Linear(2, 2))
    link.two.W = link.one.W
    link.one.disable_update()
    assert repr(link.one).count(" frozen") == 2
    found = core.summary(link)
    assert [row.parameters for row in found.rows] == [0, 6, 2]
    assert found.parameters == 8 and found.frozen == 6
    assert str(found).endswith("8 parameters (6 frozen), 32 B")


def test_a_link_called_twice_and_several_outputs():
    class Twice(core.Chain):
        def forward(self, x):
            h = self.layer(self.layer(x))
            return {"h": h, "all": [h, (x, None), "text", x]}

    found = core.summary(Twice(layer=L.Linear(2, 2)), np.zeros((1, 2), "f"))
    shape = "(1, 2) float32"
    assert found.rows[0].output == f"{shape}, {shape}, {shape}, … 4 in all"
    assert found.rows[1].output == f"{shape} ×2"


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_bytes_by_dtype(dtype):
    with core.using_config("dtype", dtype):
        assert core.summary(L.Linear(3, 2)).bytes == 8 * np.dtype(dtype).itemsize


def test_other_backends():
    x = backend.get("strict").asarray(X)
    found = core.summary(model().to_device("strict"), x)
    assert found.rows[-1].output == "(2, 2) float32" and found.bytes == 760


def test_in_notebooks():
    text = core.summary(model(), X)._repr_html_()
    assert "<table>" in text and "/1" in text and "190 parameters" in text


def test_readable_sizes():
    sizes = [0, 999, 1000, 2_500_000, 3 * 10**9, 5 * 10**12]
    assert [readable(n) for n in sizes] == [
        "0 B", "999 B", "1.00 kB", "2.50 MB", "3.00 GB", "5000.00 GB"
    ]  # fmt: skip


def test_what_is_refused():
    with pytest.raises(TypeError, match="summary: expected a link, got ndarray"):
        core.summary(X)
    with pytest.raises(ValueError, match="depth of 0 or more, got -1"):
        core.summary(model(), depth=-1)

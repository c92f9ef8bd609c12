"""Images and histograms that extensions write."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
import small
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import core
import core.links as L
from core import training
from core.training import extensions
from plugins.training.extensions.histogram_report import MOST, histogram
from plugins.training.extensions.image_report import png, side_by_side

PIXELS = arrays.arrays(
    np.uint8,
    st.tuples(st.integers(1, 5), st.sampled_from([1, 3]), st.integers(1, 6), st.integers(1, 6)),
)


def once(out, observation, extension, iteration=7):
    updater = SimpleNamespace(iteration=iteration)
    extension(SimpleNamespace(out=out, updater=updater, observation=observation))
    extension.finalize()


# -- images ---------------------------------------------------------------------------------------


@given(PIXELS, st.none() | st.integers(1, 7))
def test_an_image_comes_back_from_its_file(batch, columns):
    image = pytest.importorskip("PIL.Image")
    sheet = side_by_side(batch, columns)
    found = np.asarray(image.open(io.BytesIO(png(sheet))).convert("RGB"))
    assert found.shape[:2] == sheet.shape[:2]
    n, _, h, w = batch.shape
    across = min(n, columns or int(np.ceil(np.sqrt(n))))
    for i, each in enumerate(batch):
        y, x = i // across * (h + 1), i % across * (w + 1)
        expected = np.broadcast_to(each, (3, h, w)).transpose(1, 2, 0)
        np.testing.assert_array_equal(found[y : y + h, x : x + w], expected)


@pytest.mark.parametrize("shape", [(4, 5), (1, 4, 5), (3, 4, 5), (2, 4, 5), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "u1", "i8", "?"])
def test_observed_arrays_are_written(tmp_path, shape, dtype):
    image = pytest.importorskip("PIL.Image")
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    observation = {"main/../x": core.Variable(values) if dtype[0] == "f" else values}
    once(tmp_path, observation, extensions.ImageReport("main/../x"))
    (path,) = tmp_path.rglob("*.png")
    assert path == tmp_path / "images" / "main_.._x" / "7.png"
    with image.open(path) as found:
        assert min(found.size) >= 4


@pytest.mark.filterwarnings("error")
@given(arrays.arrays(np.float64, (3, 4), elements=st.floats()))
def test_black_and_white_are_the_least_and_the_greatest(tmp_path_factory, values):
    image = pytest.importorskip("PIL.Image")
    finite = values[np.isfinite(values)]
    assume(finite.size and finite.min() < finite.max())
    out = tmp_path_factory.mktemp("out")
    once(out, {"x": values}, extensions.ImageReport("x"))
    found = np.asarray(image.open(io.BytesIO((out / "images" / "x" / "7.png").read_bytes())))
    assume(finite.max() / 2 - finite.min() / 2 > 0)
    assert set(found[values == finite.min()]) == {0}
    assert set(found[values == finite.max()]) == {255}
    assert not found[~np.isfinite(values)].any()


def test_a_function_is_asked_only_when_the_files_are_due(tmp_path):
    asked = []

    def draw(trainer):
        asked.append(trainer.updater.iteration)
        return np.zeros((2, 2))

    made = training.Trainer(small.updater(), (4, "iteration"), tmp_path)
    made.extend(extensions.ImageReport({"drawn": draw}), trigger=(2, "iteration"))
    made.run()
    assert asked == [2, 4]
    names = sorted(path.name for path in (tmp_path / "images" / "drawn").iterdir())
    assert names == ["2.png", "4.png"]


def test_images_of_an_earlier_run_are_set_aside(tmp_path):
    once(tmp_path, {"x": np.zeros((2, 2))}, extensions.ImageReport("x"))
    made = training.Trainer(small.updater(), (1, "iteration"), tmp_path)
    made.extend(extensions.ImageReport("x"))
    with pytest.warns(UserWarning, match="earlier"):
        made.run()
    assert (tmp_path / "earlier-1" / "images" / "x" / "7.png").exists()


@pytest.mark.parametrize("shape", [(2,), (2, 2, 4, 4), (1, 1, 1, 2, 2), (0, 4, 4), (2, 0)])
def test_what_is_no_image_is_refused_by_its_shape(tmp_path, shape):
    with pytest.raises(ValueError, match=r"ImageReport.*'x'"):
        once(tmp_path, {"x": np.zeros(shape)}, extensions.ImageReport("x"))
    assert not list(tmp_path.rglob("*.png"))


def test_arguments_that_make_no_sense_are_refused():
    for make in (
        lambda: extensions.ImageReport("x", limits=(1, 0)),
        lambda: extensions.ImageReport("x", columns=0),
        lambda: extensions.ImageReport(["a/b", "a b"]),
        lambda: extensions.HistogramReport("x", bins=0),
    ):
        with pytest.raises(ValueError, match="Report: expected"):
            make()
    with pytest.raises(TypeError, match="HistogramReport: expected links or names"):
        extensions.HistogramReport([3])


def test_a_slip_in_a_name_is_told(tmp_path):
    with pytest.warns(UserWarning, match="Did you mean 'main/samples'"):
        once(tmp_path, {"main/samples": np.zeros((2, 2))}, extensions.ImageReport("main/sample"))


# -- histograms -----------------------------------------------------------------------------------


@given(arrays.arrays(np.float64, st.integers(0, 30), elements=st.floats()), st.integers(1, 50))
def test_every_value_is_counted_once(values, bins):
    found = histogram(values, bins)
    finite = values[np.isfinite(values)]
    assert len(found["counts"]) == bins
    assert sum(found["counts"]) == finite.size
    assert found["nonfinite"] == values.size - finite.size
    if finite.size:
        assert (found["low"], found["high"]) == (finite.min(), finite.max())
    json.dumps(found, allow_nan=False)


@given(st.lists(st.integers(-1000, 1000), min_size=2), st.sampled_from([1, 2, 4, 8]))
def test_counts_are_those_of_numpy(values, bins):
    values = np.array(values, "f4")
    assume(values.min() < values.max())
    edges = np.linspace(values.min(), values.max(), bins + 1, dtype="f8")
    assume(not np.isin(values, edges[1:-1]).any())  # on an edge the last bit decides
    assert histogram(values, bins)["counts"] == np.histogram(values, bins)[0].tolist()


def records(out):
    return json.loads((out / "histograms.json").read_text(encoding="utf-8"))


def test_parameters_gradients_and_observed_arrays_are_taken(tmp_path):
    link = L.Linear(3, 2)
    link.W.grad = np.ones_like(link.W.array)
    once(tmp_path, {"h": np.zeros(5)}, extensions.HistogramReport([link, "h", "missing"]))
    (record,) = records(tmp_path)
    assert record["iteration"] == 7
    assert set(record["histograms"]) == {"W/data", "W/grad", "b/data", "h"}
    once(tmp_path, {}, extensions.HistogramReport(link, grads=False))
    assert set(records(tmp_path)[0]["histograms"]) == {"W/data", "b/data"}


def test_of_many_records_every_second_is_left_out(tmp_path):
    report = extensions.HistogramReport(L.Linear(1, 1))
    for iteration in range(5 * MOST):
        once(tmp_path, {}, report, iteration)
    taken = [record["iteration"] for record in records(tmp_path)]
    assert MOST / 2 <= len(taken) <= MOST
    assert taken == list(range(0, 5 * MOST, taken[1]))


def test_a_resumed_run_has_the_same_histograms(tmp_path):
    def run(out, stop, resume=False):
        core.seed(3)
        made = training.Trainer(small.updater(), (stop, "iteration"), out)
        model = made.updater.get_optimizer("main").target
        made.extend(extensions.HistogramReport(model), trigger=(1, "iteration"))
        made.extend(extensions.snapshot(autoload=resume), trigger=(1, "iteration"))
        made.run()

    run(tmp_path / "whole", 6)
    run(tmp_path / "parts", 3)
    run(tmp_path / "parts", 6, resume=True)
    assert records(tmp_path / "whole") == records(tmp_path / "parts")
    assert [record["iteration"] for record in records(tmp_path / "parts")] == [1, 2, 3, 4, 5, 6]

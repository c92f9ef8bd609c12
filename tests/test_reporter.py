"""Reporting: names, purged graphs, scopes, threads, and the summaries."""

import json
import math
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core.training.reporter import (
    DictSummary,
    NoReporter,
    Reporter,
    Summary,
    UnknownObserver,
    get_current_reporter,
    loaded_observation,
    report,
    report_scope,
    saved_observation,
)

finite = st.floats(-1e6, 1e6)


def test_values_get_the_names_of_their_observers():
    reporter, a, b, seen = Reporter(), object(), object(), {}
    reporter.add_observer("a", a)
    reporter.add_observers("a", [("/b", b)])
    with reporter.scope(seen):
        report({"x": 1}, a)
        report({"x": 2}, b)
        report({"x": 3})
    assert seen == {"a/x": 1, "a/b/x": 2, "x": 3}


def test_without_a_reporter_nothing_happens():
    report({"x": 1}, object())
    with pytest.raises(NoReporter, match="core.Reporter"):
        get_current_reporter()


def test_an_observer_never_added_is_named():
    with Reporter() as reporter, pytest.raises(UnknownObserver) as info:
        reporter.add_observer("main", object())
        report({"x": 1}, np.zeros(2))
    assert str(info.value).startswith("report: expected an observer that the current reporter")
    assert "'main'" in str(info.value) and "ndarray" in str(info.value)


def test_an_observer_is_kept_so_that_its_id_is_not_reused():
    class Observer:
        pass

    reporter, observer = Reporter(), Observer()
    alive = weakref.ref(observer)
    reporter.add_observer("main", observer)
    del observer
    assert alive() is not None


def reported(value):
    reporter, seen = Reporter(), {}
    with reporter.scope(seen):
        report({"y": value})
    return seen["y"]


def test_a_reported_variable_shares_the_array_and_knows_no_graph():
    x = core.Variable(np.ones(3, "f"), name="x")
    y = x * 2
    stored = reported(y)
    assert stored is not y and stored.array is y.array
    assert stored.creator is None and y.creator is not None
    assert reported(x).name == "x"


def test_the_graph_dies_although_its_result_was_reported():
    y = core.Variable(np.ones(3, "f")) * 2
    graph = weakref.ref(y.creator)
    stored = reported(y)
    del y
    assert graph() is None
    assert stored.array.tolist() == [2, 2, 2]


def test_keep_graph_on_report():
    y = core.Variable(np.ones(3, "f")) * 2
    with core.using_config("keep_graph_on_report", True):
        assert reported(y) is y


def test_scopes_nest_and_come_back_after_an_error():
    reporter, outer, inner = Reporter(), {}, {}
    with reporter.scope(outer):
        with pytest.raises(ZeroDivisionError), report_scope(inner):
            report({"x": 1})
            raise ZeroDivisionError
        report({"x": 2})
    assert (outer, inner) == ({"x": 2}, {"x": 1})
    assert reporter.observation == {}


def test_each_thread_has_its_own_reporter():
    seen = {}
    with Reporter().scope(seen):
        thread = threading.Thread(target=report, args=({"x": 1},))
        thread.start()
        thread.join()
    assert seen == {}


# -- summaries --------------------------------------------------------------------------------


def summary_of(values, weights=None):
    summary = Summary()
    for value, weight in zip(values, weights or [1] * len(values), strict=True):
        summary.add(value, weight)
    return summary


@given(st.lists(finite, min_size=1))
def test_mean_and_deviation_are_numpys(values):
    mean, deviation = summary_of(values).make_statistics()
    scale = max(map(abs, values)) + 1e-300
    assert math.isclose(mean, np.mean(values), abs_tol=1e-12 * scale)
    assert math.isclose(deviation, np.std(values), rel_tol=1e-6, abs_tol=1e-8 * scale)


@given(st.lists(st.tuples(finite, st.integers(1, 5)), min_size=1))
def test_a_weight_counts_as_repetition(pairs):
    values, weights = zip(*pairs, strict=True)
    repeated = [value for value, weight in pairs for _ in range(weight)]
    once, many = summary_of(values, weights), summary_of(repeated)
    np.testing.assert_allclose(once.make_statistics(), many.make_statistics(), 1e-5, 1e-4)


@given(st.lists(st.tuples(st.floats(), st.integers(0, 2)), min_size=1))
def test_what_has_no_weight_counts_for_nothing(pairs):
    """As the loss of a batch whose words are all masked, which may be NaN."""
    summary, without = DictSummary(), DictSummary()
    for pair in pairs:
        summary.add({"x": pair})
        without.add({"x": pair} if pair[1] else {})
    assert repr(summary.state()) == repr(without.state())
    assert repr(summary.compute_mean()) == repr(without.compute_mean())


@pytest.mark.parametrize(
    "make", [float, np.float32, np.array, lambda x: core.Variable(np.array(x))]
)
def test_weights_of_every_kind_are_saved_with_the_observation(make):
    observed = loaded_observation(saved_observation({"x": (0.5, make(3.0)), "y": np.array("text")}))
    assert observed == {"x": (0.5, 3.0)}
    summary = DictSummary()
    summary.add({"x": (1.0, make(1.0))})
    summary.add({"x": (2.0, make(3.0))})
    assert summary.compute_mean() == {"x": 1.75}
    assert json.loads(json.dumps(summary.state()))["x"]["_weight"] == 4


def test_arrays_are_summed_where_they_are_and_never_widened(strict):
    for array in (np.float32([1, 5]), strict.asarray([1.0, 5.0], dtype="float32")):
        mean, deviation = summary_of([array, array + 2]).make_statistics()
        assert type(mean) is type(array) and mean.dtype == array.dtype
        assert core.backend.to_host(mean).tolist() == [2, 6]
        assert core.backend.to_host(deviation).tolist() == [1, 1]


@pytest.fixture
def strict():
    return core.backend.get("strict")


def test_float16_is_summed_with_more_digits():
    array = np.full(3, 1000, "float16")
    assert summary_of([array] * 1000).compute_mean().tolist() == [1000, 1000, 1000]


def test_infinite_and_missing_values_show():
    assert summary_of([1.0, math.inf]).compute_mean() == math.inf
    assert math.isnan(summary_of([1.0, math.nan]).compute_mean())


def test_a_summary_of_nothing_has_no_mean():
    with pytest.raises(ValueError, match="at least one value"):
        Summary().compute_mean()


def test_dict_summary_takes_single_numbers_alone():
    summary = DictSummary()
    summary.add(
        {
            "float": 1.0,
            "numpy": np.float32(2),
            "flag": np.bool_(True),
            "array": np.array(3),
            "variable": core.Variable(np.array(4, "f")),
            "weighted": (5, 2),
            "text": "6",
            "several": np.zeros(7),
            "nothing": None,
            "text in an array": np.array("6"),
            "nothing in an array": np.array(None),
            "complex": np.array(1j),
            "a shape": (1, 2, 3),
            "no weight": (1.0, "a"),
        }
    )
    expected = {"float": 1, "numpy": 2, "flag": 1, "array": 3, "variable": 4, "weighted": 5}
    assert summary.compute_mean() == expected


def through_a_file(source, target):
    from core.serializers import DictionarySerializer, NpzDeserializer

    saved = DictionarySerializer()
    saved.save(source)
    NpzDeserializer(saved.target).load(target)
    return target


@given(st.lists(finite, min_size=1), st.lists(finite, min_size=1))
def test_a_loaded_summary_goes_on_to_the_same_bits(before, after):
    whole, first = DictSummary(), DictSummary()
    for value in before:
        whole.add({"x": value})
        first.add({"x": value})
    second = through_a_file(first, DictSummary())
    for value in after:
        whole.add({"x": value})
        second.add({"x": value})
    assert whole.make_statistics() == second.make_statistics()


def test_summaries_serialize_arrays_and_names():
    array = through_a_file(summary_of([np.float32([1, 2])]), Summary())
    assert array.compute_mean().tolist() == [1, 2]
    named = DictSummary()
    named.add({"main/loss": 1.0})
    used = DictSummary()
    used.add({"other": 2.0})
    assert through_a_file(named, used).compute_mean() == {"main/loss": 1.0}

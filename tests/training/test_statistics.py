"""Extensions that look at parameters and observed numbers: statistics, averages, divergence."""

import json
import math
import sys

import numpy as np
import pytest
import small
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import core
import core.functions as F
import core.links as L
from core import optimizers, training
from core.serializers import load_npz
from core.training import extensions, make_extension
from plugins.training.extensions.distribution import flat, percentiles

STEPS = 7
EACH = (1, "iteration")


def trainer(out, *added, stop=STEPS, snapshots=False):
    core.seed(3)
    made = training.Trainer(small.updater(), (stop, "iteration"), out)
    for extension in added:
        made.extend(extension, trigger=EACH)
    made.extend(extensions.LogReport(trigger=EACH, filename=None))
    if snapshots:
        made.extend(extensions.snapshot(), trigger=EACH)
    return made


def ran(out, *added, **options):
    made = trainer(out, *added, **options)
    made.run(show_loop_exception_msg=False)
    return made, [small.timeless(record) for record in made.get_extension("LogReport").log]


def model_of(made):
    return made.updater.get_optimizer("main").target


def resumed_at_every_step(tmp_path, make):
    """Asserts that the runs end alike; `make(model)` makes the extension."""

    def prepared(out):
        made = trainer(out, snapshots=True)
        made.extend(make(model_of(made)), trigger=EACH)
        return made

    whole = prepared(tmp_path)
    whole.run()
    ended = small.state(whole)
    for step in range(1, STEPS):
        part = prepared(tmp_path / "part")
        load_npz(tmp_path / f"snapshot_iter_{step}", part)
        part.run()
        assert small.state(part) == ended


# -- FailOnNonNumber --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "told"),
    [([np.nan], "1 NaN of 6"), ([np.inf, -np.inf], "2 infinite of 6"), ([np.nan, np.inf], "and")],
)
def test_a_number_that_is_none_names_its_parameter(tmp_path, values, told):
    @make_extension(priority=200)
    def spoil(made):
        if made.updater.iteration == 3:
            model_of(made).l1.b.array[: len(values)] = values

    made = trainer(tmp_path, spoil, extensions.FailOnNonNumber(), snapshots=True)
    with pytest.raises(RuntimeError, match=r"after iteration 3 .*main/l1/b \(") as info:
        made.run(show_loop_exception_msg=False)
    assert told in str(info.value) and "l1/W" not in str(info.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "snapshot_iter_1",
        "snapshot_iter_2",
    ]


def test_finite_parameters_pass(tmp_path):
    made, _ = ran(tmp_path, extensions.FailOnNonNumber())
    assert made.updater.iteration == STEPS


# -- MicroAverage -----------------------------------------------------------------------------


def observing(pairs):
    """An extension that observes the pairs one after another; None observes nothing."""
    rest = iter(pairs)

    @make_extension(priority=300)
    def observe(made):
        pair = next(rest)
        if pair is not None:
            made.observation["hits"], made.observation["size"] = pair

    return observe


@given(
    st.lists(st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=6),
    st.integers(1, 4),
)
def test_micro_average_is_a_quotient_of_sums(tmp_path_factory, pairs, period):
    expected, hits, sizes, any_seen = [], 0, 0, False
    for i, pair in enumerate(pairs, 1):
        if pair is not None:
            hits, sizes, any_seen = hits + pair[0], sizes + pair[1], True
        if i % period == 0 and any_seen:
            expected.append(hits / sizes if sizes else math.nan)
            hits, sizes, any_seen = 0, 0, False
    average = extensions.MicroAverage("hits", "size", "rate", trigger=(period, "iteration"))
    _, log = ran(tmp_path_factory.mktemp("out"), observing(pairs), average, stop=6)
    np.testing.assert_array_equal([r["rate"] for r in log if "rate" in r], expected)


def test_micro_average_tells_of_a_slip_in_a_name(tmp_path):
    average = extensions.MicroAverage("hits", "sizes", "rate", trigger=(2, "iteration"))
    with pytest.warns(UserWarning, match="MicroAverage: nothing .*'sizes'.*'size'") as told:
        _, log = ran(tmp_path, observing([(1, 2)] * 6), average, stop=6)
    assert len(told) == 1 and not [r for r in log if "rate" in r]


def test_micro_average_of_a_mean_and_its_weight_is_refused(tmp_path):
    average = extensions.MicroAverage("hits", "size", "rate")
    with pytest.raises(core.errors.InvalidSetting, match=r"'hits' .* got the pair \(3, 4\)"):
        ran(tmp_path, observing([((3, 4), 4)] * 6), average, stop=6)


def test_micro_average_takes_variables_and_resumes(tmp_path):
    pairs = [(core.Variable(np.array(i, "f")), np.float32(2)) for i in range(STEPS)]
    average = extensions.MicroAverage("hits", "size", "rate", trigger=(STEPS, "iteration"))
    _, log = ran(tmp_path, observing(pairs), average)
    assert [r["rate"] for r in log if "rate" in r] == [sum(range(STEPS)) / (2 * STEPS)]
    resumed_at_every_step(
        tmp_path / "resumed",
        lambda model: extensions.MicroAverage("main/loss", "main/loss", "one", (3, "iteration")),
    )


# -- ParameterStatistics ----------------------------------------------------------------------

rows = arrays.arrays(
    st.sampled_from(["f4", "f8"]), st.integers(1, 20), elements=st.floats(-100, 100, width=32)
)


@given(rows, st.lists(st.floats(0, 100), min_size=1, max_size=4))
def test_percentiles_are_those_of_numpy(x, percentages):
    found = percentiles(x, percentages)
    np.testing.assert_allclose(found, np.percentile(x, percentages), rtol=1e-5, atol=1e-4)
    assert found.dtype == x.dtype


def test_percentiles_of_what_holds_nan_are_nan():
    assert np.isnan(percentiles(np.array([1, np.nan, 2], "f"), (0, 100))).all()
    assert flat(np.ones((2, 3), "f2")).dtype == np.float32


NAMES = ["mean", "std", "min", "max", "zeros", *(f"percentile/{i}" for i in range(7))]


def reported(link, **options):
    observation = {}
    with core.Reporter().scope(observation):
        extensions.ParameterStatistics(link, trigger=lambda trainer: True, **options)(None)
    return observation


def linear():
    link = L.Linear(3, 4)
    link.W.array[0] = 0
    link.W.grad = np.arange(12, dtype="f").reshape(4, 3)
    return link


def test_statistics_by_their_names():
    link = linear()
    found = reported(link, prefix="model")
    kinds = ["/W/data", "/W/grad", "/b/data"]  # b has no gradient yet
    assert list(found) == [f"model{kind}/{name}" for kind in kinds for name in NAMES]
    for kind, array in (("data", link.W.array), ("grad", link.W.grad)):
        percentages = (0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87)
        expected = [array.mean(), array.std(), array.min(), array.max(), (array == 0).sum()]
        expected += list(np.percentile(array, percentages))
        values = [found[f"model/W/{kind}/{name}"] for name in NAMES]
        assert values == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_names_with_and_without_links_and_prefix():
    model = small.Model()
    options = {"statistics": {"mean": np.mean}, "report_grads": False}
    assert list(reported(model, **options)) == [
        "/l1/W/data/mean",
        "/l1/b/data/mean",
        "/l2/b/data/mean",  # l2/W waits for its size
    ]
    assert list(reported([model.l1], **options)) == ["l1/W/data/mean", "l1/b/data/mean"]
    assert list(reported(model.l1, prefix="p", **options))[0] == "p/l1/W/data/mean"
    assert list(reported(linear(), report_params=False, statistics={"max": np.max})) == [
        "/W/grad/max"
    ]


@pytest.mark.parametrize(
    "make", [extensions.ParameterStatistics, extensions.HistogramReport], ids=lambda e: e.__name__
)
def test_two_links_whose_parameters_have_one_name_are_refused(make):
    model = small.Model()
    with pytest.raises(ValueError, match=f"{make.__name__}: expected links.*two that have a 'W'"):
        make([linear(), linear()])
    for links in ([model.l1, model.l2], [model, model.l1], [model, linear()]):
        make(links)


@pytest.mark.parametrize("links", ["l1", ["l1"], 3, optimizers.SGD().setup(linear())])
def test_statistics_of_what_is_no_link_are_refused(links):
    with pytest.raises(TypeError, match="ParameterStatistics: expected links, such as"):
        extensions.ParameterStatistics(links)


def test_statistics_of_ones_own_may_be_several_numbers():
    statistics = extensions.ParameterStatistics(linear(), None, trigger=lambda trainer: True)
    statistics.register_statistics("ends", lambda x: [x[0], x[-1]])
    statistics.register_statistics("shape", lambda x: x.ndim)
    observation = {}
    with core.Reporter().scope(observation):
        statistics(None)
    assert observation["/W/grad/ends/0"] == 0 and observation["/W/grad/ends/1"] == 11
    assert observation["/W/data/shape"] == 1
    assert len(statistics.default_statistics) == 6 and "ends" not in statistics.default_statistics
    with pytest.raises(ValueError, match="'default' or names"):
        extensions.ParameterStatistics(linear(), "mean")


def test_skip_nan_params_calls_no_function():
    link, called = linear(), []
    link.W.grad[0, 0] = np.nan
    statistics = {"count": lambda x: called.append(x) or [1.0, 2.0]}
    found = reported(link, statistics=statistics, skip_nan_params=True)
    assert math.isnan(found["/W/grad/count"]) and "/W/grad/count/0" not in found
    assert found["/W/data/count/1"] == 2.0 and len(called) == 2
    assert math.isnan(reported(link)["/W/grad/percentile/3"])


def test_statistics_are_averaged_until_reported(tmp_path):
    values = []

    @make_extension(priority=400)
    def watch(made):
        values.append(float(model_of(made).l2.W.array.max()))

    made = trainer(tmp_path, watch, stop=6)
    made.extend(
        extensions.ParameterStatistics(model_of(made), trigger=(3, "iteration")), trigger=EACH
    )
    made.run()
    log = made.get_extension("LogReport").log
    found = [record["/l2/W/data/max"] for record in log if "/l2/W/data/max" in record]
    assert found == pytest.approx([np.mean(values[:3]), np.mean(values[3:])])


def test_on_another_backend_all_is_the_same(tmp_path):
    def run(device):
        core.seed(3)
        made = training.Trainer(
            small.updater(device=device), (3, "iteration"), tmp_path / str(device)
        )
        model = model_of(made)
        plot = extensions.VariableStatisticsPlot(model, trigger=(3, "iteration"))
        average = extensions.MicroAverage("main/loss", "main/loss", "one", EACH)
        for extension in (plot, extensions.FailOnNonNumber(), average):
            made.extend(extension, trigger=EACH)
        made.extend(extensions.ParameterStatistics(model, trigger=EACH), trigger=EACH)
        made.run()
        assert core.backend.of(model.l1.W.array).name == (device or "numpy")
        return {key: float(value) for key, value in made.observation.items()}

    assert run("strict") == pytest.approx(run(None), rel=1e-4, abs=1e-6)


def test_parameter_statistics_resume(tmp_path):
    resumed_at_every_step(
        tmp_path,
        lambda model: extensions.ParameterStatistics(model, trigger=(3, "iteration")),
    )


# -- VariableStatisticsPlot -------------------------------------------------------------------


def plotted(tmp_path, steps, targets, **options):
    made = training.Trainer(small.updater(), (steps, "iteration"), tmp_path)
    plot = extensions.VariableStatisticsPlot(targets, trigger=lambda trainer: False, **options)
    made.extend(plot)
    made.run()
    saved = core.serializers.DictionarySerializer()
    saved.save(plot)
    return json.loads(str(saved.target["state"]))[2]


def test_the_points_are_the_statistics_of_all_values_together(tmp_path):
    x, y = core.Variable(np.arange(6, dtype="f").reshape(2, 3)), core.Variable(np.full(2, 9, "f"))
    y.grad = np.array([1, 3], "f")
    (iteration, (data, grad)), second = plotted(tmp_path, 2, [x, y], percentile_sigmas=(0, 50))
    together = np.array([0, 1, 2, 3, 4, 5, 9, 9])
    assert (iteration, second[0]) == (1, 2)
    assert data == pytest.approx([together.mean(), together.std(), 0, 3.5])
    assert grad == pytest.approx([2, 1, 1, 2])


@given(st.integers(2, 9), st.integers(1, 25))
def test_points_are_thinned_out_evenly(tmp_path_factory, most, steps):
    variable = core.Variable(np.ones(1, "f"))
    points = plotted(
        tmp_path_factory.mktemp("out"), steps, variable, max_sample_size=most, plot_std=False
    )
    iterations = [iteration for iteration, _ in points]
    every = iterations[1] - 1 if len(iterations) > 1 else 1
    assert iterations == list(range(1, steps + 1, every))
    assert min(steps, (most + 1) // 2) <= len(points) <= most


def test_the_picture_resumes_to_the_same_bytes(tmp_path):
    def make(out, stop):
        made = trainer(out, stop=stop, snapshots=True)
        made.extend(
            extensions.VariableStatisticsPlot(
                model_of(made), max_sample_size=4, trigger=(3, "iteration")
            )
        )
        return made

    pyplot = "matplotlib.pyplot" in sys.modules
    make(tmp_path, 6).run()
    part = make(tmp_path / "part", 6)
    load_npz(tmp_path / "snapshot_iter_4", part)
    part.run()
    pictures = [(out / "statistics.png").read_bytes() for out in (tmp_path, tmp_path / "part")]
    assert pictures[0] == pictures[1] and pictures[0].startswith(b"\x89PNG")
    assert ("matplotlib.pyplot" in sys.modules) == pyplot  # whose state is the user's


def test_any_form_of_picture(tmp_path):
    made = trainer(tmp_path, stop=2)
    for number, options in enumerate(
        (
            {"percentile_sigmas": False, "plot_std": False, "report_grad": False, "marker": "o"},
            {"percentile_sigmas": 50, "plot_mean": False, "figsize": (3, 3), "grid": False},
            {"percentile_sigmas": True, "report_data": False},
        )
    ):
        made.extend(
            extensions.VariableStatisticsPlot(
                [model_of(made).l1, core.Variable(np.array([np.nan, 1], "f"))],
                trigger=EACH,
                file_name=f"{number}.svg",
                **options,
            )
        )
    made.run()
    for number in range(3):
        assert "<svg" in (tmp_path / f"{number}.svg").read_text()


@pytest.mark.parametrize(
    ("targets", "options", "error", "message"),
    [
        ([], {}, ValueError, "at least one Variable"),
        (core.Chain(), {}, ValueError, "at least one Variable"),
        ("W", {}, TypeError, "got str"),
        (7, {}, TypeError, "got int"),
        (small.Model(), {"report_data": False, "report_grad": False}, ValueError, "to plot"),
        (
            small.Model(),
            {"plot_mean": False, "plot_std": False, "percentile_sigmas": None},
            ValueError,
            "to plot",
        ),
        (small.Model(), {"max_sample_size": 1}, ValueError, "at least 2"),
        (small.Model(), {"percentile_sigmas": (-3, 3)}, ValueError, "0 to 100"),
    ],
)
def test_plots_of_nothing_are_refused(targets, options, error, message):
    with pytest.raises(error, match=message):
        extensions.VariableStatisticsPlot(targets, **options)


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(extensions.VariableStatisticsPlot, "available", staticmethod(lambda: False))
    with pytest.raises(ModuleNotFoundError, match=r"Plot: .*plugrad\[plot\]"):
        ran(tmp_path, extensions.VariableStatisticsPlot(small.Model()))


# -- unchain_variables ------------------------------------------------------------------------


def test_observed_graphs_are_let_go_after_all_have_seen_them(tmp_path):
    seen = []

    def look(made):
        seen.append(made.observation["main/loss"].creator is not None)

    def nothing_left(made):
        seen.append(made.observation["main/loss"].creator is None)

    made = trainer(tmp_path, look, extensions.unchain_variables(), stop=2)
    made.extend(nothing_left, trigger=EACH, priority=-1)
    with core.using_config("keep_graph_on_report", True):
        made.run()
    assert seen == [True] * 4
    assert made.get_extension("unchain_variables").priority == 0


def test_what_is_no_variable_is_left_alone():
    x = core.Variable(np.ones(2, "f"))
    y = F.sum(F.exp(x))
    made = training.Trainer(small.updater())
    made.observation = {"y": y, "number": 1.0}
    extensions.unchain_variables()(made)
    assert y.creator is None and made.observation["number"] == 1.0
    y.backward()
    assert x.grad is None
    assert isinstance(made.updater.get_optimizer("main"), optimizers.Adam)

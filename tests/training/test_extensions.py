"""The extensions that come with the framework."""

import functools
import io
import json
import os
import sys
import tempfile

import numpy as np
import pytest
import small
from hypothesis import given, settings
from hypothesis import strategies as st
from small import run

import core
from core import iterators, optimizers, training
from core.training import extensions


def model_of(trainer):
    return trainer.updater.get_optimizer("main").target


# -- LogReport --------------------------------------------------------------------------------


def test_log_report_writes_the_means_as_json(tmp_path):
    seen = []

    def collect(trainer):
        seen.append(float(trainer.observation["main/loss"].array))

    run(tmp_path, collect, extensions.LogReport())
    log = json.loads((tmp_path / "log").read_text())
    assert [small.timeless(record).keys() for record in log] == [
        {"main/loss", "epoch", "iteration"}
    ] * 2
    assert [(r["epoch"], r["iteration"]) for r in log] == [(1, 5), (2, 10)]
    assert log[0]["main/loss"] == pytest.approx(np.mean(seen[:5]))
    assert log[1]["main/loss"] == pytest.approx(np.mean(seen[5:]))
    assert sorted(os.listdir(tmp_path)) == ["log"]


@pytest.mark.parametrize("begins_at", [0, 7])
@pytest.mark.parametrize("trigger", [(1, "iteration"), (1, "epoch")])
def test_a_log_that_misses_iterations_says_so(tmp_path, trigger, begins_at):
    trainer = training.Trainer(small.updater(), (14, "iteration"), tmp_path)
    trainer.updater.iteration = begins_at  # as of a file that has the updater alone
    trainer.extend(extensions.LogReport(), trigger=trigger)
    if trigger == (1, "iteration"):
        trainer.run()  # without a warning, which would be an error
    else:
        late = f"the first call is at iteration {begins_at + 5}, so that its means"
        with pytest.warns(UserWarning, match=late):
            trainer.run()


def test_log_report_keys_names_and_postprocess(tmp_path):
    report = extensions.LogReport(
        ["nothing"],
        trigger=(1, "epoch"),
        postprocess=lambda record: record.update(twice=2 * record["iteration"]),
        filename="log_{epoch}",
    )
    silent = extensions.LogReport(filename=None)
    run(tmp_path, report, silent)
    assert sorted(os.listdir(tmp_path)) == ["log_1", "log_2"]
    assert [small.timeless(r) for r in json.loads((tmp_path / "log_2").read_text())] == [
        {"epoch": 1, "iteration": 5, "twice": 10},
        {"epoch": 2, "iteration": 10, "twice": 20},
    ]
    assert len(silent.log) == 2
    run(tmp_path, extensions.LogReport(log_name="old"))
    assert (tmp_path / "old").exists()


def test_what_postprocess_adds_is_what_the_file_has(tmp_path):
    added = {"a": np.float32(0.1), "b": np.int64(2), "c": np.array(3.0), "d": ["x"], "e": None}
    report = extensions.LogReport(postprocess=lambda record: record.update(added))
    run(tmp_path, report)
    (first, _), expected = json.loads((tmp_path / "log").read_text()), report.log[0]
    assert first == expected
    assert [first[name] for name in "abcde"] == [float(np.float32(0.1)), 2, 3.0, ["x"], None]
    for value in (np.zeros(2), {1j}, object()):
        refused = extensions.LogReport(postprocess=lambda record, x=value: record.update(new=x))
        with pytest.raises(TypeError, match="LogReport.*postprocess.*'new' is"):
            run(tmp_path / "refused", refused)


def test_a_log_with_nan_is_still_written(tmp_path):
    def spoil(trainer):
        trainer.observation["main/loss"] = float("nan")

    with pytest.warns(UserWarning, match="'main/loss' became nan by.*5.*data.*learning rate"):
        run(tmp_path, training.make_extension(priority=200)(spoil), extensions.LogReport())
    assert np.isnan(json.loads((tmp_path / "log").read_text())[0]["main/loss"])


# -- PrintReport ------------------------------------------------------------------------------


def table(tmp_path, entries, records, encoding="utf-8"):
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    log = extensions.LogReport(filename=None)
    report = extensions.PrintReport(entries, out=out)
    trainer = training.Trainer(small.updater(), None, tmp_path)
    trainer.extend(log)
    for record in records:
        log.log.append(record)
        report(trainer)
    return raw.getvalue().decode(encoding).splitlines()


def test_print_report_aligns_its_columns(tmp_path):
    records = [
        {"epoch": 1, "main/loss": 1.23456789, "validation/main/loss": 0.5, "elapsed_time": 1.26},
        {"epoch": 10, "main/loss": 0.0000123456, "elapsed_time": 100.0},
        {"epoch": 11, "main/loss": float("nan"), "validation/main/loss": 123456.0},
    ]
    entries = ["epoch", "main/loss", "validation/main/loss", "elapsed_time"]
    assert table(tmp_path, entries, records) == [
        "    epoch  main/loss  validation/main/loss  elapsed_time",
        "─────────  ─────────  ────────────────────  ────────────",
        "        1    1.23457               0.50000           1.3",
        "       10  1.235e-05                               100.0",
        "       11        nan             1.235e+05              ",
    ]
    assert table(tmp_path, ["epoch"], records[:1], "ascii")[1] == "---------"


def test_titles_take_several_lines_on_a_narrow_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    entries = ["epoch", "main/loss", "validation/main/loss", "elapsed_time"]
    out = Terminal()
    log = extensions.LogReport()
    run(tmp_path, log, extensions.PrintReport(entries, out=out))
    lines = out.getvalue().splitlines()
    assert lines[:4] == [
        "                      validation/              ",
        "               main/        main/              ",
        "    epoch       loss         loss  elapsed_time",
        "─────────  ─────────  ───────────  ────────────",
    ]
    assert len(lines) == 6 and all(len(line) <= 50 for line in lines)
    monkeypatch.setenv("COLUMNS", "80")
    out = Terminal()
    run(tmp_path / "wide", extensions.LogReport(), extensions.PrintReport(entries, out=out))
    assert len(out.getvalue().splitlines()) == 4


def test_print_report_offers_the_nearest_entry(tmp_path):
    with pytest.warns(UserWarning, match="'main/los'.*Did you mean 'main/loss'"):
        table(tmp_path, ["main/los"], [{"main/loss": 1.0}])
    # the validation comes later, and 'main/loss' has a column of its own: no slip
    table(tmp_path, ["main/loss", "validation/main/loss"], [{"main/loss": 1.0}])


def test_print_report_needs_a_log(tmp_path):
    with pytest.raises(ValueError, match="expected the name of an extension") as info:
        run(tmp_path, extensions.PrintReport(["epoch"]))
    assert "PrintReport" in info.value.__notes__[0]


def test_print_report_with_a_log_of_its_own(tmp_path, capsys):
    run(tmp_path, extensions.PrintReport(["epoch"], extensions.LogReport(filename=None)))
    assert capsys.readouterr().out.splitlines()[2:] == ["        1", "        2"]


def test_a_resumed_run_prints_the_whole_table(tmp_path, capsys):
    def make(stop, **options):
        trainer = training.Trainer(small.updater(), stop, tmp_path)
        trainer.extend(extensions.LogReport())
        trainer.extend(extensions.PrintReport(["epoch"]))
        trainer.extend(extensions.snapshot(**options))
        return trainer

    make((1, "epoch")).run()
    capsys.readouterr()
    make((2, "epoch"), autoload=True).run()
    assert capsys.readouterr().out.split()[2:] == ["1", "2"]


# -- ProgressBar ------------------------------------------------------------------------------


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_progress_bar_ends_at_the_end(tmp_path):
    for out, ends in ((Terminal(), "\n"), (io.StringIO(), "\n")):
        run(tmp_path, extensions.ProgressBar(update_interval=1, bar_length=10, out=out))
        last = out.getvalue().rstrip("\n").replace("\r", "\n").splitlines()[-1]
        assert last.startswith("100%|") and "| epoch 2.00/2 [" in last and "iterations/s]" in last
        assert out.getvalue().endswith(ends)
    assert "\r" not in out.getvalue()


def test_progress_bar_counts_iterations_and_takes_a_length(tmp_path):
    out = io.StringIO()
    run(tmp_path, extensions.ProgressBar((20, "iteration"), out=out), stop=(5, "iteration"))
    assert out.getvalue().startswith(" 25%|") and "iteration 5/20" in out.getvalue()


def test_progress_bar_asks_for_a_length_that_nobody_knows(tmp_path):
    with pytest.raises(ValueError, match="training_length"):
        run(tmp_path, extensions.ProgressBar(), stop=lambda trainer: trainer.updater.iteration > 2)
    early = training.triggers.EarlyStoppingTrigger(max_trigger=None)
    with pytest.raises(ValueError, match="training_length"):
        run(tmp_path, extensions.ProgressBar(), stop=early)


# -- PlotReport -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trigger, places", [((1, "epoch"), [1, 2]), ((4, "iteration"), [32 / 37, 64 / 37])]
)
def test_plot_report_draws_what_was_observed(tmp_path, trigger, places):
    pictures, pyplot = [], "matplotlib.pyplot" in sys.modules
    plot = extensions.PlotReport(
        ["main/loss", "never"],
        "epoch",
        trigger,
        postprocess=lambda figure, axes, summary: pictures.append(
            (axes.get_xlabel(), axes.get_ylabel(), [list(x.get_xdata()) for x in axes.lines])
        ),
    )
    run(tmp_path, plot)
    assert pictures[-1] == ("epoch", "loss", [places])
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert ("matplotlib.pyplot" in sys.modules) == pyplot  # whose state is the user's
    run(tmp_path, extensions.PlotReport("main/loss", file_name="old.svg"))
    assert "<svg" in (tmp_path / "old.svg").read_text()


@given(st.integers(1, 28), st.integers(1, 90))
@settings(max_examples=5, deadline=None)
def test_plot_report_tells_many_curves_apart_and_leaves_them_room(n, letters):
    names, seen = [f"{i:0{letters}}" for i in range(n)], []

    def look(figure, axes, summary):
        figure.draw_without_rendering()
        (legend,) = figure.legends or [axes.get_legend()]
        sizes = [box.get_window_extent().height / figure.bbox.height for box in (axes, legend)]
        tall = axes.get_window_extent().height / figure.dpi
        seen.append((tall, sizes, {(x.get_color(), x.get_linestyle()) for x in axes.lines}))

    plot = extensions.PlotReport(names, trigger=(1, "iteration"), postprocess=look)
    with tempfile.TemporaryDirectory() as out:
        trainer = training.Trainer(small.updater(), (1, "iteration"), out)
        for name in names:
            trainer.extend(
                extensions.observe_value(name, lambda trainer: 1.0), trigger=(1, "iteration")
            )
        trainer.extend(plot)
        trainer.run()
    ((tall, sizes, looks),) = seen
    assert len(looks) == n and tall > 2.5 and sum(sizes) <= 1 + sizes[1] * (n <= 7)


def test_plot_report_bears_what_is_not_finite(tmp_path):
    plot = extensions.PlotReport("x", trigger=(1, "iteration"))
    values = iter([1.0, float("inf"), float("nan"), 2.0])
    observe = extensions.observe_value("x", lambda trainer: next(values))
    trainer = training.Trainer(small.updater(), (4, "iteration"), tmp_path)
    trainer.extend(observe, trigger=(1, "iteration"))
    trainer.extend(plot)
    trainer.run()
    assert (tmp_path / "plot.png").exists()


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(extensions.PlotReport, "available", staticmethod(lambda: False))
    with pytest.raises(ModuleNotFoundError, match=r"plugrad\[plot\]"):
        run(tmp_path, extensions.PlotReport("main/loss"))
    with pytest.raises(ValueError, match="x_key"):
        extensions.PlotReport("main/loss", "iterations")


# -- Evaluator --------------------------------------------------------------------------------


def batches(**options):
    return iterators.SerialIterator(small.data(), 8, shuffle=False, **options)


def test_evaluator_reports_means_in_test_mode(tmp_path):
    seen = []

    class Watching(small.Model):
        def forward(self, x, t):
            seen.append((core.config.train, core.config.enable_backprop, type(x), len(x)))
            return super().forward(x, t)

    model = Watching()
    means = extensions.Evaluator(batches(repeat=False), model)()
    sizes = [8, 8, 8, 8, 5]
    assert seen == [(False, False, np.ndarray, n) for n in sizes]
    parts = [small.data()[i : i + 8] for i in range(0, 37, 8)]
    with core.using_config("train", False):
        losses = [model(*core.dataset.concat_examples(p)).item() for p in parts]
        whole = model(*core.dataset.concat_examples(small.data())).item()
    assert means == {"main/loss": pytest.approx(whole, rel=1e-5)}
    alike = extensions.Evaluator(batches(repeat=False), model, weigh_batches=False)()
    assert alike == {"main/loss": pytest.approx(np.mean(losses), rel=1e-5)}
    assert np.mean(losses) != pytest.approx(whole, rel=1e-4)


def test_pairs_have_weights_of_their_own_and_batches_without_a_length_count_alike():
    class Reporting(core.Chain):
        def forward(self, x):
            core.report({"pair": (x[0], 1), "mean": x.mean()}, self)

    def evaluated(batches, converter):
        return extensions.Evaluator(batches, Reporting(), converter=converter)()

    ragged = [np.array([1.0, 3.0, 5.0]), np.array([7.0])]
    means = evaluated(iter(ragged), lambda batch, device: batch)
    assert means == {"main/pair": 4.0, "main/mean": 4.0}
    unsized = [functools.partial(np.asarray, x) for x in ragged]
    means = evaluated(iter(unsized), lambda batch, device: batch())
    assert means == {"main/pair": 4.0, "main/mean": 5.0}


def test_evaluators_names_are_their_prefixes(tmp_path):
    trainer = training.Trainer(small.updater(), (1, "epoch"), tmp_path)
    for name in (None, None, "test"):
        trainer.extend(extensions.Evaluator(batches(repeat=False), model_of(trainer)), name=name)
    trainer.run()
    assert {key for key in trainer.observation if key != "main/loss"} == {
        "validation/main/loss",
        "validation_1/main/loss",
        "test/main/loss",
    }


def test_evaluator_without_a_target_main(tmp_path):
    model, hooks = small.Model(), []
    evaluator = extensions.Evaluator(
        {"main": batches(repeat=False)},
        {"other": model},
        eval_func=model,
        eval_hook=hooks.append,
    )
    assert evaluator().keys() == {"other/loss"} and hooks == [evaluator]
    with pytest.raises(KeyError, match="Did you mean 'other'"):
        evaluator.get_target("othr")
    with pytest.raises(KeyError, match="'main'"):
        extensions.Evaluator(batches(repeat=False), {"other": model})()


def test_an_evaluation_shows_its_progress_on_a_terminal(monkeypatch):
    for out, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stdout", out)
        evaluator = extensions.Evaluator(batches(repeat=False), small.Model(), progress_bar=True)
        means = evaluator()
        assert ("37" in out.getvalue()) == shown
        assert means == extensions.Evaluator(batches(repeat=False), evaluator.get_target("main"))()
    with pytest.raises(TypeError, match="progres_bar"):
        extensions.Evaluator(batches(repeat=False), small.Model(), progres_bar=True)


def test_an_endless_evaluation_is_refused():
    with pytest.raises(ValueError, match="repeat=False"):
        extensions.Evaluator(batches(), small.Model())()


def test_a_single_key_of_a_log_needs_no_list(tmp_path):
    run(tmp_path, extensions.LogReport("main/loss"))
    records = json.loads((tmp_path / "log").read_text())
    assert all("main/loss" in record for record in records) and len(records) == 2


# -- dump_graph -------------------------------------------------------------------------------


def test_dump_graph_writes_the_graph_once_and_restores_the_flag(tmp_path):
    flags = []

    def watch(trainer):
        flags.append(core.config.keep_graph_on_report)

    run(tmp_path, watch, extensions.dump_graph("main/loss"))
    assert flags == [True] + [False] * 9
    dot, mermaid = (tmp_path / "cg.dot").read_text(), (tmp_path / "cg.mmd").read_text()
    assert dot.startswith("digraph") and mermaid.startswith("flowchart")
    for operation in ("Dropout", "ReLU", "SoftmaxCrossEntropy"):
        assert operation in dot and operation in mermaid


def test_dump_graph_shows_parameters_by_their_paths(tmp_path):
    run(tmp_path, extensions.dump_graph("main/loss"))
    for name in ("cg.dot", "cg.mmd"):
        text = (tmp_path / name).read_text()
        assert "/l1/W" in text
        assert "/l2/b" in text


def test_dump_graph_names_the_nearest_root_and_restores_the_flag(tmp_path):
    with pytest.raises(KeyError, match="Did you mean 'main/loss'"):
        run(tmp_path, extensions.dump_graph("main/los"))
    assert core.config.keep_graph_on_report is False


def test_dump_graph_called_again_keeps_the_graph_it_has(tmp_path):
    run(tmp_path, extensions.dump_graph("main/loss", out_name="g.dot"), trigger=(1, "iteration"))
    assert "Dropout" in (tmp_path / "g.dot").read_text()


# -- snapshots and the rest -------------------------------------------------------------------


def test_snapshot_object_saves_the_object(tmp_path):
    made = training.Trainer(small.updater(), (2, "epoch"), tmp_path)
    made.extend(
        extensions.snapshot_object(model_of(made), "model_{.updater.epoch}", n_retains=1),
        trigger=(1, "epoch"),
    )
    made.run()
    assert os.listdir(tmp_path) == ["model_2"]
    loaded = small.Model()
    core.serializers.load_npz(tmp_path / "model_2", loaded)
    assert (loaded.l1.W.array == model_of(made).l1.W.array).all()


def test_snapshots_by_a_function_of_ones_own(tmp_path):
    def save(path, target):
        with open(path, "w") as file:
            file.write(f"{target.updater.iteration}")
            if target.updater.iteration == 4:
                raise OSError("disk full")

    snapshot = extensions.snapshot(save, lambda trainer: f"at_{trainer.updater.iteration}")
    with pytest.raises(OSError, match="disk full"):
        run(tmp_path, snapshot, trigger=(2, "iteration"))
    assert os.listdir(tmp_path) == ["at_2"] and (tmp_path / "at_2").read_text() == "2"


def test_snapshots_on_condition_and_on_error(tmp_path):
    def fail(trainer):
        if trainer.updater.iteration == 3:
            raise ArithmeticError

    never = extensions.snapshot(condition=lambda: False)
    on_error = extensions.snapshot(filename="last", snapshot_on_error=True)
    with pytest.raises(ArithmeticError):
        run(tmp_path, never, on_error, fail, trigger=(1, "iteration"), stop=(5, "iteration"))
    assert os.listdir(tmp_path) == ["last"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_retains": 0}, ValueError, "1 or more"),
        ({"filename": str, "autoload": True}, ValueError, "format string"),
        ({"savefun": print, "autoload": True}, ValueError, "npz"),
        ({"n_retain": 2}, TypeError, "n_retain"),
    ],
)
def test_snapshot_options_that_contradict(options, error, message):
    with pytest.raises(error, match=message):
        extensions.snapshot(**options)


def test_observed_values_reach_the_log(tmp_path):
    log = extensions.LogReport(filename=None)
    run(
        tmp_path,
        extensions.observe_lr(),
        extensions.observe_value("twice", lambda trainer: trainer.updater.iteration * 2),
        log,
    )
    assert [(r["lr"] > 0, r["twice"]) for r in log.log] == [(True, 10), (True, 20)]


@pytest.mark.parametrize("name", ["observe_lr", "dump_graph", "snapshot"])
def test_what_makes_an_extension_is_none(name, tmp_path):
    """Nothing would be observed or written, without a word."""
    with pytest.raises(TypeError, match=f"^{name}: expected .* got Trainer"):
        run(tmp_path, getattr(extensions, name))


@pytest.mark.parametrize("name", core.registry.catalogue("optimizers").names())
def test_the_rate_of_every_optimizer_is_observed(name, tmp_path):
    optimizer = getattr(optimizers, name)().setup(small.Model())
    updater = training.updaters.StandardUpdater(
        iterators.SerialIterator(small.data(), 8), optimizer
    )
    trainer = training.Trainer(updater, (2, "epoch"), tmp_path)
    trainer.extend(extensions.observe_lr())
    trainer.extend(log := extensions.LogReport(filename=None))
    if name == "AdaDelta":  # it has no rate
        with pytest.raises(AttributeError, match="AdaDelta has no attribute 'lr'"):
            trainer.run()
        assert updater.iteration == 0
        return
    rates = [optimizer.lr]
    trainer.run()
    assert [record["lr"] for record in log.log][1:] == [optimizer.lr] and min(rates) > 0
    constant = ("LAMB", "Lion", "Muon", "NAdam")
    if hasattr(optimizer, "beta2") and name not in constant:  # it follows from the step
        assert rates[0] == optimizer.alpha != optimizer.lr


def test_the_rate_of_radam_is_that_of_its_rules():
    optimizer = optimizers.RAdam(alpha=0.5, beta2=0.9).setup(model := small.Model())
    for _ in range(9):
        optimizer.update(model, *(np.stack(x) for x in zip(*small.data()[:4], strict=True)))
        assert optimizer.lr == model.l1.W.update_rule.rate[1]

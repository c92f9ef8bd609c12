"""The measured workloads: what runs is the same everywhere, and what is said of it."""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import BenchmarkError, compare, contestants, results, roofline
from benchmarks.__main__ import main
from benchmarks.contestants import ALL, chosen
from benchmarks.rounds import Slice
from benchmarks.work import Work
from benchmarks.workloads import WORKLOADS

TINY = {
    "mlp-sgd": {"batch": 3, "sizes": (5, 4, 3)},
    "mlp-adam": {"batch": 3, "sizes": (5, 4, 3)},
    "lenet": {"batch": 2},
    "adam": {"sizes": (3, 100, 200)},
}
WITHOUT_NUMPY = {
    "vgg": {"batch": 2},
    "lstm": {"batch": 2, "sizes": (20, 4, 3)},
    "lstm-steps": {"batch": 2, "sizes": (20, 4, 3)},
    "wgan-gp": {"batch": 3, "sizes": (5, 4, 1)},
    "transformer": {"batch": 2, "sizes": (11, 8, 1, 3)},
}
"""Sizes at which workloads are run here, of those that are small enough then."""


def slice_of(wall, *, cpu=1.0, waited=0.0):
    return Slice(2, wall, cpu * wall, 0.001, 0.001, waited)


ROUNDS = [
    {
        "plugrad": slice_of(0.2 * drift),
        "torch": slice_of(0.4 * drift),
        "plugrad-plain": slice_of(drift),
    }
    for drift in (1, 2, 3)
]
LABELS = {name: ALL[name].label for name in ROUNDS[0]}
LENET = WORKLOADS["lenet"]


def row_of(rounds, clock="wall"):
    found = compare.described(LENET, LABELS, rounds, clock)
    return {**found, "work": {"flop": 2e9}, "values": [1.0]}


def result_of(**rows):
    return {
        "command": "python -m benchmarks lenet",
        "machine": {"processor": "P", "cores": 2, "system": "S", "python": "Y", "build": "B"},
        "threads": 1,
        "clock": "wall",
        "roofline": {"flop": 1e11, "bytes": 1e10},
        "versions": {"plugrad": {"plugrad": "1"}},
        "rows": rows,
    }


# ---------------------------------------------------------------------------- workloads


def values_of(framework, name, setting="default"):
    return Work(framework, setting, 1, tiny(name)).values(3)


def tiny(name):
    return replace(WORKLOADS[name], **(TINY | WITHOUT_NUMPY)[name])


@pytest.mark.parametrize("name", TINY)
def test_numpy_by_hand_and_plugrad_compute_the_same(name):
    ours = {"plugrad": values_of("plugrad", name), "numpy": values_of("numpy", name)}
    compare.agree(WORKLOADS[name], ours)
    assert len({*ours["plugrad"]}) == 3  # each step changes something


@pytest.mark.parametrize("name", WITHOUT_NUMPY)
def test_every_step_of_plugrad_changes_the_loss(name):
    assert len({*values_of("plugrad", name)}) == 3


def test_both_forms_of_the_language_model_begin_alike():
    once, steps = (Work("plugrad", "default", 1, tiny(n)).values(1) for n in ("lstm", "lstm-steps"))
    assert once == pytest.approx(steps, rel=1e-5)


def test_the_chain_takes_100_operations_in_every_form():
    for name in ("chain-backward", "chain-without", "chain-recording"):
        work = Work("plugrad", "default", 1, WORKLOADS[name])
        assert work.amount() == {"operations": 100}
        first, second = work.values(2)
        assert first == second != 0


def test_loaded_images_are_those_of_the_data_set_in_order():
    w = replace(WORKLOADS["loading"], batch=2)
    work = Work("numpy", "default", 1, w)
    work.settle()
    pictures = work.module.Pictures()
    batch = work.prepared.step()
    assert batch.shape == (2, 3, 224, 224)
    assert (batch[1] == pictures[17][0]).all() and pictures[17][1] == 7


def test_who_computes_something_else_is_not_timed():
    with pytest.raises(BenchmarkError, match=r"lenet: torch computes something else than plugrad"):
        compare.agree(LENET, {"plugrad": [1.0, 2.0], "torch": [1.0, 2.01]})
    compare.agree(LENET, {"plugrad": [1.0, 2.0], "torch": [1.0, 2.0001]})


@pytest.mark.parametrize("w", WORKLOADS.values(), ids=str)
def test_every_workload_says_what_a_step_takes_and_where_it_is_to_be(w):
    module = import_module(f"benchmarks.models.{w.model}")
    if w.mode != "memory":
        ((kind, amount),) = module.work(w).items()
        assert kind in results.UNITS and amount > 0
    assert w.name.isascii() and set(w.goals) <= set(ALL)
    assert "torch-best" not in w.goals or w.best


def test_the_products_of_a_step_are_counted():
    assert LENET.batch == 100
    forward = 20 * 25 * 576 + 50 * 500 * 64 + 800 * 500 + 5000
    module = import_module("benchmarks.models.lenet")
    assert module.work(LENET) == {"flop": 200 * (3 * forward - 20 * 25 * 576)}


def test_a_model_that_is_not_written_for_a_framework_is_left_out():
    assert not Work("numpy", "default", 1, WORKLOADS["vgg"]).able()
    assert not Work("numpy", "default", 1, WORKLOADS["memory-lenet"]).able()
    assert Work("numpy", "default", 1, WORKLOADS["loading"]).able()
    assert Work("plugrad", "default", 1, WORKLOADS["vgg"]).able()


def test_frameworks_take_part_in_all_their_settings():
    names = [c.name for c in chosen(["torch", "numpy"], compiled=True)]
    assert names == ["plugrad", "plugrad-plain", "torch", "torch-best", "numpy"]
    assert [c.name for c in chosen([], compiled=False)] == ["plugrad"]
    assert not ALL["torch-best"].takes_part(replace(LENET, best=""))
    assert ALL["torch-best"].describe(LENET) == "PyTorch: fused SGD, channels_last"
    assert {c.framework for c in ALL.values()} - {"plugrad"} == set(contestants.FRAMEWORKS)


# ---------------------------------------------------------------------------- what is said


def test_ratios_are_plugrads_share_with_and_without_what_is_compiled():
    row = row_of(ROUNDS)
    assert row["ratios"]["torch"]["median"] == pytest.approx(0.5)
    assert row["plain"] == {"torch": {k: pytest.approx(2.5) for k in ("median", "low", "high")}}
    assert row["times"]["plugrad"]["median"] == pytest.approx(0.2)
    assert row["kept"] == 3 and row["processors"]["torch"] == 1.0


def test_a_row_of_disturbed_rounds_alone_is_flagged():
    disturbed = [{n: slice_of(0.2, waited=0.1) for n in r} for r in ROUNDS]
    row = row_of(disturbed)
    assert row["kept"] == 0 and row["disturbed"] == {"waited for a processor": 3}
    assert row["ratios"]["torch"]["median"] == 1.0
    assert "NO UNDISTURBED ROUND" in results.footing(result_of(lenet=row))
    assert "NO UNDISTURBED" not in results.footing(result_of(lenet=row_of([*disturbed, ROUNDS[0]])))


def test_processor_time_is_not_disturbed_by_waiting():
    busy = [{n: slice_of(s.wall, cpu=0.5, waited=0.5) for n, s in r.items()} for r in ROUNDS]
    row = row_of(busy, "cpu")
    assert row["kept"] == 3
    assert row["times"]["plugrad"]["median"] == pytest.approx(0.1)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux tells the memory")
def test_what_a_step_takes_beside_parameters_and_gradients():
    w = replace(WORKLOADS["memory-lenet"], batch=64)
    peak = Work("plugrad", "default", 1, w).peak(2)
    outputs = 4 * 64 * (20 * 576 + 50 * 64)  # of convolutions, in float32
    assert outputs < peak["bytes"] < 20 * outputs
    assert len(peak["values"]) == 2


def test_memory_is_compared_once_and_told_in_megabytes():
    found = {
        "plugrad": {"values": [1.0], "bytes": 30e6},
        "plugrad-plain": {"values": [1.0], "bytes": 60e6},
        "torch": {"values": [1.0], "bytes": 20e6},
    }
    row = compare.remembered(WORKLOADS["memory-lenet"], LABELS, found)
    assert row["ratios"]["torch"]["median"] == 1.5
    assert row["plain"].keys() == {"torch"} and row["plain"]["torch"]["median"] == 3.0
    lines = [line.split() for line in results.block(row, result_of()).splitlines()]
    assert ["PyTorch", "eager", "1.50", "1", "3.00", "20"] in lines


def test_the_text_shows_ratios_first_then_times_and_how_far_the_limit_is():
    row = row_of(ROUNDS)
    lines = [line.split() for line in results.block(row, result_of(lenet=row)).splitlines()]
    torch = ["PyTorch", "eager", "0.50", "0.7", "2.50"]
    assert [*torch, "400.0", "(300.0-500.0)", "5", "5", "%"] in lines
    assert ["3", "of", "3", "rounds"] in lines
    assert "1 thread for all; at most 100 GFLOP/s" in results.heading(result_of())


def test_who_uses_more_processors_than_it_was_given_is_named():
    row = row_of([{**r, "torch": slice_of(1, cpu=1.9)} for r in ROUNDS])
    assert "PyTorch eager kept 1.9 processors busy" in results.block(row, result_of(lenet=row))


def test_a_real_run_measures_checks_prints_and_writes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(compare, "roofline", lambda threads: {"flop": 1e11, "bytes": 1e10})
    path = tmp_path / "new" / "result.json"
    code = main(["mlp-sgd", "--against", "numpy", "--rounds", "1", "--json", str(path)])
    printed = capsys.readouterr().out
    assert "MLP 784-100-100-10" in printed and "NumPy by hand" in printed
    result = json.loads(path.read_text())
    row = result["rows"]["mlp-sgd"]
    assert code == (row["kept"] == 0)  # the machine may be busy
    assert {"plugrad", "numpy"} <= set(row["labels"]) == set(row["times"])
    assert set(row["rounds"][0]["numpy"]) >= {"wall", "cpu", "waited"}
    assert result["threads"] == 1 and {"processor", "python", "time"} <= set(result["machine"])
    assert "numpy" in result["versions"]["numpy"]


def test_processor_time_is_of_one_thread(capsys):
    assert main(["lenet", "--clock", "cpu", "--threads", "2"]) == 2
    assert "--clock cpu needs --threads 1" in capsys.readouterr().err


def test_a_result_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchmarkError, match="could not write"):
        results.save(tmp_path / "file" / "result.json", "")


def test_the_roofline_is_positive_for_each_thread():
    assert all(v > 0 for v in roofline.measure(2, side=8, copied=64).values())

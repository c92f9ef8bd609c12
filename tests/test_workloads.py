"""The measured workloads: what runs is the same everywhere, and what is said of it."""

import json
import platform
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from backends.numpy_backend import blas
from backends.numpy_backend.kernels import compiler
from benchmarks import (
    BenchmarkError,
    busy,
    cold,
    compare,
    contestants,
    device,
    growth,
    isa,
    peers,
    picture,
    results,
    roofline,
    rows,
)
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
        "machine": {
            "processor": "P",
            "cores": 2,
            "system": "S",
            "python": "Y",
            "build": "B",
            "time": "2026-11-22T10:00",
        },
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


def test_what_deep_networks_begin_with_hangs_little_on_the_last_bits(monkeypatch):
    """Otherwise no two frameworks would agree on their first losses."""
    w = replace(rows.ROWS["resnet50"], batch=4, sizes=(50, 10, 64))
    exact = Work("plugrad", "default", 1, w).values(3)
    module, noise = import_module("benchmarks.models.resnet"), np.random.default_rng(0)
    images, classes = module.batch(w)
    images *= 1 + 1e-6 * noise.standard_normal(images.shape).astype("f")
    monkeypatch.setattr(module, "batch", lambda w: (images, classes))
    assert Work("plugrad", "default", 1, w).values(3) == pytest.approx(exact, rel=1e-4)


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


@pytest.mark.parametrize("w", (rows.ROWS | WORKLOADS).values(), ids=str)
def test_every_workload_says_what_a_step_takes_and_where_it_is_to_be(w):
    module = import_module(f"benchmarks.models.{w.model}")
    if w.mode != "memory":
        ((kind, amount),) = module.work(w).items()
        assert kind in results.UNITS and amount > 0
    assert w.name.isascii() and {n for goal in w.goals for n in goal.split("/")} <= {*ALL, "held"}
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


def test_others_compile_their_steps_where_plugrad_captures_them():
    names = [c.name for c in chosen(["torch"], captured="fused")]
    assert names == ["plugrad", "plugrad-eager", "torch", "torch-best", "torch-compiled"]
    compiled = ALL["torch-compiled"]
    assert compiled.takes_part(LENET) and not compiled.takes_part(WORKLOADS["memory-lenet"])


class Failing:
    """A worker whose steps cannot be computed."""

    def ask(self, question, **values):
        raise BenchmarkError("the worker failed:\n  File ...\nRuntimeError: no compiler\n\n  more")


def test_who_cannot_compile_a_step_says_why_and_others_end_the_run():
    assert compare.first_steps(Failing(), "compiled") == "RuntimeError: no compiler"
    with pytest.raises(BenchmarkError, match="no compiler"):
        compare.first_steps(Failing(), "default")
    more = {"warming": {"torch": 0.5}, "refused": {"PyTorch, torch.compile": "RuntimeError: no"}}
    lines = results.block(row_of(ROUNDS) | more, result_of()).splitlines()
    assert "  first steps: PyTorch eager 0.50 s" in lines
    assert "  PyTorch, torch.compile cannot: RuntimeError: no" in lines


def test_the_first_steps_are_timed():
    work = Work("numpy", "default", 1, tiny("mlp-sgd"))
    work.values(3)
    assert work.warming() > 0


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
    assert len(peak["values"]) == 3 + 2


def test_memory_is_compared_look_by_look_and_told_in_megabytes():
    names = "plugrad", "plugrad-plain", "torch"
    looks = [
        {name: {"values": [1.0], "bytes": n} for name, n in zip(names, taken, strict=True)}
        for taken in ([30e6, 60e6, 20e6], [30e6, 50e6, 10e6], [33e6, 70e6, 30e6])
    ]
    row = compare.remembered(WORKLOADS["memory-lenet"], LABELS, looks)
    assert row["ratios"]["torch"] == pytest.approx({"median": 1.5, "low": 1.3, "high": 2.25})
    assert row["plain"].keys() == {"torch"} and row["plain"]["torch"]["median"] == 3.0
    lines = [line.split() for line in results.block(row, result_of()).splitlines()]
    ratios = ["1.50", "(1.30-2.25)", "1", "3.00", "(2.67-4.00)"]
    assert ["PyTorch", "eager", *ratios, "20"] in lines


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


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or blas.control() is None,
    reason="the variables are of x86, and of OpenBLAS",
)
def test_all_libraries_take_the_instructions_that_they_are_limited_to(monkeypatch):
    for name, value in isa.AVX2.items():
        monkeypatch.setenv(name, value)  # and is as before after the test
    machine = compare.limited("avx2", ["torch"])
    assert machine["processor"].endswith("limited to AVX2")
    say = """
from numpy._core._multiarray_umath import __cpu_features__ as features
from backends.numpy_backend import blas
from backends.numpy_backend.kernels import compiler
print(blas.control().core, [k for k in features if features[k] and k in ("X86_V4", "AVX512_ICL")])
try:
    from numba.core.registry import cpu_target
    print("avx512" in cpu_target.target_context.codegen().magic_tuple()[2])
except ImportError:
    print(False)
"""
    run = subprocess.run([sys.executable, "-c", say], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == ["Haswell []", "False"]


def test_who_cannot_be_limited_does_not_take_part(capsys):
    assert main(["lenet", "--isa", "avx2", "--against", "jax"]) == 2
    assert "nothing tells jax so" in capsys.readouterr().err


def test_processor_time_is_of_one_thread(capsys):
    assert main(["lenet", "--clock", "cpu", "--threads", "2"]) == 2
    assert "--clock cpu needs --threads 1" in capsys.readouterr().err


def test_a_result_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchmarkError, match="could not write"):
        results.save(tmp_path / "file" / "result.json", "")


def test_the_roofline_is_positive_for_each_thread():
    assert all(v > 0 for v in roofline.measure(2, side=8, copied=64).values())


# ---------------------------------------------------------------------------- devices


@pytest.mark.slow
def test_a_device_is_measured_eager_and_captured_with_its_memory(tmp_path, monkeypatch, capsys):
    """The device is the host's, and PyTorch is measured where it is installed."""
    against = "torch" if find_spec("torch") else ""
    small = replace(rows.ROWS["mlp-adam-bfloat16"], **TINY["mlp-adam"])
    monkeypatch.setitem(rows.ROWS, small.name, small)
    monkeypatch.setattr(peers, "environment", lambda name: Path(sys.executable))
    monkeypatch.setattr(device, "ready", lambda name, against: None)  # which starts processes too
    for left_out in ("torch-compiled", "torch-best"):  # which take long to begin
        monkeypatch.delitem(ALL, left_out)
    path, page = tmp_path / "result.json", tmp_path / "page.md"
    page.write_text(MARKED)
    written_to = ["--json", str(path), "--markdown", str(page)]
    few = ["--rounds", "1", "--patience", "1", "--against", against]
    main([small.name, "--device", "numpy", *few, *written_to])
    row = json.loads(path.read_text())["rows"][small.name]
    theirs = ["torch"] if against else []
    assert [*row["labels"]] == ["plugrad", "plugrad-eager", *theirs] == [*row["times"]]
    assert all(size > 0 for size in row["held"].values())
    assert [*row["plain"]] == theirs
    assert "arrays on numpy" in capsys.readouterr().out
    assert f"| {small.title}" in page.read_text()


def test_a_device_that_is_not_there_is_refused_at_once(capsys):
    assert main(["--device", "nowhere", "--against", ""]) == 2
    assert "No backend is called 'nowhere'" in capsys.readouterr().err
    assert main(["--device", "numpy", "--clock", "cpu"]) == 2
    assert "--clock cpu measures the host alone" in capsys.readouterr().err


def test_the_table_of_devices_tells_eager_steps_and_memory_too(tmp_path):
    held = {"plugrad": 9e6, "plugrad-eager": 8e6, "torch": 10e6}
    labels = {n: ALL[n].label for n in held}
    told = [{n: slice_of(t) for n, t in zip(labels, (0.1, 0.3, 0.4), strict=True)}] * 2
    row = compare.described(rows.ROWS["lenet-tf32"], labels, told, "wall")
    row |= {"work": {"flop": 2e9}, "held": held}
    result = result_of(lenet=row) | {"roofline": {}, "device": "cuda"}
    assert "arrays on cuda\n" in results.heading(result)
    (header, _, line) = [x for x in results.document(result).splitlines() if x.startswith("|")]
    assert "| eager: PyTorch eager | eager: memory of PyTorch eager |" in header
    assert "| **0.25**, goal 0.5 |" in line and "| **0.75**, goal 1 | **0.80**, goal 1 |" in line


# ---------------------------------------------------------------------------- documents


MARKED = f"before\n{results.START}\nstale\n{results.END}\nafter\n"


def written(tmp_path, **results):
    found = []
    for name, result in results.items():
        found.append(tmp_path / f"{name}.json")
        found[-1].write_text(json.dumps(result))
    return [str(path) for path in found]


def test_parts_of_a_table_are_shown_together_in_a_document(tmp_path, capsys):
    first = result_of(lenet=row_of(ROUNDS), vgg=row_of(ROUNDS[:1]))
    second = result_of(vgg=row_of(ROUNDS[1:])) | {"roofline": {"flop": 2e11, "bytes": 5e9}}
    document = tmp_path / "page.md"
    document.write_text(MARKED)
    paths = written(tmp_path, first=first, second=second)
    assert main(["show", *paths, "--markdown", str(document)]) == 0
    assert "at most 200 GFLOP/s" in capsys.readouterr().out
    text = document.read_text()
    assert text.startswith(f"before\n{results.START}") and text.endswith(f"{results.END}\nafter\n")
    assert "stale" not in text and "10.0 GB/s (copy)" in text
    (header, _, lenet, vgg) = [line for line in text.splitlines() if line.startswith("|")]
    assert "| PyTorch eager | without [fast]: PyTorch eager | plugrad |" in header
    assert "| **0.50**, goal 0.7 | 2.50 | 200.0 (150.0-250.0) ms | 10 GFLOP/s | 5 % |" in lenet
    assert vgg.split(" | ")[-3] == "250.0 (225.0-275.0) ms"  # the later part's
    assert "2026-11-22" in text and text.count("python -m benchmarks lenet") == 2


def test_parts_that_do_not_belong_together_are_refused(tmp_path, capsys):
    here = result_of(lenet=row_of(ROUNDS))
    elsewhere = here | {"machine": here["machine"] | {"processor": "Q"}}
    for other, why in (
        (elsewhere, "different machines: processor"),
        (here | {"threads": 2}, "threads"),
    ):
        assert main(["show", *written(tmp_path, here=here, other=other)]) == 2
        assert why in capsys.readouterr().err
    assert main(["show", *written(tmp_path, nothing=[])]) == 2
    assert "expected what --json writes" in capsys.readouterr().err


def test_a_document_without_marks_is_left_alone(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(text := MARKED.replace(results.END, ""))
    with pytest.raises(BenchmarkError, match="no lines"):
        results.insert(path, "new")
    assert path.read_text() == text


def test_pictures_are_for_light_and_for_dark_pages(tmp_path):
    pytest.importorskip("matplotlib")
    memory = compare.remembered(
        WORKLOADS["memory-lenet"], LABELS, [{n: {"values": [1.0], "bytes": 1e6} for n in LABELS}]
    )
    picture.draw(result_of(lenet=row_of(ROUNDS), memory=memory), tmp_path / "speed.png")
    costs = {name: {10: 2.0, 100: 1.0} for name in growth.CASES}
    found = {"machine": result_of()["machine"], "microseconds": costs}
    picture.draw_growth(found, tmp_path / "growth.png")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["growth-dark.png", "growth.png", "speed-dark.png", "speed.png"]
    assert all(path.read_bytes()[1:4] == b"PNG" for path in tmp_path.iterdir())


# ---------------------------------------------------------------------------- growth, load


def test_growth_compares_large_numbers_with_one_another():
    costs = {"deep": {10: 9.0, 1_000: 2.0, 100_000: 3.0}, "parameters": {1: 5.0, 10: 1.0}}
    assert growth.growth(costs) == {"deep": 1.5, "parameters": 1.0}
    lines = growth.report(costs).splitlines()
    assert lines[3].split() == ["10", "9.00", "1.00"]
    assert lines[-1].split() == ["from", "1,000", "on", "x", "1.50", "x", "1.00"]


def test_graphs_of_every_form_grow_to_the_number_asked_for():
    costs = growth.measure(dict.fromkeys(growth.SIZES, (2, 11)), seconds=0)
    assert all(cost > 0 for found in costs.values() for cost in found.values())
    assert [*costs["wide"]] == [2, 11]


def test_the_example_is_timed_alone_and_beside_busy_processes(monkeypatch):
    started = []

    class Other(subprocess.Popen):
        def __init__(self, command, **settings):
            started.append(command)
            super().__init__(command, **settings)

    monkeypatch.setattr(busy, "SPIN", [sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(busy.subprocess, "Popen", Other)
    nothing = [sys.executable, "-c", "pass"]
    ((alone, beside),) = busy.measure(nothing, 1, cores=2)
    assert alone > 0 < beside < 60
    assert started.count(nothing) == 2 and started.count(busy.SPIN) == 2
    with pytest.raises(BenchmarkError, match="ended with 3"):
        busy.seconds([sys.executable, "-c", "raise SystemExit(3)"], 0)
    assert busy.report([(1.0, 3.0), (2.0, 3.0), (1.0, 2.5)]).endswith("2.50 times (goal: 2)")


@pytest.mark.skipif(not compiler.available(), reason="loops are not compiled")
def test_the_example_compiles_few_loops_once(tmp_path):
    assert cold.seconds(str(tmp_path)) > 0
    loops, size = kept = cold.kept(tmp_path)
    # What it takes to compile them goes with their number and size; a test cannot look at times.
    assert 10 <= loops <= 26 and size < 1_050_000
    cold.seconds(str(tmp_path))
    assert cold.kept(tmp_path) == kept


def test_what_compiling_takes_is_told(monkeypatch, tmp_path):
    rounds = [cold.Round(8.0, 2.0, 25, 900_000), cold.Round(9.0, 2.5, 25, 900_000)]
    assert cold.report(rounds).endswith("6.2 s (goal: 5) for 25 loops of 0.90 MB")
    monkeypatch.setattr(cold, "EXAMPLE", tmp_path / "missing.py")
    with pytest.raises(BenchmarkError, match="ended with 2"):
        cold.seconds(str(tmp_path))

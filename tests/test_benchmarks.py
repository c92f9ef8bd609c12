"""The benchmark tool itself: its arguments, its arithmetic and its protocol. Nothing is timed."""

import json
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import (
    ROOT,
    BenchmarkError,
    alpha_beta,
    functions,
    importtime,
    instructions,
    overhead,
    parallel,
    peers,
    typecheck,
)
from benchmarks.__main__ import main
from benchmarks.few_cases import CASES as FEW
from benchmarks.function_cases import CASES
from benchmarks.process import WORKERS, environment
from benchmarks.rounds import Slice, Spread, Summary, calm, disturbance, spread, summarise
from benchmarks.table import table
from benchmarks.workers import protocol
from benchmarks.workers.protocol import OPERATIONS, answer

CALM = 0.001


def slice_of(wall=0.02, *, repeat=10, waited=1.0, slowed=1.0):
    return Slice(repeat, wall, wall / waited, CALM, CALM * slowed)


# ---------------------------------------------------------------------------- command line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--check", "--record"], "not allowed with"),
        (["overheads"], "no workload 'overheads'; there are: chain-backward, "),
        (["lenet", "--against", "tensorflow"], "no peer 'tensorflow'; there are: torch, "),
        (["lenet", "--threads", "0"], "expected a whole number above zero, got '0'"),
        (["overhead", "--against", "torch,jax"], "no peer 'jax'; there are: torch, chainer"),
        (["overhead", "--rounds", "0"], "expected a whole number above zero, got '0'"),
        (["importtime", "--rounds", "many"], "expected a whole number above zero, got 'many'"),
        (["typecheck", "--rounds", "0"], "expected a whole number above zero, got '0'"),
        (["products", "--seconds", "many"], "invalid float value: 'many'"),
        (["allocation", "--steps", "0"], "expected a whole number above zero, got '0'"),
        (["parallel", "--rounds", "0"], "expected a whole number above zero, got '0'"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_peers_are_measured_once_each_and_none_is_legal():
    read = overhead.names_among(overhead.OPPONENTS)
    assert read("torch,chainer,torch") == ["torch", "chainer"]
    assert read("") == []


def test_a_measurement_that_cannot_be_made_says_why(monkeypatch, capsys):
    monkeypatch.setattr(instructions.shutil, "which", lambda name: None)
    assert main(["--check"]) == 2
    assert "error: valgrind was not found. Install it" in capsys.readouterr().err


# ---------------------------------------------------------------------------- rounds


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30))
def test_a_spread_lies_within_its_values_in_order(values):
    s = spread(values)
    assert min(values) <= s.low <= s.median <= s.high <= max(values)


def test_calm_is_not_the_one_lucky_calibration():
    slices = [Slice(1, 1, 1, CALM / 2, CALM)] + [slice_of() for _ in range(9)]
    assert calm(slices) == (CALM, CALM)


def test_a_slice_is_disturbed_by_waiting_or_by_a_slow_machine():
    calm_times = (CALM, 2 * CALM)
    good = Slice(1, 1, 1, CALM, 2 * CALM)
    assert disturbance(good, calm_times) is None
    assert disturbance(replace(good, cpu=0.98, before=1.1 * CALM), calm_times) is None
    assert disturbance(replace(good, cpu=0.9), calm_times) == "waited for a processor"
    assert disturbance(replace(good, before=1.3 * CALM), calm_times) == "calibration slowed"
    assert disturbance(replace(good, after=2.6 * CALM), calm_times) == "calibration slowed"


def test_a_disturbed_slice_takes_its_whole_round_out_and_is_counted():
    good = {"plugrad": slice_of(0.02), "torch": slice_of(0.04)}
    waited = {"plugrad": slice_of(9.0), "torch": slice_of(0.04, waited=2)}
    slowed = {"plugrad": slice_of(9.0, slowed=2), "torch": slice_of(0.04)}
    summary = summarise([good, waited, good, slowed, slowed, good], 100, "plugrad")
    assert summary.kept == 3
    assert summary.disturbed == {"waited for a processor": 1, "calibration slowed": 2}
    assert summary.times["plugrad"].median == pytest.approx(0.02 / (10 * 100))
    assert summary.ratios == {"torch": Spread(0.5, 0.5, 0.5)}


def test_ratios_are_taken_within_a_round_so_that_drift_cancels():
    rounds = [
        {"plugrad": slice_of(0.01 * speed), "torch": slice_of(0.02 * speed, repeat=5)}
        for speed in (1.0, 1.4, 2.0, 3.0)
    ]
    ratio = summarise(rounds, 100, "plugrad").ratios["torch"]
    assert ratio.low == pytest.approx(0.25) and ratio.high == pytest.approx(0.25)


def test_with_every_round_disturbed_there_are_no_figures():
    summary = summarise([{"plugrad": slice_of(waited=2)}], 100, "plugrad")
    assert summary == Summary(0, {"waited for a processor": 1}, {}, {})
    (line,) = overhead.rows_of("forward", summary, ["plugrad"])
    assert line == ["forward", "plugrad", "-", "", "", "0 of 1"]


@pytest.mark.parametrize(("waited", "batches"), [(1.0, 3), (2.0, 15)])
def test_a_busy_machine_gets_more_rounds_up_to_a_limit(waited, batches, monkeypatch):
    started = []

    class Worker:
        name, versions = "plugrad", {"plugrad": "1"}

        def __init__(self, name, python):
            started.append(name)

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *error: None  # noqa: E731

        def measure(self, case, repeat, collector):
            return slice_of(waited=waited)

    monkeypatch.setattr(overhead, "Worker", Worker)
    rounds, versions = overhead.measure({"plugrad": Path()}, 6, "off")
    assert len(started) == batches and versions == {"plugrad": {"plugrad": "1"}}
    assert {len(found) for found in rounds.values()} == {2 * batches}


def test_only_starts_that_waited_no_more_than_usual_are_kept():
    usual, waited = (0.02, 0.019), (0.04, 0.019)
    pairs = [(usual, usual)] * 3 + [(usual, waited), (waited, usual)]
    assert importtime.undisturbed(pairs) == [(0.02, 0.02)] * 3


# ---------------------------------------------------------------------------- report


def test_a_table_aligns_its_columns():
    text = table(["case", "us"], [["forward", "2.41"], ["all", "12"]])
    assert text.splitlines() == ["case       us", "-------  ----", "forward  2.41", "all        12"]


def test_the_report_shows_medians_ratios_goals_and_what_was_left_out():
    times = {"plugrad": Spread(2.4e-6, 2.3e-6, 2.5e-6), "torch": Spread(4.8e-6, 4.7e-6, 4.9e-6)}
    summary = Summary(8, {"calibration slowed": 2}, times, {"torch": Spread(0.5, 0.49, 0.51)})
    versions = {"plugrad": {"plugrad": "1", "numpy": "2"}, "torch": {"torch": "3"}}
    text = overhead.report({"forward": summary}, versions)
    lines = [line.split() for line in text.splitlines()]
    assert "plugrad 1 (numpy 2)" in text
    assert ["forward", "plugrad", "2.40", "(2.30-2.50)", "8", "of", "10"] in lines
    assert ["torch", "4.80", "(4.70-4.90)", "0.50", "(0.49-0.51)", "0.55"] in lines


def test_a_result_file_holds_every_slice_and_the_machine(tmp_path):
    rounds = {"forward": [{"plugrad": slice_of()}]}
    summaries = {"forward": summarise(rounds["forward"], 100, "plugrad")}
    path = tmp_path / "new" / "result.json"
    overhead.write(path, {"rounds": 1}, {"plugrad": {}}, summaries, rounds)
    result = json.loads(path.read_text())
    assert result["rounds"]["forward"][0]["plugrad"]["wall"] == 0.02
    assert result["cases"]["forward"]["kept"] == 1
    assert {"processor", "python", "numpy", "time"} <= set(result["machine"])


def test_a_result_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchmarkError, match="could not write"):
        overhead.write(tmp_path / "file" / "result.json", {}, {}, {}, {})


# ---------------------------------------------------------------------------- workers, peers


def test_a_worker_answers_requests_and_reports_an_exception():
    ran = []
    request = json.dumps({"case": "a", "repeat": 3, "gc": "off"})
    reply = answer(request, {"a": ran.append})
    assert ran == [3]
    assert Slice(**reply).repeat == 3
    assert "KeyError: 'b'" in answer(request.replace('"a"', '"b"'), {"a": ran.append})["error"]


def test_of_several_threads_what_others_took_is_what_they_waited(monkeypatch):
    taken = iter([1.0, 1.5])
    monkeypatch.setattr(protocol, "others", lambda: next(taken))
    monkeypatch.setattr(protocol.os, "cpu_count", lambda: 2)
    request = json.dumps({"case": "a", "repeat": 1, "gc": "off", "parallel": True})
    reply = answer(request, {"a": lambda repeat: None})
    assert reply["waited"] == pytest.approx((0.5 - protocol.TICKS) / 2)


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="Linux tells what others took")
def test_what_others_take_leaves_this_process_out():
    before, cpu = protocol.own(), time.process_time()
    sum(range(1_000_000))
    own, cpu = protocol.own() - before, time.process_time() - cpu
    assert own == pytest.approx(cpu, abs=0.05)
    assert protocol.others() > 0


def test_a_framework_that_prints_does_not_break_the_protocol():
    code = (
        "from protocol import serve; import os\n"
        "serve({'a': lambda n: (print('noise', flush=True), os.write(1, b'more'))}, {})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input='{"case": "a", "repeat": 1, "gc": "on"}\n',
        cwd=WORKERS,
        capture_output=True,
        text=True,
        check=True,
    )
    ready, reply = map(json.loads, done.stdout.splitlines())
    assert ready["ready"] and reply["repeat"] == 1
    assert "noise" in done.stderr and "more" in done.stderr


def test_only_plugrad_sees_the_repository_and_all_have_one_thread(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    assert "PYTHONPATH" not in environment("torch")
    assert environment("plugrad")["PYTHONPATH"].endswith("/elsewhere")
    assert environment("torch")["OMP_NUM_THREADS"] == "1"


def test_every_peer_is_pinned_and_has_a_worker():
    for name, peer in peers.PEERS.items():
        packages = [a for install in peer.installs for a in install if not a.startswith("-")]
        assert packages and all("==" in package for package in packages)
        assert (ROOT / "benchmarks" / "kits" / f"{name}.py").exists()


def test_an_interrupted_installation_is_made_anew(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(peers, "HOME", tmp_path)

    def run(name, command):
        made.append(command)
        (tmp_path / f"{name}-{peers._digest(peers._recipe(name))}").mkdir(exist_ok=True)

    monkeypatch.setattr(peers, "_run", run)
    folder = peers.environment("torch").parent.parent
    assert len(made) == 2 and (folder / "installed.json").exists()
    peers.environment("torch")
    assert len(made) == 2
    (folder / "installed.json").unlink()
    (folder / "half").write_text("")
    peers.environment("torch")
    assert len(made) == 4 and not (folder / "half").exists()


def test_two_processes_make_an_environment_once(tmp_path, monkeypatch):
    made, first = [], threading.Event()
    monkeypatch.setattr(peers, "HOME", tmp_path)

    def make(name, folder, python):
        made.append(name)
        folder.mkdir()
        first.set()
        second.join(0.2)  # the other one has to wait

    monkeypatch.setattr(peers, "_make", make)
    second = threading.Thread(target=lambda: first.wait() and peers.environment("torch"))
    second.start()
    peers.environment("torch")
    second.join()
    assert made == ["torch"]


def test_a_peer_that_needs_a_python_we_lack_says_so(monkeypatch):
    monkeypatch.setattr(peers.shutil, "which", lambda name: None)
    with pytest.raises(BenchmarkError, match=r"runs on Python 2\.7 only, and python2\.7 is not"):
        peers._base(peers.Peer(installs=(), python="2.7"))


# ---------------------------------------------------------------------------- instruction counts

HERE = "cpython-3.11.7 build-1 numpy-2.4.6 x86_64"
COUNTS = {"forward": 5000.0, "calibration": 1000.0}
RECORDED = {"same": 0.02, "other": 0.10, "counts": {HERE: COUNTS}}


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.0, "ok"), (1.015, "ok"), (1.03, "DEARER"), (0.97, "cheaper: record it")],
)
def test_a_known_interpreter_is_compared_count_by_count(factor, verdict):
    counts = {"forward": 5000 * factor, "calibration": 9000.0}
    (found,) = instructions.compare(counts, RECORDED, HERE)
    assert found.verdict == verdict
    assert found.change == pytest.approx(factor - 1)


@pytest.mark.parametrize(("factor", "verdict"), [(1.05, "ok"), (1.2, "DEARER")])
def test_an_unknown_interpreter_is_compared_by_way_of_the_yardstick(factor, verdict):
    # Everything is 1.5 times as dear there: that alone is no regression.
    counts = {"forward": 5000 * 1.5 * factor, "calibration": 1500.0}
    (found,) = instructions.compare(counts, RECORDED, "cpython-3.14.0 build-2 numpy-2.5.0 arm64")
    assert (found.recorded, found.verdict) == (5.0, verdict)


def test_the_same_python_minor_version_is_the_nearest():
    other = "cpython-3.13.0 build-3 numpy-2.0.2 x86_64"
    assert instructions.nearest_keys("cpython-3.11.9 b n m", [HERE, other]) == [HERE]
    assert instructions.nearest_keys("cpython-3.12.1 b n m", [HERE, other]) == [HERE, other]


def test_with_nothing_recorded_the_check_says_how_to_record():
    with pytest.raises(BenchmarkError, match="python -m benchmarks --record"):
        instructions.compare(COUNTS, {**RECORDED, "counts": {}}, HERE)


def test_an_unknown_interpreter_is_told_how_to_become_a_known_one():
    comparisons = instructions.compare(COUNTS, RECORDED, "cpython-3.12.0 b n m")
    assert "--record" in instructions.report(comparisons, "cpython-3.12.0 b n m", exact=False)
    assert "--record" not in instructions.report(comparisons, HERE, exact=True)


def test_each_count_is_the_difference_that_more_repetitions_make(monkeypatch):
    per_operation = {case: 100.0 * (i + 1) for i, case in enumerate(instructions.REPEATS)}
    found = [
        7_000 + times * repeat * int(per_operation[case]) * (OPERATIONS if i < 5 else 1)
        for i, (case, repeat) in enumerate(instructions.REPEATS.items())  # the chain comes first
        for times in (1, 2)
    ]
    monkeypatch.setattr(instructions.shutil, "which", lambda name: name)
    monkeypatch.setattr(instructions, "_run", lambda prefix, arguments: None)
    monkeypatch.setattr(instructions, "instructions", lambda arguments: found)
    assert instructions.count() == pytest.approx(per_operation)


def test_the_counts_between_marks_are_read_in_order(monkeypatch):
    def callgrind(prefix, arguments):
        (out,) = [a.partition("=")[2] for a in prefix if a.startswith("--callgrind-out-file")]
        for i in range(1, 6):
            Path(f"{out}.{i}").write_text(f"version: 1\nfn=(1) totals: 9\ntotals: {100 * i}\n")

    monkeypatch.setattr(instructions, "_run", callgrind)
    assert instructions.instructions(["a=1", "b=1"]) == [200, 300, 400, 500]
    with pytest.raises(BenchmarkError, match="saw no call of getloadavg"):
        instructions.instructions(["a=1", "b=1", "c=1"])


def test_a_file_without_totals_is_refused():
    with pytest.raises(BenchmarkError, match="no totals"):
        instructions.total("version: 1\n")


def test_a_check_fails_exactly_if_a_case_became_dearer(monkeypatch, capsys):
    monkeypatch.setattr(instructions, "read", lambda: RECORDED)
    monkeypatch.setattr(instructions, "key", lambda: HERE)
    monkeypatch.setattr(instructions, "count", lambda: COUNTS)
    assert main(["--check"]) == 0
    monkeypatch.setattr(instructions, "count", lambda: {**COUNTS, "forward": 6000.0})
    assert main(["--check"]) == 1
    assert "forward became dearer" in capsys.readouterr().out


def test_recording_keeps_what_other_interpreters_recorded(tmp_path, monkeypatch):
    path = tmp_path / "recorded.json"
    path.write_text(json.dumps(RECORDED))
    monkeypatch.setattr(instructions, "RECORDED", path)
    monkeypatch.setattr(instructions, "key", lambda: "another")
    monkeypatch.setattr(instructions, "count", lambda: {"forward": 7.4})
    assert main(["--record"]) == 0
    counts = json.loads(path.read_text())["counts"]
    assert counts == {HERE: COUNTS, "another": {"forward": 7}}


def test_what_is_recorded_names_every_counted_case():
    counts = instructions.read()["counts"]
    assert counts and all(set(found) == set(instructions.REPEATS) for found in counts.values())


def test_type_checks_are_measured_on_every_form_of_operation(capsys):
    assert main(["typecheck", "--rounds", "1"]) in (0, 1)  # its figures are not for a test
    printed = capsys.readouterr().out
    for name in typecheck.cases():
        assert name in printed


def test_slices_of_one_thread_and_of_two():
    made = []

    def case():
        made.append(threading.get_ident())
        return lambda: None

    alone, both = parallel.measure({"nothing": case}, 4)["nothing"]
    assert len(alone) == len(both) == 4 and min(alone + both) > 0
    assert len(set(made)) == 3  # to know how many calls; then one for each thread, in it
    assert parallel.fastest([float(n) for n in range(100)]) == 2.0
    for each in parallel.CASES.values():
        each()()


@pytest.mark.parametrize("shape", ["ring", "tree"])
def test_the_model_of_sums_is_found_again_in_what_it_gives(shape):
    given = alpha_beta.Fit(3e-5, 4e-10, 2e-3)
    points = [
        (ranks, size, alpha_beta.here(ranks, size, shape, given, cores=2))
        for ranks in (2, 4)
        for size in (1 << 14, 1 << 20, 1 << 24)
    ]
    fit = alpha_beta.fit(points, shape, cores=2)
    found, expected = ((each.alpha, each.beta, each.wait) for each in (fit, given))
    assert found == pytest.approx(expected)
    assert [len(errors) for errors in fit.errors.values()] == [6, 3, 3, 6]
    assert max(max(errors) for errors in fit.errors.values()) < 1e-9


def test_a_step_shows_of_its_exchange_what_no_arithmetic_hides():
    network, compute = alpha_beta.NETWORKS["10 Gb/s"], 0.014
    step = alpha_beta.predicted(8, compute, network)
    (*_, last) = alpha_beta.buffers(compute)
    assert last[1] == compute and sum(alpha_beta.gradient_sizes()) == 1_796_010
    assert compute < step.step < compute + step.exchange
    assert alpha_beta.predicted(8, 100.0, network).step == pytest.approx(100, rel=1e-3)


# ---------------------------------------------------------------------------- functions


EACH = CASES | {f"{name} of few": case for name, case in FEW.items()}
# Of layers in several widths one: whoever measures the others compares them first.
ONCE = [name for name in EACH if not name.endswith((" x 256", " x 650"))]


@pytest.mark.parametrize("name", ONCE)
def test_functions_that_are_compared_compute_the_same(name):
    pytest.importorskip("torch")
    (ours, forward), (theirs, their_forward) = (
        functions.plugrad(EACH[name]),
        functions.torchs(EACH[name]),
    )
    functions.refuse_others(name, ours(), theirs())
    forward()
    their_forward()


def test_functions_that_compute_something_else_are_refused():
    pytest.importorskip("torch")
    case = CASES["relu"]._replace(theirs=CASES["sigmoid"].theirs)
    with pytest.raises(BenchmarkError, match="relu: the result differs from PyTorch's by"):
        functions.measured("relu", case, 0.01)


def test_functions_are_chosen_by_pattern_and_have_a_line_each(capsys):
    pytest.importorskip("torch")
    assert main(["functions", "rel*", "exp", "--seconds", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["relu", "relu6", "exp"]
    assert main(["functions", "relu", "--few", "--seconds", "0"]) == 0
    assert "Microseconds" in capsys.readouterr().out
    assert main(["functions", "nothing"]) == 2
    assert "there are sigmoid, " in capsys.readouterr().err

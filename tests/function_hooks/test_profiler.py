"""The profiler: what it counts, its table and its trace, and that it costs nothing while away."""

import io
import json
import threading
import time
import tracemalloc

import numpy as np
import pytest

import core
import core.function_hooks as H
import core.functions as F
import core.links as L
from core.arrays import backend
from core.registry import configuration
from plugins.function_hooks.profile import Call


class Sleep(core.FunctionNode):
    def forward(self, inputs):
        time.sleep(0.01)
        return (inputs[0] + 1,)

    def backward(self, indexes, grad_outputs):
        return (-grad_outputs[0],)


class Outer(core.FunctionNode):
    """Calls another function inside."""

    def forward(self, inputs):
        Sleep().apply(inputs)
        return (inputs[0] * 2,)


class Failing(core.FunctionNode):
    def forward(self, inputs):
        raise RuntimeError("inside")


class Keeping(core.FunctionNode):
    def forward(self, inputs):
        return (np.zeros(10**6, "f"),)


def variable(shape=(2, 3)):
    return core.Variable(np.ones(shape, "f"))


def model():
    return core.Sequential(L.Linear(3, 4), F.relu, core.Sequential(L.Linear(4, 2)))


def groups(profiler, *by):
    return {entry.group: entry.calls for entry in profiler.summary(by)}


# ---------------------------------------------------------------------- what is counted


def test_forward_and_backward_are_told_apart():
    x = variable()
    with H.ProfilerHook() as profiler:
        y = x * x
        F.sum(y * y).backward()
    assert groups(profiler, "function", "phase") == {
        ("Multiply", "forward"): 2,
        ("Sum", "forward"): 1,
        ("Sum", "backward"): 1,
        ("Multiply", "backward"): 2,
    }
    assert groups(profiler, "phase") == {("forward",): 3, ("backward",): 3}


def test_times_add_up():
    with H.ProfilerHook() as profiler:
        Sleep().apply((variable(),))
        Sleep().apply((variable(),))
        variable() * 2
    found = {entry.group[0]: entry for entry in profiler.summary(("function",))}
    sleep = found["Sleep"]
    assert sleep.total >= 0.02 and sleep.mean == pytest.approx(sleep.total / 2)
    assert sleep.own == sleep.total and sleep.share > 0.5
    assert sum(entry.share for entry in found.values()) == pytest.approx(1)
    assert profiler.total_time() == pytest.approx(sum(entry.own for entry in found.values()))
    assert profiler.summary()[0].group == ("Sleep", "forward"), "the largest first"


def test_own_time_leaves_out_what_is_called_inside():
    with H.ProfilerHook() as profiler:
        Outer().apply((variable(),))
    found = {entry.group[0]: entry for entry in profiler.summary(("function",))}
    outer, inner = found["Outer"], found["Sleep"]
    assert outer.total >= inner.total >= 0.01
    assert outer.total == pytest.approx(outer.own + inner.total)


def test_links_and_shapes_of_the_forward_stand_by_the_backward():
    with H.ProfilerHook() as profiler:
        F.sum(model()(variable())).backward()
    assert groups(profiler, "function", "phase", "link") == {
        ("LinearFunction", "forward", "/0"): 1,
        ("ReLU", "forward", "/"): 1,
        ("LinearFunction", "forward", "/1/0"): 1,
        ("Sum", "forward", ""): 1,
        ("Sum", "backward", ""): 1,
        ("LinearFunction", "backward", "/1/0"): 1,
        ("ReLU", "backward", "/"): 1,
        ("LinearFunction", "backward", "/0"): 1,
    }
    first = (((2, 3), "float32"), ((4, 3), "float32"), ((4,), "float32"))
    assert groups(profiler, "inputs", "phase")[(first, "backward")] == 1
    called = [(call.function, call.link) for call in profiler.calls if call.phase == "link"]
    assert called == [
        ("Linear", "/0"),
        ("Linear", "/1/0"),
        ("Sequential", "/1"),
        ("Sequential", "/"),
    ]


def test_a_backward_without_its_forward_still_has_its_shapes():
    y = F.sum(variable() * variable())
    with H.ProfilerHook() as profiler:
        y.backward()
    shapes = [tuple(shape for shape, _ in call.inputs) for call in profiler.calls]
    assert shapes == [((2, 3),), ((2, 3), (2, 3))]


def test_links_can_be_left_out():
    with H.ProfilerHook(links=False) as profiler:
        model()(variable())
    assert groups(profiler, "link") == {("",): 3}
    assert {call.phase for call in profiler.calls} == {"forward"}


def test_a_function_or_link_that_fails_is_forgotten():
    class Broken(core.Link):
        def forward(self, x):
            return Failing().apply((x,))

    with H.ProfilerHook() as profiler:
        with pytest.raises(RuntimeError, match="inside"):
            core.Sequential(Broken())(variable())
        Outer().apply((variable(),))
    assert [(call.function, call.link) for call in profiler.calls] == [("Sleep", ""), ("Outer", "")]
    inner, outer = profiler.calls
    assert outer.own == outer.total - inner.total


def test_it_may_be_entered_inside_a_function():
    class Entering(core.FunctionNode):
        def forward(self, inputs):
            profiler.__enter__()
            return (inputs[0] * 2,)

    profiler = H.ProfilerHook()
    hook = H.TimerHook()
    with hook:
        Entering().apply((variable(),))
        variable() * 2
        profiler.__exit__()
    assert [call.function for call in profiler.calls] == ["MultiplyConstant"]


def test_of_one_function_alone():
    f, profiler = Sleep(), H.ProfilerHook()
    f.add_hook(profiler)
    f.apply((variable(),))
    variable() * 2
    assert groups(profiler, "function") == {("Sleep",): 1}


def test_of_two_blocks_and_none_left_behind():
    profiler = H.ProfilerHook()
    for _ in range(2):
        with profiler:
            model()(variable())
    variable() * 2
    assert groups(profiler, "function") == {("LinearFunction",): 4, ("ReLU",): 2}
    assert core.get_function_hooks() == {}


def test_away_it_costs_nothing():
    """Without hooks, functions take the specialised path, and links call `forward` at once."""
    with H.ProfilerHook():
        state = configuration.current_state()
        assert state.slow_path and state.link_hooks
    state = configuration.current_state()
    assert not state.slow_path and not state.link_hooks


# ---------------------------------------------------------------------- devices, memory, threads


@pytest.mark.parametrize(("synchronize", "times"), [(True, 2), (False, 0)])
def test_devices_are_waited_for(monkeypatch, synchronize, times):
    waited = []
    strict = backend.get("strict")
    monkeypatch.setattr(type(strict), "synchronize", lambda self, device=None: waited.append(1))
    x = core.Variable(strict.asarray([1.0], "float32"))
    with H.ProfilerHook(synchronize=synchronize):
        x * x
    assert len(waited) == times


def test_memory_that_calls_keep():
    with H.ProfilerHook(memory=True) as profiler:
        kept = Keeping().apply((variable(),))
        Sleep().apply((variable(),))
    found = {entry.group[0]: entry.memory for entry in profiler.summary(("function",))}
    assert 4e6 <= found["Keeping"] < 4.1e6 and abs(found["Sleep"]) < 1e5
    assert not tracemalloc.is_tracing() and kept


def test_memory_by_the_statistics_of_a_backend(monkeypatch):
    readings = iter([100, 350])
    strict = backend.get("strict")
    monkeypatch.setattr(type(strict), "memory_stats", lambda self: {"used": next(readings)})
    x = core.Variable(strict.asarray([1.0], "float32"))
    with H.ProfilerHook(memory=True) as profiler:
        x * x
    assert profiler.calls[0].memory == 250


def test_tracemalloc_of_somebody_else_goes_on():
    tracemalloc.start()
    try:
        with H.ProfilerHook(memory=True):
            variable() * 2
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()


def test_threads_are_told_apart():
    profiler = H.ProfilerHook()
    barrier = threading.Barrier(2)

    def work():
        with profiler:
            barrier.wait()
            for _ in range(20):
                Outer().apply((variable(),))
            barrier.wait()

    workers = [threading.Thread(target=work, name=f"worker {i}") for i in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert groups(profiler, "thread", "function") == {
        (f"worker {i}", name): 20 for i in range(2) for name in ("Outer", "Sleep")
    }
    for row in range(2):
        inner, outer = [call for call in profiler.calls if call.thread == row][:2]
        assert outer.own == outer.total - inner.total


# ---------------------------------------------------------------------- the table


def made(*calls):
    profiler = H.ProfilerHook(memory=True)
    profiler.calls = [Call(*call) for call in calls]
    return profiler


SPECS = (((2, 3), "float32"), ((), "int64"))
CALLS = (
    ("Add", "forward", "/a", (), 0, 0, 2_000, 2_000, 0),
    ("Convolution", "forward", "/a", SPECS, 0, 10, 7_000_000, 6_000_000, 3 * 2**20),
    ("Convolution", "forward", "/b", SPECS, 0, 20, 1_000_000, 1_000_000, -(2**20)),
    ("Convolution2D", "link", "/a", (), 0, 20, 9_000_000, 0, 7),
)


def report(profiler, **options):
    file = io.StringIO()
    profiler.print_report(file=file, **options)
    return file.getvalue().splitlines()


def test_report():
    assert report(made(*CALLS)) == [
        "Function     Phase    Calls     Own   Share   Total    Mean  Memory",
        "Convolution  forward      2  7.00ms  100.0%  8.00ms  4.00ms  2.00MB",
        "Add          forward      1  2.00us    0.0%  2.00us  2.00us   0.00B",
        "3 calls, 7.00ms in all",
    ]
    assert report(made(*CALLS), by=("inputs", "link"), sort_by="first", unit="us") == [
        "Inputs     Link  Calls        Own  Share      Total       Mean   Memory",
        "           /a        1     2.00us   0.0%     2.00us     2.00us    0.00B",
        "(2, 3) ()  /a        1  6000.00us  85.7%  7000.00us  7000.00us   3.00MB",
        "(2, 3) ()  /b        1  1000.00us  14.3%  1000.00us  1000.00us  -1.00MB",
        "3 calls, 7.00ms in all",
    ]


@pytest.mark.parametrize(
    ("sort_by", "first"),
    [
        ("own", "/a"),
        ("total", "/a"),
        ("mean", "/a"),
        ("calls", "/a"),
        ("memory", "/a"),
        ("name", "/a"),
        ("first", "/a"),
    ],
)
def test_orders(sort_by, first):
    assert report(made(*CALLS[:3]), by=("link",), sort_by=sort_by)[1].startswith(first)


def test_rows_at_most():
    lines = report(made(*CALLS), rows=1)
    assert len(lines) == 3 and lines[-1] == "1 more rows. 3 calls, 7.00ms in all"


def test_an_empty_report(capsys):
    H.ProfilerHook().print_report()
    assert capsys.readouterr().out == (
        "Function  Phase  Calls  Own  Share  Total  Mean\n0 calls, 0.00ns in all\n"
    )
    assert H.ProfilerHook().summary() == []


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"fields of function, .*got 'shape'"):
        made(*CALLS).summary(("shape",))
    with pytest.raises(ValueError, match=r"sort_by to be one of .* got 'totl'. Did you .*'total'"):
        made(*CALLS).print_report(sort_by="totl")
    with pytest.raises(ValueError, match="unit of auto, sec"):
        made(*CALLS).print_report(unit="hours")


# ---------------------------------------------------------------------- the trace


def test_trace(tmp_path):
    with H.ProfilerHook() as profiler:
        F.sum(model()(variable())).backward()
    path = tmp_path / "trace.json"
    profiler.export_chrome_trace(path)
    events = json.loads(path.read_text())["traceEvents"]
    bars = [event for event in events if event["ph"] == "X"]
    names = {event["name"]: event["args"] for event in events if event["ph"] == "M"}
    assert names["process_name"] == {"name": "plugrad"}
    assert names["thread_name"] == {"name": threading.current_thread().name}
    assert len(bars) == len(profiler.calls) == 12
    linear = next(
        bar for bar in bars if bar["name"] == "LinearFunction" and bar["cat"] == "forward"
    )
    assert linear["args"] == {
        "link": "/0",
        "shapes": [[2, 3], [4, 3], [4]],
        "dtypes": ["float32"] * 3,
    }
    assert linear["ts"] > 0 and linear["dur"] > 0
    assert isinstance(linear["pid"], int) and linear["tid"] == 0


def test_bars_of_a_trace_nest(tmp_path):
    """A viewer stacks bars of one row by time: those that overlap must lie in one another."""
    with H.ProfilerHook() as profiler:
        F.sum(model()(variable())).backward()
    profiler.export_chrome_trace(tmp_path / "t")
    bars = [e for e in json.loads((tmp_path / "t").read_text())["traceEvents"] if e["ph"] == "X"]
    spans = sorted((round(b["ts"] * 1e3), -round(b["dur"] * 1e3)) for b in bars)
    open_until = []
    for start, negative in spans:
        end = start - negative
        while open_until and open_until[-1] <= start:
            open_until.pop()
        assert not open_until or end <= open_until[-1]
        open_until.append(end)


def test_a_trace_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "trace.json"
    path.write_text("old")
    profiler = made(*CALLS)
    with pytest.raises(FileNotFoundError, match="make it first"):
        profiler.export_chrome_trace(tmp_path / "no" / "trace.json")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        profiler.export_chrome_trace(path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("hook", [H.TimerHook, H.ProfilerHook])
def test_the_device_of_the_arrays_is_waited_for(monkeypatch, hook):
    waited = []
    strict = backend.get("strict")
    monkeypatch.setattr(
        type(strict), "synchronize", lambda self, device=None: waited.append(device)
    )
    there = strict.devices()[-1]
    x = core.Variable(there.send(np.ones(2, "f")))
    with hook():
        F.sum(x * x).backward()
    assert waited == [there] * 8 and there != strict.default_device()

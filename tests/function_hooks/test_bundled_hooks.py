"""The function hooks that come along: what they print, measure and need."""

import inspect
import io
import re
import time

import numpy as np
import pytest

import core
import core.function_hooks as H
import core.functions as F
from core.arrays import backend
from core.errors import BackendUnavailable
from plugins.function_hooks.measure import in_unit


class Slow(core.FunctionNode):
    def forward(self, inputs):
        time.sleep(0.01)
        return (inputs[0] + 1,)

    def backward(self, indexes, grad_outputs):
        return (grad_outputs[0],)


class Failing(core.FunctionNode):
    def forward(self, inputs):
        raise RuntimeError("inside")


def variable():
    return core.Variable(np.array([1, 3], "f"), name="x")


def run(x):
    (y,) = Slow().apply((x,))
    y.grad = np.ones(2, "f")
    y.backward()


# ---------------------------------------------------------------------- print


def test_print_hook():
    file = io.StringIO()
    with H.PrintHook(file=file):
        run(variable())
    statistics = "- data statistics: mean=2.00000000, std=1.00000000"
    assert file.getvalue().splitlines() == [
        "function Slow forward",
        "input data",
        "<variable>",
        "- backend: numpy",
        "- data shape: (2,), dtype: float32",
        statistics,
        "- grad: None",
        "function Slow backward",
        "input data",
        "(removed)",
        "output gradient",
        "<variable>",
        "- backend: numpy",
        "- data shape: (2,), dtype: float32",
        "- data statistics: mean=1.00000000, std=0.00000000",
        "- grad: None",
    ]


def test_print_hook_writes_as_it_is_told(capsys):
    with H.PrintHook(sep="_", end="|", flush=False):
        Slow().apply((variable(),))
    assert capsys.readouterr().out.startswith("function_Slow_forward|input data|")


# ---------------------------------------------------------------------- time


def test_timer_hook_measures_every_call():
    x = variable()
    with H.TimerHook() as timer:
        run(x)
        x * 2
    assert [f.label for f, _ in timer.call_history] == ["Slow", "Slow", "_ * 2"]
    assert "MultiplyConstant" in timer.summary()
    assert timer.call_history[0][1] >= 0.01
    summary = timer.summary()
    assert summary["Slow"]["occurrence"] == 2
    assert summary["Slow"]["elapsed_time"] == sum(t for _, t in timer.call_history[:2])
    assert timer.total_time() == pytest.approx(sum(t for _, t in timer.call_history))


def test_timer_hook_of_one_function():
    f, timer = Slow(), H.TimerHook()
    f.add_hook(timer)
    f.apply((variable(),))
    variable() * 2
    assert list(timer.summary()) == ["Slow"]


def test_timer_hook_waits_for_the_device(monkeypatch):
    waited = []
    strict = backend.get("strict")
    monkeypatch.setattr(type(strict), "synchronize", lambda self, device=None: waited.append(1))
    x = core.Variable(strict.asarray([1.0], "float32"))
    with H.TimerHook():
        x * x
    assert waited == [1, 1]


def test_a_function_that_fails_does_not_confuse_the_timer():
    with H.TimerHook() as timer:
        for _ in range(3):
            with pytest.raises(RuntimeError, match="inside"):
                Failing().apply((variable(),))
        Slow().apply((variable(),))
    assert [f.label for f, _ in timer.call_history] == ["Slow"]


def test_a_history_keeps_no_graph_and_no_array():
    x = core.Variable(np.ones((64, 64), "f"))
    with H.TimerHook() as timer:
        y = F.max_pooling_2d((F.dropout(x) * x).reshape(1, 1, 64, 64), 2)
        F.sum(y).backward()
    functions = [f for f, _ in timer.call_history]
    assert {"Dropout", "MaxPooling2D", "_ * _"} <= {f.label for f in functions}
    assert all(f.inputs is None and f.data is None for f in functions)
    assert not [v for f in functions for v in vars(f).values() if isinstance(v, np.ndarray)]
    pooling = next(f for f in functions if isinstance(f, F.MaxPooling2D))
    assert (pooling.kh, pooling.sx) == (2, 2)


def test_timer_report():
    timer = H.TimerHook()
    timer.call_history = [(F.Sum(), 2e-6), (F.MatMul(), 0.5), (F.MatMul(True), 1.0)]
    file = io.StringIO()
    timer.print_report(file)
    assert file.getvalue().splitlines() == [
        "FunctionName  ElapsedTime  Occurrence",
        "MatMul            1.50sec           2",
        "Sum                2.00us           1",
    ]
    file = io.StringIO()
    timer.print_report(file=file, unit="auto_foreach")
    timer.print_report(file=file, unit="ms")
    assert re.findall(r"\d+\.\d+ms", file.getvalue()) == ["1500.00ms", "0.00ms"]
    with pytest.raises(ValueError, match="unit of auto, sec, ms, us, ns; got 'hours'"):
        timer.print_report(file, unit="hours")


def test_an_empty_report_is_its_head(capsys):
    H.TimerHook().print_report()
    assert capsys.readouterr().out == "FunctionName  ElapsedTime  Occurrence\n"


def test_units():
    units = [("sec", 1.0), ("ms", 1e-3), ("ns", 1e-9)]
    assert [in_unit(v, units) for v in (1, 0.999, 1e-6, 1e-12, 0)] == [
        "1.00sec",
        "999.00ms",
        "1000.00ns",
        "0.00ns",
        "0.00ns",
    ]


# ---------------------------------------------------------------------- GPU


@pytest.mark.parametrize("name", ["CUDAProfileHook", "CupyMemoryProfileHook"])
def test_without_a_gpu_the_reason_is_given(name):
    if backend.available()["cuda"] is None:
        pytest.skip("there is a GPU")
    with pytest.raises(BackendUnavailable, match="'cuda' cannot be used here"):
        getattr(H, name)()


class FakeNvtx:
    def __init__(self):
        self.calls = []

    def RangePush(self, name):
        self.calls.append(name)

    def RangePop(self):
        self.calls.append("pop")


@pytest.fixture
def gpu(monkeypatch):
    """A library that looks like CuPy's memory hooks and profiler marks, behind the name `cuda`."""
    import sys
    import types

    class MemoryHook:
        active = []

        def __enter__(self):
            self.active.append(self)
            return self

        def __exit__(self, *_):
            self.active.remove(self)

    library = types.ModuleType("fakecupy")
    library.cuda = types.ModuleType("fakecupy.cuda")
    library.cuda.MemoryHook = MemoryHook
    library.cuda.nvtx = FakeNvtx()
    for name, module in (("", library), (".cuda", library.cuda), (".cuda.nvtx", library.cuda.nvtx)):
        monkeypatch.setitem(sys.modules, f"fakecupy{name}", module)
    fake, get = types.SimpleNamespace(library="fakecupy"), backend.get
    monkeypatch.setattr(backend, "get", lambda name: fake if name == "cuda" else get(name))
    return library


def test_profiler_ranges_open_and_close(gpu):
    with H.CUDAProfileHook():
        run(variable())
    assert gpu.cuda.nvtx.calls == ["Slow.forward", "pop", "Slow.backward", "pop"]


def test_memory_hook_adds_up_what_functions_ask_for(gpu):
    class Asking(core.FunctionNode):
        def forward(self, inputs):
            for hook in gpu.cuda.MemoryHook.active:
                hook.malloc_postprocess(device_id=0, size=1000, mem_size=1024, mem_ptr=0, pmem_id=0)
                hook.alloc_postprocess(device_id=0, mem_size=2048, mem_ptr=0)
            return (inputs[0] + 1,)

    hook = H.CupyMemoryProfileHook()
    with hook:
        Asking().apply((variable(),))
        Asking().apply((variable(),))
        Slow().apply((variable(),))
    assert gpu.cuda.MemoryHook.active == []
    assert hook.total_used_bytes() == 2048
    assert hook.total_acquired_bytes() == 4096
    assert hook.summary()["Asking"] == {
        "used_bytes": 2048,
        "acquired_bytes": 4096,
        "occurrence": 2,
    }
    file = io.StringIO()
    hook.print_report(file)
    assert file.getvalue().splitlines() == [
        "FunctionName  UsedBytes  AcquiredBytes  Occurrence",
        "Asking           2.00KB         4.00KB           2",
        "Slow              0.00B          0.00B           1",
    ]


# ---------------------------------------------------------------------- as in the reference


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("CUDAProfileHook", []),
        ("CupyMemoryProfileHook", []),
        ("PrintHook", [("sep", ""), ("end", "\n"), ("file", None), ("flush", True)]),
        ("TimerHook", []),
    ],
)
def test_arguments_and_names(name, parameters):
    """A file of None is standard output as it is at the time, which the reference binds early."""
    cls = getattr(H, name)
    found = [(p.name, p.default) for p in inspect.signature(cls).parameters.values()]
    assert found == parameters and cls.name == name


@pytest.mark.parametrize("name", ["TimerHook", "CupyMemoryProfileHook"])
def test_reports_are_printed_to_a_file_in_a_unit(name):
    parameters = inspect.signature(getattr(H, name).print_report).parameters
    assert [(p.name, p.default) for p in parameters.values()][1:] == [
        ("file", None),
        ("unit", "auto"),
    ]

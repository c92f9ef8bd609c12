"""`dir()` shows what users type, `help()` and signatures show it as it is meant."""

import inspect
import pydoc
import subprocess
import sys
from functools import partial
from importlib import import_module
from types import ModuleType

import pytest

import core
import core.functions as F
import core.links as L
from core import training
from core.registry.kinds import FACADES
from core.registry.signatures import show

ROOMS = [
    "core",
    "core.backend",
    "core.backends",
    "core.computational_graph",
    "core.configuration",
    "core.cuda",
    "core.dataset",
    "core.function",
    "core.gradient_check",
    "core.optimizer",
    "core.plugins",
    "core.registry",
    "core.reporter",
    "core.testing",
    "core.training",
    "core.type_check",
    "core.utils",
]
NOT_OURS = ("typing", "collections", "functools", "contextlib", "weakref", "numpy", "__future__")


def shown(room):
    return [name for name in dir(import_module(room)) if not name.startswith("__")]


@pytest.mark.parametrize("room", [*ROOMS, *FACADES.values()])
def test_dir_shows_what_is_for_users(room):
    names, module = shown(room), import_module(room)
    assert names == sorted(set(names))
    for name in names:
        value = getattr(module, name)
        assert not name.startswith("_") and name != "TYPE_CHECKING"
        home = getattr(value, "__module__", None) or "core"
        if name not in getattr(module, "__all__", ()):
            assert not home.startswith(NOT_OURS) and type(value).__module__ != "typing", name
        if isinstance(value, ModuleType):
            assert value.__name__.startswith(("core.", "plugins.")), name


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("updater", ["Updater", "StandardUpdater", "ParallelUpdater"]),
        ("trigger", ["get_trigger", "IntervalTrigger"]),
    ],
)
def test_modules_of_training_have_the_names_that_chainer_3_had_there(module, names):
    here = import_module(f"core.training.{module}")
    for name in names:
        assert getattr(here, name) is getattr(training, name)
    with pytest.raises(AttributeError, match=rf"core.training.{module}' has no attribute 'Lost'"):
        here.Lost  # noqa: B018


def test_dir_of_the_core_has_no_inner_modules():
    names = shown("core")
    assert {"Variable", "functions", "links", "training", "config", "grad", "summary"} <= {*names}
    inner = {"walk", "dispatch", "specialize", "declaring", "namespace", "place", "listing"}
    assert not inner & {*names}
    assert core.graph.walk.__name__ == "core.graph.walk"  # hidden, not gone


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda: F.relu, "(x: Array) -> Variable"),
        (lambda: F.softmax, "(x: Array, axis: int = 1) -> Variable"),
        (lambda: core.optimizers.SGD, "(lr: float = 0.01)"),
        (
            lambda: F.relu and core.Parameter,
            "(initializer: Any = None, shape: Any = None, name: str | None = None, *, "
            "requires_grad: bool = True) -> None",
        ),
        (
            lambda: L.Linear,
            "(in_size: int | None, out_size: int | None = None, nobias: bool = False, "
            "initialW: InitializerSpec = None, initial_bias: InitializerSpec = None) -> None",
        ),
    ],
)
def test_signatures_have_no_quotes(value, expected):
    assert str(inspect.signature(value())) == expected


@pytest.mark.parametrize(
    "value",
    [
        *[lambda: F.relu, lambda: L.Linear, lambda: core.optimizers.Adam],
        *[partial(getattr, core, name) for name in dir(core) if name[0].isupper()],
        *[partial(getattr, training, name) for name in dir(training) if name[0].isupper()],
        *[lambda: core.grad, lambda: core.backward, lambda: training.make_extension],
    ],
)
def test_help_shows_no_quotes_around_types(value):
    value()
    show(F.relu)  # as the first look-up of any name does
    text = pydoc.render_doc(value(), renderer=pydoc.plaintext)
    assert ": 'Any'" not in text and "-> '" not in text
    assert "use_cudnn" not in text


def test_operators_show_no_quotes_either_when_they_come_after_a_first_look_up():
    script = """
import pydoc, numpy as np, core, core.functions as F
F.relu
assert "__and__" not in vars(core.Variable)
core.Variable.__eq__(core.as_variable(np.ones(1)), 1)
assert "__and__" in vars(core.Variable)
print(pydoc.render_doc(core.Variable, renderer=pydoc.plaintext))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    text = done.stdout
    assert "__and__" in text and ": 'Any'" not in text and "-> '" not in text


def test_the_call_of_a_strangers_operation_is_shown_as_it_is_declared():
    class Wave(core.Elementwise):
        """height sin(x)."""

        height: float = 1.0

        def compute(self, xp, x):
            return self.height * xp.sin(x)

    wave = Wave.call
    show(wave, "wave")
    assert str(inspect.signature(wave)) == "(x: Array, /, height: float = 1.0) -> Variable"
    assert "wave(x: Array" in pydoc.render_doc(wave, renderer=pydoc.plaintext)
    assert wave.__doc__ == "height sin(x)."


@pytest.mark.parametrize(
    "where, name, home",
    [
        (core, "get_array_module", "backend"),
        (core, "concat_examples", "dataset"),
        (core, "check_backward", "gradient_check"),
        (core, "UnknownName", "errors"),
        (core, "Trainer", "training"),
        (training, "report_scope", "reporter"),
        (training, "LogReport", "extensions"),  # of a facade
    ],
)
def test_a_name_that_stands_in_a_module_below_is_told_where(where, name, home):
    path = f"{where.__name__}.{home}.{name}"
    with pytest.raises(AttributeError, match=f"Did you mean {path}\\?"):
        getattr(where, name)
    assert getattr(import_module(path.rpartition(".")[0]), name)

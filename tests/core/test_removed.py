"""Arguments that no longer exist: signatures without them, refusals with them, and no cost."""

import inspect
import sys
import traceback

import numpy as np
import pytest

import core
import core.functions as F
from core import registry
from core.errors import RemovedArgument
from core.errors.kinds import checked
from core.errors.removed import removed
from core.registry.kinds import FACADES

CURES = {"old": "Leave it out."}


@removed("old", cures=CURES)
def required(x):
    return [x]


@removed(cures=CURES, renamed={"scale": "factor"})
def with_settings(x, factor=2, *, bias=0):
    """What it does."""
    return x * factor + bias


class Base:
    def __init__(self, size):
        self.size = size


class Derived(Base):
    @removed(cures=CURES)
    def __init__(self, size, more=1):
        super().__init__(size + more)

    @removed(cures=CURES)
    def grow(self, by=1):
        return type(self)(self.size + by)


@pytest.mark.parametrize(
    ("call", "title"),
    [
        (lambda: required(1, old=True), "required"),
        (lambda: required(1, True), "required"),
        (lambda: with_settings(1, old=True), "with_settings"),
        (lambda: Derived(1, old=True), "Derived"),
        (lambda: Derived(1).grow(old=True), "Derived.grow"),
        (lambda: type("Further", (Derived,), {})(1, old=True), "Further"),
    ],
)
def test_a_removed_argument_is_refused(call, title):
    with pytest.raises(RemovedArgument) as caught:
        call()
    assert str(caught.value) == f"{title}: the argument 'old' no longer exists. Leave it out."


def test_the_rest_is_as_it_was():
    assert required(3) == [3]
    assert with_settings(3) == 6 and with_settings(3, 4, bias=1) == 13
    assert Derived(1).size == 2 and Derived(1).grow(2).size == 5
    assert with_settings.__doc__ == "What it does."
    assert str(inspect.signature(required)) == "(x)"
    assert str(inspect.signature(with_settings)) == "(x, factor=2, *, bias=0)"
    assert str(inspect.signature(Derived)) == "(size, more=1)"


def test_a_renamed_argument_is_taken_by_either_name_but_not_by_both():
    assert with_settings(3, scale=5) == with_settings(3, factor=5) == 15
    with pytest.raises(TypeError, match="with_settings: unexpected keyword argument 'scale'"):
        with_settings(3, factor=4, scale=5)


def test_a_slip_gets_the_nearest_name():
    with pytest.raises(TypeError, match="'bais'. Did you mean 'bias'"):
        with_settings(3, bais=1)


@pytest.mark.parametrize("function", [F.relu, F.leaky_relu, F.sum])
def test_one_frame_stands_before_that_of_the_operation(function):
    frames = []

    class Probe(core.FunctionHook):
        def forward_preprocess(self, function, in_data):
            frame = sys._getframe(1)
            while not frame.f_code.co_name.startswith("test_one_frame"):
                frames.append(frame.f_code.co_name)
                frame = frame.f_back

    with Probe():
        function(core.Variable(np.ones(2, "f")))
    assert frames.count(function.__name__) == 1 and frames[-1] == function.__name__


def test_tracebacks_show_the_lines_of_the_source():
    with pytest.raises(TypeError) as caught:
        with_settings(object())
    shown = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert shown.line == "return x * factor + bias" and shown.name == "with_settings"


def test_a_function_needs_no_source_to_refuse():
    scope = {"removed": removed, "CURES": CURES}
    exec("@removed('old', cures=CURES)\ndef made(x): return x", scope)
    assert scope["made"](2) == 2
    with pytest.raises(RemovedArgument, match="made: the argument 'old' no longer exists"):
        scope["made"](2, old=1)


@pytest.mark.parametrize("checks", [checked, lambda function: function])
def test_a_renamed_argument_of_a_constructor(checks):
    class Layer(core.Link):
        @checks
        @removed(renamed={"n_layer": "n_layers"})
        def __init__(self, size, n_layers: int = 1):
            super().__init__()
            self.size = size, n_layers

    for _ in range(2):
        assert Layer(3, n_layer=2).size == Layer(3, n_layers=2).size == (3, 2)
        with pytest.raises(TypeError, match="'n_lay'. Did you mean 'n_layers'"):
            Layer(3, n_lay=2)
        with pytest.raises(TypeError, match="unexpected keyword argument 'n_layer'"):
            Layer(3, n_layers=2, n_layer=2)


# Arguments under any name that mean something.
OPEN = {"DictDataset", "Pad", "create_communicator", "pad"}


@pytest.mark.parametrize("kind", FACADES)
def test_no_signature_has_arguments_of_old(kind):
    catalogue = registry.catalogue(kind)
    bundled = [n for n in catalogue.names() if catalogue.claim(n).plugin.bundled]
    assert bundled
    for name in bundled:
        value = catalogue.get(name)
        settable = (core.FunctionNode, core.training.Communicator, Exception)
        if not callable(value) or isinstance(value, type) and issubclass(value, settable):
            continue
        parameters = inspect.signature(value).parameters.values()
        open_ended = [p for p in parameters if p.kind is p.VAR_KEYWORD]
        assert not open_ended or name in OPEN, f"{name}{inspect.signature(value)}"
        assert not {"use_cudnn", "removed"} & {p.name for p in parameters}, name


def test_the_signature_of_a_variable_is_what_it_takes():
    parameters = inspect.signature(core.Variable).parameters
    assert list(parameters) == ["data", "name", "grad", "requires_grad"]
    x = core.Variable(data=np.ones(2, "f"), name="x", grad=None, requires_grad=False)
    assert F.relu(x).creator is None
